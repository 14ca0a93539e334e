//! Matrices in shared memory that `wgmma` multiplies, given by descriptors (ISA, "Matrix Descriptor
//! Format").
//!
//! A matrix consists of chunks of 16 bytes. Each row (column of B) has two chunks; in a transposed
//! matrix, which requires 16-bit elements, each k has one chunk for 8 rows. The table gives the offset
//! of a chunk, where w is the swizzle width in bytes, 16 without a swizzle, and L and S are the two
//! offsets of the descriptor (ISA, "Canonical Layouts"):
//!
//! ```text
//!  row r, chunk c      w (r % 8) + S (r / 8) + 16 c                     L c without a swizzle
//!  transposed:
//!  k, 8 rows n         w (k % 8) + S (k / 8) + 16 (n % (w / 16)) + L (n / (w / 16))
//!                      w (k % 8) + L (k / 8) + S n                      without a swizzle
//! ```

use warpmem_ptx::{Factor, GroupProduct};

use super::element::value;
use crate::tensor::{CHUNK, LINE, Swizzle};

/// Rows, or k of a transposed matrix, whose chunks are adjacent.
const TOGETHER: u64 = 8;

/// Location of a matrix in the CTA's shared memory, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    start: u64,
    leading: u64,
    stride: u64,
    /// Shared-memory line, modulo 8, at which the swizzle pattern starts.
    first_line: u64,
    swizzle: Swizzle,
}

impl Descriptor {
    pub fn of_bits(bits: u64) -> Descriptor {
        // Addresses and offsets are multiples of a chunk and have 18 bits.
        let encoded = |first: u32| (bits >> first & 0x3fff) * CHUNK;
        Descriptor {
            start: encoded(0),
            leading: encoded(16),
            stride: encoded(32),
            first_line: bits >> 49 & 7,
            swizzle: match bits >> 62 {
                0 => Swizzle::None,
                1 => Swizzle::B128,
                2 => Swizzle::B64,
                _ => Swizzle::B32,
            },
        }
    }

    /// Reads consecutive rows of A or columns of B: ordered by k, or by row if `by_row`. The error is the
    /// address of a chunk outside shared memory.
    pub fn read(
        &self,
        memory: &[u8],
        factor: Factor,
        rows: std::ops::Range<usize>,
        by_row: bool,
    ) -> Result<Vec<f64>, u64> {
        let each = (CHUNK * 8 / u64::from(factor.element.bits())) as usize;
        let k_count = (GroupProduct::ROW_BYTES * 8 / factor.element.bits()) as usize;
        let mut matrix = vec![0.0; rows.len() * k_count];
        let [row_step, k_step] = if by_row { [k_count, 1] } else { [1, rows.len()] };
        let mut put = |place: u64, first: usize, step: usize| {
            let words = chunk_at(memory, place).ok_or(place)?;
            decode(words, factor, matrix[first..].iter_mut().step_by(step));
            Ok::<(), u64>(())
        };
        if factor.transposed {
            for k in 0..k_count {
                for row in (0..rows.len()).step_by(each) {
                    let place = self.transposed((rows.start + row) / each, k);
                    put(place, row * row_step + k * k_step, row_step)?;
                }
            }
        } else {
            for row in 0..rows.len() {
                for k in (0..k_count).step_by(each) {
                    let place = self.plain(rows.start + row, k / each);
                    put(place, row * row_step + k * k_step, k_step)?;
                }
            }
        }
        Ok(matrix)
    }

    /// Returns the offset of a chunk of a row.
    fn plain(&self, row: usize, chunk: usize) -> u64 {
        let (row, chunk) = (row as u64, chunk as u64);
        let (width, apart) = match self.swizzle.span() {
            Some(span) => (span, CHUNK),
            None => (CHUNK, self.leading),
        };
        self.place(width * (row % TOGETHER) + self.stride * (row / TOGETHER) + apart * chunk)
    }

    /// Returns the offset of the chunk of a k that has these 8 rows.
    fn transposed(&self, rows: usize, k: usize) -> u64 {
        let (rows, k) = (rows as u64, k as u64);
        let Some(span) = self.swizzle.span() else {
            let of_k = CHUNK * (k % TOGETHER) + self.leading * (k / TOGETHER);
            return self.place(of_k + self.stride * rows);
        };
        let together = span / CHUNK;
        let of_k = span * (k % TOGETHER) + self.stride * (k / TOGETHER);
        self.place(of_k + CHUNK * (rows % together) + self.leading * (rows / together))
    }

    /// Applies the swizzle to an offset.
    fn place(&self, offset: u64) -> u64 {
        // The swizzle counts from address 0, lines count from the start of the pattern.
        let pattern = LINE * self.first_line;
        let address = self.start + offset;
        self.swizzle.place(address.wrapping_sub(pattern)).wrapping_add(pattern)
    }
}

fn chunk_at(memory: &[u8], place: u64) -> Option<[u64; 2]> {
    let bytes: &[u8; CHUNK as usize] = memory.get(place as usize..)?.first_chunk()?;
    let word = |at: usize| bytes[8 * at..].first_chunk().map(|&bytes| u64::from_le_bytes(bytes));
    Some([word(0)?, word(1)?])
}

/// Decodes the elements of a chunk.
#[inline(always)]
fn decode<'a>(words: [u64; 2], factor: Factor, values: impl Iterator<Item = &'a mut f64>) {
    let of_word = (64 / factor.element.bits()) as usize;
    for (at, to) in (0..2 * of_word).zip(values) {
        let element = value(words[at / of_word], factor.element, at % of_word);
        *to = if factor.negated { -element } else { element };
    }
}
