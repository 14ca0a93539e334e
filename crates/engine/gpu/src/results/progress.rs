//! Fairness among the warps of a kernel.

use serde::Serialize;

/// Fractional bits of a warp's progress.
const DIGITS: u32 = 20;

/// Progress of the completed warps of a kernel: instructions per core cycle from launch to end. In
/// fixed point, so that sums do not depend on the order of warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WarpProgress {
    pub warps: u64,
    /// Sums of the progress and of its square, in units of 2^-20 and 2^-40.
    pub sum: u128,
    pub squares: u128,
}

impl WarpProgress {
    /// Adds a warp that executed `instructions` in `cycles`.
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

    /// Multiplies the number of warps by `times`.
    pub fn repeat(&mut self, times: u32) {
        self.warps *= u64::from(times);
        self.sum *= u128::from(times);
        self.squares *= u128::from(times);
    }

    /// Returns Jain's index, (sum)^2 / (warps x sum of squares): 1 if all warps progressed alike, 1
    /// / warps if only one did. None without warps.
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
    fn equal_progress_is_fair_at_any_length() {
        assert_eq!(fairness(&[(10, 100), (20, 200), (1, 10)]), Some(1.0));
        assert_eq!(fairness(&[]), None);
    }

    /// Progress of 3 and 1: 16 / (2 x 10).
    #[test]
    fn the_index_matches_a_hand_calculation() {
        assert_eq!(fairness(&[(3, 1), (1, 1)]), Some(0.8));
    }
}
