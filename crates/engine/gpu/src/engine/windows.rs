//! How evenly the work of a run falls on the parts of a machine.

use super::part::Phase;

/// A window is what the parts do side by side between two meetings: the channels and slices, or the SMs,
/// of one time step. With a thread for each part it takes as long as the part with the most unit steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Unit steps so far, by part and phase.
    before: Vec<[u64; Phase::COUNT]>,
    /// Unit steps of the longest part, summed over windows.
    longest: [u64; Phase::COUNT],
}

impl Windows {
    pub(super) fn new(parts: usize) -> Windows {
        Windows { before: vec![[0; Phase::COUNT]; parts], longest: [0; Phase::COUNT] }
    }

    /// The parts have made so many steps in all.
    pub(super) fn follow(&mut self, steps: impl Iterator<Item = [u64; Phase::COUNT]>) {
        let mut most = [0; Phase::COUNT];
        for (before, now) in self.before.iter_mut().zip(steps) {
            for ((most, before), now) in most.iter_mut().zip(before).zip(now) {
                *most = (*most).max(now - *before);
                *before = now;
            }
        }
        for (longest, most) in self.longest.iter_mut().zip(most) {
            *longest += most;
        }
    }

    /// The part of all steps of channels and slices that a thread for each part waits for: at least 1 /
    /// parts, 1 if one part does everything. None without any.
    pub fn memory(&self) -> Option<f64> {
        self.waited(Phase::Memory)
    }

    /// The same of the steps of SMs.
    pub fn core(&self) -> Option<f64> {
        self.waited(Phase::Core)
    }

    fn steps(&self, phase: Phase) -> u64 {
        self.before.iter().map(|steps| steps[phase as usize]).sum()
    }

    fn waited(&self, phase: Phase) -> Option<f64> {
        let steps = self.steps(phase);
        (steps > 0).then(|| self.longest[phase as usize] as f64 / steps as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_takes_as_long_as_its_longest_part() {
        let mut windows = Windows::new(2);
        assert_eq!((windows.memory(), windows.core()), (None, None));
        windows.follow([[3, 0], [1, 4]].into_iter());
        windows.follow([[3, 2], [5, 6]].into_iter());
        // Memory: 3 and 4 of 8 steps; SMs: 4 and 2 of 8.
        assert_eq!((windows.memory(), windows.core()), (Some(7.0 / 8.0), Some(6.0 / 8.0)));
    }
}
