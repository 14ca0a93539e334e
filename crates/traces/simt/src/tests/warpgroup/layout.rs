//! Where the elements of a matrix are, by the table "Canonical Layouts" of the ISA: for the index of an
//! element along M or N, and along K, the sizes and strides by which it counts, in elements.

/// How a matrix lies in shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Elements of one k follow each other, not those of one row.
    pub mn_major: bool,
    /// Bytes, or 0.
    pub swizzle: usize,
    /// Where it begins.
    pub start: usize,
    /// Where the pattern of the swizzle begins.
    pub pattern: usize,
    /// The two offsets in bytes.
    pub leading: usize,
    pub stride: usize,
}

/// Bytes that the table has as one element.
const CHUNK: usize = 16;

impl Layout {
    /// With what repeats one behind the other, room for 256 rows or columns, and 32 bytes of K.
    pub fn packed(mn_major: bool, swizzle: usize, start: usize) -> Layout {
        let width = swizzle.max(CHUNK);
        // 8 rows of the swizzle's width, or 8 k of it.
        let atom = 8 * width;
        let (leading, stride) = match (mn_major, swizzle) {
            (false, 0) => (32 * atom, atom),
            // Not used.
            (false, _) => (16, atom),
            (true, 0) => (32 * atom, atom),
            (true, _) => (2 * atom, atom),
        };
        Layout { mn_major, swizzle, start, pattern: 0, leading, stride }
    }

    /// The byte address of an element.
    pub fn address(&self, size: usize, mn: usize, k: usize) -> usize {
        let t = CHUNK / size;
        let (lbo, sbo) = (self.leading / size, self.stride / size);
        // Chunks that the swizzle exchanges.
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

/// The place of an index that counts by sizes and strides, the first one fastest.
fn count(mut index: usize, modes: &[(usize, usize)]) -> usize {
    let mut place = 0;
    for &(size, stride) in modes {
        place += index % size * stride;
        index /= size;
    }
    place
}

/// `Swizzle<B, 4, 3>`, where 2^B chunks change places: bits 7 and on of the address change bits 4 and
/// on.
fn swizzled(chunks: usize, address: usize) -> usize {
    let mask = chunks.max(1) - 1;
    address ^ ((address >> 7 & mask) << 4)
}
