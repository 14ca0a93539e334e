//! The warning of runs whose SMs walk the slices in step.

use super::output::warn;
use warpmem_analysis::polars::prelude::{LazyFrame, col};

/// The column of `runs` that decides.
const COLUMN: &str = "request_convoy";

/// Share of requests sent in a convoy from which a run counts as one of convoys.
const MOST: f64 = 0.5;

/// Warns if requests travel in convoys in some of the runs with these shares of such requests.
pub fn warn_of(shares: impl IntoIterator<Item = Option<f64>>) {
    warning(shares).iter().for_each(|text| warn(text));
}

/// As [`warn_of`], of the rows of `runs`.
pub fn warn_of_runs(runs: &LazyFrame) -> anyhow::Result<()> {
    let shares = runs.clone().select([col(COLUMN)]).collect()?;
    warn_of(shares.column(COLUMN)?.f64()?.iter());
    Ok(())
}

fn warning(shares: impl IntoIterator<Item = Option<f64>>) -> Option<String> {
    let shares: Vec<Option<f64>> = shares.into_iter().collect();
    let convoys = shares.iter().flatten().filter(|&&share| share >= MOST).count();
    let these = match shares.len() {
        1 => "this run".to_owned(),
        all => format!("{convoys} of {all} runs"),
    };
    (convoys > 0).then(|| {
        format!(
            "in {these} most SMs wait for the same slice at a time ({COLUMN} is {MOST} or more): ideal parts and \
             longer queues can make it slower, so they are no bound"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_warning_counts_the_runs_of_convoys() {
        assert_eq!(warning([Some(0.49), None]), None);
        let one = warning([Some(0.5)]).unwrap();
        assert!(one.starts_with("in this run ") && one.ends_with("no bound"), "{one}");
        let some = warning([Some(0.77), None, Some(0.6)]).unwrap();
        assert!(some.starts_with("in 2 of 3 runs "), "{some}");
    }
}
