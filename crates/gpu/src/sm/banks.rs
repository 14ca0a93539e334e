//! The pipelines of the L1 banks: sectors on their way to the tags, and the queue of what leaves.

use super::access::AccessId;
use super::lsu::Sector;
use warpmem_cache::ReservationFail;

/// A sector that a memory instruction asks L1 for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup {
    pub sector: Sector,
    pub access: AccessId,
    pub store: bool,
    /// It belongs to local memory.
    pub local: bool,
    /// Cycle in which it entered its bank.
    pub entered: u64,
}

impl Lookup {
    const BLANK: Lookup = Lookup {
        sector: Sector::BLANK,
        access: AccessId(0),
        store: false,
        local: false,
        entered: 0,
    };
}

/// One bank: a pipeline whose first waits where it is while it fails.
#[derive(Clone, Copy)]
struct Bank {
    /// Cycle in which the first is at the tags; never, where there is none.
    due: u64,
    /// What the first lacks, and since when.
    failing: Option<ReservationFail>,
    failing_since: u64,
    head: u32,
    len: u32,
}

/// All banks of an L1, each of `l1.latency` places.
pub(super) struct Banks {
    latency: u64,
    places: u32,
    banks: Vec<Bank>,
    /// The places of bank after bank.
    lookups: Vec<Lookup>,
}

impl Banks {
    pub fn new(latency: u32, banks: u32) -> Banks {
        let places = latency.max(1);
        let bank = Bank { due: u64::MAX, failing: None, failing_since: 0, head: 0, len: 0 };
        Banks {
            latency: latency.into(),
            places,
            banks: vec![bank; banks as usize],
            lookups: vec![Lookup::BLANK; (banks * places) as usize],
        }
    }

    pub fn count(&self) -> usize {
        self.banks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.banks.iter().all(|bank| bank.len == 0)
    }

    pub fn len(&self) -> usize {
        self.banks.iter().map(|bank| bank.len as usize).sum()
    }

    pub fn has_room(&self, bank: usize) -> bool {
        self.banks[bank].len < self.places
    }

    fn place(&self, bank: usize, at: u32) -> usize {
        let at = if at < self.places { at } else { at - self.places };
        bank * self.places as usize + at as usize
    }

    pub fn push(&mut self, bank: usize, lookup: Lookup) {
        debug_assert!(self.has_room(bank));
        let Bank { head, len, .. } = self.banks[bank];
        let place = self.place(bank, head + len);
        self.lookups[place] = lookup;
        let bank = &mut self.banks[bank];
        bank.len += 1;
        if len == 0 {
            bank.due = lookup.entered + self.latency;
        }
    }

    /// The lookup that is at the tags of a bank in `cycle`.
    #[inline]
    pub fn at_tags(&self, bank: usize, cycle: u64) -> Option<&Lookup> {
        let Bank { due, head, .. } = self.banks[bank];
        (due <= cycle).then(|| &self.lookups[self.place(bank, head)])
    }

    pub fn pop(&mut self, bank: usize) {
        debug_assert!(self.banks[bank].len > 0);
        let Bank { head, len, .. } = self.banks[bank];
        let next = self.place(bank, head + 1);
        let due = if len > 1 { self.lookups[next].entered + self.latency } else { u64::MAX };
        let state = &mut self.banks[bank];
        state.head = (next - bank * self.places as usize) as u32;
        state.len -= 1;
        state.due = due;
    }

    /// What the first of a bank lacks.
    #[inline]
    pub fn failing(&self, bank: usize) -> Option<ReservationFail> {
        self.banks[bank].failing
    }

    /// Whether the first of any bank cannot go on.
    pub fn any_fails(&self) -> bool {
        self.banks.iter().any(|bank| bank.failing.is_some())
    }

    /// Whether the first of any bank lacks a place below.
    #[inline]
    pub fn any_lacks_room(&self) -> bool {
        self.banks.iter().any(|bank| bank.failing == Some(ReservationFail::MissQueueFull))
    }

    /// The first of a bank cannot go on from `cycle` on.
    pub fn fail(&mut self, bank: usize, reason: ReservationFail, cycle: u64) {
        let bank = &mut self.banks[bank];
        (bank.failing, bank.failing_since) = (Some(reason), cycle);
    }

    /// Ends a failure: its reason, and its cycles until `cycle`.
    pub fn end_fail(&mut self, bank: usize, cycle: u64) -> Option<(ReservationFail, u64)> {
        let bank = &mut self.banks[bank];
        bank.failing.take().map(|reason| (reason, cycle - bank.failing_since))
    }

    /// The next cycle from `cycle` on in which the tags can serve something of their own accord: the first of a bank
    /// comes to them, or a place in the miss queue, which sends one a cycle, is free; not where it is `blocked`.
    #[inline]
    pub fn next(&self, cycle: u64, blocked: bool) -> u64 {
        let next = |bank: &Bank| match bank.failing {
            None => bank.due,
            Some(ReservationFail::MissQueueFull) if !blocked => cycle,
            Some(_) => u64::MAX,
        };
        self.banks.iter().map(next).min().unwrap_or(u64::MAX).max(cycle)
    }
}

/// Requests that leave an L1 one a cycle, at most so many of them waiting.
pub(super) struct MissQueue {
    places: u64,
    /// Cycle in which the last leaves.
    last: u64,
}

impl MissQueue {
    pub fn new(places: u32) -> MissQueue {
        MissQueue { places: places.into(), last: 0 }
    }

    /// Free places in `cycle`.
    #[inline]
    pub fn room(&self, cycle: u64) -> usize {
        self.places.saturating_sub(self.last.saturating_sub(cycle)) as usize
    }

    /// Takes a place; when what has it leaves.
    #[inline]
    pub fn push(&mut self, cycle: u64) -> u64 {
        self.last = self.last.max(cycle) + 1;
        self.last
    }
}
