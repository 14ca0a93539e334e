//! Numbers measured over irrelevant variants of the machine: mean and confidence interval.
//!
//! Every configuration of a claim runs unmodified and in each [variant](Paper::variants), so a
//! ratio is measured several times, each time from two runs that differ only in the policy.

use crate::error::Result;
use warpmem_study::reproduce::{Paper, Runs};

/// Quantiles 0.975 of Student's t distribution with 1 to 5 degrees of freedom.
const STUDENT: [f64; 5] = [12.706, 4.303, 3.182, 2.776, 2.571];

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
        let count = values.len() as f64;
        let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)?;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let freedom = values.len() - 1;
        let student = freedom.checked_sub(1).map(|at| STUDENT[at.min(STUDENT.len() - 1)]);
        let noise = student.map(|student| student * (squares / freedom as f64 / count).sqrt());
        Some(Measured { mean, noise })
    }
}

/// Evaluates `number` on the `runs` and on every variant of them. Variants without a number are
/// ignored.
///
/// # Errors
/// Errors of `number`.
pub fn measured(
    paper: &Paper,
    runs: &Runs,
    number: impl Fn(&Runs) -> Result<Option<f64>>,
) -> Result<Option<Measured>> {
    let Some(plain) = number(runs)? else { return Ok(None) };
    let mut values = vec![plain];
    for variant in paper.variants() {
        values.extend(number(&runs.in_variant(variant))?);
    }
    Ok(Measured::of(&values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::mean;
    use crate::study::tests::varied;

    fn paper() -> Paper {
        let text =
            "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\n[schemes]\nX = []\nY = []";
        Paper::from_text("t", text).unwrap().quickly()
    }

    fn of(ours: &str) -> Option<Measured> {
        let runs: Runs = toml::from_str(ours).unwrap();
        let study = varied();
        let number = |runs: &Runs| Ok(mean(&study.values(runs)?, runs.mean));
        measured(&paper(), &runs, number).unwrap()
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    }

    /// X is 2.0 unmodified and 2.2, 1.8 and 2.0 in three variants; Y is 1.0, 1.0, 1.0 and 0.8.
    #[test]
    fn a_ratio_is_the_mean_of_pairs_that_differ_in_the_policy_alone() {
        let ratio = of("of = 'X'\nover = 'Y'").unwrap();
        let pairs = [2.0, 2.2, 1.8, 2.5];
        close(ratio.mean, pairs.iter().sum::<f64>() / 4.0);
        let squares: f64 = pairs.iter().map(|pair| (pair - ratio.mean).powi(2)).sum();
        close(ratio.noise.unwrap(), 3.182 * (squares / 3.0 / 4.0).sqrt());
        close(of("of = 'X'").unwrap().mean, 2.0);
    }

    #[test]
    fn a_single_run_has_no_noise_and_no_runs_no_number() {
        assert_eq!(Measured::of(&[3.0]), Some(Measured { mean: 3.0, noise: None }));
        assert_eq!(Measured::of(&[3.0, 3.0]), Some(Measured { mean: 3.0, noise: Some(0.0) }));
        assert_eq!(Measured::of(&[]), None);
        assert_eq!(of("of = 'Z'"), None);
    }

    /// A textbook sample of six: mean 10, standard deviation 1.
    #[test]
    fn the_interval_is_students_t() {
        let spread = 1.0 * (5.0f64 / 6.0).sqrt();
        let sample = [10.0 - spread, 10.0 + spread].repeat(3);
        close(Measured::of(&sample).unwrap().noise.unwrap(), 2.571 / 6.0f64.sqrt());
    }
}
