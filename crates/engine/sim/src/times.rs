//! Weights of extrapolated counts.

/// A weight: a ratio of whole numbers, so that weighted counts do not depend on the host. Counts are
/// rounded to the next whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    above: u64,
    below: u64,
}

impl Times {
    pub const ONCE: Times = Times { above: 1, below: 1 };

    /// Returns the ratio of two numbers; once if one of them is 0.
    pub fn ratio(above: u64, below: u64) -> Times {
        if above == 0 || below == 0 { Times::ONCE } else { Times { above, below } }
    }

    /// Weighs a count.
    #[inline]
    pub fn of(self, count: u64) -> u64 {
        self.of_sum(count.into()) as u64
    }

    /// Weighs a sum.
    #[inline]
    pub fn of_sum(self, sum: u128) -> u128 {
        (sum * u128::from(self.above) + u128::from(self.below) / 2) / u128::from(self.below)
    }

    /// Weighs a difference.
    pub fn of_difference(self, difference: i128) -> i128 {
        difference.signum() * self.of_sum(difference.unsigned_abs()) as i128
    }
}

impl From<u64> for Times {
    fn from(whole: u64) -> Times {
        Times { above: whole, below: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_rounded_to_the_next_whole_number() {
        let times = Times::ratio(3, 2);
        assert_eq!([0, 1, 2, 3].map(|count| times.of(count)), [0, 2, 3, 5]);
        assert_eq!((times.of_difference(-3), times.of_sum(1 << 80)), (-5, 3 << 79));
        assert_eq!((Times::ratio(0, 7), Times::ratio(7, 0)), (Times::ONCE, Times::ONCE));
        assert_eq!(Times::from(4).of(25), 100);
    }
}
