//! What parameters of the machine do.

use super::super::document::{Prose, Section};
use super::super::frame::{is_one_of, names};
use super::super::limits::Shown;
use super::super::study::{POLICY, Study};
use super::super::table::Table;
use crate::cli::chart::{Axis, Chart, Kind, Lines};
use polars::prelude::*;
use warpmem_analysis::{means, parameters, polars};

/// Column with the IPC over that of the reference.
const RELATIVE: &str = "relative IPC";
/// Values that span at least so much have a logarithmic axis.
const WIDE: f64 = 16.0;
/// Parameters that are drawn.
const CHARTS: usize = 12;

pub fn section(study: &Study, _shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("parameters", "Sensitivity to parameters of the machine");
    let varied = Varied::of(study)?;
    if varied.keys.is_empty() {
        let why = "No number among the parameters of a machine varies between runs.";
        return Ok(section.note(Prose::new(why)));
    }
    let mut section = section.text(introduction(study));
    let mut ranges = Vec::new();
    for (at, key) in varied.keys.iter().enumerate() {
        let line = varied.line(study, key)?;
        ranges.push(range(key, series(study), &line));
        if at < CHARTS {
            section = section.figure(chart(study, key, &line)?);
        }
    }
    if let Some(more) = varied.keys.len().checked_sub(CHARTS).filter(|more| *more > 0) {
        section = section.note(Prose::new(format!(
            "{} are in the table alone.",
            super::counted(more, "more parameter")
        )));
    }
    Ok(section.table(table(ranges)?))
}

fn introduction(study: &Study) -> Prose {
    Prose::new("IPC over that of the same workload on the same machine with ")
        .code(&study.baseline)
        .words(" in the first setting: ")
        .words(study.mean.name())
        .words(" means over workloads. The other parameters have their values of the first setting; where no two runs agree in these, as in a Latin hypercube, runs with all values are in the mean.")
}

/// Runs with a column for each number among the parameters that varies.
struct Varied {
    runs: DataFrame,
    keys: Vec<String>,
}

impl Varied {
    fn of(study: &Study) -> anyhow::Result<Varied> {
        let runs = parameters(study.runs.clone().lazy())?.collect()?;
        let is_new = |name: &&str| !study.runs.schema().contains(name);
        let is_number =
            |name: &&str| runs.column(name).is_ok_and(|c| c.dtype().is_primitive_numeric());
        let keys = names(&runs).filter(is_new).filter(is_number).map(str::to_owned).collect();
        Ok(Varied { runs: beside_reference(study, runs)?, keys })
    }

    /// The mean IPC by the value of `key` and the policy.
    fn line(&self, study: &Study, key: &str) -> anyhow::Result<DataFrame> {
        let first = |key: &String| col(key).eq(col(key).first());
        let others = self.keys.iter().filter(|other| *other != key).map(first);
        let alike = others.fold(lit(true), Expr::and);
        let held = self.runs.clone().lazy().filter(alike).collect()?;
        let runs = if held.column(key)?.n_unique()? > 1 { held } else { self.runs.clone() };
        let line = means(runs.lazy(), &[key, series(study)], &[RELATIVE], study.mean)?;
        Ok(line.sort([key], SortMultipleOptions::default().with_maintain_order(true)).collect()?)
    }
}

/// What tells the lines of a chart apart.
fn series(study: &Study) -> &'static str {
    if study.is_of_overrides() { "machine" } else { POLICY }
}

fn beside_reference(study: &Study, runs: DataFrame) -> anyhow::Result<DataFrame> {
    const REFERENCE: &str = "IPC of the reference";
    let keys: Vec<Expr> =
        ["machine", "trace"].into_iter().chain(study.held_slots()).map(col).collect();
    let is_reference = |policy: &&String| study.is_baseline(policy);
    let baselines: Vec<String> = study.policies.iter().filter(is_reference).cloned().collect();
    let of_baseline = is_one_of(POLICY, &baselines);
    let reference = runs.clone().lazy().filter(of_baseline).group_by_stable(&keys);
    let reference = reference.agg([col("ipc_thread").first().alias(REFERENCE)]);
    let mut join = JoinArgs::new(JoinType::Left);
    join.maintain_order = MaintainOrderJoin::Left;
    let ratio = when(col(REFERENCE).gt(lit(0.0)))
        .then(col("ipc_thread") / col(REFERENCE))
        .otherwise(lit(NULL));
    let joined = runs.lazy().join(reference, &keys, &keys, join);
    Ok(joined.with_columns([ratio.alias(RELATIVE)]).collect()?)
}

fn chart(study: &Study, key: &str, line: &DataFrame) -> anyhow::Result<Chart> {
    let values = line.column(key)?.cast(&DataType::Float64)?;
    let (least, most) = (values.f64()?.min().unwrap_or(0.0), values.f64()?.max().unwrap_or(0.0));
    let x = Axis::new(key, "");
    let x = if least > 0.0 && most / least >= WIDE { x.log() } else { x };
    let lines = Lines::new(key, RELATIVE, series(study), x, Axis::new("relative IPC", ""));
    let caption = format!(
        "IPC over that of {} in the first setting, by {key}: {} means over workloads.",
        study.baseline,
        study.mean.name()
    );
    let name = format!("parameter-{}", super::file_name(key));
    let data = line.select([key, series(study), RELATIVE])?;
    Ok(Chart::new(
        name,
        format!("Sensitivity to {key}"),
        caption,
        data,
        Kind::Lines(lines.reference(1.0)),
    ))
}

/// A row per policy: from which value to which the parameter goes, and from which mean to which the IPC.
fn range(key: &str, series: &str, line: &DataFrame) -> LazyFrame {
    let relative = || col(RELATIVE);
    line.clone().lazy().group_by_stable([col(series)]).agg([
        lit(key).first().alias("parameter"),
        col(key).cast(DataType::Float64).min().alias("from"),
        col(key).cast(DataType::Float64).max().alias("to"),
        relative().min().alias("least"),
        relative().max().alias("most"),
        ((relative().max() - relative().min()) / relative().min()).alias("span"),
    ])
}

fn table(ranges: Vec<LazyFrame>) -> anyhow::Result<Table> {
    let frame = concat(ranges, UnionArgs::default())?.collect()?;
    let mut table = Table::new("sensitivity", "How far the IPC goes with each parameter", frame);
    table.describe("from", "", "Least value of the parameter.", 0);
    table.describe("to", "", "Greatest value of the parameter.", 0);
    table.describe(
        "least",
        "× reference",
        "Least mean IPC over the values of the parameter, over that of the reference.",
        3,
    );
    table.describe(
        "most",
        "× reference",
        "Greatest mean IPC over the values of the parameter, over that of the reference.",
        3,
    );
    table.describe_percent("span", "By how much the greatest mean IPC is above the least.");
    Ok(table)
}
