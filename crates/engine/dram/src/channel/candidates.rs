//! The request that each bank serves next: its candidate.
//!
//! With `picks_per_cycle` = 0 every bank is given a candidate at once. Otherwise so many banks in a
//! cycle, round robin, are assigned one, which then stays theirs.

use crate::by_bank::ByBank;
use crate::queue::Slot;
use crate::sets::{BankSet, one};
use warpmem_sim::{BankId, DramCycle};

/// The candidates of a channel's banks.
pub(super) struct Candidates {
    /// Banks that have a candidate.
    present: BankSet,
    /// Banks whose candidate is a read.
    reads: BankSet,
    /// Banks whose candidate stays theirs: it has been assigned.
    assigned: BankSet,
    /// Banks that wait to be assigned a request.
    unassigned: BankSet,
    /// The next cycle in which requests may be assigned.
    next_assignment: DramCycle,
    /// By bank.
    slots: ByBank<Slot>,
}

impl Candidates {
    pub fn new() -> Candidates {
        Candidates {
            present: 0,
            reads: 0,
            assigned: 0,
            unassigned: 0,
            next_assignment: DramCycle::ZERO,
            slots: ByBank::new(Slot::NONE),
        }
    }

    /// The bank's candidate.
    #[inline]
    pub fn of(&self, bank: BankId) -> Option<Slot> {
        (self.present & one(bank) != 0).then(|| self.slots[bank])
    }

    /// Banks whose candidate is a read.
    #[inline]
    pub fn reads(&self) -> BankSet {
        self.reads
    }

    /// Banks that have been assigned their candidate.
    #[inline]
    pub fn assigned(&self) -> BankSet {
        self.assigned
    }

    /// Banks that wait to be assigned a request.
    #[inline]
    pub fn unassigned(&self) -> BankSet {
        self.unassigned
    }

    /// When requests may next be assigned, if a bank waits for that.
    #[inline]
    pub fn next_assignment(&self) -> DramCycle {
        if self.unassigned == 0 { DramCycle::NEVER } else { self.next_assignment }
    }

    /// The bank is decided again. It keeps the candidate that it has been assigned, if any.
    #[inline]
    pub fn clear(&mut self, bank: BankId) {
        self.present &= !one(bank) | self.assigned;
        self.reads &= !one(bank);
        self.unassigned &= !one(bank);
    }

    /// The bank serves this request next.
    #[inline]
    pub fn set(&mut self, bank: BankId, slot: Slot, is_write: bool) {
        self.slots[bank] = slot;
        self.present |= one(bank);
        self.reads |= if is_write { 0 } else { one(bank) };
    }

    /// The first command of the bank's candidate issues.
    #[inline]
    pub fn take(&mut self, bank: BankId) -> Option<Slot> {
        let candidate = self.of(bank);
        self.present &= !one(bank);
        self.reads &= !one(bank);
        self.assigned &= !one(bank);
        candidate
    }

    /// The bank waits to be assigned a request.
    #[inline]
    pub fn wait(&mut self, bank: BankId) {
        self.unassigned |= one(bank);
    }

    /// The bank waits no longer.
    pub fn pass(&mut self, bank: BankId) {
        self.unassigned &= !one(bank);
    }

    /// The bank is assigned a request.
    pub fn assign(&mut self, bank: BankId, slot: Slot) {
        self.slots[bank] = slot;
        self.present |= one(bank);
        self.assigned |= one(bank);
    }

    /// Requests have been assigned at `now`.
    pub fn end_assignments(&mut self, now: DramCycle) {
        self.next_assignment = now + 1;
    }

    /// These banks lose the request that they have been assigned.
    pub fn withdraw(&mut self, banks: BankSet) {
        self.assigned &= !banks;
    }
}
