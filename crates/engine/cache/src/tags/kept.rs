//! Lines that leave after all others of their set, because an access has asked for it (PTX ISA,
//! `evict_last`).

use super::{NIL, NO_LINE, SetId, Slot, Tags, Victim};

/// The kept lines of an array, a bit for each position.
#[derive(Default)]
pub(super) struct Kept {
    /// Empty until there is one.
    bits: Vec<u64>,
}

impl Kept {
    #[inline]
    pub fn has(&self, slot: Slot) -> bool {
        self.bits.get(slot.index() / 64).is_some_and(|bits| bits >> (slot.index() % 64) & 1 == 1)
    }

    fn insert(&mut self, slot: Slot, positions: usize) {
        self.bits.resize(positions.div_ceil(64), 0);
        self.bits[slot.index() / 64] |= 1 << (slot.index() % 64);
    }

    #[inline]
    pub fn remove(&mut self, slot: Slot) {
        if let Some(bits) = self.bits.get_mut(slot.index() / 64) {
            *bits &= !(1 << (slot.index() % 64));
        }
    }
}

impl Tags {
    /// Keeps a line. At most `most` lines of a set are kept, those that were used last (that there is a
    /// most: CUDA programming guide, "L2 Cache Set-Aside for Persisting Accesses"; which they are is
    /// assumed).
    pub fn keep(&mut self, slot: Slot, most: u32) {
        if most == 0 || self.kept.has(slot) {
            return;
        }
        let set = self.lines[slot.index()].set;
        let mut kept = self.oldest_first(set).filter(|&other| self.kept.has(other));
        let oldest = kept.next();
        let count = u32::from(oldest.is_some()) + kept.count() as u32;
        if let Some(oldest) = oldest.filter(|_| count >= most) {
            self.kept.remove(oldest);
        }
        self.kept.insert(slot, self.lines.len());
    }

    /// Lets all lines leave in their turn.
    pub fn release_all(&mut self) {
        self.kept.bits.clear();
    }

    /// Lets a line leave in its turn.
    pub fn release(&mut self, slot: Slot) {
        self.kept.remove(slot);
    }

    /// The kept line that a new one would replace, as all others of the set are reserved.
    #[cold]
    pub(super) fn kept_victim(&self, set: SetId) -> Option<Victim> {
        if self.kept.bits.is_empty() {
            return None;
        }
        let is_free = |slot: &Slot| self.lines[slot.index()].pending == 0;
        let slot = self.oldest_first(set).find(is_free)?;
        let line = &self.lines[slot.index()];
        Some(Victim { slot, set, line: Some((line.number(), line.dirty)) })
    }

    /// The lines of a set, oldest first.
    fn oldest_first(&self, set: SetId) -> impl Iterator<Item = Slot> {
        let present = |&at: &Slot| (at != NIL).then_some(at);
        let oldest = self.sets[set.index()].oldest;
        let all = std::iter::successors(present(&oldest), move |&at| present(&self.newer(at)));
        all.filter(|at| self.lines[at.index()].number() != NO_LINE)
    }
}
