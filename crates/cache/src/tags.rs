//! The tag array: which bytes of which lines are valid, dirty, or being fetched.

use super::index::AddressIndex;
use crate::{Cache, Replacement};
use warpmem_sim::Hash;

/// All 32 parts of a sector are valid.
pub(crate) const ALL_BYTES: u32 = u32::MAX;

/// Line number of an empty way.
const NO_LINE: u64 = u64::MAX;
const NIL: u32 = u32::MAX;

/// Position of a line in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub(super) u32);

impl Slot {
    /// Number of the position, below [`Controller::lines`](crate::Controller::lines).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

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

    /// Bytes of a sector.
    #[inline]
    pub fn sector_bytes(&self) -> u32 {
        1 << self.sector_shift
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

/// The state of one line: its number, the state of its sectors with one bit each, and its links in
/// the replacement order of its set.
///
/// Zeroed memory is an empty array whose positions are in the order of their numbers, so that a
/// large array costs no host memory until it is used. For that, the line number is stored plus one,
/// and links are stored relative to the neighbouring positions.
#[derive(Clone, Copy)]
struct Line {
    number_after: u64,
    /// Links towards the line that is replaced next, relative to the position before this one, and
    /// away from it, relative to the position behind this one.
    older: u32,
    newer: u32,
    set: u32,
    /// Sectors that are entirely valid, and sectors whose valid bytes are in [`Tags::bytes`].
    whole: u8,
    partial: u8,
    dirty: u8,
    pending: u8,
}

const BLANK: Line = Line {
    number_after: 0,
    older: 0,
    newer: 0,
    set: 0,
    whole: 0,
    partial: 0,
    dirty: 0,
    pending: 0,
};

impl Line {
    /// The number of the line at this position, or [`NO_LINE`].
    #[inline]
    fn number(&self) -> u64 {
        self.number_after.wrapping_sub(1)
    }
}

/// The two ends of a set's replacement order.
#[derive(Clone, Copy)]
struct Set {
    oldest: u32,
    newest: u32,
}

/// The line that a new one would replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    slot: Slot,
    set: u32,
    /// The number and dirty sectors of the line that is evicted, if the position holds one.
    pub line: Option<(u64, u8)>,
}

/// A set-associative array of sectored lines. Lookup and replacement take constant time whatever
/// the associativity: a hash index finds lines, and a linked list per set keeps the replacement
/// order.
pub(crate) struct Tags {
    lines: Vec<Line>,
    sets: Vec<Set>,
    /// Valid bytes of the partially valid sectors.
    bytes: Vec<u32>,
    sectors: usize,
    index: AddressIndex,
    /// The number of sets less one, if it is a power of two.
    set_mask: Option<u64>,
    hash: Option<Hash>,
    lru: bool,
}

impl Tags {
    /// An empty array of `size_bytes` with the line, sector and set geometry of `cache`.
    pub fn new(cache: &Cache, size_bytes: u32) -> Tags {
        let total = (size_bytes / cache.line_bytes).max(1);
        let sets = cache.sets();
        let ways = total / sets;
        let sectors = Geometry::new(cache).sectors();
        let count = (sets * ways) as usize;
        let mut tags = Tags {
            lines: vec![BLANK; count],
            sets: Vec::with_capacity(sets as usize),
            bytes: vec![0; count * sectors],
            sectors,
            index: AddressIndex::new(count),
            set_mask: sets.is_power_of_two().then(|| u64::from(sets) - 1),
            hash: Hash::new(cache.index, sets.trailing_zeros()),
            lru: cache.replacement == Replacement::Lru,
        };
        for set in 0..sets {
            let (oldest, newest) = (set * ways, (set + 1) * ways - 1);
            tags.set_older(oldest, NIL);
            tags.set_newer(newest, NIL);
            tags.sets.push(Set { oldest, newest });
        }
        tags
    }

    /// Empties the array and resizes it to `size_bytes`. No sector may be being fetched.
    pub fn reset(&mut self, cache: &Cache, size_bytes: u32) {
        let is_new = self.index.len() == 0;
        if !is_new || self.lines.len() != (size_bytes / cache.line_bytes) as usize {
            *self = Tags::new(cache, size_bytes);
        }
    }

    /// Number of lines that the array can hold.
    #[inline]
    pub fn places(&self) -> usize {
        self.lines.len()
    }

    /// The position of `line`, if any part of it is valid or being fetched.
    #[inline]
    pub fn find(&self, line: u64) -> Option<Slot> {
        self.index.get(line, |row| self.lines[row as usize].number()).map(Slot)
    }

    /// Whether all `bytes` of a sector are valid.
    #[inline]
    pub fn holds(&self, slot: Slot, sector: u32, bytes: u32) -> bool {
        let line = &self.lines[slot.0 as usize];
        let valid = match (line.whole >> sector & 1, line.partial >> sector & 1) {
            (1, _) => ALL_BYTES,
            (_, 1) => self.bytes[self.part(slot, sector)],
            _ => 0,
        };
        valid & bytes == bytes
    }

    /// Sectors that are at least partially valid or being fetched, one bit each.
    #[inline]
    pub fn present(&self, slot: Slot) -> u8 {
        let line = &self.lines[slot.0 as usize];
        line.whole | line.partial | line.pending
    }

    fn part(&self, slot: Slot, sector: u32) -> usize {
        slot.0 as usize * self.sectors + sector as usize
    }

    /// Notes a use of the line: under LRU it becomes the newest of its set.
    #[inline]
    pub fn touch(&mut self, slot: Slot) {
        if self.lru {
            self.make_newest(slot.0, self.lines[slot.0 as usize].set);
        }
    }

    /// Makes the line the next of its set to be replaced.
    #[inline]
    pub fn demote(&mut self, slot: Slot) {
        let set = self.lines[slot.0 as usize].set;
        self.unlink(slot.0, set);
        self.link_oldest(slot.0, set);
    }

    /// The position that a new line would take. `set_key` selects the set: the line's number, or
    /// its number within a slice. `None` if every line of the set is reserved.
    #[inline]
    pub fn victim(&self, set_key: u64) -> Option<Victim> {
        let set = self.set_of(set_key);
        let mut at = self.sets[set].oldest;
        while at != NIL {
            let line = &self.lines[at as usize];
            if line.pending == 0 {
                let leaving = (line.number() != NO_LINE).then_some((line.number(), line.dirty));
                return Some(Victim { slot: Slot(at), set: set as u32, line: leaving });
            }
            at = self.newer(at);
        }
        None
    }

    fn set_of(&self, key: u64) -> usize {
        let set = self.set_mask.map_or_else(|| key % self.sets.len() as u64, |mask| key & mask);
        // A hashed cache has a power of two of sets.
        let above = |hash: &Hash| usize::from(hash.of(key >> self.sets.len().trailing_zeros()));
        set as usize ^ self.hash.as_ref().map_or(0, above)
    }

    /// Replaces the victim by `line`, of which nothing is valid yet.
    #[inline]
    pub fn replace(&mut self, victim: Victim, line: u64) -> Slot {
        let Victim { slot: Slot(slot), set, line: leaving } = victim;
        if let Some((old, _)) = leaving {
            self.index.remove(old, |row| self.lines[row as usize].number());
        }
        let entry = &mut self.lines[slot as usize];
        debug_assert!(entry.pending == 0);
        let (older, newer) = (entry.older, entry.newer);
        *entry = Line { number_after: line + 1, older, newer, set, ..BLANK };
        self.index.insert(line, slot);
        self.make_newest(slot, set);
        victim.slot
    }

    /// Marks a sector as being fetched, which reserves its line.
    #[inline]
    pub fn reserve(&mut self, slot: Slot, sector: u32) {
        self.lines[slot.0 as usize].pending |= 1 << sector;
    }

    /// Marks a sector as valid after its fill.
    #[inline]
    pub fn fill(&mut self, slot: Slot, sector: u32) {
        let line = &mut self.lines[slot.0 as usize];
        line.pending &= !(1 << sector);
        line.whole |= 1 << sector;
    }

    /// Marks `bytes` of a sector as valid after a store.
    #[inline]
    pub fn write(&mut self, slot: Slot, sector: u32, bytes: u32, dirty: bool) {
        let (part, line) = (self.part(slot, sector), &mut self.lines[slot.0 as usize]);
        line.dirty |= u8::from(dirty) << sector;
        if line.whole >> sector & 1 == 1 {
            return;
        }
        let before = if line.partial >> sector & 1 == 1 { self.bytes[part] } else { 0 };
        match before | bytes {
            ALL_BYTES => line.whole |= 1 << sector,
            valid => {
                line.partial |= 1 << sector;
                self.bytes[part] = valid;
            }
        }
    }

    /// Drops a sector's data. A line with no sector left is removed, and its position is the next
    /// of its set to be used.
    #[inline]
    pub fn drop_sector(&mut self, slot: Slot, sector: u32) {
        let line = &mut self.lines[slot.0 as usize];
        line.whole &= !(1 << sector);
        line.partial &= !(1 << sector);
        if line.whole | line.partial | line.pending | line.dirty == 0 {
            self.give_up(slot);
        }
    }

    fn give_up(&mut self, slot: Slot) {
        let line = self.lines[slot.0 as usize].number();
        self.index.remove(line, |row| self.lines[row as usize].number());
        self.lines[slot.0 as usize].number_after = 0;
        self.demote(slot);
    }

    #[inline]
    fn older(&self, slot: u32) -> u32 {
        self.lines[slot as usize].older.wrapping_add(slot).wrapping_sub(1)
    }

    #[inline]
    fn newer(&self, slot: u32) -> u32 {
        self.lines[slot as usize].newer.wrapping_add(slot).wrapping_add(1)
    }

    #[inline]
    fn set_older(&mut self, slot: u32, older: u32) {
        self.lines[slot as usize].older = older.wrapping_sub(slot).wrapping_add(1);
    }

    #[inline]
    fn set_newer(&mut self, slot: u32, newer: u32) {
        self.lines[slot as usize].newer = newer.wrapping_sub(slot).wrapping_sub(1);
    }

    #[inline]
    fn make_newest(&mut self, slot: u32, set: u32) {
        if self.sets[set as usize].newest != slot {
            self.unlink(slot, set);
            self.link_newest(slot, set);
        }
    }

    fn unlink(&mut self, slot: u32, set: u32) {
        let (older, newer) = (self.older(slot), self.newer(slot));
        match older {
            NIL => self.sets[set as usize].oldest = newer,
            other => self.set_newer(other, newer),
        }
        match newer {
            NIL => self.sets[set as usize].newest = older,
            other => self.set_older(other, older),
        }
    }

    fn link_oldest(&mut self, slot: u32, set: u32) {
        let oldest = self.sets[set as usize].oldest;
        self.set_older(slot, NIL);
        self.set_newer(slot, oldest);
        match oldest {
            NIL => self.sets[set as usize].newest = slot,
            other => self.set_older(other, slot),
        }
        self.sets[set as usize].oldest = slot;
    }

    fn link_newest(&mut self, slot: u32, set: u32) {
        let newest = self.sets[set as usize].newest;
        self.set_older(slot, newest);
        self.set_newer(slot, NIL);
        match newest {
            NIL => self.sets[set as usize].oldest = slot,
            other => self.set_newer(other, slot),
        }
        self.sets[set as usize].newest = slot;
    }
}

#[cfg(test)]
mod tests;
