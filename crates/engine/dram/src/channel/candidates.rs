//! The candidate of each bank: the request that it serves next.
//!
//! With `picks_per_cycle` = 0 every bank receives a candidate at once. Otherwise at most
//! `picks_per_cycle` banks per cycle, round robin, are assigned a request, and keep it.

use crate::by_bank::ByBank;
use crate::queue::Slot;
use crate::sets::{BankSet, one};
use warpmem_sim::{BankId, DramCycle};

/// Candidates of the banks of a channel.
pub(super) struct Candidates {
    /// Banks with a candidate.
    present: BankSet,
    /// Banks whose candidate is a read.
    reads: BankSet,
    /// Banks that keep their candidate because it was assigned to them.
    assigned: BankSet,
    /// Banks waiting for an assignment.
    unassigned: BankSet,
    /// Next cycle in which requests may be assigned.
    next_assignment: DramCycle,
    /// Slot of the candidate, by bank.
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

    /// Returns the bank's candidate.
    #[inline]
    pub fn of(&self, bank: BankId) -> Option<Slot> {
        (self.present & one(bank) != 0).then(|| self.slots[bank])
    }

    /// Returns the banks whose candidate is a read.
    #[inline]
    pub fn reads(&self) -> BankSet {
        self.reads
    }

    /// Returns the banks with an assigned candidate.
    #[inline]
    pub fn assigned(&self) -> BankSet {
        self.assigned
    }

    /// Returns the banks that wait for an assignment.
    #[inline]
    pub fn unassigned(&self) -> BankSet {
        self.unassigned
    }

    /// Returns the next cycle in which requests may be assigned; never if no bank waits.
    #[inline]
    pub fn next_assignment(&self) -> DramCycle {
        if self.unassigned == 0 { DramCycle::NEVER } else { self.next_assignment }
    }

    /// Clears the bank's candidate before a new decision, unless it was assigned.
    #[inline]
    pub fn clear(&mut self, bank: BankId) {
        self.present &= !one(bank) | self.assigned;
        self.reads &= !one(bank);
        self.unassigned &= !one(bank);
    }

    /// Makes a request the bank's candidate.
    #[inline]
    pub fn set(&mut self, bank: BankId, slot: Slot, is_write: bool) {
        self.slots[bank] = slot;
        self.present |= one(bank);
        self.reads |= if is_write { 0 } else { one(bank) };
    }

    /// Removes the bank's candidate when its first command issues.
    #[inline]
    pub fn take(&mut self, bank: BankId) -> Option<Slot> {
        let candidate = self.of(bank);
        self.present &= !one(bank);
        self.reads &= !one(bank);
        self.assigned &= !one(bank);
        candidate
    }

    /// Makes the bank wait for an assignment.
    #[inline]
    pub fn wait(&mut self, bank: BankId) {
        self.unassigned |= one(bank);
    }

    /// Ends the bank's wait for an assignment.
    pub fn pass(&mut self, bank: BankId) {
        self.unassigned &= !one(bank);
    }

    /// Assigns a request to the bank.
    pub fn assign(&mut self, bank: BankId, slot: Slot) {
        self.slots[bank] = slot;
        self.present |= one(bank);
        self.assigned |= one(bank);
    }

    /// Closes the assignments of cycle `now`.
    pub fn end_assignments(&mut self, now: DramCycle) {
        self.next_assignment = now + 1;
    }

    /// Withdraws the assigned requests of these banks.
    pub fn withdraw(&mut self, banks: BankSet) {
        self.assigned &= !banks;
    }
}
