//! The pipelines of the L1 banks: sectors on their way to the tags.

use super::access::AccessId;
use super::lsu::Sector;
use crate::record::ReservationFail;

/// A sector that a memory instruction asks L1 for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup {
    pub sector: Sector,
    pub access: AccessId,
    pub store: bool,
    /// Cycle in which it entered its bank.
    pub entered: u64,
}

/// One bank: a pipeline of `l1.latency` places, whose first waits where it is while it fails.
struct Bank {
    ring: Vec<Lookup>,
    head: usize,
    len: usize,
    /// What the first lacks, and since when.
    failing: Option<(ReservationFail, u64)>,
}

/// All banks of an L1.
pub(super) struct Banks {
    latency: u64,
    banks: Vec<Bank>,
    len: usize,
}

impl Banks {
    pub fn new(latency: u32, banks: u32) -> Banks {
        let blank = Lookup { sector: Sector::BLANK, access: AccessId(0), store: false, entered: 0 };
        let places = latency.max(1) as usize;
        let bank = || Bank { ring: vec![blank; places], head: 0, len: 0, failing: None };
        Banks { latency: latency.into(), banks: (0..banks).map(|_| bank()).collect(), len: 0 }
    }

    pub fn count(&self) -> usize {
        self.banks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn has_room(&self, bank: usize) -> bool {
        self.banks[bank].len < self.banks[bank].ring.len()
    }

    pub fn push(&mut self, bank: usize, lookup: Lookup) {
        debug_assert!(self.has_room(bank));
        let bank = &mut self.banks[bank];
        let mut at = bank.head + bank.len;
        if at >= bank.ring.len() {
            at -= bank.ring.len();
        }
        bank.ring[at] = lookup;
        bank.len += 1;
        self.len += 1;
    }

    /// The lookup that is at the tags of a bank in `cycle`.
    pub fn at_tags(&self, bank: usize, cycle: u64) -> Option<&Lookup> {
        let bank = &self.banks[bank];
        let first = &bank.ring[bank.head];
        (bank.len > 0 && first.entered + self.latency <= cycle).then_some(first)
    }

    pub fn pop(&mut self, bank: usize) {
        let bank = &mut self.banks[bank];
        debug_assert!(bank.len > 0);
        bank.head += 1;
        if bank.head == bank.ring.len() {
            bank.head = 0;
        }
        bank.len -= 1;
        self.len -= 1;
    }

    /// What the first of a bank lacks.
    pub fn failing(&self, bank: usize) -> Option<ReservationFail> {
        self.banks[bank].failing.map(|(reason, _)| reason)
    }

    /// The first of a bank cannot go on from `cycle` on.
    pub fn fail(&mut self, bank: usize, reason: ReservationFail, cycle: u64) {
        self.banks[bank].failing = Some((reason, cycle));
    }

    /// Ends a failure: its reason, and its cycles until `cycle`.
    pub fn end_fail(&mut self, bank: usize, cycle: u64) -> Option<(ReservationFail, u64)> {
        self.banks[bank].failing.take().map(|(reason, since)| (reason, cycle - since))
    }

    /// The next cycle in which a lookup that does not fail is at the tags.
    pub fn next(&self) -> Option<u64> {
        let moving = self.banks.iter().filter(|bank| bank.len > 0 && bank.failing.is_none());
        moving.map(|bank| bank.ring[bank.head].entered + self.latency).min()
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
    pub fn room(&self, cycle: u64) -> usize {
        self.places.saturating_sub(self.last.saturating_sub(cycle)) as usize
    }

    /// Takes a place; when what has it leaves.
    pub fn push(&mut self, cycle: u64) -> u64 {
        self.last = self.last.max(cycle) + 1;
        self.last
    }
}
