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

    /// The line is to be the next of its set to be replaced.
    pub fn demote(&mut self, slot: Slot) {
        self.unlink(slot.0);
        self.link_oldest(slot.0);
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

    fn link_oldest(&mut self, slot: u32) {
        let set = self.lines[slot as usize].set as usize;
        let oldest = self.sets[set].oldest;
        self.lines[slot as usize].older = NIL;
        self.lines[slot as usize].newer = oldest;
        match oldest {
            NIL => self.sets[set].newest = slot,
            other => self.lines[other as usize].older = slot,
        }
        self.sets[set].oldest = slot;
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
mod tests;
