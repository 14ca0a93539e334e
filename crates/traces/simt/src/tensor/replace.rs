//! Replacement of fields in the bytes of a map.
//!
//! A map that is changed field by field may be invalid in between, so only a copy that uses it checks it.
//! Values that do not fit in their field are refused at once.

use std::ops::Range;

use warpmem_ptx::TensorMapField::{self, *};

use super::bytes::{ADDRESS, AXES, KINDS, MAGIC, STRIDES};
use super::{MAX_DIMENSIONS, MAX_EXTENT, MAX_STEP, TensorMapError, WORDS};

/// Replaces a field of a map, or of zeroed bytes, which become a map.
///
/// # Errors
/// When the bytes are neither, or the value does not fit in the field.
pub(crate) fn replace(
    words: &mut [u64; WORDS],
    field: TensorMapField,
    value: u64,
) -> Result<(), TensorMapError> {
    if *words == [0; WORDS] {
        words[0] = MAGIC;
    }
    if words[0] != MAGIC {
        return Err(TensorMapError::Unknown);
    }
    check(field, value)?;
    let (word, bits) = place(field);
    let mask = u64::MAX >> (u64::BITS - bits.len() as u32);
    let new = stored(field, value) & mask;
    words[word] = words[word] & !(mask << bits.start) | new << bits.start;
    Ok(())
}

fn check(field: TensorMapField, value: u64) -> Result<(), TensorMapError> {
    let small = u32::try_from(value).unwrap_or(u32::MAX);
    match field {
        Rank if value >= MAX_DIMENSIONS as u64 => {
            Err(TensorMapError::Dimensions(value as usize + 1))
        }
        BoxDim(dimension) if !(1..=MAX_EXTENT).contains(&small) => {
            Err(TensorMapError::Extent { dimension: dimension.into(), extent: small })
        }
        ElementStride(dimension) if !(1..=MAX_STEP).contains(&small) => {
            Err(TensorMapError::Step { dimension: dimension.into(), step: small })
        }
        _ => Ok(()),
    }
}

/// Returns the bits of a field. A size has 32 bits, and 0 encodes 2^32, as on GPUs.
fn stored(field: TensorMapField, value: u64) -> u64 {
    match field {
        BoxDim(_) | GlobalDim(_) | ElementStride(_) => value.wrapping_sub(1),
        _ => value,
    }
}

/// Returns the word of a field, and its bits there.
fn place(field: TensorMapField) -> (usize, Range<u32>) {
    let axis = |dimension: u8| AXES + usize::from(dimension);
    match field {
        ElementType => (KINDS, 0..8),
        Rank => (KINDS, 8..16),
        SwizzleMode => (KINDS, 16..24),
        FillMode => (KINDS, 24..32),
        InterleaveLayout => (KINDS, 32..40),
        SwizzleAtomicity => (KINDS, 40..48),
        GlobalAddress => (ADDRESS, 0..64),
        GlobalStride(number) => (STRIDES + usize::from(number), 0..64),
        GlobalDim(dimension) => (axis(dimension), 0..32),
        BoxDim(dimension) => (axis(dimension), 32..40),
        ElementStride(dimension) => (axis(dimension), 40..48),
    }
}
