//! `evict_last` lines, which are evicted after all other lines of their set (PTX ISA,
//! `evict_last`).

use super::{LineSlot, NO_LINE, Set, SetId, Tags, Victim};

/// The `evict_last` lines of an array, one bit per position.
#[derive(Default)]
pub(super) struct Kept {
    /// Empty until the first such line.
    bits: Vec<u64>,
}

impl Kept {
    #[inline]
    pub fn has(&self, slot: LineSlot) -> bool {
        self.bits.get(slot.index() / 64).is_some_and(|bits| bits >> (slot.index() % 64) & 1 == 1)
    }

    fn insert(&mut self, slot: LineSlot, positions: usize) {
        self.bits.resize(positions.div_ceil(64), 0);
        self.bits[slot.index() / 64] |= 1 << (slot.index() % 64);
    }

    #[inline]
    pub fn remove(&mut self, slot: LineSlot) {
        if let Some(bits) = self.bits.get_mut(slot.index() / 64) {
            *bits &= !(1 << (slot.index() % 64));
        }
    }
}

impl Tags {
    /// Marks a line `evict_last`. At most the `most` most recently used lines of a set are. The
    /// limit follows the CUDA programming guide, "L2 Cache Set-Aside for Persisting Accesses"; the
    /// selection is an assumption.
    pub fn keep(&mut self, slot: LineSlot, most: u32) {
        if most == 0 || self.kept.has(slot) {
            return;
        }
        let set = self.set_at(slot);
        let mut kept = self.oldest_first(set).filter(|&other| self.kept.has(other));
        let oldest = kept.next();
        let count = u32::from(oldest.is_some()) + kept.count() as u32;
        if let Some(oldest) = oldest.filter(|_| count >= most) {
            self.kept.remove(oldest);
        }
        self.kept.insert(slot, self.lines.len());
    }

    /// Returns all lines to the normal replacement order.
    pub fn release_all(&mut self) {
        self.kept.bits.clear();
    }

    /// Returns a line to the normal replacement order.
    pub fn release(&mut self, slot: LineSlot) {
        self.kept.remove(slot);
    }

    /// Returns the oldest unreserved `evict_last` line of a set whose other lines are all reserved.
    #[cold]
    pub(super) fn kept_victim(&self, set: SetId) -> Option<Victim> {
        if self.kept.bits.is_empty() {
            return None;
        }
        let is_free = |slot: &LineSlot| self.lines[slot.index()].pending == 0;
        let slot = self.oldest_first(set).find(is_free)?;
        let line = &self.lines[slot.index()];
        Some(Victim { slot, set, line: Some((line.number(), line.dirty)) })
    }

    /// Iterates over the lines of a set, oldest first.
    pub(super) fn oldest_first(&self, set: SetId) -> impl Iterator<Item = LineSlot> {
        let Set { oldest, newest } = self.sets[set.index()];
        let newer = move |&at: &LineSlot| (at != newest).then(|| self.newer(at));
        let all = std::iter::successors(Some(oldest), newer);
        all.filter(|at| self.lines[at.index()].number() != NO_LINE)
    }
}
