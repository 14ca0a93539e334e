//! Tags of whole lines, for caches without data in flight.

use crate::tags::Tags;
use crate::{Cache, ReadAllocate, Replacement, WriteAllocate, WritePolicy};
use warpmem_sim::IndexHash;

/// Tags of a cache whose misses take a line at once: set-associative with LRU replacement.
pub struct LineTags(Tags);

impl LineTags {
    /// Creates empty tags of `lines` lines in sets of `ways`; 0 = fully associative.
    pub fn new(lines: u32, ways: u32) -> LineTags {
        // Lines are numbers here, so their size is arbitrary.
        const BYTES: u32 = 1;
        let cache = Cache {
            size_bytes: lines * BYTES,
            ways,
            line_bytes: BYTES,
            sector_bytes: BYTES,
            replacement: Replacement::Lru,
            write: WritePolicy::WriteThrough,
            write_allocate: WriteAllocate::None,
            read_allocate: ReadAllocate::OnFill,
            index: IndexHash::Linear,
            mshr_entries: 1,
            mshr_merges: 1,
            miss_queue: 1,
        };
        LineTags(Tags::new(&cache, cache.size_bytes))
    }

    /// Looks line number `line` up; a missing one replaces the least recently used of its set.
    /// Returns whether it was present.
    pub fn look_up(&mut self, line: u64) -> bool {
        if let Some(slot) = self.0.find(line) {
            self.0.touch(slot);
            return true;
        }
        let victim = self.0.victim(line).expect("no line is reserved");
        let slot = self.0.replace(victim, line);
        self.0.fill(slot, 0);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_replaces_the_least_recently_used_line_of_its_set() {
        let mut tags = LineTags::new(4, 2);
        // Even lines share a set.
        let found: Vec<bool> =
            [0, 2, 0, 4, 0, 2, 1, 4].into_iter().map(|line| tags.look_up(line)).collect();
        assert_eq!(found, [false, false, true, false, true, false, false, false]);
    }

    #[test]
    fn zero_ways_are_fully_associative() {
        let mut tags = LineTags::new(3, 0);
        assert!((0..3).all(|line| !tags.look_up(8 * line)));
        assert!((0..3).all(|line| tags.look_up(8 * line)));
        assert!(!tags.look_up(100));
        assert!(!tags.look_up(0), "the oldest");
    }
}
