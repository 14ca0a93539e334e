//! Warns of runs whose SMs access the slices in lockstep.

use super::output::warn;
use warpmem_comparison::{Table, Values};

/// Column of `runs` with the share of convoyed requests.
const COLUMN: &str = "request_convoy";

/// Share of convoyed requests from which a run is reported.
const MOST: f64 = 0.5;

/// Warns if requests travel in convoys in any run; `shares` are the runs' shares of convoyed
/// requests.
pub fn warn_of(shares: impl IntoIterator<Item = Option<f64>>) {
    warning(shares).iter().for_each(|text| warn(text));
}

/// Warns as [`warn_of`] does, given the rows of `runs`.
pub fn warn_of_runs(runs: &Table) {
    let shares = runs.column(COLUMN).and_then(Values::numbers);
    warn_of(shares.into_iter().flatten());
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
            "in {these} most SMs wait for the same slice at the same time ({COLUMN} is {MOST} or more): ideal parts and longer queues can slow such runs, so they are no bound"
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
