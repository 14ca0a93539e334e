//! Requests in service: at most one per bank, from its first command to its last.

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
    /// Column commands issued so far.
    pub issued: u16,
    pub slot: Slot,
    /// Index of its queue.
    pub queue: u8,
    /// [`READS`](super::queues::READS), [`WRITES`](super::queues::WRITES) or [`PREFETCHES`],
    /// independent of its queue.
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

/// Requests in service in a channel.
pub(super) struct Service {
    /// Banks with a request or a prefetch in service.
    busy: BankSet,
    prefetching: BankSet,
    /// Requests in service, by kind.
    counts: [u32; 3],
    /// Completed reads and prefetches.
    reads_ended: u64,
    /// Request in service, by bank; stale for an idle bank.
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

    /// Returns the request in service in the bank.
    #[inline]
    pub fn of(&self, bank: BankId) -> Option<Active> {
        (!self.is_idle(bank)).then(|| self.active[bank])
    }

    /// Returns whether nothing is in service in the bank.
    #[inline]
    pub fn is_idle(&self, bank: BankId) -> bool {
        self.busy & one(bank) == 0
    }

    /// Returns the banks with a request or a prefetch in service.
    #[inline]
    pub fn busy(&self) -> BankSet {
        self.busy
    }

    /// Returns the banks with a prefetch in service.
    #[inline]
    pub fn prefetching(&self) -> BankSet {
        self.prefetching
    }

    /// Returns the number of reads and prefetches in service.
    #[inline]
    pub fn reads(&self) -> u32 {
        let [reads, _, prefetches] = self.counts;
        reads + prefetches
    }

    /// Returns the number of completed reads and prefetches.
    #[inline]
    pub fn reads_ended(&self) -> u64 {
        self.reads_ended
    }

    /// Returns the number of reads and writes in service.
    #[inline]
    pub fn requests(&self) -> u32 {
        let [reads, writes, _] = self.counts;
        reads + writes
    }

    /// Puts a request into service with its first command.
    #[inline]
    pub fn begin(&mut self, bank: BankId, active: Active) {
        self.busy |= one(bank);
        if usize::from(active.kind) == PREFETCHES {
            self.prefetching |= one(bank);
        }
        self.counts[usize::from(active.kind)] += 1;
        self.active[bank] = active;
    }

    /// Counts a column command of the bank's request and returns the request.
    #[inline]
    pub fn access(&mut self, bank: BankId) -> Active {
        debug_assert!(!self.is_idle(bank), "data of no request");
        let active = &mut self.active[bank];
        active.issued += 1;
        *active
    }

    /// Ends the service of the bank's request of this kind after its last column command.
    #[inline]
    pub fn end(&mut self, bank: BankId, kind: usize) {
        self.busy &= !one(bank);
        self.prefetching &= !one(bank);
        self.counts[kind] -= 1;
        self.reads_ended += u64::from(kind != WRITES);
    }
}
