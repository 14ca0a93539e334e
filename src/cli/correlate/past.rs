//! Our side of the comparison, from the tables of earlier runs.

use crate::cli::tables::note_without_checksum;
use crate::study::correlate::Past;
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
