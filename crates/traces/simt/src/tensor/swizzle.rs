//! Layout of a box in shared memory.

/// Bytes of a chunk, the unit of the swizzle, and of a line of eight chunks.
pub(crate) const CHUNK: u64 = 16;
pub(crate) const LINE: u64 = 128;

/// Permutation of the chunks of a line, by the number of the line (ISA, "Swizzling Modes").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swizzle {
    None,
    /// Permutes chunks within 32 bytes.
    B32,
    /// Permutes chunks within 64 bytes.
    B64,
    /// Permutes chunks within 128 bytes.
    B128,
}

impl Swizzle {
    /// In the numbering of `tensormap.replace`.
    pub(super) const ALL: [Swizzle; 4] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];

    /// Returns the bytes within which chunks are permuted, which limit a row of the box; `None` without a
    /// swizzle.
    pub(crate) fn span(self) -> Option<u64> {
        match self {
            Swizzle::None => None,
            Swizzle::B32 => Some(32),
            Swizzle::B64 => Some(64),
            Swizzle::B128 => Some(128),
        }
    }

    /// Returns the swizzled address of a byte. Lines count from address 0, so the pattern does not start with
    /// a box that is not aligned to 2, 4 or 8 lines ("swizzle base offset").
    pub(crate) fn place(self, address: u64) -> u64 {
        let chunks = self.span().map_or(1, |span| span / CHUNK);
        let line = address / LINE % chunks;
        address ^ (CHUNK * line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists the chunks in each line of shared memory, as the tables of the ISA show them.
    fn lines(swizzle: Swizzle, count: u64) -> Vec<[u64; 8]> {
        let mut lines = vec![[0; 8]; count as usize];
        for chunk in 0..8 * count {
            let place = swizzle.place(CHUNK * chunk + 5) - 5;
            assert_eq!(place % CHUNK, 0, "a chunk stays whole");
            lines[(place / LINE) as usize][(place % LINE / CHUNK) as usize] = chunk % 8;
        }
        lines
    }

    #[test]
    fn the_patterns_follow_the_isa() {
        const PATTERN: [[u64; 8]; 8] = [
            [0, 1, 2, 3, 4, 5, 6, 7],
            [1, 0, 3, 2, 5, 4, 7, 6],
            [2, 3, 0, 1, 6, 7, 4, 5],
            [3, 2, 1, 0, 7, 6, 5, 4],
            [4, 5, 6, 7, 0, 1, 2, 3],
            [5, 4, 7, 6, 1, 0, 3, 2],
            [6, 7, 4, 5, 2, 3, 0, 1],
            [7, 6, 5, 4, 3, 2, 1, 0],
        ];
        for (swizzle, rows) in
            [(Swizzle::None, 1), (Swizzle::B32, 2), (Swizzle::B64, 4), (Swizzle::B128, 8)]
        {
            let expected: Vec<[u64; 8]> =
                PATTERN[..rows].iter().copied().cycle().take(16).collect();
            assert_eq!(lines(swizzle, 16), expected, "{swizzle:?}");
        }
    }
}
