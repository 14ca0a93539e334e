//! Pipelines of the L1 banks, in which lookups travel to the tags.

use super::access::AccessId;
use super::sectors::Sector;
use warpmem_cache::ReservationFail;
use warpmem_sim::{CoreCycle, bits, ids};

ids! {
    /// A bank of an L1. `usize` so that loops over banks need no bounds checks.
    pub(super) L1Bank(usize);
}

/// Lookup of a sector for a memory instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup {
    pub sector: Sector,
    pub access: AccessId,
    pub store: bool,
    /// The sector is in local memory.
    pub local: bool,
    /// Cycle of its entry into the bank.
    pub entered: CoreCycle,
}

impl Lookup {
    const BLANK: Lookup = Lookup {
        sector: Sector::BLANK,
        access: AccessId(0),
        store: false,
        local: false,
        entered: CoreCycle::ZERO,
    };
}

/// One bank: a pipeline whose first lookup stays at the tags while it fails.
#[derive(Clone, Copy)]
struct Bank {
    /// Cycle in which the first lookup reaches the tags; never, if there is none.
    due: CoreCycle,
    /// Reason and start of the first lookup's failure.
    failing: Option<ReservationFail>,
    failing_since: CoreCycle,
    head: u32,
    len: u32,
}

/// All banks of an L1, each a pipeline of `entries` lookups.
pub(super) struct Banks {
    latency: u64,
    entries: u32,
    banks: Vec<Bank>,
    /// Banks with lookups, one bit each; banks whose first lookup fails; and those of them that
    /// lack a miss-queue entry.
    occupied: u64,
    failing: u64,
    lacking: u64,
    /// Cycle in which the first lookup of any bank that does not fail reaches the tags.
    due: CoreCycle,
    /// Entries, bank by bank.
    lookups: Vec<Lookup>,
}

impl Banks {
    pub fn new(latency: u32, entries: u32, banks: u32) -> Banks {
        let (due, failing_since) = (CoreCycle::NEVER, CoreCycle::ZERO);
        let bank = Bank { due, failing: None, failing_since, head: 0, len: 0 };
        Banks {
            latency: latency.into(),
            entries,
            banks: vec![bank; banks as usize],
            occupied: 0,
            failing: 0,
            lacking: 0,
            due,
            lookups: vec![Lookup::BLANK; (banks * entries) as usize],
        }
    }

    /// Iterates over the banks with lookups.
    #[inline]
    pub fn occupied(&self) -> impl Iterator<Item = L1Bank> + use<> {
        bits::ones(self.occupied).map(L1Bank)
    }

    pub fn is_empty(&self) -> bool {
        self.occupied == 0
    }

    pub fn len(&self) -> usize {
        self.banks.iter().map(|bank| bank.len as usize).sum()
    }

    /// Whether a bank has room for `lookups` more.
    #[inline]
    pub fn has_room(&self, bank: L1Bank, lookups: usize) -> bool {
        self.banks[bank.index()].len as usize + lookups <= self.entries as usize
    }

    #[inline]
    fn index_of(&self, bank: L1Bank, at: u32) -> usize {
        let at = if at < self.entries { at } else { at - self.entries };
        bank.index() * self.entries as usize + at as usize
    }

    #[inline]
    pub fn push(&mut self, bank: L1Bank, lookup: Lookup) {
        debug_assert!(self.has_room(bank, 1));
        let Bank { head, len, .. } = self.banks[bank.index()];
        let at = self.index_of(bank, head + len);
        self.lookups[at] = lookup;
        let state = &mut self.banks[bank.index()];
        state.len += 1;
        if len == 0 {
            state.due = lookup.entered + self.latency;
            self.due = self.due.min(state.due);
            self.occupied |= 1 << bank.0;
        }
    }

    /// Whether a lookup is at the tags in `cycle`.
    #[inline]
    pub fn is_due(&self, cycle: CoreCycle) -> bool {
        self.due <= cycle || self.failing != 0
    }

    /// Notes when the next lookup reaches the tags, after those of a cycle have been served.
    #[inline]
    pub fn end_cycle(&mut self) {
        let due = |bank: usize| self.banks[bank].due;
        let due = bits::ones(self.occupied & !self.failing).map(due).min();
        self.due = due.unwrap_or(CoreCycle::NEVER);
    }

    /// Returns the lookup at the tags of a bank in `cycle`.
    #[inline]
    pub fn at_tags(&self, bank: L1Bank, cycle: CoreCycle) -> Option<&Lookup> {
        let Bank { due, head, .. } = self.banks[bank.index()];
        (due <= cycle).then(|| &self.lookups[self.index_of(bank, head)])
    }

    #[inline]
    pub fn pop(&mut self, bank: L1Bank) {
        debug_assert!(self.banks[bank.index()].len > 0);
        let Bank { head, len, .. } = self.banks[bank.index()];
        let next = if head + 1 < self.entries { head + 1 } else { 0 };
        let due = if len > 1 {
            self.lookups[self.index_of(bank, next)].entered + self.latency
        } else {
            self.occupied &= !(1 << bank.0);
            CoreCycle::NEVER
        };
        let state = &mut self.banks[bank.index()];
        (state.head, state.len, state.due) = (next, len - 1, due);
    }

    /// Returns the reason for which the first lookup of a bank fails.
    #[inline]
    pub fn failing(&self, bank: L1Bank) -> Option<ReservationFail> {
        self.banks[bank.index()].failing
    }

    /// Whether the first lookup of any bank fails.
    pub fn any_fails(&self) -> bool {
        self.failing != 0
    }

    /// Whether the first lookup of any bank lacks a miss-queue entry.
    #[inline]
    pub fn any_lacks_room(&self) -> bool {
        self.lacking != 0
    }

    /// Records that the first lookup of a bank fails in `cycle`.
    pub fn fail(&mut self, bank: L1Bank, reason: ReservationFail, cycle: CoreCycle) {
        self.failing |= 1 << bank.0;
        self.lacking |= u64::from(reason == ReservationFail::MissQueueFull) << bank.0;
        let bank = &mut self.banks[bank.index()];
        (bank.failing, bank.failing_since) = (Some(reason), cycle);
    }

    /// Ends the failure of a bank; returns its reason and its cycles up to `cycle`.
    #[inline]
    pub fn end_fail(&mut self, bank: L1Bank, cycle: CoreCycle) -> Option<(ReservationFail, u64)> {
        self.failing &= !(1 << bank.0);
        self.lacking &= !(1 << bank.0);
        let bank = &mut self.banks[bank.index()];
        bank.failing.take().map(|reason| (reason, cycle.since(bank.failing_since)))
    }

    /// Returns the next cycle from `cycle` on in which the tags can serve a lookup without an
    /// outside event: the first lookup of a bank reaches them, or a miss-queue entry is freed, one
    /// per cycle unless the queue is `blocked`.
    #[inline]
    pub fn next(&self, cycle: CoreCycle, blocked: bool) -> CoreCycle {
        if self.lacking != 0 && !blocked {
            return cycle;
        }
        self.due.max(cycle)
    }
}
