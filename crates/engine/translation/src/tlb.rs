//! A TLB: the translations of recently used pages.

/// Least recently used replacement within sets; an entry covers a group of pages.
pub struct Tlb {
    /// Entries of a set.
    ways: usize,
    sets: u64,
    /// Pages of an entry, as a power of two.
    group_bits: u32,
    /// Set by set, the most recently used entry of each set first.
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    /// Number of its first page over the pages of an entry.
    group: u64,
    /// Valid pages, one bit each; 0: the entry is empty.
    valid: u64,
}

impl Tlb {
    /// Creates an empty TLB. `ways` = 0: fully associative; otherwise it divides `entries`.
    /// `pages_per_entry`: a power of two, 64 at most.
    pub fn new(entries: u32, ways: u32, pages_per_entry: u32) -> Tlb {
        let ways = if ways == 0 { entries } else { ways };
        Tlb {
            ways: ways as usize,
            sets: (entries / ways).into(),
            group_bits: pages_per_entry.ilog2(),
            entries: vec![Entry::default(); entries as usize],
        }
    }

    /// Looks page number `page` up, as the most recently used one. Returns whether it is present.
    #[inline]
    pub fn look_up(&mut self, page: u64) -> bool {
        let (group, bit) = self.place(page);
        let set = self.set(group);
        let holds = |entry: &Entry| entry.group == group && entry.valid & bit != 0;
        if holds(&set[0]) {
            return true;
        }
        let Some(at) = set.iter().position(holds) else { return false };
        set[..=at].rotate_right(1);
        true
    }

    /// Adds the translation of a page, as the most recently used one.
    pub fn fill(&mut self, page: u64) {
        let (group, bit) = self.place(page);
        let set = self.set(group);
        let present = |entry: &Entry| entry.group == group && entry.valid != 0;
        let at = set.iter().position(present).unwrap_or(set.len() - 1);
        set[..=at].rotate_right(1);
        let first = &mut set[0];
        let valid = if present(first) { first.valid } else { 0 };
        *first = Entry { group, valid: valid | bit };
    }

    /// Returns the group of a page, and its bit there.
    #[inline]
    fn place(&self, page: u64) -> (u64, u64) {
        let group = page >> self.group_bits;
        (group, 1 << (page - (group << self.group_bits)))
    }

    #[inline]
    fn set(&mut self, group: u64) -> &mut [Entry] {
        let set = if self.sets == 1 { 0 } else { (group % self.sets) as usize };
        &mut self.entries[set * self.ways..(set + 1) * self.ways]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks pages up, and fills those that miss; returns which hit.
    fn hits(tlb: &mut Tlb, pages: &[u64]) -> Vec<bool> {
        let access = |&page: &u64| {
            let hit = tlb.look_up(page);
            if !hit {
                tlb.fill(page);
            }
            hit
        };
        pages.iter().map(access).collect()
    }

    #[test]
    fn a_fill_replaces_the_least_recently_used_entry_of_its_set() {
        let mut tlb = Tlb::new(4, 2, 1);
        let found = hits(&mut tlb, &[0, 2, 0, 4, 0, 2, 1, 4]);
        assert_eq!(found, [false, false, true, false, true, false, false, false]);
        let mut tlb = Tlb::new(4, 0, 1);
        assert_eq!(
            hits(&mut tlb, &[0, 2, 4, 6, 0, 8, 2]),
            [false, false, false, false, true, false, false]
        );
    }

    #[test]
    fn an_entry_covers_a_group_of_pages_of_which_each_must_be_filled() {
        let mut tlb = Tlb::new(1, 0, 4);
        let found = hits(&mut tlb, &[4, 5, 4, 5, 7, 8, 7]);
        assert_eq!(found, [false, false, true, true, false, false, false]);
    }

    #[test]
    fn page_0_is_not_present_at_the_start() {
        assert!(!Tlb::new(2, 0, 1).look_up(0));
    }
}
