//! Until when the scheduler's choices hold by themselves.

use crate::sets::{BankSet, one};

/// By bank, from when on the scheduler's choice may differ though nothing happens to the bank.
pub(super) struct ChoiceEnds {
    /// The first of `ends`, or earlier.
    first: u64,
    ends: Box<[u64]>,
}

impl ChoiceEnds {
    pub fn new(banks: usize) -> ChoiceEnds {
        ChoiceEnds { first: u64::MAX, ends: vec![u64::MAX; banks].into() }
    }

    /// The first cycle at which a choice ends, or an earlier one.
    #[inline]
    pub fn next(&self) -> u64 {
        self.first
    }

    /// The choice for the bank ends at `cycle`.
    pub fn set(&mut self, bank: usize, cycle: u64) {
        self.ends[bank] = cycle;
        self.first = self.first.min(cycle);
    }

    /// Banks whose choice has ended by `now`.
    #[inline]
    pub fn take_ended(&mut self, now: u64) -> BankSet {
        if self.first > now { 0 } else { self.collect_ended(now) }
    }

    fn collect_ended(&mut self, now: u64) -> BankSet {
        let mut ended = 0;
        self.first = u64::MAX;
        for (bank, end) in self.ends.iter_mut().enumerate() {
            if *end <= now {
                *end = u64::MAX;
                ended |= one(bank);
            }
            self.first = self.first.min(*end);
        }
        ended
    }
}
