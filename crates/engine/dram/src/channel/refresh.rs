//! Refresh of all banks together or of one bank at a time.

use crate::Dram;
use warpmem_sim::{BankId, DramCycle};

/// Refreshes that become due at regular intervals.
struct Interval {
    /// Cycles between two refreshes; 0 = never.
    cycles: u64,
    next: DramCycle,
    is_due: bool,
}

impl Interval {
    fn new(cycles: u32) -> Interval {
        let cycles = u64::from(cycles);
        let next = if cycles > 0 { DramCycle::new(cycles) } else { DramCycle::NEVER };
        Interval { cycles, next, is_due: false }
    }

    /// Returns whether the next refresh becomes due by `now`.
    #[inline]
    fn falls_due(&mut self, now: DramCycle) -> bool {
        let falls_due = now >= self.next && !self.is_due;
        self.is_due |= falls_due;
        falls_due
    }

    fn finish(&mut self) {
        self.is_due = false;
        self.next += self.cycles;
    }

    /// Returns the cycle in which the next refresh becomes due.
    #[inline]
    fn next(&self) -> DramCycle {
        if self.is_due { DramCycle::NEVER } else { self.next }
    }
}

/// Due refreshes and the cycles of the next ones.
pub(super) struct Refresh {
    all: Interval,
    single: Interval,
    /// Bank of the next single-bank refresh.
    bank: BankId,
    /// First bank of the pseudo channel that the next all-bank refresh refreshes.
    first: BankId,
    banks_per_pseudo_channel: usize,
    banks: usize,
    all_issued: u64,
    single_issued: u64,
}

impl Refresh {
    pub fn new(dram: &Dram) -> Refresh {
        Refresh {
            all: Interval::new(dram.timing.trefi),
            single: Interval::new(dram.timing.trefipb),
            bank: BankId(0),
            first: BankId(0),
            banks_per_pseudo_channel: (dram.banks / dram.pseudo_channels.max(1)) as usize,
            banks: dram.banks as usize,
            all_issued: 0,
            single_issued: 0,
        }
    }

    /// Returns whether an all-bank refresh becomes due by `now`.
    #[inline]
    pub fn all_fall_due(&mut self, now: DramCycle) -> bool {
        self.all.falls_due(now)
    }

    /// Returns the bank whose single-bank refresh becomes due by `now`.
    #[inline]
    pub fn bank_falls_due(&mut self, now: DramCycle) -> Option<BankId> {
        self.single.falls_due(now).then_some(self.bank)
    }

    /// Returns whether a due refresh blocks new requests in the bank.
    #[inline]
    pub fn holds(&self, bank: BankId) -> bool {
        self.all.is_due || self.single.is_due && self.bank == bank
    }

    /// Returns whether an all-bank refresh is due.
    #[inline]
    pub fn is_all_due(&self) -> bool {
        self.all.is_due
    }

    /// Returns the next cycle in which a refresh becomes due.
    #[inline]
    pub fn next(&self) -> DramCycle {
        self.all.next().min(self.single.next())
    }

    /// Returns the banks of the pseudo channel that is refreshed next.
    pub fn pseudo_channel(&self) -> impl Iterator<Item = BankId> {
        let first = self.first.index();
        (first..first + self.banks_per_pseudo_channel).map(BankId::new)
    }

    /// Returns the first bank of the pseudo channel that is refreshed next.
    pub fn first_bank(&self) -> BankId {
        self.first
    }

    /// Returns whether single banks alone are refreshed, and none is due.
    pub fn awaits_single(&self) -> bool {
        self.all.cycles == 0 && self.single.cycles > 0 && !self.single.is_due
    }

    /// Returns how many single-bank refreshes fall due before `now`, if each issues when due.
    pub fn due_before(&self, now: DramCycle) -> u64 {
        let next = self.single.next();
        if next < now { (now.since(next) - 1) / self.single.cycles + 1 } else { 0 }
    }

    /// Issues a number of single-bank refreshes when due.
    pub fn skip(&mut self, refreshes: u64) {
        self.single_issued += refreshes;
        self.bank = BankId::new((self.bank.index() + refreshes as usize) % self.banks);
        self.single.next += refreshes * self.single.cycles;
    }

    /// Issues REF to the pseudo channel; returns whether it was the last one.
    pub fn refresh_pseudo_channel(&mut self) -> bool {
        self.all_issued += 1;
        self.first = BankId::new((self.first.index() + self.banks_per_pseudo_channel) % self.banks);
        let was_last = self.first == BankId(0);
        if was_last {
            self.all.finish();
        }
        was_last
    }

    /// Issues REFPB.
    pub fn refresh_bank(&mut self) {
        self.single_issued += 1;
        self.bank = BankId::new((self.bank.index() + 1) % self.banks);
        self.single.finish();
    }

    /// Returns the number of REF and of REFPB commands.
    pub fn issued(&self) -> [u64; 2] {
        [self.all_issued, self.single_issued]
    }
}
