//! Refresh, of all banks together or one after the other.

use crate::Dram;
use warpmem_sim::{BankId, DramCycle};

/// Refreshes that fall due at regular intervals.
struct Interval {
    /// 0 = never.
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

    /// Whether the next falls due by `now`.
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

    /// When the next falls due, if none is.
    #[inline]
    fn next(&self) -> DramCycle {
        if self.is_due { DramCycle::NEVER } else { self.next }
    }
}

/// The refreshes that are due, and when the next are.
pub(super) struct Refresh {
    all: Interval,
    single: Interval,
    /// The bank that is refreshed next by itself.
    bank: BankId,
    /// The first bank of the pseudo channel whose banks are refreshed next, all together.
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

    /// Whether a refresh of all banks falls due by `now`.
    #[inline]
    pub fn all_fall_due(&mut self, now: DramCycle) -> bool {
        self.all.falls_due(now)
    }

    /// The bank whose own refresh falls due by `now`.
    #[inline]
    pub fn bank_falls_due(&mut self, now: DramCycle) -> Option<BankId> {
        self.single.falls_due(now).then_some(self.bank)
    }

    /// No request may start in the bank, as its refresh is due.
    #[inline]
    pub fn holds(&self, bank: BankId) -> bool {
        self.all.is_due || self.single.is_due && self.bank == bank
    }

    /// A refresh of all banks is due.
    #[inline]
    pub fn is_all_due(&self) -> bool {
        self.all.is_due
    }

    /// The next cycle at which one falls due that is not yet.
    #[inline]
    pub fn next(&self) -> DramCycle {
        self.all.next().min(self.single.next())
    }

    /// The banks of the pseudo channel that is refreshed next.
    pub fn pseudo_channel(&self) -> impl Iterator<Item = BankId> {
        let first = self.first.index();
        (first..first + self.banks_per_pseudo_channel).map(BankId::new)
    }

    /// The first of them.
    pub fn first_bank(&self) -> BankId {
        self.first
    }

    /// REF issues; whether it was that of the last pseudo channel.
    pub fn refresh_pseudo_channel(&mut self) -> bool {
        self.all_issued += 1;
        self.first = BankId::new((self.first.index() + self.banks_per_pseudo_channel) % self.banks);
        let was_last = self.first == BankId(0);
        if was_last {
            self.all.finish();
        }
        was_last
    }

    /// REFPB issues.
    pub fn refresh_bank(&mut self) {
        self.single_issued += 1;
        self.bank = BankId::new((self.bank.index() + 1) % self.banks);
        self.single.finish();
    }

    /// REF commands, and REFPB.
    pub fn issued(&self) -> [u64; 2] {
        [self.all_issued, self.single_issued]
    }
}
