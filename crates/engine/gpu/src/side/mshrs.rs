//! Time in which the MSHRs of all slices together are idle, hold only misses of single SMs, or hold
//! a miss shared by SMs (Li 2015, Figure 5.2).

use crate::results::MshrState;
use warpmem_sim::L2Cycle;

/// A state change of the MSHRs of a slice.
#[derive(Clone, Copy)]
pub struct MshrChange {
    pub from: MshrState,
    pub to: MshrState,
    pub cycle: L2Cycle,
}

/// Cycles are counted at the end of each state.
#[derive(Default)]
pub struct SharedMshrs {
    /// Slices that hold only misses of single SMs, and slices that hold a miss shared by SMs.
    unshared: u32,
    shared: u32,
    since: L2Cycle,
    cycles: [u64; MshrState::COUNT],
}

impl SharedMshrs {
    /// Applies a change. The MSHRs start idle; cycles must not decrease.
    pub fn follow(&mut self, change: MshrChange) {
        let MshrChange { from, to, cycle } = change;
        self.count_until(cycle);
        self.slices_in(from).into_iter().for_each(|slices| *slices -= 1);
        self.slices_in(to).into_iter().for_each(|slices| *slices += 1);
    }

    fn slices_in(&mut self, state: MshrState) -> Option<&mut u32> {
        match state {
            MshrState::Idle => None,
            MshrState::Unshared => Some(&mut self.unshared),
            MshrState::Shared => Some(&mut self.shared),
        }
    }

    fn count_until(&mut self, cycle: L2Cycle) {
        let state = match (self.unshared, self.shared) {
            (0, 0) => MshrState::Idle,
            (_, 0) => MshrState::Unshared,
            _ => MshrState::Shared,
        };
        self.cycles[state as usize] += cycle.since(self.since);
        self.since = cycle;
    }

    /// Returns the L2 cycles in each state up to `cycle`.
    pub fn so_far(&mut self, cycle: L2Cycle) -> [u64; MshrState::COUNT] {
        self.count_until(cycle);
        self.cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MshrState::{Idle, Shared, Unshared};

    #[test]
    fn one_shared_slice_makes_the_machine_shared() {
        let mut mshrs = SharedMshrs::default();
        let mut change = |from, to, cycle| {
            mshrs.follow(MshrChange { from, to, cycle: L2Cycle::new(cycle) });
        };
        change(Idle, Unshared, 10);
        change(Idle, Unshared, 15);
        change(Unshared, Shared, 20);
        change(Unshared, Idle, 30);
        change(Idle, Shared, 40);
        change(Shared, Idle, 50);
        change(Shared, Unshared, 70);
        change(Unshared, Idle, 71);
        let cycles = mshrs.so_far(L2Cycle::new(100));
        let of = |state: MshrState| cycles[state as usize];
        assert_eq!((of(Idle), of(Unshared), of(Shared)), (10 + 29, 10 + 1, 50));
    }
}
