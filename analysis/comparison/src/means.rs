//! Means over workloads.

use std::f64::consts::E;

/// A mean over workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mean {
    Arithmetic,
    Geometric,
    Harmonic,
}

impl Mean {
    /// All means, in the order of a comparison's rows.
    pub const ALL: [Mean; 3] = [Mean::Arithmetic, Mean::Geometric, Mean::Harmonic];

    /// Returns the name in the column `mean` of a comparison.
    pub const fn name(self) -> &'static str {
        match self {
            Mean::Arithmetic => "arithmetic",
            Mean::Geometric => "geometric",
            Mean::Harmonic => "harmonic",
        }
    }

    /// Averages the values. Nulls are ignored; the mean of no values is null, as is an undefined
    /// mean.
    pub fn of(self, values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
        let values = values.into_iter().flatten();
        let mean = match self {
            Mean::Arithmetic => arithmetic(values),
            Mean::Geometric => arithmetic(values.map(|value| value.log(E))).map(f64::exp),
            Mean::Harmonic => arithmetic(values.map(|value| 1.0 / value)).map(|mean| 1.0 / mean),
        };
        mean.filter(|mean| mean.is_finite())
    }
}

/// Names of the means of a comparison, in order.
pub const MEANS: [&str; 3] = [Mean::ALL[0].name(), Mean::ALL[1].name(), Mean::ALL[2].name()];

/// Averages with a compensated sum (Kahan), as the dataframe library does.
fn arithmetic(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut error) = (0u32, 0.0f64, 0.0f64);
    for value in values {
        let corrected = value - error;
        let next = sum + corrected;
        let lost = (next - sum) - corrected;
        // An infinite sum has no rounding error.
        if lost.is_finite() {
            error = lost;
        }
        sum = next;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_and_undefined_means_are_left_out() {
        let means = |values: &[Option<f64>]| Mean::ALL.map(|mean| mean.of(values.iter().copied()));
        assert_eq!(means(&[Some(0.5), None, Some(2.0)]), [1.25, 1.0, 0.8].map(Some));
        assert_eq!(means(&[None, None]), [None; 3]);
        assert_eq!(means(&[Some(0.0), Some(1.0)]), [0.5, 0.0, 0.0].map(Some));
        assert_eq!(means(&[Some(-1.0), Some(1.0)]), [Some(0.0), None, None]);
    }

    #[test]
    fn a_sum_keeps_small_values_beside_large_ones() {
        let values = [1e16, 1.0, 1.0].map(Some);
        assert_eq!(Mean::Arithmetic.of(values), Some((1e16 + 2.0) / 3.0));
    }
}
