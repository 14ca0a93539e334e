//! The expiry of the scheduler's choices.

use crate::sets::{BankSet, one};
use warpmem_sim::{BankId, DramCycle};

/// The cycle, by bank, from which the scheduler's choice may change without an event at the bank.
pub(super) struct PickExpiry {
    /// A lower bound of `ends`.
    first: DramCycle,
    ends: Box<[DramCycle]>,
}

impl PickExpiry {
    pub fn new(banks: usize) -> PickExpiry {
        PickExpiry { first: DramCycle::NEVER, ends: vec![DramCycle::NEVER; banks].into() }
    }

    /// Returns a lower bound of the next cycle in which a choice expires.
    #[inline]
    pub fn next(&self) -> DramCycle {
        self.first
    }

    /// Sets the cycle in which the choice for the bank expires.
    pub fn set(&mut self, bank: BankId, cycle: DramCycle) {
        self.ends[bank.index()] = cycle;
        self.first = self.first.min(cycle);
    }

    /// Removes and returns the banks whose choice has expired by `now`.
    #[inline]
    pub fn take_ended(&mut self, now: DramCycle) -> BankSet {
        if self.first > now { 0 } else { self.collect_ended(now) }
    }

    fn collect_ended(&mut self, now: DramCycle) -> BankSet {
        let mut ended = 0;
        self.first = DramCycle::NEVER;
        for (bank, end) in (0..).map(BankId).zip(&mut self.ends) {
            if *end <= now {
                *end = DramCycle::NEVER;
                ended |= one(bank);
            }
            self.first = self.first.min(*end);
        }
        ended
    }
}
