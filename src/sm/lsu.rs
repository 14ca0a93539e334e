//! The queue of the load/store unit.

use super::access::AccessId;
use crate::machine;
use std::collections::VecDeque;
use warpmem_trace::CacheOp;

/// One sector that a memory instruction touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sector {
    pub address: u64,
    /// Parts read or covered, one bit per 1/32 of the sector.
    pub bytes: u32,
    /// Largest number of lanes of an atomic at one address.
    pub serial: u8,
    /// The LLC slice that has it.
    pub slice: u16,
}

impl Sector {
    pub const BLANK: Sector = Sector { address: 0, bytes: 0, serial: 0, slice: 0 };
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
    Store,
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
    pub from: u64,
    /// Scheduler that issued it.
    pub scheduler: u32,
}

impl Entry {
    /// What a place holds before its first instruction.
    pub fn blank() -> Entry {
        Entry {
            access: AccessId(0),
            work: Work::Load,
            cache_op: CacheOp::Default,
            sectors: Sectors::default(),
            sent: 0,
            from: 0,
            scheduler: 0,
        }
    }
}

/// Entries for which there is room from the start.
const FIRST_ENTRIES: usize = 8;

/// Memory instructions in the order in which they issued; the first is being worked on. Those that the unit has not
/// begun with have their places by scheduler.
pub(super) struct Lsu {
    /// Grows to the most entries that have been in use at once, so that a long queue costs what it holds.
    ring: Vec<Entry>,
    head: usize,
    len: usize,
    /// By scheduler, the cycles from which the unit may begin with those that wait.
    waiting: Vec<VecDeque<u64>>,
    places: usize,
    collectors: usize,
    /// The unit has begun with the first.
    begun: bool,
    /// Until this cycle the unit works on shared-memory passes.
    pub busy_until: u64,
}

impl Lsu {
    pub fn new(config: &machine::Sm) -> Lsu {
        Lsu {
            ring: vec![Entry::blank(); FIRST_ENTRIES],
            head: 0,
            len: 0,
            waiting: vec![VecDeque::new(); config.schedulers as usize],
            places: config.lsu_queue as usize,
            collectors: config.collectors as usize,
            begun: false,
            busy_until: 0,
        }
    }

    /// Whether a scheduler has no place left.
    pub fn is_full(&self, scheduler: usize) -> bool {
        self.waiting[scheduler].len() == self.places
    }

    /// The cycle from which instructions that wait for the unit hold all operand collectors of a scheduler; the first
    /// of them has left its own for the unit's register.
    pub fn holds_collectors_from(&self, scheduler: usize) -> u64 {
        match self.collectors {
            0 => u64::MAX,
            collectors => self.waiting[scheduler].get(collectors).copied().unwrap_or(u64::MAX),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// A place for an instruction of `scheduler` on which the unit may work from cycle `from` on, to be filled in; its
    /// sectors are those of an old entry. There must be room.
    pub fn push(&mut self, scheduler: usize, from: u64) -> &mut Entry {
        assert!(!self.is_full(scheduler), "the load/store queue overflows");
        self.waiting[scheduler].push_back(from);
        if self.len == self.ring.len() {
            self.grow();
        }
        let at = self.wrapped(self.head + self.len);
        self.len += 1;
        let entry = &mut self.ring[at];
        entry.scheduler = scheduler as u32;
        entry.from = from;
        entry
    }

    fn grow(&mut self) {
        self.ring.rotate_left(self.head);
        self.head = 0;
        self.ring.resize(2 * self.len, Entry::blank());
    }

    fn wrapped(&self, at: usize) -> usize {
        if at < self.ring.len() { at } else { at - self.ring.len() }
    }

    /// The first instruction.
    pub fn head(&self) -> Option<&Entry> {
        (self.len > 0).then(|| &self.ring[self.head])
    }

    /// The first instruction, to be changed.
    pub fn head_mut(&mut self) -> Option<&mut Entry> {
        (self.len > 0).then(|| &mut self.ring[self.head])
    }

    /// The unit begins with the first instruction, if it has not: its place is free from now on.
    pub fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.waiting[self.ring[self.head].scheduler as usize].pop_front();
        }
    }

    /// Whether the unit has begun with the first instruction.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// The unit is done with the first instruction.
    pub fn pop(&mut self) {
        debug_assert!(self.len > 0 && self.begun);
        self.begun = false;
        self.head = self.wrapped(self.head + 1);
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    fn config(schedulers: u32, entries: u32) -> machine::Sm {
        let mut config = Machine::preset("v100").unwrap().sm;
        (config.schedulers, config.lsu_queue) = (schedulers, entries);
        config
    }

    #[test]
    fn the_longest_queues_take_no_memory_before_they_are_used() {
        let lsu = Lsu::new(&config(64, 65_536));
        assert!(lsu.ring.capacity() <= 64);
        assert!(lsu.waiting.iter().all(|waiting| waiting.capacity() <= 64));
    }

    #[test]
    fn entries_keep_their_order_while_the_queue_grows() {
        let mut lsu = Lsu::new(&config(2, 100));
        let mut next = 0..;
        let mut pushed = 0;
        for round in 0..150 {
            for scheduler in 0..2 {
                if !lsu.is_full(scheduler) {
                    lsu.push(scheduler, pushed);
                    pushed += 1;
                }
            }
            if round % 3 == 0 {
                assert_eq!(lsu.head().map(|entry| entry.from), next.next());
                lsu.begin();
                lsu.pop();
            }
        }
        assert!(lsu.len() > 100);
        while let Some(entry) = lsu.head() {
            assert_eq!(Some(entry.from), next.next());
            lsu.begin();
            lsu.pop();
        }
        assert_eq!(next.next(), Some(pushed));
    }
}
