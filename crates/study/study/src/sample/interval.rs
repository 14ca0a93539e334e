//! Estimates with their standard errors and confidence intervals.

use warpmem_support::statistics::student;

/// An estimate from a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Standard error, also estimated from the sample.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub degrees: f64,
}

impl Estimate {
    /// Returns Student's interval, which contains the true value for 95 of 100 samples if the
    /// estimate is normally distributed.
    pub fn interval(&self) -> [f64; 2] {
        let half = match self.standard_error {
            0.0 => 0.0,
            error => student(self.degrees) * error,
        };
        [self.value - half, self.value + half]
    }

    /// Returns the standard error divided by the value; none for a value of 0.
    pub fn relative_error(&self) -> Option<f64> {
        (self.value != 0.0).then(|| self.standard_error / self.value.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_students() {
        let estimate = Estimate { value: 3.0, standard_error: 0.5, degrees: 4.0 };
        let [low, high] = estimate.interval();
        assert!((high - 3.0 - 2.77645 * 0.5).abs() < 1e-5 && (high + low - 6.0).abs() < 1e-12);
        assert_eq!(estimate.relative_error(), Some(0.5 / 3.0));
        assert_eq!(
            Estimate { standard_error: 0.0, degrees: 0.0, ..estimate }.interval(),
            [3.0, 3.0]
        );
    }
}
