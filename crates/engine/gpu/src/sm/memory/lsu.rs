//! The way of memory instructions from the schedulers to the load/store unit.

use super::entry::{Entry, EntryId};
use crate::sm::scheduler::SchedulerId;
use std::collections::VecDeque;
use warpmem_machine as machine;
use warpmem_sim::{CoreCycle, bits};

/// Cycles from the unit's register until the unit works on what is there.
const FROM_REGISTER: u64 = 2;

/// The load/store unit with the instruction that it works on, and those that wait for it, by
/// scheduler. It takes the oldest of what the schedulers have for it (GPGPU-Sim,
/// `register_set::get_ready`).
pub(super) struct Lsu {
    entries: Vec<Entry>,
    free: Vec<EntryId>,
    current: Option<EntryId>,
    lanes: Vec<Lane>,
    /// The lanes that offer an instruction, one bit each.
    offers: u64,
    /// Instructions come to the unit by way of operand collectors, which offer them one by one.
    has_collectors: bool,
    /// Instructions that each scheduler may have waiting.
    capacity: usize,
    issued: u64,
    /// Until this cycle the unit works on shared-memory passes.
    pub busy_until: CoreCycle,
}

/// Memory instructions of one scheduler.
#[derive(Default)]
struct Lane {
    /// What it offers, in order.
    offered: VecDeque<EntryId>,
    /// With those that are not offered yet.
    len: usize,
}

impl Lsu {
    pub fn new(config: &machine::Sm) -> Lsu {
        Lsu {
            entries: Vec::new(),
            free: Vec::new(),
            current: None,
            lanes: (0..config.schedulers).map(|_| Lane::default()).collect(),
            offers: 0,
            has_collectors: config.collectors > 0,
            capacity: config.lsu_queue as usize,
            issued: 0,
            busy_until: CoreCycle::ZERO,
        }
    }

    /// Whether a scheduler has no free entry left.
    pub fn is_full(&self, scheduler: SchedulerId) -> bool {
        self.lanes[scheduler.index()].len == self.capacity
    }

    /// The schedulers that offer an instruction, one bit each.
    #[inline]
    pub fn offers(&self) -> u64 {
        self.offers
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Takes an entry for an instruction that `scheduler` has issued, on which the unit may work from
    /// `from` on. The caller fills it in; its sectors are those of an old instruction. There must be
    /// room. Without collectors, the instruction is offered at once.
    pub fn push(&mut self, scheduler: SchedulerId, from: CoreCycle) -> EntryId {
        assert!(!self.is_full(scheduler), "the load/store queue overflows");
        let id = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::blank());
            EntryId::new(self.entries.len() - 1)
        });
        let entry = &mut self.entries[id.index()];
        (entry.age, entry.from) = (self.issued, from);
        self.issued += 1;
        self.lanes[scheduler.index()].len += 1;
        if !self.has_collectors {
            self.add_offer(scheduler, id);
        }
        id
    }

    /// A collector passes an instruction on to the unit's register in `cycle`.
    pub fn offer(&mut self, scheduler: SchedulerId, id: EntryId, cycle: CoreCycle) {
        let entry = &mut self.entries[id.index()];
        entry.from = entry.from.max(cycle + FROM_REGISTER);
        self.add_offer(scheduler, id);
    }

    fn add_offer(&mut self, scheduler: SchedulerId, id: EntryId) {
        self.lanes[scheduler.index()].offered.push_back(id);
        self.offers |= 1 << scheduler.index();
    }

    pub fn entry_mut(&mut self, id: EntryId) -> &mut Entry {
        &mut self.entries[id.index()]
    }

    /// The instruction that the unit works on.
    #[inline]
    pub fn head(&self) -> Option<&Entry> {
        self.current.map(|id| &self.entries[id.index()])
    }

    /// The instruction that the unit works on, to be changed.
    #[inline]
    pub fn head_mut(&mut self) -> Option<&mut Entry> {
        self.current.map(|id| &mut self.entries[id.index()])
    }

    /// If the unit has nothing to work on and is free in `cycle`, it takes the oldest instruction
    /// that it may work on then.
    #[inline]
    pub fn take(&mut self, cycle: CoreCycle) {
        if !self.has_collectors {
            self.take_for(cycle);
        }
    }

    /// The unit takes in `cycle` what it will work on in the next: what is behind its register can
    /// move on at once.
    #[inline]
    pub fn take_next(&mut self, cycle: CoreCycle) {
        if self.has_collectors {
            self.take_for(cycle + 1);
        }
    }

    /// The unit takes an instruction to work on in cycle `work`, if it is free then.
    fn take_for(&mut self, work: CoreCycle) {
        if self.offers == 0 || self.current.is_some() || self.busy_until > work {
            return;
        }
        let first = |at: usize| self.first(at).filter(|entry| entry.from <= work);
        let ages = bits::ones(self.offers).filter_map(|at| Some((first(at)?.age, at)));
        let Some((_, at)) = ages.min() else { return };
        let lane = &mut self.lanes[at];
        let id = lane.offered.pop_front().expect("it offers one");
        lane.len -= 1;
        if lane.offered.is_empty() {
            self.offers &= !(1 << at);
        }
        self.entries[id.index()].from = work;
        self.current = Some(id);
    }

    /// What a lane offers first.
    fn first(&self, lane: usize) -> Option<&Entry> {
        self.lanes[lane].offered.front().map(|id| &self.entries[id.index()])
    }

    /// The unit is done with its instruction.
    pub fn pop(&mut self) {
        let done = self.current.take().expect("the unit works on an instruction");
        self.free.push(done);
    }

    /// The next cycle from `soon` on in which the unit can begin or go on with an instruction, or
    /// take one that is offered.
    #[inline]
    pub fn next(&self, soon: CoreCycle) -> CoreCycle {
        let first = match self.head() {
            Some(entry) => entry.from.max(self.busy_until),
            None => {
                let from = |at: usize| self.first(at).map(|entry| entry.from);
                let Some(next) = bits::ones(self.offers).filter_map(from).min() else {
                    return CoreCycle::NEVER;
                };
                next.max(self.busy_until).saturating_sub(u64::from(self.has_collectors))
            }
        };
        first.max(soon)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_machine::load;

    #[test]
    fn the_longest_queues_take_no_memory_before_they_are_used() {
        let mut config = load("v100", &[]).unwrap().sm;
        (config.schedulers, config.lsu_queue) = (64, 65_536);
        let lsu = Lsu::new(&config);
        assert_eq!(lsu.entries.capacity(), 0);
    }

    #[test]
    fn a_unit_without_instructions_asks_for_no_cycle() {
        let lsu = Lsu::new(&load("v100", &[]).unwrap().sm);
        assert_eq!(lsu.next(CoreCycle::new(5)), CoreCycle::NEVER);
    }
}
