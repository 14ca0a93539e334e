//! Comparisons of runs with a baseline, as text.

use super::convoy;
use super::format::Format;
use super::output::width;
use super::run_row::check_name;
use crate::record::{self, read_table, run_columns};
use crate::slots::{Baseline, split_list};
use std::path::Path;
use warpmem_comparison::{CompareOptions, Comparison, Launches, Table, Values, compare, relative};

/// Column of `runs` that is null unless a run was sampled.
const SAMPLED: &str = "cycles_interval";

/// Compares the runs whose tables are in `directory` in the metrics `shown`, or in the format's
/// default metrics.
pub fn of_directory(
    directory: &Path,
    baseline: &Baseline,
    shown: Option<&[String]>,
    format: Format,
) -> anyhow::Result<String> {
    Ok(text(&[comparison(&Runs::read(directory)?, baseline, shown, format)?], format))
}

/// Runs to compare.
#[derive(Clone)]
pub struct Runs {
    table: Table,
    /// Launches that sampled runs simulated.
    launches: Launches,
}

impl Runs {
    /// Reads the runs whose tables are in `directory`.
    pub fn read(directory: &Path) -> anyhow::Result<Runs> {
        let table = read(directory, "runs")?;
        // Launches matter to sampled runs only, and their table is long.
        let is_sampled = table.column(SAMPLED).is_some_and(has_some);
        let launches = match is_sampled {
            true => Launches::of(&read(directory, "kernels")?),
            false => Launches::default(),
        };
        Ok(Runs { table, launches })
    }

    /// Returns the runs on `machines`.
    pub fn on(&self, machines: &[&str]) -> Runs {
        Runs { table: self.table.with_text("machine", machines), ..self.clone() }
    }
}

fn has_some(values: &Values) -> bool {
    values.numbers().is_some_and(|numbers| numbers.iter().any(Option::is_some))
}

/// Reads a table in `directory`.
fn read(directory: &Path, name: &str) -> anyhow::Result<Table> {
    let path = directory.join(name).with_extension("parquet");
    let columns = read_table(&path)?.into_iter().map(|(name, values)| {
        let values = match values {
            record::Values::Text(texts) => Values::Text(texts.into_iter().map(Some).collect()),
            record::Values::Count(counts) => Values::Count(counts),
            record::Values::Ratio(ratios) => Values::Float(ratios),
        };
        (name, values)
    });
    Ok(Table::new(columns.collect()))
}

/// Makes the comparison of `runs` that [`text`] prints in this format.
pub fn comparison(
    runs: &Runs,
    baseline: &Baseline,
    shown: Option<&[String]>,
    format: Format,
) -> anyhow::Result<Comparison> {
    convoy::warn_of_runs(&runs.table);
    let mut options = CompareOptions::new(baseline.name());
    options.launches.clone_from(&runs.launches);
    options.units = run_columns().into_iter().map(|c| (c.name, c.unit.to_owned())).collect();
    if let Some(shown) = shown {
        options.metrics = shown.to_vec();
    }
    if format == Format::Table {
        options.slots = baseline.columns();
        return Ok(compare(&runs.table, &options)?);
    }
    options.slots = baseline.all_columns();
    if shown.is_none() {
        options.metrics = metrics();
    }
    Ok(compare(&runs.table, &options)?)
}

/// Formats comparisons one after the other.
pub fn text(comparisons: &[Comparison], format: Format) -> String {
    if format == Format::Table {
        let texts = comparisons.iter().map(|comparison| comparison.to_text(width()));
        return texts.collect::<Vec<String>>().join("\n");
    }
    let tables: Vec<Table> = comparisons.iter().map(Comparison::table).collect();
    let table = Table::stacked(&tables);
    if format == Format::Json { table.to_json() } else { table.to_csv() }
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
