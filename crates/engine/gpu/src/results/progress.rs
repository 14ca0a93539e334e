//! How evenly the warps of a kernel progress.

use serde::Serialize;

/// Binary digits of a warp's progress behind the point.
const DIGITS: u32 = 20;

/// The progress of a kernel's warps that have ended, each its instructions over the core cycles from
/// its launch to its end. Fixed point, so that sums do not depend on the order of warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WarpProgress {
    pub warps: u64,
    /// Sums of the progress of each and of its square, in units of 2^-20 and 2^-40.
    pub sum: u128,
    pub squares: u128,
}

impl WarpProgress {
    /// A warp with `instructions` has ended that was on its SM for `cycles`.
    pub fn add(&mut self, instructions: u64, cycles: u64) {
        let progress = (u128::from(instructions) << DIGITS) / u128::from(cycles.max(1));
        self.warps += 1;
        self.sum += progress;
        self.squares += progress * progress;
    }

    /// Adds the warps of `other`.
    pub fn merge(&mut self, other: &WarpProgress) {
        self.warps += other.warps;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Counts its warps `times` times.
    pub fn repeat(&mut self, times: u32) {
        self.warps *= u64::from(times);
        self.sum *= u128::from(times);
        self.squares *= u128::from(times);
    }

    /// Jain's index: (sum)^2 / (warps x sum of squares). 1: all warps progressed alike; 1 / warps:
    /// one alone. None without warps.
    pub fn fairness(&self) -> Option<f64> {
        let squares = self.warps as f64 * self.squares as f64;
        (self.squares > 0).then(|| (self.sum as f64).powi(2) / squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fairness(warps: &[(u64, u64)]) -> Option<f64> {
        let mut progress = WarpProgress::default();
        warps.iter().for_each(|&(instructions, cycles)| progress.add(instructions, cycles));
        progress.fairness()
    }

    #[test]
    fn warps_of_equal_progress_are_treated_fairly_whatever_their_lengths() {
        assert_eq!(fairness(&[(10, 100), (20, 200), (1, 10)]), Some(1.0));
        assert_eq!(fairness(&[]), None);
    }

    /// Progress of 3 and 1: 16 / (2 x 10).
    #[test]
    fn the_index_is_jains() {
        assert_eq!(fairness(&[(3, 1), (1, 1)]), Some(0.8));
    }
}
