//! Tensor maps themselves.

use warpmem_ptx::Type;

use crate::{Fill, Swizzle, TENSOR_MAP_BYTES, TensorAxis, TensorMap, TensorMapError};

const AXIS: TensorAxis = TensorAxis { size: 64, stride: 256, extent: 16, step: 1 };
const ADDRESS: u64 = 0x7f00_0000_0010;

fn map(element: Type, axes: &[TensorAxis]) -> Result<TensorMap, TensorMapError> {
    TensorMap::new(element, ADDRESS, axes, Swizzle::None, Fill::Zero)
}

/// Returns the error of a map with this second dimension.
fn second(axis: TensorAxis) -> Option<TensorMapError> {
    map(Type::U32, &[AXIS, axis]).err()
}

#[test]
fn maps_follow_the_rules_of_the_driver() {
    use TensorMapError as Error;
    let dimension = 1;
    for size in [1, 1 << 32] {
        assert_eq!(second(TensorAxis { size, ..AXIS }), None);
    }
    for size in [0, (1 << 32) + 1] {
        assert_eq!(second(TensorAxis { size, ..AXIS }), Some(Error::Size { dimension, size }));
    }
    for stride in [0, 16, (1 << 40) - 16] {
        assert_eq!(second(TensorAxis { stride, ..AXIS }), None);
    }
    for stride in [8, 1 << 40] {
        let error = Error::Stride { dimension, stride };
        assert_eq!(second(TensorAxis { stride, ..AXIS }), Some(error));
    }
    for extent in [1, 256] {
        assert_eq!(second(TensorAxis { extent, ..AXIS }), None);
    }
    for extent in [0, 257] {
        let error = Error::Extent { dimension, extent };
        assert_eq!(second(TensorAxis { extent, ..AXIS }), Some(error));
    }
    for step in [1, 8] {
        assert_eq!(second(TensorAxis { step, ..AXIS }), None);
    }
    for step in [0, 9] {
        assert_eq!(second(TensorAxis { step, ..AXIS }), Some(Error::Step { dimension, step }));
    }
    // The stride of the innermost dimension is ignored.
    assert_eq!(map(Type::U32, &[TensorAxis { stride: 3, ..AXIS }]).err(), None);
}

#[test]
fn elements_dimensions_and_addresses_are_limited() {
    use TensorMapError as Error;
    assert_eq!(map(Type::Tf32, &[AXIS]).err(), Some(Error::Element(Type::Tf32)));
    for dimensions in [1, 5] {
        assert_eq!(map(Type::U32, &vec![AXIS; dimensions]).err(), None);
    }
    for dimensions in [0, 6] {
        let error = Some(Error::Dimensions(dimensions));
        assert_eq!(map(Type::U32, &vec![AXIS; dimensions]).err(), error);
    }
    let at = |address| TensorMap::new(Type::U32, address, &[AXIS], Swizzle::None, Fill::Zero);
    assert_eq!(at(16).err(), None);
    assert_eq!(at(8).err(), Some(Error::Address(8)));
    assert_eq!(at(16).unwrap().moved_to(8).err(), Some(Error::Address(8)));
    assert_eq!(at(16).unwrap().moved_to(32), at(32));
}

/// CUTLASS clears it in maps of small tensors.
#[test]
fn bit_21_of_the_second_word_is_ignored() {
    for address in [1 << 21, u64::MAX << 4] {
        let map =
            TensorMap::new(Type::U32, address, &[AXIS; 5], Swizzle::B128, Fill::Zero).unwrap();
        let mut bytes = map.to_bytes();
        bytes[8 + 2] &= !(1 << 5);
        assert_eq!(TensorMap::of_bytes(&bytes), Ok(map));
    }
}

#[test]
fn box_rows_are_whole_chunks_within_the_swizzle() {
    use TensorMapError as Error;
    let with = |element, extent, swizzle| {
        let axes = [TensorAxis { extent, ..AXIS }];
        TensorMap::new(element, ADDRESS, &axes, swizzle, Fill::Zero).err()
    };
    assert_eq!(with(Type::U16, 8, Swizzle::None), None);
    assert_eq!(with(Type::U16, 12, Swizzle::None), Some(Error::RowBytes(24)));
    assert_eq!(with(Type::F64, 256, Swizzle::None), None);
    for (swizzle, span) in [(Swizzle::B32, 32), (Swizzle::B64, 64), (Swizzle::B128, 128)] {
        assert_eq!(with(Type::U8, span, swizzle), None);
        let bytes = u64::from(span) + 16;
        let error = Error::RowSpan { bytes, span: span.into() };
        assert_eq!(with(Type::U8, span + 16, swizzle), Some(error));
    }
}

#[test]
fn only_floating_point_elements_are_filled_with_nan() {
    let with = |ty| TensorMap::new(ty, ADDRESS, &[AXIS], Swizzle::None, Fill::Nan).err();
    for ty in [Type::F16, Type::Bf16, Type::F32, Type::F64] {
        assert_eq!(with(ty), None);
    }
    for ty in [Type::U8, Type::U16, Type::U32, Type::S32, Type::U64, Type::S64] {
        assert_eq!(with(ty), Some(TensorMapError::Fill(ty)));
    }
}

#[test]
fn maps_round_trip_through_bytes() {
    let axes: Vec<TensorAxis> = (1..=5)
        .map(|n| TensorAxis {
            size: (1 << 32) - u64::from(n) + 1,
            stride: (1 << 40) - 16 * u64::from(n),
            extent: 256 - 16 * (n - 1),
            step: 9 - n,
        })
        .collect();
    let swizzles = [Swizzle::B32, Swizzle::B64, Swizzle::B128];
    let with_swizzle = swizzles.map(|swizzle| {
        let axes = [TensorAxis { extent: 8, ..AXIS }, AXIS];
        TensorMap::new(Type::F32, ADDRESS, &axes, swizzle, Fill::Nan).unwrap()
    });
    let maps = (1..=5).map(|count| map(Type::S64, &axes[..count]).unwrap()).chain(with_swizzle);
    for map in maps {
        assert_eq!(TensorMap::of_bytes(&map.to_bytes()), Ok(map));
    }
}

/// Each meaningful byte of a map, changed to an invalid value.
#[test]
fn invalid_bytes_are_refused_with_the_reason() {
    use TensorMapError as Error;
    let bytes = map(Type::U32, &[AXIS, AXIS]).unwrap().to_bytes();
    let changed = |at: usize, to: u8| {
        let mut bytes = bytes;
        bytes[at] = to;
        TensorMap::of_bytes(&bytes).err()
    };
    assert_eq!(changed(0, bytes[0]), None);
    assert_eq!(TensorMap::of_bytes(&[0; TENSOR_MAP_BYTES]), Err(Error::Unknown));
    let (version, kinds, address, stride, second) = (0, 8, 16, 24, 64);
    let dimension = 1;
    for (at, to, error) in [
        (version, 2, Error::Unknown),
        (address, 1, Error::Address(ADDRESS - 15)),
        (kinds, 13, Error::Unknown),
        (kinds + 1, 5, Error::Unknown),
        (kinds + 2, 4, Error::Unknown),
        (kinds + 3, 2, Error::Unknown),
        (kinds + 3, 1, Error::Fill(Type::U32)),
        (kinds + 4, 1, Error::Unknown),
        (kinds + 5, 1, Error::Unknown),
        (kinds + 7, 1, Error::Unknown),
        (stride, 1, Error::Stride { dimension, stride: 257 }),
        (second + 5, 8, Error::Step { dimension, step: 9 }),
    ] {
        assert_eq!(changed(at, to), Some(error), "byte {at}");
    }
}
