//! Tensor maps: describe to the copy unit a tensor in global memory, the box that an instruction copies, and
//! the layout of the box in shared memory (ISA, "Tensors"; CUDA Driver API, "Tensor Map Object Management").
//!
//! The host creates a map, and a kernel passes the address of its 128 bytes. A kernel can also create one,
//! field by field, from 128 zeroed bytes. GPUs keep the layout opaque; `bytes` defines the one used here.

mod bytes;
mod element;
mod replace;
mod rows;
mod swizzle;

use thiserror::Error;
use warpmem_ptx::Type;

pub use bytes::TENSOR_MAP_BYTES;
pub(crate) use bytes::WORDS;
use element::ELEMENTS;
pub use element::TensorElement;
pub(crate) use replace::replace;
pub(crate) use rows::{Row, RowPart, pieces};
pub use swizzle::Swizzle;
pub(crate) use swizzle::{CHUNK, LINE};

/// Maximum dimensions of a tensor.
pub const MAX_DIMENSIONS: usize = 5;
/// Maximum elements of a dimension, and exclusive limit of a stride in bytes.
const MAX_ELEMENTS: u64 = 1 << 32;
const STRIDE_END: u64 = 1 << 40;
/// Maximum elements of the box in a dimension, and maximum element stride.
const MAX_EXTENT: u32 = 256;
const MAX_STEP: u32 = 8;
/// Alignment of the tensor's address, its strides and the rows of the box, bytes.
const UNIT: u64 = 16;

/// A tensor and its box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    element: TensorElement,
    /// Address of the first element.
    address: u64,
    /// Dimensions, innermost first.
    axes: Vec<TensorAxis>,
    swizzle: Swizzle,
    fill: Fill,
}

/// A dimension of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorAxis {
    /// Elements.
    pub size: u64,
    /// Bytes from one element to the next; ignored for the innermost dimension, whose elements are
    /// contiguous.
    pub stride: u64,
    /// Elements of the tensor that the box spans.
    pub extent: u32,
    /// Element stride: the box holds every `step`-th element; ignored for the innermost dimension, which it
    /// holds completely.
    pub step: u32,
}

/// Value that a load writes for elements outside the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    Zero,
    /// "OOB-NaN".
    Nan,
}

/// Reason why a map is invalid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TensorMapError {
    #[error("elements of type `.{}`; {}", .0.name(), known_elements())]
    Element(Type),
    #[error("a tensor of {0} dimensions; 1 to 5 are possible")]
    Dimensions(usize),
    #[error("a tensor at {0:#x}, which is not a multiple of 16")]
    Address(u64),
    #[error("{size} elements in dimension {dimension}; 1 to 2^32 are possible")]
    Size { dimension: usize, size: u64 },
    #[error(
        "{stride} bytes from one element of dimension {dimension} to the next; multiples of 16 below \
         2^40 are possible"
    )]
    Stride { dimension: usize, stride: u64 },
    #[error("a box of {extent} elements in dimension {dimension}; 1 to 256 are possible")]
    Extent { dimension: usize, extent: u32 },
    #[error("an element stride of {step} in dimension {dimension}; 1 to 8 are possible")]
    Step { dimension: usize, step: u32 },
    #[error("a box with rows of {0} bytes, which is not a multiple of 16")]
    RowBytes(u64),
    #[error("a box with rows of {bytes} bytes, more than the {span} of its swizzle")]
    RowSpan { bytes: u64, span: u64 },
    #[error("bytes that neither `cuTensorMapEncodeTiled` nor `tensormap.replace` made")]
    Unknown,
    #[error("a NaN cannot stand for elements of type `.{}`; it can for floating-point ones", .0.name())]
    Fill(Type),
}

fn known_elements() -> String {
    let plain = ELEMENTS.iter().filter(|element| element.is_plain());
    let names: Vec<String> = plain.map(|element| format!("`.{}`", element.ty().name())).collect();
    format!("unconverted elements have types {}", names.join(", "))
}

impl TensorMap {
    /// Creates the map of a tensor at an address; dimensions are given innermost first.
    ///
    /// # Errors
    /// When the CUDA Driver API does not allow it (`cuTensorMapEncodeTiled`, without interleaving).
    pub fn new(
        element: impl Into<TensorElement>,
        address: u64,
        axes: &[TensorAxis],
        swizzle: Swizzle,
        fill: Fill,
    ) -> Result<TensorMap, TensorMapError> {
        let element = element.into();
        let ty = element.ty();
        if !ELEMENTS.contains(&element) {
            return Err(TensorMapError::Element(ty));
        }
        if axes.is_empty() || axes.len() > MAX_DIMENSIONS {
            return Err(TensorMapError::Dimensions(axes.len()));
        }
        if !address.is_multiple_of(UNIT) {
            return Err(TensorMapError::Address(address));
        }
        axes.iter().enumerate().try_for_each(|(dimension, axis)| axis.check(dimension))?;
        let mut axes = axes.to_vec();
        axes[0].stride = ty.bytes().into();
        let map = TensorMap { element, address, axes, swizzle, fill };
        map.check_rows()?;
        match fill == Fill::Nan && !ty.is_float() {
            true => Err(TensorMapError::Fill(ty)),
            false => Ok(map),
        }
    }

    fn check_rows(&self) -> Result<(), TensorMapError> {
        let bytes = self.row_bytes();
        if !bytes.is_multiple_of(UNIT) {
            return Err(TensorMapError::RowBytes(bytes));
        }
        match self.swizzle.span().filter(|&span| bytes > span) {
            Some(span) => Err(TensorMapError::RowSpan { bytes, span }),
            None => Ok(()),
        }
    }

    /// Returns the same map with another tensor address.
    ///
    /// # Errors
    /// When the address is misaligned.
    pub fn moved_to(&self, address: u64) -> Result<TensorMap, TensorMapError> {
        TensorMap::new(self.element, address, &self.axes, self.swizzle, self.fill)
    }

    pub(crate) fn element(&self) -> TensorElement {
        self.element
    }

    pub(crate) fn rank(&self) -> usize {
        self.axes.len()
    }

    pub(crate) fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// Returns the size of a row of the box, bytes.
    pub(crate) fn row_bytes(&self) -> u64 {
        u64::from(self.axes[0].extent) * u64::from(self.element.ty().bytes())
    }

    /// Returns the size of the box, bytes, including elements outside the tensor.
    pub(crate) fn box_bytes(&self) -> u64 {
        self.row_bytes() * self.row_count()
    }

    /// Returns the bits that a load writes for an element outside the tensor. The ISA does not define the
    /// NaN; here it is the canonical NaN of arithmetic.
    pub(crate) fn fill_bits(&self) -> u64 {
        match (self.fill, self.element.ty()) {
            (Fill::Zero, _) => 0,
            (Fill::Nan, Type::F64) => 0x7ff8_0000_0000_0000,
            (Fill::Nan, Type::F32) => 0x7fff_ffff,
            (Fill::Nan, _) => 0x7fff,
        }
    }
}

impl TensorAxis {
    fn check(&self, dimension: usize) -> Result<(), TensorMapError> {
        let TensorAxis { size, stride, extent, step } = *self;
        if !(1..=MAX_ELEMENTS).contains(&size) {
            return Err(TensorMapError::Size { dimension, size });
        }
        let is_innermost = dimension == 0;
        if !is_innermost && (!stride.is_multiple_of(UNIT) || stride >= STRIDE_END) {
            return Err(TensorMapError::Stride { dimension, stride });
        }
        if !(1..=MAX_EXTENT).contains(&extent) {
            return Err(TensorMapError::Extent { dimension, extent });
        }
        match (1..=MAX_STEP).contains(&step) {
            true => Ok(()),
            false => Err(TensorMapError::Step { dimension, step }),
        }
    }

    /// Returns the elements that the box holds.
    fn count(&self) -> u64 {
        self.extent.div_ceil(self.step).into()
    }
}
