//! Our side of the comparison, from the tables of earlier runs.

use super::ours::Outcome;
use crate::cli::tables::note_without_checksum;
use crate::study::correlate::{Past, Planned, Skipped};
use anyhow::Context;
use serde_json::{Map, Value};
use std::path::Path;
use warpmem_analysis::polars::prelude::LazyFrame;
use warpmem_analysis::{Results, table_to_json};

/// Opens the tables of `run` or `compare`.
pub fn open(directory: &Path) -> anyhow::Result<Past> {
    let results = Results::open(directory)?;
    let (runs, kernels) = (rows(results.runs()?)?, rows(results.table("kernels")?)?);
    note_without_checksum(&results);
    Ok(Past { directory: directory.to_owned(), runs, kernels })
}

fn rows(table: LazyFrame) -> anyhow::Result<Vec<Map<String, Value>>> {
    let frame = table.collect().map_err(warpmem_analysis::Error::from)?;
    serde_json::from_str(&table_to_json(&frame)?).context("failed to read a table back")
}

/// Finds our results for every run in the tables; `skipped` collects the others.
pub fn find_all(
    past: &Past,
    planned: Vec<Planned>,
    skipped: &mut Skipped,
) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome { comparisons: Vec::new(), refused: Vec::new(), failure: None };
    for run in planned {
        let figures = match past.find(&run)? {
            Ok(figures) => figures,
            Err(reason) => {
                skipped.add(run.label(), reason);
                continue;
            }
        };
        match run.refusal(&past.directory, &figures.kernels) {
            Some(refusal) => outcome.refused.push(refusal),
            None => outcome.comparisons.push(run.beside(figures)),
        }
    }
    Ok(outcome)
}
