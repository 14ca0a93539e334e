//! A bound on the dirty lines of a set (`l2.dirty_ways`). The line written least recently is cleaned
//! when a write would exceed it.

use super::{LineSlot, Tags};

/// The bound, and the order of the writes.
#[derive(Default)]
pub(super) struct DirtyBound {
    /// Most dirty lines of a set; 0: no bound.
    pub most: u32,
    /// Number of the last write to each position; empty until the first write.
    written: Vec<u64>,
    writes: u64,
}

impl DirtyBound {
    pub fn new(most: u32) -> DirtyBound {
        DirtyBound { most, ..DirtyBound::default() }
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

    /// Records a write to the line at `slot`, which is dirty. If its set has more dirty lines than
    /// the bound allows, marks the one written least recently clean and returns its number and its
    /// dirty sectors.
    pub fn clean_beyond_bound(&mut self, slot: LineSlot) -> Option<(u64, u8)> {
        let bound = &mut self.dirty;
        bound.written.resize(self.lines.len(), 0);
        bound.writes += 1;
        bound.written[slot.index()] = bound.writes;
        let is_dirty = |at: &LineSlot| self.lines[at.index()].dirty != 0;
        let dirty = || self.oldest_first(self.set_at(slot)).filter(is_dirty);
        if dirty().count() <= self.dirty.most as usize {
            return None;
        }
        let last = dirty().min_by_key(|at| self.dirty.written[at.index()])?;
        let line = &mut self.lines[last.index()];
        Some((line.number(), std::mem::take(&mut line.dirty)))
    }
}
