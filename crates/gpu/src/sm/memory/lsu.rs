//! The way of memory instructions from the schedulers to the load/store unit.

use super::entry::{Entry, EntryId};
use super::lane::{Lane, Pipe};
use crate::sm::scheduler::SchedulerId;
use warpmem_machine as machine;
use warpmem_sim::{CoreCycle, bits};

/// The load/store unit with the instruction that it works on, and those that wait for it, by
/// scheduler. It takes the oldest of what the schedulers have for it (GPGPU-Sim,
/// `register_set::get_ready`).
pub(super) struct Lsu {
    entries: Vec<Entry>,
    free: Vec<EntryId>,
    current: Option<EntryId>,
    lanes: Vec<Lane>,
    /// The lanes that hold an instruction, one bit each.
    occupied: u64,
    pipe: Pipe,
    /// Instructions that each scheduler may have waiting.
    capacity: usize,
    issued: u64,
    /// Until this cycle the unit works on shared-memory passes.
    pub busy_until: CoreCycle,
}

impl Lsu {
    pub fn new(config: &machine::Sm) -> Lsu {
        let pipe = Pipe::new(config);
        Lsu {
            entries: Vec::new(),
            free: Vec::new(),
            current: None,
            lanes: (0..config.schedulers).map(|_| Lane::new(pipe)).collect(),
            occupied: 0,
            pipe,
            capacity: config.lsu_queue as usize,
            issued: 0,
            busy_until: CoreCycle::ZERO,
        }
    }

    /// Whether a scheduler has no free entry left.
    pub fn is_full(&self, scheduler: SchedulerId) -> bool {
        self.lanes[scheduler.index()].len() == self.capacity
    }

    /// The cycle from which instructions that wait for the unit hold all operand collectors of a
    /// scheduler.
    pub fn holds_collectors_from(&self, scheduler: SchedulerId) -> CoreCycle {
        self.lanes[scheduler.index()].holds_collectors_from(&self.entries)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Takes an entry for an instruction that `scheduler` has issued in `cycle`, on which the unit
    /// may work from `from` on. The caller fills it in; its sectors are those of an old
    /// instruction. There must be room.
    pub fn push(
        &mut self,
        scheduler: SchedulerId,
        cycle: CoreCycle,
        from: CoreCycle,
    ) -> &mut Entry {
        assert!(!self.is_full(scheduler), "the load/store queue overflows");
        let id = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::blank());
            EntryId::new(self.entries.len() - 1)
        });
        self.lanes[scheduler.index()].push(id);
        self.occupied |= 1 << scheduler.index();
        let entry = &mut self.entries[id.index()];
        (entry.age, entry.from, entry.since) = (self.issued, from, cycle);
        self.issued += 1;
        entry
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

    /// What waits goes on as far as it can until the end of `cycle`.
    #[inline]
    pub fn advance(&mut self, cycle: CoreCycle) {
        for lane in bits::ones(self.occupied) {
            self.lanes[lane].advance(cycle, &mut self.entries);
        }
    }

    /// If the unit has nothing to work on and is free in `cycle`, it takes the oldest instruction
    /// that it may work on then.
    #[inline]
    pub fn take(&mut self, cycle: CoreCycle) {
        if self.may_take(cycle) {
            self.take_for(cycle, cycle);
        }
    }

    /// The unit takes in `cycle` what it will work on in the next, and what waits behind that goes
    /// on at once (GPGPU-Sim, `shader_core_ctx::cycle`: `execute` comes before `read_operands`).
    #[inline]
    pub fn take_next(&mut self, cycle: CoreCycle) {
        if self.may_take(cycle + 1) && self.pipe.takes_ahead() {
            self.take_for(cycle + 1, cycle);
        }
    }

    /// Whether the unit is free in cycle `work`, and something waits.
    #[inline]
    fn may_take(&self, work: CoreCycle) -> bool {
        self.occupied != 0 && self.current.is_none() && self.busy_until <= work
    }

    fn take_for(&mut self, work: CoreCycle, cycle: CoreCycle) {
        let entries = &mut self.entries;
        let age = |at: usize| Some(entries[self.lanes[at].first(work, entries)?.index()].age);
        let ages = bits::ones(self.occupied).filter_map(|at| Some((age(at)?, at)));
        let Some((_, at)) = ages.min() else { return };
        let lane = &mut self.lanes[at];
        let id = lane.take(cycle);
        if lane.len() == 0 {
            self.occupied &= !(1 << at);
        }
        lane.advance(cycle, entries);
        entries[id.index()].from = work;
        self.current = Some(id);
    }

    /// The unit is done with its instruction.
    pub fn pop(&mut self) {
        let done = self.current.take().expect("the unit works on an instruction");
        self.free.push(done);
    }

    /// The next cycle from `soon` on in which the unit can begin or go on with an instruction, or
    /// take one.
    #[inline]
    pub fn next(&self, soon: CoreCycle) -> CoreCycle {
        let first = match self.head() {
            Some(entry) => entry.from.max(self.busy_until),
            None => {
                let next = |at: usize| self.lanes[at].next(&self.entries);
                let next = bits::ones(self.occupied).map(next).min().unwrap_or(CoreCycle::NEVER);
                if next == CoreCycle::NEVER {
                    return next;
                }
                let ahead = u64::from(self.pipe.takes_ahead());
                next.max(self.busy_until).saturating_sub(ahead)
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
