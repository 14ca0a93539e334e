//! Numbers of waiting requests by group: warp, SM or load.

use crate::scheduler::BankSet;
use crate::sets::one;
use rustc_hash::FxHashMap;
use warpmem_sim::BankId;

/// The waiting requests of one group in the channel.
#[derive(Clone, Copy, Default)]
struct Group {
    count: u64,
    /// Banks that may hold some of them.
    banks: BankSet,
}

/// The groups that have waiting requests.
#[derive(Default)]
pub struct Tally(FxHashMap<u32, Group>);

impl Tally {
    pub fn count(&self, group: u32) -> u64 {
        self.0.get(&group).map_or(0, |group| group.count)
    }

    /// Counts an arrival; returns the banks whose choice it may change.
    pub fn arrived(&mut self, group: u32, bank: BankId) -> BankSet {
        let group = self.0.entry(group).or_default();
        group.count += 1;
        group.banks |= one(bank);
        group.banks
    }

    /// Counts a service; returns the banks whose choice it may change.
    pub fn served(&mut self, group: u32) -> BankSet {
        let Some(held) = self.0.get_mut(&group) else { return 0 };
        held.count -= 1;
        let banks = held.banks;
        if held.count == 0 {
            self.0.remove(&group);
        }
        banks
    }
}
