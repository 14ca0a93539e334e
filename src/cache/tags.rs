//! The tag array: which bytes of which lines are present, dirty, or on their way.

use super::index::AddressIndex;
use crate::machine::{Cache, Hash, Replacement};

/// A sector's 32 parts, all valid.
pub const ALL_BYTES: u32 = u32::MAX;

const NO_LINE: u64 = u64::MAX;
const NIL: u32 = u32::MAX;

/// Place of a line in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

/// How addresses divide into lines and sectors.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    line_shift: u32,
    sector_shift: u32,
}

impl Geometry {
    pub fn new(cache: &Cache) -> Geometry {
        Geometry {
            line_shift: cache.line_bytes.trailing_zeros(),
            sector_shift: cache.sector_bytes.trailing_zeros(),
        }
    }

    /// Number of the line that holds `address`.
    #[inline]
    pub fn line(&self, address: u64) -> u64 {
        address >> self.line_shift
    }

    /// Number of the sector that holds `address`, counted over all memory.
    #[inline]
    pub fn sector(&self, address: u64) -> u64 {
        address >> self.sector_shift
    }

    /// Number of the sector within its line.
    #[inline]
    pub fn sector_in_line(&self, address: u64) -> u32 {
        ((address >> self.sector_shift) & ((1 << (self.line_shift - self.sector_shift)) - 1)) as u32
    }

    /// First address of a line.
    #[inline]
    pub fn line_address(&self, line: u64) -> u64 {
        line << self.line_shift
    }

    fn sectors(&self) -> usize {
        1 << (self.line_shift - self.sector_shift)
    }
}

/// Per line: its number, the sectors that are dirty or reserved, and its place in the set's order.
#[derive(Clone, Copy)]
struct Line {
    number: u64,
    /// Towards the next to be replaced, and away from it.
    older: u32,
    newer: u32,
    set: u32,
    dirty: u8,
    pending: u8,
}

#[derive(Clone, Copy)]
struct Set {
    oldest: u32,
    newest: u32,
}

/// The line that a new one would replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victim {
    pub slot: Slot,
    /// The line that leaves, if the place holds one, and its dirty sectors.
    pub line: Option<(u64, u8)>,
}

/// A set-associative array of sectored lines. Lookup and replacement take constant time whatever the
/// associativity: an index finds lines, and a list per set keeps their order.
pub struct Tags {
    lines: Vec<Line>,
    sets: Vec<Set>,
    /// Valid parts of each sector of each line.
    valid: Vec<u32>,
    sectors: usize,
    index: AddressIndex,
    hash: Option<Hash>,
    lru: bool,
}

impl Tags {
    /// An empty array with the geometry of `cache`, but `size_bytes` large.
    pub fn new(cache: &Cache, size_bytes: u32) -> Tags {
        let total = (size_bytes / cache.line_bytes).max(1);
        let sets = cache.sets();
        let ways = total / sets;
        let sectors = Geometry::new(cache).sectors();
        let count = (sets * ways) as usize;
        let mut tags = Tags {
            lines: Vec::with_capacity(count),
            sets: Vec::with_capacity(sets as usize),
            valid: vec![0; count * sectors],
            sectors,
            index: AddressIndex::new(count),
            hash: Hash::new(cache.index, sets.trailing_zeros()),
            lru: cache.replacement == Replacement::Lru,
        };
        for set in 0..sets {
            tags.add_set(set, ways);
        }
        tags
    }

    fn add_set(&mut self, set: u32, ways: u32) {
        let first = set * ways;
        for slot in first..first + ways {
            self.lines.push(Line {
                number: NO_LINE,
                older: if slot == first { NIL } else { slot - 1 },
                newer: if slot + 1 == first + ways { NIL } else { slot + 1 },
                set,
                dirty: 0,
                pending: 0,
            });
        }
        self.sets.push(Set { oldest: first, newest: first + ways - 1 });
    }

    /// Where `line` is, if any part of it is present or on its way.
    #[inline]
    pub fn find(&self, line: u64) -> Option<Slot> {
        self.index.get(line).map(Slot)
    }

    /// Whether all `bytes` of a sector are valid.
    #[inline]
    pub fn holds(&self, slot: Slot, sector: u32, bytes: u32) -> bool {
        self.valid[slot.0 as usize * self.sectors + sector as usize] & bytes == bytes
    }

    /// The line was used: under LRU it is now the newest of its set.
    #[inline]
    pub fn touch(&mut self, slot: Slot) {
        if self.lru {
            self.unlink(slot.0);
            self.link_newest(slot.0);
        }
    }

    /// The place that a new line would take, the set chosen by `set_key` (the line's number, or its number
    /// within a slice). `None`: every line of the set is reserved.
    #[inline]
    pub fn victim(&self, set_key: u64) -> Option<Victim> {
        let set = self.set_of(set_key);
        let mut at = self.sets[set].oldest;
        while at != NIL {
            let line = &self.lines[at as usize];
            if line.pending == 0 {
                let leaving = (line.number != NO_LINE).then_some((line.number, line.dirty));
                return Some(Victim { slot: Slot(at), line: leaving });
            }
            at = line.newer;
        }
        None
    }

    fn set_of(&self, key: u64) -> usize {
        let sets = self.sets.len() as u64;
        // A hashed cache has a power of two of sets.
        let above = |hash: &Hash| usize::from(hash.of(key >> sets.trailing_zeros()));
        (key % sets) as usize ^ self.hash.as_ref().map_or(0, above)
    }

    /// Puts `line` in the victim's place, with nothing of it valid.
    #[inline]
    pub fn replace(&mut self, victim: Victim, line: u64) -> Slot {
        let Slot(slot) = victim.slot;
        if let Some((old, _)) = victim.line {
            self.index.remove(old);
        }
        let entry = &mut self.lines[slot as usize];
        debug_assert!(entry.pending == 0);
        entry.number = line;
        entry.dirty = 0;
        self.index.insert(line, slot);
        let first = slot as usize * self.sectors;
        self.valid[first..first + self.sectors].fill(0);
        self.unlink(slot);
        self.link_newest(slot);
        victim.slot
    }

    /// A sector is on its way: its line cannot be replaced.
    #[inline]
    pub fn reserve(&mut self, slot: Slot, sector: u32) {
        self.lines[slot.0 as usize].pending |= 1 << sector;
    }

    /// A sector has arrived.
    #[inline]
    pub fn fill(&mut self, slot: Slot, sector: u32) {
        self.lines[slot.0 as usize].pending &= !(1 << sector);
        self.valid[slot.0 as usize * self.sectors + sector as usize] = ALL_BYTES;
    }

    /// A store has put `bytes` into a sector.
    #[inline]
    pub fn write(&mut self, slot: Slot, sector: u32, bytes: u32, dirty: bool) {
        self.valid[slot.0 as usize * self.sectors + sector as usize] |= bytes;
        if dirty {
            self.lines[slot.0 as usize].dirty |= 1 << sector;
        }
    }

    /// Drops a sector's data.
    #[inline]
    pub fn drop_sector(&mut self, slot: Slot, sector: u32) {
        self.valid[slot.0 as usize * self.sectors + sector as usize] = 0;
    }

    /// Drops everything, dirty data included. Nothing may be on its way.
    pub fn clear(&mut self) {
        debug_assert!(self.lines.iter().all(|line| line.pending == 0));
        for line in &mut self.lines {
            line.number = NO_LINE;
            line.dirty = 0;
        }
        self.valid.fill(0);
        self.index.clear();
    }

    fn unlink(&mut self, slot: u32) {
        let Line { older, newer, set, .. } = self.lines[slot as usize];
        match older {
            NIL => self.sets[set as usize].oldest = newer,
            other => self.lines[other as usize].newer = newer,
        }
        match newer {
            NIL => self.sets[set as usize].newest = older,
            other => self.lines[other as usize].older = older,
        }
    }

    fn link_newest(&mut self, slot: u32) {
        let set = self.lines[slot as usize].set as usize;
        let newest = self.sets[set].newest;
        self.lines[slot as usize].older = newest;
        self.lines[slot as usize].newer = NIL;
        match newest {
            NIL => self.sets[set].oldest = slot,
            other => self.lines[other as usize].newer = slot,
        }
        self.sets[set].newest = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::IndexHash;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// A cache of `sets` × `ways` lines of 128 bytes in four sectors.
    fn cache(sets: u32, ways: u32) -> Cache {
        let machine = crate::machine::load("v100", &[]).unwrap();
        Cache { size_bytes: sets * ways * 128, ways, ..machine.l1.cache }
    }

    fn tags(cache: &Cache) -> Tags {
        Tags::new(cache, cache.size_bytes)
    }

    /// Puts `line` in, whatever must leave for it.
    fn insert(tags: &mut Tags, line: u64) -> Option<u64> {
        let victim = tags.victim(line).expect("nothing is reserved");
        tags.replace(victim, line);
        victim.line.map(|(line, _)| line)
    }

    fn slot(tags: &Tags, line: u64) -> Slot {
        tags.find(line).expect("the line is present")
    }

    /// Which lines leave as lines 10, 11, … come into one full set of 0, 1, 2, of which 0 was used last.
    fn leaving(replacement: Replacement) -> Vec<Option<u64>> {
        let mut tags = tags(&Cache { replacement, ..cache(1, 3) });
        for line in 0..3 {
            assert_eq!(insert(&mut tags, line), None, "an empty place is taken first");
        }
        let first = slot(&tags, 0);
        tags.touch(first);
        (10..13).map(|line| insert(&mut tags, line)).collect()
    }

    #[test]
    fn lru_keeps_what_was_used_and_fifo_does_not() {
        assert_eq!(leaving(Replacement::Lru), [Some(1), Some(2), Some(0)]);
        assert_eq!(leaving(Replacement::Fifo), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn zero_ways_is_one_set_of_all_lines() {
        let mut tags = tags(&Cache { ways: 0, ..cache(4, 8) });
        // All of one set if there were several.
        assert!((0..32).all(|n| insert(&mut tags, n * 64).is_none()));
        assert_eq!(insert(&mut tags, 32 * 64), Some(0));
    }

    #[test]
    fn reserved_lines_stay_until_their_last_sector_arrives() {
        let mut tags = tags(&cache(1, 2));
        for line in 0..2 {
            insert(&mut tags, line);
            let place = slot(&tags, line);
            tags.reserve(place, 1);
        }
        assert_eq!(tags.victim(9), None);
        let place = slot(&tags, 1);
        tags.reserve(place, 3);
        tags.fill(place, 1);
        assert_eq!(tags.victim(9), None, "sector 3 is still on its way");
        tags.fill(place, 3);
        assert_eq!(tags.victim(9).unwrap().line, Some((1, 0)), "though line 0 is older");
    }

    #[test]
    fn bytes_are_valid_by_sector_as_they_were_written_or_filled() {
        let mut tags = tags(&cache(1, 1));
        insert(&mut tags, 7);
        let place = slot(&tags, 7);
        tags.write(place, 2, 0x00ff, false);
        assert!(tags.holds(place, 2, 0x000f) && tags.holds(place, 2, 0x00ff));
        assert!(!tags.holds(place, 2, 0x0100) && !tags.holds(place, 2, ALL_BYTES));
        assert!(!tags.holds(place, 1, 1));
        tags.write(place, 2, 0xff00, false);
        assert!(tags.holds(place, 2, 0xffff), "writes add up");
        tags.fill(place, 1);
        assert!(tags.holds(place, 1, ALL_BYTES) && !tags.holds(place, 0, 1));
        tags.drop_sector(place, 2);
        assert!(!tags.holds(place, 2, 1) && tags.holds(place, 1, ALL_BYTES));
        insert(&mut tags, 8);
        assert!(!tags.holds(slot(&tags, 8), 1, 1), "nothing of the line before is left");
    }

    #[test]
    fn a_line_leaves_with_exactly_its_dirty_sectors() {
        let mut tags = tags(&cache(1, 1));
        insert(&mut tags, 7);
        let place = slot(&tags, 7);
        tags.write(place, 0, ALL_BYTES, true);
        tags.write(place, 1, ALL_BYTES, false);
        tags.write(place, 3, 1, true);
        assert_eq!(tags.victim(8).unwrap().line, Some((7, 0b1001)));
        insert(&mut tags, 8);
        assert_eq!(tags.victim(9).unwrap().line, Some((8, 0)));
    }

    #[test]
    fn clearing_drops_every_line() {
        let mut tags = tags(&cache(2, 2));
        for line in 0..4 {
            insert(&mut tags, line);
            let place = slot(&tags, line);
            tags.write(place, 0, ALL_BYTES, true);
        }
        tags.clear();
        assert!((0..4).all(|line| tags.find(line).is_none()));
        assert!((0..4).all(|line| insert(&mut tags, line).is_none()));
        assert!((0..4).all(|line| !tags.holds(slot(&tags, line), 0, 1)));
    }

    #[test]
    fn consecutive_lines_use_every_set_whatever_the_hash() {
        let cases = [
            (IndexHash::Linear, 16),
            (IndexHash::Xor, 16),
            (IndexHash::Ipoly, 16),
            (IndexHash::Linear, 12),
        ];
        for (index, sets) in cases {
            let mut tags = tags(&Cache { index, ..cache(sets, 2) });
            let lines = u64::from(sets) * 2;
            let kept = (0..lines).all(|line| insert(&mut tags, line).is_none());
            assert!(kept, "{index:?}: {lines} lines do not fit {sets} sets of 2 ways");
        }
    }

    #[test]
    fn hashes_spread_a_stride_of_all_sets_and_linear_does_not() {
        let sets_used = |index| {
            let tags = tags(&Cache { index, ..cache(16, 1) });
            (0..16).map(|n| tags.victim(n * 16).unwrap().slot.0).collect::<BTreeSet<_>>().len()
        };
        assert_eq!(sets_used(IndexHash::Linear), 1);
        assert_eq!(sets_used(IndexHash::Xor), 16);
        assert_eq!(sets_used(IndexHash::Ipoly), 16);
    }

    #[test]
    fn a_smaller_store_keeps_its_sets_and_loses_ways() {
        let cache = cache(4, 8);
        let mut tags = Tags::new(&cache, cache.size_bytes / 4);
        let of_set_1 = |way: u64| way * 4 + 1;
        assert_eq!(insert(&mut tags, of_set_1(0)), None);
        assert_eq!(insert(&mut tags, of_set_1(1)), None);
        assert_eq!(insert(&mut tags, of_set_1(2)), Some(of_set_1(0)), "two ways");
        assert_eq!(insert(&mut tags, 2), None, "the next set is another");
    }

    /// The same rules with lists that are searched.
    struct Naive {
        sets: Vec<Vec<NaiveLine>>,
        ways: usize,
        lru: bool,
    }

    struct NaiveLine {
        number: u64,
        dirty: u8,
        pending: u8,
        valid: [u32; 4],
    }

    impl Naive {
        fn set(&mut self, line: u64) -> &mut Vec<NaiveLine> {
            let count = self.sets.len() as u64;
            &mut self.sets[(line % count) as usize]
        }

        fn line(&mut self, line: u64) -> Option<&mut NaiveLine> {
            self.set(line).iter_mut().find(|l| l.number == line)
        }

        fn touch(&mut self, line: u64) {
            if self.lru {
                let set = self.set(line);
                let at = set.iter().position(|l| l.number == line).unwrap();
                let used = set.remove(at);
                set.push(used);
            }
        }

        /// The line that leaves for `line`, if that finds a place.
        fn insert(&mut self, line: u64) -> Option<Option<(u64, u8)>> {
            let ways = self.ways;
            let set = self.set(line);
            let leaving = if set.len() < ways {
                None
            } else {
                let at = set.iter().position(|l| l.pending == 0)?;
                let old = set.remove(at);
                Some((old.number, old.dirty))
            };
            set.push(NaiveLine { number: line, dirty: 0, pending: 0, valid: [0; 4] });
            Some(leaving)
        }
    }

    #[derive(Clone, Debug)]
    enum Action {
        Use,
        Reserve,
        Fill,
        Write(u32, bool),
        Drop,
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            Just(Action::Use),
            Just(Action::Reserve),
            Just(Action::Fill),
            (any::<u32>(), any::<bool>()).prop_map(|(bytes, dirty)| Action::Write(bytes, dirty)),
            Just(Action::Drop),
        ]
    }

    proptest! {
        #[test]
        fn behaves_as_lists_that_are_searched(
            lru in any::<bool>(),
            (sets, ways) in (prop_oneof![Just(1u32), Just(3), Just(4)], 1u32..5),
            steps in prop::collection::vec((0u64..24, 0u32..4, action()), 0..300),
        ) {
            let replacement = if lru { Replacement::Lru } else { Replacement::Fifo };
            let mut tags = tags(&Cache { replacement, ..cache(sets, ways) });
            let sets = (0..sets).map(|_| Vec::new()).collect();
            let mut naive = Naive { sets, ways: ways as usize, lru };
            for (line, sector, action) in steps {
                if naive.line(line).is_none() {
                    let victim = tags.victim(line);
                    prop_assert_eq!(victim.map(|v| v.line), naive.insert(line));
                    let Some(victim) = victim else { continue };
                    tags.replace(victim, line);
                }
                let place = tags.find(line);
                prop_assert!(place.is_some());
                let (place, at) = (place.unwrap(), sector as usize);
                let model = naive.line(line).unwrap();
                match action {
                    Action::Use => {}
                    Action::Reserve => {
                        tags.reserve(place, sector);
                        model.pending |= 1 << sector;
                    }
                    Action::Fill => {
                        tags.fill(place, sector);
                        model.pending &= !(1 << sector);
                        model.valid[at] = ALL_BYTES;
                    }
                    Action::Write(bytes, dirty) => {
                        tags.write(place, sector, bytes, dirty);
                        model.valid[at] |= bytes;
                        model.dirty |= u8::from(dirty) << sector;
                    }
                    Action::Drop => {
                        tags.drop_sector(place, sector);
                        model.valid[at] = 0;
                    }
                }
                for byte in 0..32 {
                    let held = model.valid[at] >> byte & 1 == 1;
                    prop_assert_eq!(tags.holds(place, sector, 1 << byte), held);
                }
                tags.touch(place);
                naive.touch(line);
            }
        }
    }
}
