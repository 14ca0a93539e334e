//! Noise of a claim's number: how far it moves when only the order of the SMs changes, that is, the
//! difference to expect of a policy without effect.

use crate::error::Result;
use crate::study::{Study, mean};
use warpmem_study::reproduce::{Claim, Ours, Paper, Runs};

/// Two standard deviations.
const DEVIATIONS: f64 = 2.0;

/// The noise of the number of `claim`, in the unit shown; none for claims that are not about runs,
/// or if the paper has no baseline with that number.
///
/// # Errors
/// If an expression does not fit the results.
pub fn noise(paper: &Paper, study: &Study, claim: &Claim) -> Result<Option<f64>> {
    let runs = match &claim.ours {
        Ours::Runs(runs) => runs.clone(),
        Ours::Best(best) if best.against.is_some() => best.runs.clone(),
        _ => return Ok(None),
    };
    let Some(baseline) = paper.baseline_of(Some(runs.over.as_ref().unwrap_or(&runs.of))) else {
        return Ok(None);
    };
    let orders = paper.orders(baseline);
    let number = |of: &String, over: Option<&String>| -> Result<Option<f64>> {
        let runs = Runs { of: of.clone(), over: over.cloned(), ..runs.clone() };
        let found = mean(&study.values(&runs)?, runs.mean);
        Ok(found.map(|value| claim.shown.scaled(value)))
    };
    let mut differences = Vec::new();
    for (at, one) in orders.iter().enumerate() {
        let over = runs.over.is_some().then_some(one);
        let Some(same) = number(one, over)? else { continue };
        for other in &orders[at + 1..] {
            differences.extend(number(other, over)?.map(|different| different - same));
        }
    }
    // A ratio has the noise of both numbers; a number by itself is one side of a difference.
    let ends = if runs.over.is_some() { 1.0 } else { 2.0 };
    Ok(root_mean_square(&differences).map(|spread| DEVIATIONS * spread / f64::sqrt(ends)))
}

fn root_mean_square(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value * value).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tests::ordered;

    /// The noise of the result of `ours` for two workloads whose IPC under X in three orders is
    /// 100, 101 and 99, and 50, 50 and 52.
    fn of(ours: &str) -> Option<f64> {
        let text = format!(
            "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\nbaselines = ['X']\n\
            [schemes]\nX = []\nY = []\n[[claim]]\nwhat = 'w'\nsource = 's'\npublished = 1\n{ours}"
        );
        let paper = Paper::from_text("t", &text).unwrap().quickly();
        let study = ordered(&[("a", [100.0, 101.0, 99.0]), ("b", [50.0, 50.0, 52.0])]);
        noise(&paper, &study, &paper.claims[0]).unwrap()
    }

    fn close(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    /// Noise of the mean, which moves less than its workloads do.
    #[test]
    fn the_noise_of_a_ratio_is_that_of_its_mean_over_pairs_of_orders() {
        let mean = |a: f64, b: f64| 100.0 * ((a + b) / 2.0 - 1.0);
        let pairs = [mean(1.01, 1.0), mean(0.99, 1.04), mean(99.0 / 101.0, 1.04)];
        let square: f64 = pairs.iter().map(|pair| pair * pair).sum();
        close(of("ours.runs = { of = 'Y', over = 'X' }"), 2.0 * (square / 3.0).sqrt());
    }

    /// The minimum of several workloads is below zero change even if nothing has changed.
    #[test]
    fn the_worst_of_several_is_as_far_off_as_the_worst_of_the_orders() {
        let pairs: [f64; 3] = [0.0, -1.0, 100.0 * (99.0 / 101.0 - 1.0)];
        let square: f64 = pairs.iter().map(|pair| pair * pair).sum();
        close(
            of("ours.runs = { of = 'Y', over = 'X', mean = 'least' }"),
            2.0 * (square / 3.0).sqrt(),
        );
    }

    #[test]
    fn a_number_by_itself_is_one_end_of_the_difference() {
        let means: [f64; 3] = [75.0, 75.5, 75.5];
        let square = (means[1] - means[0]).powi(2) + (means[2] - means[0]).powi(2);
        let expected = 2.0 * (square / 3.0).sqrt() / 2f64.sqrt();
        close(of("shown = 'value'\nours.runs = { of = 'Y' }"), expected);
    }

    /// A constant in both numbers that are compared is no difference between them.
    #[test]
    fn what_else_is_in_an_expression_stays_as_it_is() {
        let plain = of("ours.runs = { of = 'Y', over = 'X' }").unwrap();
        let with = "ours.runs = { of = 'Y', over = 'X', value = '1 + own / base' }";
        close(of(with), plain);
    }

    #[test]
    fn what_is_not_of_runs_has_none() {
        assert_eq!(of("ours.nothing = 'no'"), None);
        assert_eq!(of("ours.runs = { of = 'Y', over = 'X', classes = ['HIL'] }"), None);
    }
}
