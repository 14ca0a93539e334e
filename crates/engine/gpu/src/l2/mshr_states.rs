//! Time in which the MSHRs of a slice are idle, hold only misses of single SMs, or hold a miss
//! shared by SMs (Li 2015, Figure 5.2).

use crate::results::MshrState;
use crate::side::MshrChange;
use warpmem_cache::Mshr;
use warpmem_sim::L2Cycle;

/// Cycles are counted at the end of each state.
pub(super) struct MshrStates {
    state: MshrState,
    since: L2Cycle,
    cycles: [u64; MshrState::COUNT],
}

impl MshrStates {
    /// Starts idle at cycle 0.
    pub fn new() -> MshrStates {
        MshrStates { state: MshrState::Idle, since: L2Cycle::ZERO, cycles: [0; MshrState::COUNT] }
    }

    /// Updates the state at the end of the slice's step in L2 cycle `cycle`, and records a change
    /// for the state of all slices together.
    #[inline]
    pub fn follow(&mut self, mshr: &Mshr, cycle: L2Cycle, changes: &mut Vec<MshrChange>) {
        let state = match mshr.shared() {
            0 if mshr.is_empty() => MshrState::Idle,
            0 => MshrState::Unshared,
            _ => MshrState::Shared,
        };
        if state != self.state {
            self.count_until(cycle);
            changes.push(MshrChange { from: self.state, to: state, cycle });
            self.state = state;
        }
    }

    fn count_until(&mut self, cycle: L2Cycle) {
        self.cycles[self.state as usize] += cycle.since(self.since);
        self.since = cycle;
    }

    /// Returns the L2 cycles in each state up to `cycle`.
    pub fn so_far(&self, cycle: L2Cycle) -> [u64; MshrState::COUNT] {
        let mut cycles = self.cycles;
        cycles[self.state as usize] += cycle.since(self.since);
        cycles
    }
}
