//! Encoding of a tensor map in 16 words of 64 bits.
//!
//! | word | holds |
//! | --- | --- |
//! | 0 | magic, and version of this layout |
//! | 1 | six bytes: element, dimensions minus 1, swizzle, fill, interleave, atoms of the swizzle; the last two are 0 |
//! | 2 | address of the tensor |
//! | 3 to 6 | strides of dimensions 1 to 4, in bytes |
//! | 7 to 11 | of dimensions 0 to 4: size minus 1 in bits 0 to 31, extent minus 1 in bits 32 to 39, step minus 1 in bits 40 to 47 |
//! | 12 to 15 | 0 |
//!
//! A field of 0 means the same as in the maps of GPUs, as the code that `ptxas` emits for
//! `tensormap.replace` shows: one dimension of one element, and so on.
//!
//! CUTLASS clears bit 21 of word 1 in maps of small tensors, to work around some drivers. It is never
//! set here.

use super::{ELEMENTS, Fill, MAX_DIMENSIONS, Swizzle, TensorAxis, TensorMap, TensorMapError};

/// Size of a tensor map (`CUtensorMap`), bytes.
pub const TENSOR_MAP_BYTES: usize = 8 * WORDS;
pub(crate) const WORDS: usize = 16;

/// `WMTMAP`, and version 3.
pub(super) const MAGIC: u64 = 0x574d_544d_4150_0003;
pub(super) const KINDS: usize = 1;
pub(super) const ADDRESS: usize = 2;
pub(super) const STRIDES: usize = 3;
pub(super) const AXES: usize = 7;

impl TensorMap {
    pub fn to_bytes(&self) -> [u8; TENSOR_MAP_BYTES] {
        let mut words = [0; WORDS];
        let element = ELEMENTS.iter().position(|&it| it == self.element).unwrap_or_default();
        let swizzle = Swizzle::ALL.iter().position(|&it| it == self.swizzle).unwrap_or_default();
        let fill = u8::from(self.fill == Fill::Nan);
        let kinds = [element as u8, self.axes.len() as u8 - 1, swizzle as u8, fill, 0, 0, 0, 0];
        words[..STRIDES].copy_from_slice(&[MAGIC, u64::from_le_bytes(kinds), self.address]);
        for (dimension, axis) in self.axes.iter().enumerate() {
            words[AXES + dimension] = packed(axis);
            if dimension > 0 {
                words[STRIDES + dimension - 1] = axis.stride;
            }
        }
        let mut bytes = [0; TENSOR_MAP_BYTES];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Decodes a map.
    ///
    /// # Errors
    /// When the bytes are not a map, or an invalid one.
    pub fn of_bytes(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<TensorMap, TensorMapError> {
        let mut words = [0; WORDS];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        TensorMap::of_words(&words)
    }

    /// Decodes a map, as [`TensorMap::of_bytes`] does, from words.
    pub(crate) fn of_words(words: &[u64; WORDS]) -> Result<TensorMap, TensorMapError> {
        let [element, last_dimension, swizzle, fill, 0, 0, 0, 0] = words[KINDS].to_le_bytes()
        else {
            return Err(TensorMapError::Unknown);
        };
        let rank = usize::from(last_dimension) + 1;
        if words[0] != MAGIC || rank > MAX_DIMENSIONS {
            return Err(TensorMapError::Unknown);
        }
        let axes: Vec<TensorAxis> = (0..rank).map(|at| axis(words, at)).collect();
        let kinds = (
            ELEMENTS.get(usize::from(element)),
            Swizzle::ALL.get(usize::from(swizzle)),
            [Fill::Zero, Fill::Nan].get(usize::from(fill)),
        );
        let (Some(&element), Some(&swizzle), Some(&fill)) = kinds else {
            return Err(TensorMapError::Unknown);
        };
        TensorMap::new(element, words[ADDRESS], &axes, swizzle, fill)
    }
}

/// Encodes size, extent and step of a dimension in a word.
fn packed(axis: &TensorAxis) -> u64 {
    let (size, extent) = (axis.size - 1, u64::from(axis.extent - 1));
    size | extent << 32 | u64::from(axis.step - 1) << 40
}

fn axis(words: &[u64; WORDS], dimension: usize) -> TensorAxis {
    let word = words[AXES + dimension];
    TensorAxis {
        size: (word & u64::from(u32::MAX)) + 1,
        stride: if dimension == 0 { 0 } else { words[STRIDES + dimension - 1] },
        extent: u32::from((word >> 32) as u8) + 1,
        step: u32::from((word >> 40) as u8) + 1,
    }
}
