//! The way of memory instructions from the schedulers to the load/store unit.

use super::access::AccessId;
use super::lane::{Lane, Pipe};
use crate::sm::scheduler::SchedulerId;
use std::cmp::Reverse;
use warpmem_machine as machine;
use warpmem_sim::{CoreCycle, SliceId};
use warpmem_trace::CacheOp;

/// One sector that a memory instruction touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sector {
    pub address: u64,
    /// Parts read or covered, one bit per 1/32 of the sector.
    pub bytes: u32,
    /// Largest number of lanes of an atomic that hit one address.
    pub max_lanes_per_address: u8,
    /// The LLC slice that has it.
    pub slice: SliceId,
}

impl Sector {
    pub const BLANK: Sector =
        Sector { address: 0, bytes: 0, max_lanes_per_address: 0, slice: SliceId(0) };
}

/// The distinct sectors of a memory instruction, in the order in which lanes touch them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sectors {
    items: Vec<Sector>,
}

impl Sectors {
    #[cfg(test)]
    pub fn new() -> Sectors {
        Sectors::default()
    }

    pub fn clear(&mut self) {
        self.items.clear();
    }

    pub fn push(&mut self, sector: Sector) -> usize {
        self.items.push(sector);
        self.items.len() - 1
    }

    /// Puts them in the order of their addresses, the highest first.
    pub fn descend(&mut self) {
        // Lanes mostly touch them from the lowest up.
        if self.items.is_sorted_by_key(|sector| sector.address) {
            self.items.reverse();
        } else {
            self.items.sort_unstable_by_key(|sector| Reverse(sector.address));
        }
    }

    pub fn as_slice(&self) -> &[Sector] {
        &self.items
    }

    pub fn as_mut_slice(&mut self) -> &mut [Sector] {
        &mut self.items
    }

    pub fn at_mut(&mut self, at: usize) -> &mut Sector {
        &mut self.items[at]
    }
}

/// What the unit does for an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Shared memory: so many passes over the banks.
    Shared {
        passes: u32,
    },
    Load,
    Store {
        local: bool,
    },
    Atomic,
}

/// A memory instruction that has issued and whose requests have not all been sent.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub access: AccessId,
    pub work: Work,
    pub cache_op: CacheOp,
    pub sectors: Sectors,
    /// Sectors sent so far.
    pub sent: usize,
    /// Cycle from which the unit may work on it.
    pub from: CoreCycle,
    /// Instructions that issued before it.
    pub age: u64,
    /// Cycle in which it came to where it waits.
    pub since: CoreCycle,
}

impl Entry {
    /// An entry that has not been used.
    pub fn blank() -> Entry {
        Entry {
            access: AccessId(0),
            work: Work::Load,
            cache_op: CacheOp::Default,
            sectors: Sectors::default(),
            sent: 0,
            from: CoreCycle::ZERO,
            age: 0,
            since: CoreCycle::ZERO,
        }
    }
}

/// Index of an entry.
pub(super) type EntryIndex = u32;

/// The load/store unit with the instruction that it works on, and those that wait for it, by
/// scheduler. It takes the oldest of what the schedulers have for it (GPGPU-Sim,
/// `register_set::get_ready`).
pub(super) struct Lsu {
    entries: Vec<Entry>,
    free: Vec<EntryIndex>,
    current: Option<EntryIndex>,
    lanes: Vec<Lane>,
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
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::blank());
            (self.entries.len() - 1) as EntryIndex
        });
        self.lanes[scheduler.index()].push(index);
        let entry = &mut self.entries[index as usize];
        (entry.age, entry.from, entry.since) = (self.issued, from, cycle);
        self.issued += 1;
        entry
    }

    /// The instruction that the unit works on.
    pub fn head(&self) -> Option<&Entry> {
        self.current.map(|index| &self.entries[index as usize])
    }

    /// The instruction that the unit works on, to be changed.
    pub fn head_mut(&mut self) -> Option<&mut Entry> {
        self.current.map(|index| &mut self.entries[index as usize])
    }

    /// What waits goes on as far as it can until the end of `cycle`.
    pub fn advance(&mut self, cycle: CoreCycle) {
        for lane in &mut self.lanes {
            lane.advance(cycle, &mut self.entries);
        }
    }

    /// If the unit has nothing to work on and is free in `cycle`, it takes the oldest instruction
    /// that it may work on then.
    pub fn take(&mut self, cycle: CoreCycle) {
        self.take_for(cycle, cycle);
    }

    /// The unit takes in `cycle` what it will work on in the next, and what waits behind that goes
    /// on at once (GPGPU-Sim, `shader_core_ctx::cycle`: `execute` comes before `read_operands`).
    pub fn take_next(&mut self, cycle: CoreCycle) {
        if self.pipe.takes_ahead() {
            self.take_for(cycle + 1, cycle);
        }
    }

    fn take_for(&mut self, work: CoreCycle, cycle: CoreCycle) {
        if self.current.is_some() || self.busy_until > work {
            return;
        }
        let entries = &mut self.entries;
        let age = |lane: &Lane| Some(entries[lane.first(work, entries)? as usize].age);
        let ages = self.lanes.iter().enumerate().filter_map(|(at, lane)| Some((age(lane)?, at)));
        let Some((_, lane)) = ages.min() else { return };
        let lane = &mut self.lanes[lane];
        let index = lane.take(cycle);
        lane.advance(cycle, entries);
        entries[index as usize].from = work;
        self.current = Some(index);
    }

    /// The unit is done with its instruction.
    pub fn pop(&mut self) {
        let done = self.current.take().expect("the unit works on an instruction");
        self.free.push(done);
    }

    /// The next cycle from `soon` on in which the unit can begin or go on with an instruction, or
    /// take one.
    pub fn next(&self, soon: CoreCycle) -> CoreCycle {
        let first = match self.head() {
            Some(entry) => entry.from.max(self.busy_until),
            None => {
                let next = |lane: &Lane| lane.next(&self.entries);
                let next = self.lanes.iter().map(next).min().unwrap_or(CoreCycle::NEVER);
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
