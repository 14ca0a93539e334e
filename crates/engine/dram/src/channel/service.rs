//! Requests in service: at most one in each bank, from its first command to its last.

use super::queues::{PREFETCHES, WRITES};
use crate::by_bank::ByBank;
use crate::queue::Slot;
use crate::request::RowOutcome;
use crate::sets::{BankSet, one};
use warpmem_sim::{BankId, DramCycle};

/// A request in service.
#[derive(Clone, Copy)]
pub(super) struct Active {
    pub first_command: DramCycle,
    /// Column commands issued.
    pub issued: u16,
    pub slot: Slot,
    /// The queue that it came from.
    pub queue: u8,
    /// [`READS`](super::queues::READS), [`WRITES`](super::queues::WRITES) or [`PREFETCHES`],
    /// whatever queue it came from.
    pub kind: u8,
    pub outcome: RowOutcome,
}

impl Active {
    const NONE: Active = Active {
        first_command: DramCycle::ZERO,
        issued: 0,
        slot: Slot::NONE,
        queue: 0,
        kind: 0,
        outcome: RowOutcome::Hit,
    };
}

/// The requests in service in a channel.
pub(super) struct Service {
    /// Banks with a request or a prefetch in service.
    busy: BankSet,
    prefetching: BankSet,
    /// By kind.
    counts: [u32; 3],
    /// Reads and prefetches that have ended.
    reads_ended: u64,
    /// By bank; of an idle bank the last.
    active: ByBank<Active>,
}

impl Service {
    pub fn new() -> Service {
        Service {
            busy: 0,
            prefetching: 0,
            counts: [0; 3],
            reads_ended: 0,
            active: ByBank::new(Active::NONE),
        }
    }

    /// The request that is in service in the bank.
    #[inline]
    pub fn of(&self, bank: BankId) -> Option<Active> {
        (!self.is_idle(bank)).then(|| self.active[bank])
    }

    /// Nothing is in service in the bank.
    #[inline]
    pub fn is_idle(&self, bank: BankId) -> bool {
        self.busy & one(bank) == 0
    }

    /// Banks with a request or a prefetch in service.
    #[inline]
    pub fn busy(&self) -> BankSet {
        self.busy
    }

    /// Banks with a prefetch in service.
    #[inline]
    pub fn prefetching(&self) -> BankSet {
        self.prefetching
    }

    /// Reads and prefetches in service.
    #[inline]
    pub fn reads(&self) -> u32 {
        let [reads, _, prefetches] = self.counts;
        reads + prefetches
    }

    /// Reads and prefetches that have ended.
    #[inline]
    pub fn reads_ended(&self) -> u64 {
        self.reads_ended
    }

    /// Reads and writes in service.
    #[inline]
    pub fn requests(&self) -> u32 {
        let [reads, writes, _] = self.counts;
        reads + writes
    }

    /// The first command of a request issues.
    #[inline]
    pub fn begin(&mut self, bank: BankId, active: Active) {
        self.busy |= one(bank);
        if usize::from(active.kind) == PREFETCHES {
            self.prefetching |= one(bank);
        }
        self.counts[usize::from(active.kind)] += 1;
        self.active[bank] = active;
    }

    /// A column command of the bank's request issues; the request with it.
    #[inline]
    pub fn access(&mut self, bank: BankId) -> Active {
        debug_assert!(!self.is_idle(bank), "data of no request");
        let active = &mut self.active[bank];
        active.issued += 1;
        *active
    }

    /// The last column command of the bank's request, of this kind, has issued.
    #[inline]
    pub fn end(&mut self, bank: BankId, kind: usize) {
        self.busy &= !one(bank);
        self.prefetching &= !one(bank);
        self.counts[kind] -= 1;
        self.reads_ended += u64::from(kind != WRITES);
    }
}
