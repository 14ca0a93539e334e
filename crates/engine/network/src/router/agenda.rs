//! The routers and sources to step in a cycle: sets of numbers, one bit each.

use super::ids::RouterId;
use crate::ids::SourceId;
use std::marker::PhantomData;
use warpmem_sim::{Id, bits};

/// The routers and the sources to step.
pub(super) struct Agenda {
    pub routers: StepSet<RouterId>,
    pub sources: StepSet<SourceId>,
}

impl Agenda {
    pub fn new(routers: usize, sources: usize) -> Agenda {
        Agenda { routers: StepSet::new(routers), sources: StepSet::new(sources) }
    }

    /// Ends this cycle; returns whether any router or source is to be stepped in the next.
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.routers.advance() | self.sources.advance()
    }
}

/// Units to step in this cycle, in the next, and whenever the network is stepped next.
pub(super) struct StepSet<I> {
    now: Vec<u64>,
    next: Vec<u64>,
    later: Vec<u64>,
    units: PhantomData<fn(I)>,
}

impl<I: Id> StepSet<I> {
    fn new(units: usize) -> StepSet<I> {
        let none = vec![0; units.div_ceil(bits::WORD)];
        StepSet { now: none.clone(), next: none.clone(), later: none, units: PhantomData }
    }

    /// Steps a unit in this cycle.
    #[inline]
    pub fn now(&mut self, unit: I) {
        bits::insert(&mut self.now, unit.index());
    }

    /// Steps a unit in the next cycle.
    #[inline]
    pub fn next(&mut self, unit: I) {
        bits::insert(&mut self.next, unit.index());
    }

    /// Steps a unit in the next cycle in which the network is stepped, without requesting one.
    #[inline]
    pub fn later(&mut self, unit: I) {
        bits::insert(&mut self.later, unit.index());
    }

    /// Takes the first unit of this cycle, starting at word `word` of the set; returns the word in
    /// which it was found, and the unit.
    #[inline]
    pub fn take(&mut self, word: usize) -> Option<(usize, I)> {
        let found = (word..self.now.len()).find(|&word| self.now[word] != 0)?;
        let bit = bits::take_lowest(&mut self.now[found])?;
        Some((found, I::new(found * bits::WORD + bit)))
    }

    /// Ends this cycle, whose units have all been taken; returns whether a unit is to be stepped in
    /// the next.
    #[inline]
    fn advance(&mut self) -> bool {
        let mut busy = 0;
        for ((now, next), later) in self.now.iter_mut().zip(&mut self.next).zip(&mut self.later) {
            busy |= *next;
            *now = std::mem::take(next) | std::mem::take(later);
        }
        busy != 0
    }
}
