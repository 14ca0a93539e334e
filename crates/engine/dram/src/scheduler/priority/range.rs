//! Ranges of values, which give the width of a priority in hardware.

/// The whole numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: i64,
    pub high: i64,
}

/// The values of a comparison.
pub const TRUTH: Range = Range { low: 0, high: 1 };

impl Range {
    /// Returns the range that holds all values.
    pub fn over(values: impl IntoIterator<Item = i64>) -> Range {
        let start = Range { low: i64::MAX, high: i64::MIN };
        let wider =
            |range: Range, value| Range { low: range.low.min(value), high: range.high.max(value) };
        values.into_iter().fold(start, wider)
    }

    /// Returns the range of an operation that is monotonic in each operand.
    pub fn corners(self, other: Range, operation: fn(i64, i64) -> i64) -> Range {
        let ends = [(self.low, other.low), (self.low, other.high), (self.high, other.low)];
        let ends = ends.into_iter().chain([(self.high, other.high)]);
        Range::over(ends.map(|(a, b)| operation(a, b)))
    }

    pub fn absolute(self) -> Range {
        let ends = [self.low.saturating_abs(), self.high.saturating_abs()];
        let low = if self.low <= 0 && self.high >= 0 { 0 } else { ends[0].min(ends[1]) };
        Range { low, high: ends[0].max(ends[1]) }
    }

    /// Quotients lie between 0, the dividend and its opposite.
    pub fn divided(self, by: Range) -> Range {
        if by.low > 0 {
            return self.corners(by, i64::saturating_div);
        }
        Range::over([0, self.low, self.high, self.low.saturating_neg(), self.high.saturating_neg()])
    }

    /// Remainders lie between 0 and the dividend, and below the divisor.
    pub fn remainder(self, by: Range) -> Range {
        let most = by.absolute().high.saturating_sub(1).max(0);
        Range { low: self.low.min(0).max(-most), high: self.high.max(0).min(most) }
    }

    /// Returns the bits that distinguish its values.
    pub fn bits(self) -> u64 {
        u64::from(u64::BITS - self.high.abs_diff(self.low).leading_zeros())
    }
}
