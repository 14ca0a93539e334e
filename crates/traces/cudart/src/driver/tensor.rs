//! Tensor maps (the manual, "Tensor Map Object Management").

use warpmem_ptx::Type;
use warpmem_simt::{
    Fill, MAX_DIMENSIONS, Swizzle, TENSOR_MAP_BYTES, TensorAxis, TensorElement, TensorMap,
    TensorMapError,
};

use crate::driver::functions;
use crate::host;
use crate::runtime::Address;
use crate::status::{Failure, Outcome, Status};

/// `CUtensorMap`. The manual: its address is a multiple of 64.
type Map = [u8; TENSOR_MAP_BYTES];
const MAP_ALIGN: usize = 64;

fn invalid(why: impl Into<String>) -> Failure {
    Failure::new(Status::INVALID_VALUE, format!("tensor map: {}", why.into()))
}

fn unsupported(what: &str) -> Failure {
    Failure::new(Status::NOT_SUPPORTED, format!("tensor map: {what} is not supported"))
}

fn refused(error: &TensorMapError) -> Failure {
    invalid(error.to_string())
}

/// `CUtensorMapDataType`
fn element(number: u32) -> Outcome<TensorElement> {
    Ok(match number {
        0 => Type::U8.into(),
        1 => Type::U16.into(),
        2 => Type::U32.into(),
        3 => Type::S32.into(),
        4 => Type::U64.into(),
        5 => Type::S64.into(),
        6 => Type::F16.into(),
        7 => Type::F32.into(),
        8 => Type::F64.into(),
        9 => Type::Bf16.into(),
        10 => TensorElement::F32Ftz,
        11 => TensorElement::Tf32,
        12 => TensorElement::Tf32Ftz,
        13 => return Err(unsupported("data type 16U4_ALIGN8B")),
        14 => return Err(unsupported("data type 16U4_ALIGN16B")),
        15 => return Err(unsupported("data type 16U6_ALIGN16B")),
        number => return Err(invalid(format!("there is no data type {number}"))),
    })
}

/// `CUtensorMapSwizzle`
fn swizzle(number: u32) -> Outcome<Swizzle> {
    match number {
        0 => Ok(Swizzle::None),
        1 => Ok(Swizzle::B32),
        2 => Ok(Swizzle::B64),
        3 => Ok(Swizzle::B128),
        4 => Err(unsupported("swizzle 128B_ATOM_32B")),
        5 => Err(unsupported("swizzle 128B_ATOM_32B_FLIP_8B")),
        6 => Err(unsupported("swizzle 128B_ATOM_64B")),
        number => Err(invalid(format!("there is no swizzle {number}"))),
    }
}

/// `CUtensorMapFloatOOBfill`
fn fill(number: u32) -> Outcome<Fill> {
    match number {
        0 => Ok(Fill::Zero),
        1 => Ok(Fill::Nan),
        number => Err(invalid(format!("there is no fill {number}"))),
    }
}

/// `CUtensorMapInterleave`
fn check_interleave(number: u32) -> Outcome<()> {
    match number {
        0 => Ok(()),
        1 => Err(unsupported("interleave 16B")),
        2 => Err(unsupported("interleave 32B")),
        number => Err(invalid(format!("there is no interleave {number}"))),
    }
}

/// Checks a `CUtensorMapL2promotion`, the size of L2 fetches from memory; the simulated machine determines it
/// instead.
fn check_promotion(number: u32) -> Outcome<()> {
    match number {
        0..=3 => Ok(()),
        number => Err(invalid(format!("there is no L2 promotion {number}"))),
    }
}

/// Arrays of a call, by dimension; the innermost dimension has no stride.
struct Arrays {
    sizes: *const u64,
    strides: *const u64,
    extents: *const u32,
    steps: *const u32,
}

impl Arrays {
    /// Returns the axes of the tensor.
    ///
    /// # Safety
    /// The arrays are null or have `rank` elements, the strides one less.
    unsafe fn axes(&self, rank: u32) -> Outcome<Vec<TensorAxis>> {
        let rank = rank as usize;
        if rank == 0 || rank > MAX_DIMENSIONS {
            return Err(refused(&TensorMapError::Dimensions(rank)));
        }
        let mut axes = Vec::new();
        for dimension in 0..rank {
            // SAFETY: guaranteed by the caller.
            axes.push(unsafe { self.axis(dimension) }?);
        }
        Ok(axes)
    }

    /// Returns the axis of one dimension.
    ///
    /// # Safety
    /// As for [`Arrays::axes`], for this dimension.
    unsafe fn axis(&self, dimension: usize) -> Outcome<TensorAxis> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            Ok(TensorAxis {
                size: element_of(self.sizes, dimension)?,
                stride: match dimension {
                    0 => 0,
                    _ => element_of(self.strides, dimension - 1)?,
                },
                extent: element_of(self.extents, dimension)?,
                step: element_of(self.steps, dimension)?,
            })
        }
    }
}

/// Reads an element of an array.
///
/// # Safety
/// The pointer is null or has more than `at` elements.
unsafe fn element_of<T: Copy>(array: *const T, at: usize) -> Outcome<T> {
    if array.is_null() {
        return Err(invalid("an array of sizes, strides or steps is null"));
    }
    // SAFETY: not null, and the caller guarantees the element.
    unsafe { host::get(array.add(at)) }
}

fn check_place(map: *const Map) -> Outcome<()> {
    if map.is_null() {
        return Err(invalid("its pointer is null"));
    }
    match map.addr().is_multiple_of(MAP_ALIGN) {
        true => Ok(()),
        false => Err(invalid(format!("its address {map:?} is not a multiple of {MAP_ALIGN}"))),
    }
}

functions! { in_context:
    fn cuTensorMapEncodeTiled(
        to: *mut Map,
        data_type: u32,
        rank: u32,
        address: Address,
        sizes: *const u64,
        strides: *const u64,
        extents: *const u32,
        steps: *const u32,
        interleave: u32,
        swizzling: u32,
        promotion: u32,
        filling: u32,
    ) |_engine| {
        check_place(to)?;
        check_interleave(interleave)?;
        check_promotion(promotion)?;
        let axes = Arrays { sizes, strides, extents, steps }.axes(rank)?;
        let (element, swizzle) = (element(data_type)?, swizzle(swizzling)?);
        let map = TensorMap::new(element, address, &axes, swizzle, fill(filling)?);
        host::put(to, map.map_err(|error| refused(&error))?.to_bytes())
    }

    /// Rewrites the address of a tensor map.
    fn cuTensorMapReplaceAddress(map: *mut Map, address: Address) |_engine| {
        check_place(map)?;
        let known = TensorMap::of_bytes(&host::get(map)?);
        let moved = known.and_then(|known| known.moved_to(address));
        host::put(map, moved.map_err(|error| refused(&error))?.to_bytes())
    }

    fn cuTensorMapEncodeIm2col() |_engine| { Err(unsupported("mode im2col")) }

    fn cuTensorMapEncodeIm2colWide() |_engine| { Err(unsupported("mode im2col")) }
}
