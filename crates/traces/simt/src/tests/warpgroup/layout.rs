//! Element addresses of a matrix by the table "Canonical Layouts" of the ISA: the sizes and strides, in
//! elements, by which the indices along M or N and along K count.

/// Layout of a matrix in shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Whether consecutive elements share their k instead of their row.
    pub mn_major: bool,
    /// Swizzle width, bytes; 0 without a swizzle.
    pub swizzle: usize,
    /// Start address.
    pub start: usize,
    /// Start of the swizzle pattern.
    pub pattern: usize,
    /// Leading and stride offset, bytes.
    pub leading: usize,
    pub stride: usize,
}

/// Bytes of one element of the table.
const CHUNK: usize = 16;

impl Layout {
    /// Creates a layout with contiguous repetitions, for 256 rows or columns and 32 bytes of K.
    pub fn packed(mn_major: bool, swizzle: usize, start: usize) -> Layout {
        let width = swizzle.max(CHUNK);
        // 8 rows of the swizzle width, or 8 k of it.
        let atom = 8 * width;
        let (leading, stride) = match (mn_major, swizzle) {
            (false, 0) => (32 * atom, atom),
            // Unused.
            (false, _) => (16, atom),
            (true, 0) => (32 * atom, atom),
            (true, _) => (2 * atom, atom),
        };
        Layout { mn_major, swizzle, start, pattern: 0, leading, stride }
    }

    /// Returns the byte address of an element.
    pub fn address(&self, size: usize, mn: usize, k: usize) -> usize {
        let t = CHUNK / size;
        let (lbo, sbo) = (self.leading / size, self.stride / size);
        // Chunks that the swizzle permutes.
        let w = self.swizzle / CHUNK;
        const REST: usize = usize::MAX;
        let offset = match (self.mn_major, self.swizzle) {
            (true, 0) => {
                count(mn, &[(t, 1), (1, t), (REST, sbo)]) + count(k, &[(8, t), (REST, lbo)])
            }
            (true, _) => {
                count(mn, &[(t, 1), (w, t), (REST, lbo)]) + count(k, &[(8, w * t), (REST, sbo)])
            }
            (false, 0) => count(mn, &[(8, t), (REST, sbo)]) + count(k, &[(t, 1), (REST, lbo)]),
            (false, _) => count(mn, &[(8, w * t), (REST, sbo)]) + count(k, &[(t, 1), (REST, t)]),
        };
        let behind = self.start + offset * size - self.pattern;
        self.pattern + swizzled(w, behind)
    }

    pub fn descriptor(&self) -> u64 {
        let encode = |bytes: usize| (bytes as u64 & 0x3ffff) >> 4;
        let mode = match self.swizzle {
            0 => 0,
            128 => 1,
            64 => 2,
            _ => 3,
        };
        let base = (self.pattern as u64 >> 7) & 7;
        encode(self.start)
            | encode(self.leading) << 16
            | encode(self.stride) << 32
            | base << 49
            | mode << 62
    }
}

/// Returns the offset of an index that counts by sizes and strides, the first one fastest.
fn count(mut index: usize, modes: &[(usize, usize)]) -> usize {
    let mut place = 0;
    for &(size, stride) in modes {
        place += index % size * stride;
        index /= size;
    }
    place
}

/// Applies `Swizzle<B, 4, 3>`, which permutes 2^B chunks: address bits from 7 modify those from 4.
fn swizzled(chunks: usize, address: usize) -> usize {
    let mask = chunks.max(1) - 1;
    address ^ ((address >> 7 & mask) << 4)
}
