//! The balance of work among the regions of a machine.

use crate::engine::phase::Phase;

/// Unit steps of a run, by region and phase.
///
/// Regions synchronise after each phase of each time step. With a thread per region, a phase lasts as
/// long as the region with the most unit steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkBalance {
    /// Unit steps so far, by region and phase.
    steps: Vec<[u64; Phase::COUNT]>,
    /// Unit steps of the busiest region of each phase, summed over the run.
    busiest: [u64; Phase::COUNT],
}

impl WorkBalance {
    /// Adds a time step, after which the regions have executed `steps` since the start.
    pub(in crate::engine) fn follow(&mut self, steps: impl Iterator<Item = [u64; Phase::COUNT]>) {
        let mut most = [0; Phase::COUNT];
        for (before, now) in self.steps.iter_mut().zip(steps) {
            for ((most, before), now) in most.iter_mut().zip(before).zip(now) {
                *most = (*most).max(now - *before);
                *before = now;
            }
        }
        for (busiest, most) in self.busiest.iter_mut().zip(most) {
            *busiest += most;
        }
    }
}

#[cfg(any(test, feature = "instrumented"))]
impl WorkBalance {
    pub(in crate::engine) fn new(regions: usize) -> WorkBalance {
        WorkBalance { steps: vec![[0; Phase::COUNT]; regions], busiest: [0; Phase::COUNT] }
    }

    /// Returns the share of all channel and slice steps on the critical path of one thread per region:
    /// 1 / regions if perfectly even, 1 if one region does all the work, none without steps.
    pub fn memory(&self) -> Option<f64> {
        self.critical_share(Phase::Memory)
    }

    /// Returns the same share of SM steps.
    pub fn core(&self) -> Option<f64> {
        self.critical_share(Phase::Core)
    }

    fn critical_share(&self, phase: Phase) -> Option<f64> {
        let steps: u64 = self.steps.iter().map(|steps| steps[phase as usize]).sum();
        (steps > 0).then(|| self.busiest[phase as usize] as f64 / steps as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_lasts_as_long_as_its_busiest_region() {
        let mut balance = WorkBalance::new(2);
        assert_eq!((balance.memory(), balance.core()), (None, None));
        balance.follow([[3, 0], [1, 4]].into_iter());
        balance.follow([[3, 2], [5, 6]].into_iter());
        // Memory: 3 and 4 of 8 steps; SMs: 4 and 2 of 8.
        assert_eq!((balance.memory(), balance.core()), (Some(7.0 / 8.0), Some(6.0 / 8.0)));
    }
}
