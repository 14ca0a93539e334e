//! Estimates with their standard errors and confidence intervals.

use super::Ratio;

/// An estimate from a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Standard error, also estimated from the sample; none for a single value.
    pub standard_error: Option<f64>,
    /// Degrees of freedom of the standard error.
    pub degrees: f64,
}

impl Estimate {
    /// Estimates the ratio of the means of independent replicates. Its error is the error of the
    /// residuals' mean (Cochran 6.3). None without replicates or if the denominator is 0.
    pub fn of_replicates(replicates: &[Ratio]) -> Option<Estimate> {
        let sum = |of: fn(&Ratio) -> f64| replicates.iter().map(of).sum::<f64>();
        let (above, below) = (sum(|ratio| ratio.above), sum(|ratio| ratio.below));
        let value = Ratio { above, below }.value()?;
        let count = replicates.len() as f64;
        let residual = |ratio: &Ratio| ratio.above - value * ratio.below;
        let residuals: Vec<f64> = replicates.iter().map(residual).collect();
        let error = || (variance(&residuals) / count).sqrt() / (below / count);
        let standard_error = (replicates.len() > 1).then(error);
        Some(Estimate { value, standard_error, degrees: count - 1.0 })
    }

    /// Returns Student's interval, which contains the true value for 95 of 100 samples if the
    /// estimate is normally distributed. None without a standard error.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let half = match self.standard_error? {
            0.0 => 0.0,
            error => student(self.degrees) * error,
        };
        Some([self.value - half, self.value + half])
    }

    /// Returns whether the interval contains `truth`, which is exact except for the rounding of
    /// sums.
    pub fn covers(&self, truth: f64) -> Option<bool> {
        let slack = 1e-9 * truth.abs();
        self.interval().map(|[low, high]| (low - slack..=high + slack).contains(&truth))
    }

    /// Returns the standard error divided by the value.
    pub fn relative_error(&self) -> Option<f64> {
        self.standard_error.filter(|_| self.value != 0.0).map(|error| error / self.value.abs())
    }
}

/// Estimates the variance of a population from at least two of its values.
pub(super) fn variance(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0)
}

/// Returns the 97.5 % quantile of Student's distribution with `degrees` degrees of freedom, rounded
/// down to a whole number; infinite below one.
fn student(degrees: f64) -> f64 {
    /// For 1 to 10 degrees of freedom, from standard tables.
    const FEW: [f64; 10] =
        [12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814];
    const NORMAL: f64 = 1.959_963_985;
    // Sums of shares may fall short of a whole number by rounding.
    let whole = (degrees + 1e-6).floor();
    if whole < 1.0 {
        return f64::INFINITY;
    }
    if let Some(&quantile) = FEW.get(whole as usize - 1) {
        return quantile;
    }
    // Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5).
    let (z, n) = (NORMAL, whole);
    let [z2, z3] = [z * z, z * z * z];
    let first = (z3 + z) / 4.0;
    let second = (5.0 * z3 * z2 + 16.0 * z3 + 3.0 * z) / 96.0;
    let third = (3.0 * z3 * z2 * z2 + 19.0 * z3 * z2 + 17.0 * z3 - 15.0 * z) / 384.0;
    z + first / n + second / (n * n) + third / (n * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_the_tables() {
        let table = [
            (1.0, 12.706),
            (4.0, 2.776),
            (4.999_999_9, 2.571),
            (7.9, 2.365),
            (10.0, 2.228),
            (11.0, 2.201),
            (12.0, 2.179),
            (20.0, 2.086),
            (30.0, 2.042),
            (60.0, 2.000),
            (120.0, 1.980),
            (1e9, 1.960),
        ];
        for (degrees, quantile) in table {
            assert!((student(degrees) - quantile).abs() < 6e-4, "{degrees}: {}", student(degrees));
        }
        assert_eq!(student(0.5), f64::INFINITY);
    }

    fn counts(values: &[f64]) -> Vec<Ratio> {
        values.iter().map(|&above| Ratio { above, below: 1.0 }).collect()
    }

    #[test]
    fn replicates_give_their_mean_and_its_error() {
        // Mean 3, variance 2.5, standard error 1 / √2 for 5 values.
        let estimate = Estimate::of_replicates(&counts(&[1.0, 2.0, 3.0, 4.0, 5.0])).unwrap();
        assert_eq!((estimate.value, estimate.degrees), (3.0, 4.0));
        let error = estimate.standard_error.unwrap();
        assert!((error - 0.5f64.sqrt()).abs() < 1e-12);
        let [low, high] = estimate.interval().unwrap();
        assert!((high - 3.0 - 2.77645 * error).abs() < 1e-12 && (high + low - 6.0).abs() < 1e-12);
        let covered = [1.1, 4.9, 5.1].map(|truth| estimate.covers(truth));
        assert_eq!(covered, [true, true, false].map(Some));
        assert!((estimate.relative_error().unwrap() - error / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_ratio_is_that_of_the_means() {
        let replicates = [(10.0, 1.0), (10.0, 3.0)].map(|(above, below)| Ratio { above, below });
        let estimate = Estimate::of_replicates(&replicates).unwrap();
        // Not the mean of 10 and 3.3.
        assert_eq!(estimate.value, 5.0);
        // Residuals 5 and -5 have variance 50; the mean of the denominators is 2.
        assert_eq!(estimate.standard_error, Some(2.5));
        let nothing = [Ratio { above: 0.0, below: 0.0 }; 2];
        assert_eq!(Estimate::of_replicates(&nothing), None);
    }

    #[test]
    fn one_replicate_gives_no_error_and_none_no_estimate() {
        let one = Estimate::of_replicates(&counts(&[7.0])).unwrap();
        assert_eq!((one.value, one.standard_error, one.interval()), (7.0, None, None));
        assert_eq!(one.covers(7.0), None);
        assert_eq!(Estimate::of_replicates(&[]), None);
        let same = Estimate::of_replicates(&counts(&[7.0, 7.0])).unwrap();
        assert_eq!((same.interval(), same.covers(7.0)), (Some([7.0, 7.0]), Some(true)));
    }
}
