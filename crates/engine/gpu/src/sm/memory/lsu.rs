//! The load/store unit and the queues of the schedulers in front of it.

use super::entry::{Entry, EntryId, RequestLists};
use crate::sm::scheduler::SchedulerId;
use std::collections::VecDeque;
use warpmem_machine as machine;
use warpmem_sim::{CoreCycle, bits};

/// Cycles from the unit's register until the unit works on an instruction.
const FROM_REGISTER: u64 = 2;

/// The load/store unit with its current instruction and a queue per scheduler. It takes the oldest
/// instruction offered (GPGPU-Sim, `register_set::get_ready`).
pub(super) struct Lsu {
    entries: Vec<Queued>,
    free: Vec<EntryId>,
    /// Lists of finished entries, for reuse.
    lists: Vec<RequestLists>,
    current: Option<EntryId>,
    queues: Vec<Queue>,
    /// Schedulers that offer an instruction, one bit each.
    offers: u64,
    /// Instructions reach the unit through operand collectors, which offer them one by one.
    has_collectors: bool,
    /// Capacity of each scheduler's queue, instructions.
    capacity: usize,
    issued: u64,
    /// Cycle until which the unit is busy with shared-memory passes.
    pub busy_until: CoreCycle,
}

/// An entry with its sequence number; smaller is older.
struct Queued {
    age: u64,
    entry: Entry,
}

/// Memory instructions of one scheduler.
#[derive(Default)]
struct Queue {
    /// Offered instructions, in order.
    offered: VecDeque<EntryId>,
    /// Number of instructions, those not offered yet included.
    len: usize,
}

impl Lsu {
    pub fn new(config: &machine::Sm) -> Lsu {
        Lsu {
            entries: Vec::new(),
            free: Vec::new(),
            lists: Vec::new(),
            current: None,
            queues: (0..config.schedulers).map(|_| Queue::default()).collect(),
            offers: 0,
            has_collectors: config.collectors > 0,
            capacity: config.lsu_queue as usize,
            issued: 0,
            busy_until: CoreCycle::ZERO,
        }
    }

    /// Whether the queue of a scheduler is full.
    #[inline]
    pub fn is_full(&self, scheduler: SchedulerId) -> bool {
        self.queues[scheduler.index()].len == self.capacity
    }

    /// Returns the schedulers that offer an instruction, one bit each.
    #[inline]
    pub fn offers(&self) -> u64 {
        self.offers
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether the unit has no instruction and none is offered.
    #[inline]
    pub fn is_unused(&self) -> bool {
        self.current.is_none() && self.offers == 0
    }

    /// Returns empty lists for the requests of an instruction.
    pub fn take_lists(&mut self) -> RequestLists {
        let mut lists = self.lists.pop().unwrap_or_default();
        lists.clear();
        lists
    }

    /// Adds an instruction that `scheduler` has issued; its queue must have room. Without
    /// collectors the instruction is offered immediately.
    pub fn push(&mut self, scheduler: SchedulerId, entry: Entry) -> EntryId {
        assert!(!self.is_full(scheduler), "the load/store queue overflows");
        let queued = Queued { age: self.issued, entry };
        self.issued += 1;
        let id = match self.free.pop() {
            Some(id) => {
                self.entries[id.index()] = queued;
                id
            }
            None => {
                self.entries.push(queued);
                EntryId::new(self.entries.len() - 1)
            }
        };
        self.queues[scheduler.index()].len += 1;
        if !self.has_collectors {
            self.add_offer(scheduler, id);
        }
        id
    }

    /// Moves an instruction from a collector to the unit's register in `cycle`.
    pub fn offer(&mut self, scheduler: SchedulerId, id: EntryId, cycle: CoreCycle) {
        let entry = &mut self.entries[id.index()].entry;
        entry.from = entry.from.max(cycle + FROM_REGISTER);
        self.add_offer(scheduler, id);
    }

    fn add_offer(&mut self, scheduler: SchedulerId, id: EntryId) {
        self.queues[scheduler.index()].offered.push_back(id);
        self.offers |= 1 << scheduler.index();
    }

    /// Returns the current instruction.
    #[inline]
    pub fn head(&self) -> Option<&Entry> {
        self.current.map(|id| &self.entries[id.index()].entry)
    }

    /// Returns the current instruction.
    #[inline]
    pub fn head_mut(&mut self) -> Option<&mut Entry> {
        self.current.map(|id| &mut self.entries[id.index()].entry)
    }

    /// Without collectors: takes the oldest instruction that can start in `cycle`, if the unit is
    /// free.
    #[inline]
    pub fn take(&mut self, cycle: CoreCycle) {
        if !self.has_collectors && self.may_take(cycle) {
            self.take_for(cycle);
        }
    }

    /// With collectors: takes in `cycle` the instruction to start in the next, which frees the
    /// unit's register immediately.
    #[inline]
    pub fn take_next(&mut self, cycle: CoreCycle) {
        if self.has_collectors && self.may_take(cycle + 1) {
            self.take_for(cycle + 1);
        }
    }

    /// Whether an instruction is offered and the unit is free in cycle `start`.
    #[inline]
    fn may_take(&self, start: CoreCycle) -> bool {
        self.offers != 0 && self.current.is_none() && self.busy_until <= start
    }

    /// Takes the oldest instruction that can start in cycle `start`, in which the unit is free.
    fn take_for(&mut self, start: CoreCycle) {
        let first = |at: usize| self.first(at).filter(|queued| queued.entry.from <= start);
        let ages = bits::ones(self.offers).filter_map(|at| Some((first(at)?.age, at)));
        let Some((_, at)) = ages.min() else { return };
        let queue = &mut self.queues[at];
        let id = queue.offered.pop_front().expect("the scheduler offers an instruction");
        queue.len -= 1;
        if queue.offered.is_empty() {
            self.offers &= !(1 << at);
        }
        self.entries[id.index()].entry.from = start;
        self.current = Some(id);
    }

    /// Returns the first offered instruction of a queue.
    fn first(&self, queue: usize) -> Option<&Queued> {
        self.queues[queue].offered.front().map(|id| &self.entries[id.index()])
    }

    /// Removes the finished current instruction.
    pub fn pop(&mut self) {
        let done = self.current.take().expect("the unit has an instruction");
        self.lists.push(std::mem::take(&mut self.entries[done.index()].entry.lists));
        self.free.push(done);
    }

    /// Returns the next cycle from `soon` on in which the unit can work on its instruction or take
    /// one.
    #[inline]
    pub fn next(&self, soon: CoreCycle) -> CoreCycle {
        let first = match self.head() {
            Some(entry) => entry.from.max(self.busy_until),
            None => {
                let from = |at: usize| self.first(at).map(|queued| queued.entry.from);
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
    fn an_unused_unit_allocates_no_entries() {
        let mut config = load("accelsim-qv100", &[]).unwrap().sm;
        (config.schedulers, config.lsu_queue) = (64, 65_536);
        let lsu = Lsu::new(&config);
        assert_eq!(lsu.entries.capacity(), 0);
    }

    #[test]
    fn a_unit_without_instructions_requests_no_cycle() {
        let lsu = Lsu::new(&load("accelsim-qv100", &[]).unwrap().sm);
        assert_eq!(lsu.next(CoreCycle::new(5)), CoreCycle::NEVER);
    }
}
