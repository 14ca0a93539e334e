//! A bound on the dirty lines of a set (`l2.dirty_ways`). The line written least recently is cleaned
//! when a write would exceed it.

use super::{LineSlot, SetId, Tags};

/// Set in the last write of a clean line.
const CLEAN: u64 = 1 << 63;

/// The bound, and the order of the writes.
#[derive(Default)]
pub(super) struct DirtyBound {
    /// Most dirty lines of a set; 0: no bound.
    pub most: u32,
    /// Number of the last recorded write to each position, with [`CLEAN`] unless its line is dirty;
    /// empty until the first write.
    last_writes: Vec<u64>,
    /// Number of dirty lines, by set.
    dirty: Vec<u32>,
    writes: u64,
}

impl DirtyBound {
    pub fn new(most: u32) -> DirtyBound {
        DirtyBound { most, ..DirtyBound::default() }
    }

    /// Records that a clean line has become dirty.
    pub fn add(&mut self, slot: LineSlot, set: SetId) {
        self.last_writes[slot.index()] &= !CLEAN;
        self.dirty[set.index()] += 1;
    }

    /// Records that a dirty line has become clean, or left.
    pub fn remove(&mut self, slot: LineSlot, set: SetId) {
        self.last_writes[slot.index()] |= CLEAN;
        self.dirty[set.index()] -= 1;
    }

    /// Records that no line is dirty any more.
    pub fn remove_all(&mut self) {
        self.last_writes.iter_mut().for_each(|write| *write |= CLEAN);
        self.dirty.fill(0);
    }
}

impl Tags {
    /// Whether the dirty lines of a set are bounded.
    #[inline]
    pub fn bounds_dirty(&self) -> bool {
        self.dirty.most > 0
    }

    /// Sets the most dirty lines of a set, 0 = no bound.
    pub fn bound_dirty(&mut self, most: u32) {
        self.dirty = DirtyBound::new(most);
    }

    /// Records that the line at `slot` becomes dirty.
    #[inline(never)]
    pub(super) fn becomes_dirty(&mut self, slot: LineSlot) {
        let (set, bound) = (self.set_at(slot), &mut self.dirty);
        if bound.last_writes.is_empty() {
            bound.last_writes = vec![CLEAN; self.lines.len()];
            bound.dirty = vec![0; self.sets.len()];
        }
        bound.add(slot, set);
    }

    /// Records a write to the line at `slot`, which is dirty. If its set has more dirty lines than
    /// the bound allows, marks the one written least recently clean and returns its number and its
    /// dirty sectors.
    pub fn clean_beyond_bound(&mut self, slot: LineSlot) -> Option<(u64, u8)> {
        let (set, bound) = (self.set_at(slot), &mut self.dirty);
        bound.writes += 1;
        bound.last_writes[slot.index()] = bound.writes;
        if bound.dirty[set.index()] <= bound.most {
            return None;
        }
        let last = self.written_first(set);
        self.dirty.remove(last, set);
        let line = &mut self.lines[last.index()];
        Some((line.number(), std::mem::take(&mut line.dirty)))
    }

    /// Returns the dirty line of a set that was written least recently. Lines whose write was not
    /// recorded ([`CacheController::modify`](crate::CacheController::modify)) have no number:
    /// the oldest of the replacement order is the first of them.
    fn written_first(&self, set: SetId) -> LineSlot {
        let ways = self.lines.len() / self.sets.len();
        let first = set.index() * ways;
        let writes = &self.dirty.last_writes[first..first + ways];
        let least = writes.iter().copied().min().expect("a set has lines");
        let is_least = |at: &LineSlot| self.dirty.last_writes[at.index()] == least;
        if least > 0 {
            let way = writes.iter().position(|&write| write == least);
            return LineSlot::new(first + way.expect("one of them is the least"));
        }
        self.oldest_first(set).find(is_least).expect("dirty lines are in the replacement order")
    }
}
