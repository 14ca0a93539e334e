//! The machine parameters that runs override: compared, or held equal.

use crate::error::Result;
use crate::frame::strings;
use polars::prelude::*;

/// The column with the machine parameters that a run overrides.
pub(crate) const OVERRIDES: &str = "overrides";

/// Returns whether runs are compared only with runs of the same overrides.
pub(crate) fn holds_overrides(runs: &DataFrame, slots: &[String]) -> bool {
    runs.schema().contains(OVERRIDES) && !slots.iter().any(|slot| slot == OVERRIDES)
}

/// Returns the machine of each row, and its overrides unless these are compared.
pub(crate) fn places(runs: &DataFrame, slots: &[String]) -> Result<Vec<String>> {
    let machines = strings(runs, "machine")?;
    if !holds_overrides(runs, slots) {
        return Ok(machines);
    }
    let place = |(machine, overrides): (String, String)| match overrides.as_str() {
        "" => machine,
        overrides => format!("{machine} with {overrides}"),
    };
    Ok(machines.into_iter().zip(strings(runs, OVERRIDES)?).map(place).collect())
}
