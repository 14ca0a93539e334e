//! The tag array: the valid, dirty and pending bytes of each line, and the replacement order.

mod dirty;
mod kept;

use super::index::AddressIndex;
use crate::{Cache, Replacement};
use bytemuck::Zeroable;
use dirty::DirtyBound;
use kept::Kept;
use warpmem_sim::{Hash, hint, ids};

/// All 32 parts of a sector.
pub(crate) const ALL_BYTES: u32 = u32::MAX;

/// Line number of an empty way.
const NO_LINE: u64 = u64::MAX;

ids! {
    /// Position of a line in the array, below [`CacheController::lines`](crate::CacheController::lines).
    pub LineSlot(u32);
    /// A set of the array.
    SetId(u32);
}

/// The division of addresses into lines and sectors.
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

    /// Returns all sectors of a line, one bit each.
    #[inline]
    pub fn all_sectors(&self) -> u8 {
        let sectors = 1 << (self.line_shift - self.sector_shift);
        ((1u32 << sectors) - 1) as u8
    }

    /// Returns the bytes of a sector.
    #[inline]
    pub fn sector_bytes(&self) -> u32 {
        1 << self.sector_shift
    }

    /// Returns the number of the line that holds `address`.
    #[inline]
    pub fn line(&self, address: u64) -> u64 {
        address >> self.line_shift
    }

    /// Returns the number of the sector that holds `address`, over all memory.
    #[inline]
    pub fn sector(&self, address: u64) -> u64 {
        address >> self.sector_shift
    }

    /// Returns the number of the sector within its line.
    #[inline]
    pub fn sector_in_line(&self, address: u64) -> u32 {
        ((address >> self.sector_shift) & ((1 << (self.line_shift - self.sector_shift)) - 1)) as u32
    }

    /// Returns the first address of a line.
    #[inline]
    pub fn line_address(&self, line: u64) -> u64 {
        line << self.line_shift
    }

    fn sectors(&self) -> usize {
        1 << (self.line_shift - self.sector_shift)
    }
}

/// State of one line: its number, its sectors with one bit each, and its links in the replacement
/// order of its set.
///
/// Zeroed memory is an empty array in the order of the positions, so that a large array costs no
/// host memory until it is used. For that, the line number is stored plus one, and links are
/// relative to the neighbouring positions.
#[derive(Clone, Copy, Zeroable)]
struct Line {
    number_after: u64,
    /// Link to the next older line, relative to the position before this one, and to the next newer
    /// line, relative to the position behind this one. The oldest and the newest line of a set have
    /// no such neighbour, and their link no meaning.
    older: u32,
    newer: u32,
    /// Set of the line.
    set: u32,
    /// Sectors that are entirely valid, and sectors whose valid bytes are in [`Tags::bytes`].
    whole: u8,
    partial: u8,
    dirty: u8,
    pending: u8,
}

impl Line {
    /// Returns the number of the line at this position, or [`NO_LINE`].
    #[inline]
    fn number(&self) -> u64 {
        self.number_after.wrapping_sub(1)
    }
}

/// The two ends of a set's replacement order.
#[derive(Clone, Copy)]
struct Set {
    oldest: LineSlot,
    newest: LineSlot,
}

/// The line that an allocation would replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    slot: LineSlot,
    set: SetId,
    /// Number and dirty sectors of the evicted line; none if the position is empty.
    pub line: Option<(u64, u8)>,
}

/// A set-associative array of sectored lines. Lookup and replacement take constant time at any
/// associativity: a hash index finds lines, and a linked list per set keeps the replacement order.
pub(crate) struct Tags {
    lines: Vec<Line>,
    sets: Vec<Set>,
    /// Valid bytes of the partially valid sectors.
    bytes: Vec<u32>,
    sectors: usize,
    index: AddressIndex,
    /// Number of sets less one, if the number is a power of two.
    set_mask: Option<u64>,
    hash: Option<Hash>,
    lru: bool,
    kept: Kept,
    dirty: DirtyBound,
}

impl Tags {
    /// Creates an empty array of `size_bytes` with the line, sector and set geometry of `cache`.
    pub fn new(cache: &Cache, size_bytes: u32) -> Tags {
        let total = (size_bytes / cache.line_bytes).max(1);
        let sets = cache.sets();
        let ways = total / sets;
        let sectors = Geometry::new(cache).sectors();
        let count = (sets * ways) as usize;
        let ends =
            |set| Set { oldest: LineSlot(set * ways), newest: LineSlot((set + 1) * ways - 1) };
        Tags {
            lines: bytemuck::zeroed_vec(count),
            sets: (0..sets).map(ends).collect(),
            bytes: vec![0; count * sectors],
            sectors,
            index: AddressIndex::new(count),
            set_mask: sets.is_power_of_two().then(|| u64::from(sets) - 1),
            hash: Hash::new(cache.index, sets.trailing_zeros()),
            lru: cache.replacement == Replacement::Lru,
            kept: Kept::default(),
            dirty: DirtyBound::default(),
        }
    }

    /// Empties the array and resizes it to `size_bytes`. No sector may be pending.
    pub fn reset(&mut self, cache: &Cache, size_bytes: u32) {
        let is_new = self.index.len() == 0;
        if !is_new || self.lines.len() != (size_bytes / cache.line_bytes) as usize {
            let dirty = DirtyBound::new(self.dirty.most);
            *self = Tags { dirty, ..Tags::new(cache, size_bytes) };
        }
    }

    /// Returns the capacity in lines.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.lines.len()
    }

    /// Prefetches what a lookup of `line` reads first into the host's caches.
    #[inline]
    pub fn will_be_read(&self, line: u64) {
        self.index.will_be_read(line);
    }

    /// Prefetches the state of `line` into the host's caches, or, if it is not found at once, that of
    /// the oldest line of the set that `set_key` selects.
    #[inline]
    pub fn will_be_used(&self, line: u64, set_key: impl FnOnce(u64) -> u64) {
        let oldest = || self.sets[self.set_of(set_key(line)).index()].oldest.index();
        let slot = self.index.guess(line).map_or_else(oldest, |row| row as usize);
        hint::will_be_read(&self.lines[slot]);
    }

    /// Returns the position of `line` if any part of it is valid or pending.
    #[inline]
    pub fn find(&self, line: u64) -> Option<LineSlot> {
        self.index.get(line, |row| self.lines[LineSlot(row).index()].number()).map(LineSlot)
    }

    /// Returns whether all `bytes` of a sector are valid.
    #[inline]
    pub fn holds(&self, slot: LineSlot, sector: u32, bytes: u32) -> bool {
        let line = &self.lines[slot.index()];
        let valid = match (line.whole >> sector & 1, line.partial >> sector & 1) {
            (1, _) => ALL_BYTES,
            (_, 1) => self.bytes[self.part(slot, sector)],
            _ => 0,
        };
        valid & bytes == bytes
    }

    /// Returns the sectors that are partially valid or pending, one bit each.
    #[inline]
    pub fn present(&self, slot: LineSlot) -> u8 {
        let line = &self.lines[slot.index()];
        line.whole | line.partial | line.pending
    }

    fn part(&self, slot: LineSlot, sector: u32) -> usize {
        slot.index() * self.sectors + sector as usize
    }

    /// Records a use of the line: under LRU it becomes the newest of its set.
    #[inline]
    pub fn touch(&mut self, slot: LineSlot) {
        if self.lru {
            self.make_newest(slot, self.set_at(slot));
        }
    }

    /// Makes the line the oldest of its set, replaced next.
    #[inline]
    pub fn demote(&mut self, slot: LineSlot) {
        let set = self.set_at(slot);
        let oldest = self.sets[set.index()].oldest;
        if oldest != slot {
            self.unlink(slot, set);
            self.set_newer(slot, oldest);
            self.set_older(oldest, slot);
            self.sets[set.index()].oldest = slot;
        }
    }

    /// Returns the position that a new line would take; none if every line of the set is reserved.
    /// `set_key` selects the set: the number of the line, or its number within a slice.
    /// `evict_last` lines are the last choice.
    #[inline(always)]
    pub fn victim(&self, set_key: u64) -> Option<Victim> {
        let set = self.set_of(set_key);
        let Set { oldest: mut at, newest } = self.sets[set.index()];
        loop {
            let line = &self.lines[at.index()];
            if line.pending == 0 && !self.kept.has(at) {
                let leaving = (line.number() != NO_LINE).then_some((line.number(), line.dirty));
                return Some(Victim { slot: at, set, line: leaving });
            }
            if at == newest {
                return self.kept_victim(set);
            }
            at = self.newer(at);
        }
    }

    /// Returns the set of the line at `slot`.
    #[inline]
    fn set_at(&self, slot: LineSlot) -> SetId {
        SetId(self.lines[slot.index()].set)
    }

    fn set_of(&self, key: u64) -> SetId {
        let set = self.set_mask.map_or_else(|| key % self.sets.len() as u64, |mask| key & mask);
        // The number of sets of a hashed cache is a power of two.
        let above = |hash: &Hash| usize::from(hash.of(key >> self.sets.len().trailing_zeros()));
        SetId::new(set as usize ^ self.hash.as_ref().map_or(0, above))
    }

    /// Replaces the victim by `line`, with no valid sector.
    #[inline]
    pub fn replace(&mut self, victim: Victim, line: u64) -> LineSlot {
        let Victim { slot, set, line: leaving } = victim;
        if let Some((old, dirty)) = leaving {
            self.forget(old);
            if dirty != 0 && self.bounds_dirty() {
                self.dirty.remove(slot, set);
            }
        }
        let entry = &mut self.lines[slot.index()];
        debug_assert!(entry.pending == 0);
        self.kept.remove(slot);
        let (older, newer) = (entry.older, entry.newer);
        *entry = Line { number_after: line + 1, older, newer, set: set.0, ..Line::zeroed() };
        self.index.insert(line, slot.0);
        self.make_newest(slot, set);
        slot
    }

    /// Marks a sector pending, which reserves its line.
    #[inline]
    pub fn reserve(&mut self, slot: LineSlot, sector: u32) {
        self.lines[slot.index()].pending |= 1 << sector;
    }

    /// Marks a sector as valid after its fill.
    #[inline]
    pub fn fill(&mut self, slot: LineSlot, sector: u32) {
        let line = &mut self.lines[slot.index()];
        line.pending &= !(1 << sector);
        line.whole |= 1 << sector;
    }

    /// Marks `bytes` of a sector as valid after a store.
    #[inline]
    pub fn write(&mut self, slot: LineSlot, sector: u32, bytes: u32, dirty: bool) {
        let part = self.part(slot, sector);
        if dirty && self.bounds_dirty() && self.lines[slot.index()].dirty == 0 {
            self.becomes_dirty(slot);
        }
        let line = &mut self.lines[slot.index()];
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

    /// Returns whether a sector is pending.
    pub fn is_pending(&self, slot: LineSlot, sector: u32) -> bool {
        self.lines[slot.index()].pending >> sector & 1 == 1
    }

    /// Drops the data of a sector. A line without sectors is removed, and its position is reused
    /// first.
    #[inline]
    pub fn drop_sector(&mut self, slot: LineSlot, sector: u32) {
        let line = &mut self.lines[slot.index()];
        line.whole &= !(1 << sector);
        line.partial &= !(1 << sector);
        if line.whole | line.partial | line.pending | line.dirty == 0 {
            self.give_up(slot);
        }
    }

    /// Drops the data of every line, dirty data too. Passes each line that leaves the array, by
    /// position and number, to `left`; a line with a pending sector keeps its position. Returns the
    /// number of dirty sectors.
    pub fn invalidate(&mut self, mut left: impl FnMut(LineSlot, u64)) -> u64 {
        let mut dirty = 0;
        for slot in (0..self.lines.len() as u32).map(LineSlot) {
            let line = &mut self.lines[slot.index()];
            if line.number() == NO_LINE {
                continue;
            }
            dirty += u64::from(line.dirty.count_ones());
            (line.whole, line.partial, line.dirty) = (0, 0, 0);
            let (number, is_reserved) = (line.number(), line.pending != 0);
            if !is_reserved {
                left(slot, number);
                self.give_up(slot);
            }
        }
        self.release_all();
        self.dirty.remove_all();
        dirty
    }

    fn give_up(&mut self, slot: LineSlot) {
        let line = self.lines[slot.index()].number();
        self.forget(line);
        self.lines[slot.index()].number_after = 0;
        self.kept.remove(slot);
        self.demote(slot);
    }

    /// Removes a line from the index.
    #[inline]
    fn forget(&mut self, line: u64) {
        let number_of = |row| self.lines[LineSlot(row).index()].number();
        if let Some(found) = self.index.find(line, number_of) {
            self.index.remove(found, number_of);
        }
    }

    #[inline]
    fn older(&self, slot: LineSlot) -> LineSlot {
        LineSlot(self.lines[slot.index()].older.wrapping_add(slot.0).wrapping_sub(1))
    }

    #[inline]
    fn newer(&self, slot: LineSlot) -> LineSlot {
        LineSlot(self.lines[slot.index()].newer.wrapping_add(slot.0).wrapping_add(1))
    }

    #[inline]
    fn set_older(&mut self, slot: LineSlot, older: LineSlot) {
        self.lines[slot.index()].older = older.0.wrapping_sub(slot.0).wrapping_add(1);
    }

    #[inline]
    fn set_newer(&mut self, slot: LineSlot, newer: LineSlot) {
        self.lines[slot.index()].newer = newer.0.wrapping_sub(slot.0).wrapping_sub(1);
    }

    #[inline]
    fn make_newest(&mut self, slot: LineSlot, set: SetId) {
        let newest = self.sets[set.index()].newest;
        if newest != slot {
            self.unlink(slot, set);
            self.set_older(slot, newest);
            self.set_newer(newest, slot);
            self.sets[set.index()].newest = slot;
        }
    }

    /// Removes a line from the order of its set, which has others.
    fn unlink(&mut self, slot: LineSlot, set: SetId) {
        let (older, newer) = (self.older(slot), self.newer(slot));
        let ends = &mut self.sets[set.index()];
        let (is_oldest, is_newest) = (ends.oldest == slot, ends.newest == slot);
        if is_oldest {
            ends.oldest = newer;
        } else {
            self.set_newer(older, newer);
        }
        if is_newest {
            self.sets[set.index()].newest = older;
        } else {
            self.set_older(newer, older);
        }
    }
}

#[cfg(test)]
mod tests;
