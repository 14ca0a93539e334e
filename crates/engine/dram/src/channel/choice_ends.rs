//! Until when the scheduler's choices hold by themselves.

use crate::sets::{BankSet, one};
use warpmem_sim::{BankId, DramCycle};

/// By bank, from when on the scheduler's choice may differ though nothing happens to the bank.
pub(super) struct ChoiceEnds {
    /// The first of `ends`, or earlier.
    first: DramCycle,
    ends: Box<[DramCycle]>,
}

impl ChoiceEnds {
    pub fn new(banks: usize) -> ChoiceEnds {
        ChoiceEnds { first: DramCycle::NEVER, ends: vec![DramCycle::NEVER; banks].into() }
    }

    /// The first cycle at which a choice ends, or an earlier one.
    #[inline]
    pub fn next(&self) -> DramCycle {
        self.first
    }

    /// The choice for the bank ends at `cycle`.
    pub fn set(&mut self, bank: BankId, cycle: DramCycle) {
        self.ends[bank.index()] = cycle;
        self.first = self.first.min(cycle);
    }

    /// Banks whose choice has ended by `now`.
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
