//! Page walk caches: entries of the levels above the last.

use crate::page_table::PageTable;
use crate::tlb::Tlb;

/// One cache per level except the last.
pub(crate) struct WalkCaches {
    table: PageTable,
    levels: Vec<Tlb>,
}

impl WalkCaches {
    /// Creates caches of `entries` each; 0: none.
    pub fn new(table: PageTable, entries: u32) -> WalkCaches {
        let levels = if entries == 0 { 0 } else { table.last_level() };
        WalkCaches { table, levels: (0..levels).map(|_| Tlb::new(entries, 0, 1)).collect() }
    }

    /// Returns the level at which a walk to `page` starts: below the last one whose entry is
    /// present.
    pub fn first_level(&mut self, page: u64) -> u32 {
        let table = self.table;
        let cached = |(level, cache): (usize, &mut Tlb)| {
            cache.look_up(table.entry(page, level as u32)).then_some(level as u32 + 1)
        };
        self.levels.iter_mut().enumerate().rev().find_map(cached).unwrap_or(0)
    }

    /// Adds the entry of `page` in `level`, which a walk has read.
    pub fn fill(&mut self, page: u64, level: u32) {
        if let Some(cache) = self.levels.get_mut(level as usize) {
            cache.fill(self.table.entry(page, level));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_starts_below_the_last_cached_level() {
        let table = PageTable::new(4);
        let mut caches = WalkCaches::new(table, 2);
        assert_eq!(caches.first_level(7), 0);
        for level in 0..4 {
            caches.fill(7, level);
        }
        // In the same table of the last level, in another one, and in another of level 2.
        let firsts = [8, 512 + 7, 512 * 512].map(|page| caches.first_level(page));
        assert_eq!(firsts, [3, 2, 1]);
        let mut none = WalkCaches::new(table, 0);
        none.fill(7, 0);
        assert_eq!(none.first_level(7), 0);
    }

    #[test]
    fn an_estimate_of_the_loads_uses_the_entries() {
        let table = PageTable::new(2);
        let mut caches = WalkCaches::new(table, 2);
        [0, 512].into_iter().for_each(|page| caches.fill(page, 0));
        caches.first_level(0);
        caches.fill(1024, 0);
        assert_eq!([0, 512].map(|page| caches.first_level(page)), [1, 0]);
    }
}
