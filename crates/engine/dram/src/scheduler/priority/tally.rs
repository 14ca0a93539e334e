//! Numbers of waiting requests by group: warp, SM or load.

use crate::scheduler::BankSet;
use crate::sets::one;
use warpmem_sim::BankId;

/// The waiting requests of one group in the channel.
#[derive(Clone, Copy, Default)]
struct Group {
    count: u64,
    /// Banks that may hold some of them.
    banks: BankSet,
}

/// Groups by number, up to the highest that has had a request; the first is that of requests of no group.
#[derive(Default)]
pub struct Tally(Vec<Group>);

impl Tally {
    /// Returns the number of waiting requests of a group that has one; none: of requests of no group.
    pub fn count(&self, group: Option<u32>) -> u64 {
        self.0[index(group)].count
    }

    /// Counts an arrival; returns the banks whose choice it may change.
    pub fn arrived(&mut self, group: Option<u32>, bank: BankId) -> BankSet {
        let index = index(group);
        if index >= self.0.len() {
            self.0.resize(index + 1, Group::default());
        }
        let group = &mut self.0[index];
        group.count += 1;
        group.banks |= one(bank);
        group.banks
    }

    /// Counts a service; returns the banks whose choice it may change.
    pub fn served(&mut self, group: Option<u32>) -> BankSet {
        let group = &mut self.0[index(group)];
        group.count -= 1;
        let banks = group.banks;
        if group.count == 0 {
            group.banks = 0;
        }
        banks
    }
}

fn index(group: Option<u32>) -> usize {
    group.map_or(0, |number| number as usize + 1)
}
