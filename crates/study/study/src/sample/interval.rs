//! Estimates with their standard errors and confidence intervals.

use super::Ratio;
use warpmem_support::statistics::student;

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

#[cfg(test)]
mod tests {
    use super::*;

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
