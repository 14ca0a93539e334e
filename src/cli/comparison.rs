//! Comparisons of runs with a baseline, as text.

use super::convoy;
use super::format::Format;
use super::output::width;
use super::run_row::check_name;
use crate::record::run_columns;
use crate::slots::{Baseline, split_list};
use std::path::Path;
use warpmem_analysis::polars::prelude::{IntoLazy, LazyFrame, UnionArgs, concat};
use warpmem_analysis::{
    CompareOptions, Comparison, Results, compare, relative, table_to_csv, table_to_json,
};

/// Compares the runs whose tables are in `directory` in the metrics `shown`, or in the format's
/// default metrics.
pub fn of_directory(
    directory: &Path,
    baseline: &Baseline,
    shown: Option<&[String]>,
    format: Format,
) -> anyhow::Result<String> {
    let runs = Results::open(directory)?.runs()?;
    text(&[comparison(runs, baseline, shown, format)?], format)
}

/// Makes the comparison of `runs` that [`text`] prints in this format.
pub fn comparison(
    runs: LazyFrame,
    baseline: &Baseline,
    shown: Option<&[String]>,
    format: Format,
) -> anyhow::Result<Comparison> {
    convoy::warn_of_runs(&runs)?;
    let mut options = CompareOptions::new(baseline.name());
    options.units = run_columns().into_iter().map(|c| (c.name, c.unit.to_owned())).collect();
    if let Some(shown) = shown {
        options.metrics = shown.to_vec();
    }
    if format == Format::Table {
        options.slots = baseline.columns();
        return Ok(compare(runs, &options)?);
    }
    options.slots = baseline.all_columns();
    if shown.is_none() {
        options.metrics = metrics();
    }
    Ok(compare(runs, &options)?)
}

/// Formats comparisons one after the other.
pub fn text(comparisons: &[Comparison], format: Format) -> anyhow::Result<String> {
    if format == Format::Table {
        let texts = comparisons.iter().map(|comparison| comparison.to_text(width()));
        return Ok(texts.collect::<Result<Vec<String>, _>>()?.join("\n"));
    }
    let tables = comparisons.iter().map(|comparison| Ok(comparison.table()?.lazy()));
    let tables = tables.collect::<anyhow::Result<Vec<LazyFrame>>>()?;
    let table = concat(tables, UnionArgs::default())?.collect()?;
    Ok(if format == Format::Json { table_to_json(&table) } else { table_to_csv(&table) }?)
}

/// Parses a list of metric names: numeric columns of a run, optionally followed by `_ratio` or
/// `_reduction`.
pub fn parse_metrics(text: &str) -> Result<Vec<String>, String> {
    let known = metrics();
    let mut names = split_list(text)?;
    names.retain(|name| !matches!(name.as_str(), "ipc_thread" | "ipc_ratio"));
    for name in names.iter().filter(|name| !known.contains(name)) {
        check_name(relative(name).map_or(name.as_str(), |(column, _)| column), &known)?;
    }
    Ok(names)
}

/// Returns every metric of a run except the one that every comparison shows.
fn metrics() -> Vec<String> {
    let columns = run_columns().into_iter().map(|column| column.name);
    columns.skip_while(|name| name != "cycles").filter(|name| name != "ipc_thread").collect()
}
