//! The page table: the addresses that a walk reads.

/// Index bits of a level: a table has 512 entries.
const LEVEL_BITS: u32 = 9;
/// Bytes of an entry.
const ENTRY_BYTES: u64 = 8;
/// Address of the tables of the root level, above all data.
const TABLES: u64 = 1 << 60;
/// Bytes between the tables of two levels.
const LEVEL_BYTES: u64 = 1 << 52;

/// A radix table. The tables of a level follow each other in the order of their pages, so that
/// entries of neighbouring pages are neighbours in memory.
#[derive(Clone, Copy)]
pub(crate) struct PageTable {
    levels: u32,
}

impl PageTable {
    pub fn new(levels: u32) -> PageTable {
        PageTable { levels }
    }

    /// Returns the number of the level that holds translations; the root is level 0.
    pub fn last_level(self) -> u32 {
        self.levels - 1
    }

    /// Returns the number of the entry of `page` in `level`, over all tables of the level.
    pub fn entry(self, page: u64, level: u32) -> u64 {
        page >> (LEVEL_BITS * (self.last_level() - level))
    }

    /// Returns the address of the entry of `page` in `level`.
    pub fn address(self, page: u64, level: u32) -> u64 {
        let offset = self.entry(page, level) * ENTRY_BYTES % LEVEL_BYTES;
        TABLES + u64::from(level) * LEVEL_BYTES + offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_pages_have_neighbouring_entries_and_share_the_levels_above() {
        let table = PageTable::new(3);
        let [one, next, far] = [5, 6, 5 + 512].map(|page| {
            [0, 1, 2].map(|level| table.address(page, level) - table.address(0, level))
        });
        assert_eq!((one, next), ([0, 0, 40], [0, 0, 48]));
        assert_eq!(far, [0, 8, 40 + 512 * 8]);
        let roots = [0, 1, 2].map(|level| table.address(0, level));
        assert!(roots[0] >= TABLES && roots.is_sorted() && roots[1] != roots[2]);
    }
}
