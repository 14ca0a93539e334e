//! Numbers measured over irrelevant variants of the machine: mean and confidence interval.
//!
//! Every configuration of a claim runs unmodified and in each
//! [variant](warpmem_study::reproduce::Paper::variants), so a ratio is measured several times, each
//! time from two runs that differ only in the policy.

/// Quantiles 0.975 of Student's t distribution with 1 to 5 degrees of freedom.
const STUDENT: [f64; 5] = [12.706, 4.303, 3.182, 2.776, 2.571];
/// Quantiles 0.9995.
const SURELY: [f64; 5] = [636.619, 31.599, 12.924, 8.610, 6.869];

/// A number measured by several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Mean over the variants.
    pub mean: f64,
    /// Half of the 95 % confidence interval of the mean, by Student's t distribution; none for a
    /// single run.
    pub noise: Option<f64>,
}

impl Measured {
    /// Averages the values; none without values.
    pub fn of(values: &[f64]) -> Option<Measured> {
        Measured::with(values, &STUDENT)
    }

    /// Averages the values, with half of the 99.9 % interval as noise.
    pub fn surely(values: &[f64]) -> Option<Measured> {
        Measured::with(values, &SURELY)
    }

    fn with(values: &[f64], quantiles: &[f64; 5]) -> Option<Measured> {
        let count = values.len() as f64;
        let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)?;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let freedom = values.len() - 1;
        let quantile = freedom.checked_sub(1).map(|at| quantiles[at.min(quantiles.len() - 1)]);
        let noise = quantile.map(|quantile| quantile * (squares / freedom as f64 / count).sqrt());
        Some(Measured { mean, noise })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_run_has_no_noise_and_no_runs_no_number() {
        assert_eq!(Measured::of(&[3.0]), Some(Measured { mean: 3.0, noise: None }));
        assert_eq!(Measured::of(&[3.0, 3.0]), Some(Measured { mean: 3.0, noise: Some(0.0) }));
        assert_eq!(Measured::of(&[]), None);
    }

    /// A textbook sample of six: mean 10, standard deviation 1.
    #[test]
    fn the_interval_is_students_t() {
        let spread = 1.0 * (5.0f64 / 6.0).sqrt();
        let sample = [10.0 - spread, 10.0 + spread].repeat(3);
        let noise = |measured: Option<Measured>| measured.unwrap().noise.unwrap();
        assert!((noise(Measured::of(&sample)) - 2.571 / 6.0f64.sqrt()).abs() < 1e-3);
        assert!((noise(Measured::surely(&sample)) - 6.869 / 6.0f64.sqrt()).abs() < 1e-3);
    }
}
