//! The warning of runs whose SMs walk the slices in step.

use super::output::warn;
use warpmem_analysis::polars::prelude::{LazyFrame, col};

/// The column of `runs` that decides.
const COLUMN: &str = "request_convoy";

/// Share of requests sent in a convoy from which a run counts as one of convoys.
const MOST: f64 = 0.5;

/// Warns if requests travel in convoys in some of the runs with these shares of such requests.
pub fn warn_of(shares: impl IntoIterator<Item = Option<f64>>) {
    let shares: Vec<Option<f64>> = shares.into_iter().collect();
    let convoys = shares.iter().flatten().filter(|&&share| share >= MOST).count();
    if convoys > 0 {
        let these = match shares.len() {
            1 => "this run".to_owned(),
            all => format!("{convoys} of {all} runs"),
        };
        warn(&format!(
            "in {these} most SMs wait for the same slice at a time ({COLUMN} is {MOST} or more): ideal parts and \
             longer queues can make it slower, so they are no bound"
        ));
    }
}

/// As [`warn_of`], of the rows of `runs`.
pub fn warn_of_runs(runs: &LazyFrame) -> anyhow::Result<()> {
    let shares = runs.clone().select([col(COLUMN)]).collect()?;
    warn_of(shares.column(COLUMN)?.f64()?.iter());
    Ok(())
}
