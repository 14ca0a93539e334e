//! Positions of the elements of a sparse A (ISA, "Matrix multiply-accumulate operation using mma.sp
//! instruction with sparse matrix A").
//!
//! A holds two of every 4 units of a row. A unit is an element, two 4-bit elements, or half an element
//! of `.tf32`. The metadata of a row has 2 bits per held unit, its index among the 4. The metadata
//! is in the registers of some lanes of each group of four, starting with the lane that the selector
//! names. The group's rows are g and g + 8:
//!
//! ```text
//!  elements of 16 or 32 bits   lane w: 16 bits of row g and 16 of row g + 8, word w of each
//!  elements of 4 or 8 bits     lane 2 w: 32 bits of row g, lane 2 w + 1: 32 bits of row g + 8, word w
//! ```
//!
//! The ISA shows the words in figures; the order of the second line is the one in which CUTLASS stores
//! metadata (`reorder_meta`).

use warpmem_ptx::Mma;

use crate::lanes::Lanes;

/// Bits of a unit's index.
const UNIT_BITS: usize = 2;
/// Units of which two are held.
const UNITS: usize = 4;

/// Returns the k of each element that A holds, by rows.
pub(super) fn positions(mma: Mma, selector: u8, metadata: &[Lanes<u64>]) -> Vec<usize> {
    let [m, _, k] = mma.shape.map(usize::from);
    let bits = mma.a.bits();
    let first = usize::from(selector * mma.metadata_lanes());
    let position = |index: usize| {
        let (row, stored) = (index / (k / 2), index % (k / 2));
        let k_of = |unit: usize| {
            let number = number_of(&metadata[0], first, bits, row, unit);
            UNITS * (unit / 2) + number
        };
        match bits {
            4 => 2 * k_of(stored / 2) + stored % 2,
            32 => k_of(2 * stored) / 2,
            _ => k_of(stored),
        }
    };
    (0..m * k / 2).map(position).collect()
}

/// Returns the index of a held unit, from the metadata of its row.
fn number_of(metadata: &Lanes<u64>, first: usize, bits: u32, row: usize, unit: usize) -> usize {
    let (group, upper) = (row % 8, row / 8);
    let (word_bits, lanes_of_word) = if bits < 16 { (32, 2) } else { (16, 1) };
    let (word, at) = (UNIT_BITS * unit / word_bits, UNIT_BITS * unit % word_bits);
    let (lane, shift) = match lanes_of_word {
        2 => (2 * word + upper, at),
        _ => (word, at + word_bits * upper),
    };
    (metadata[4 * group + first + lane] >> shift) as usize % UNITS
}
