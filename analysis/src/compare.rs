//! Comparing the runs of policies with those of a baseline policy, workload by workload.

use polars::prelude::*;
use std::collections::BTreeMap;

use crate::baseline::Baseline;
use crate::error::{Error, Result};
use crate::frame::{self, labels, strings};
use crate::means::mean_rows;
use crate::metric::{COMPARED, Relation, relative};
use crate::read::SLOTS;

/// Name of a column, for a while, with the position of a row in the `runs` table.
const ROW: &str = "row of runs";

/// What to compare with what.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The policy that the others are compared with.
    ///
    /// It names a value of one varied slot (`fr-fcfs`), or of several with slashes between
    /// (`fr-fcfs/gto`); `slot=value` says which slot is meant. A varied slot that it does not name
    /// is held equal: with the baseline `fr-fcfs`, a run with `gto` is compared with the run of
    /// `fr-fcfs` with `gto`.
    pub baseline: String,
    /// Columns in which the runs of a workload differ. Empty: those of [`SLOTS`] that hold more
    /// than one value.
    pub slots: Vec<String>,
    /// Units of metrics that [`METRICS`](crate::METRICS) does not have, by their columns: text shows
    /// them, and a `fraction` in percent.
    pub units: BTreeMap<String, String>,
    /// Metric columns to show and average beside the IPC. Beside those of `runs`, `COLUMN_ratio` is
    /// the value of a column over the baseline's, and `COLUMN_reduction` the fraction of the
    /// baseline's by which it is below.
    pub metrics: Vec<String>,
}

impl CompareOptions {
    /// Against `baseline`, in the slots that vary, with the metrics of [`COMPARED`].
    pub fn new(baseline: impl Into<String>) -> Self {
        let metrics = COMPARED.map(str::to_owned).to_vec();
        let (slots, units) = Default::default();
        CompareOptions { baseline: baseline.into(), slots, units, metrics }
    }
}

/// Runs beside a baseline, and their means over workloads.
#[derive(Clone, Debug)]
pub struct Comparison {
    rows: DataFrame,
    means: DataFrame,
    slots: Vec<String>,
    baseline: String,
    pub(crate) units: BTreeMap<String, String>,
}

impl Comparison {
    /// One row per run: `machine`, `trace`, the policy slots, `ipc_thread`, `ipc_ratio` and the
    /// metrics; machines, traces and policies each in the order of their first appearance.
    pub fn rows(&self) -> &DataFrame {
        &self.rows
    }

    /// Three rows per machine and policy, one for each of [`MEANS`](crate::MEANS) in the column `mean`.
    ///
    /// All three average `ipc_ratio`; the metrics are averaged arithmetically, in the first row
    /// only. A null is left out of a mean. `workloads` counts the workloads with an `ipc_ratio`.
    pub fn means(&self) -> &DataFrame {
        &self.means
    }

    /// The rows, then the means, as one table: `mean` and `workloads` are null in the rows, `trace`
    /// and `ipc_thread` in the means.
    ///
    /// # Errors
    /// If the dataframe engine fails.
    pub fn table(&self) -> Result<DataFrame> {
        let mut schema = self.rows.schema().as_ref().clone();
        schema.merge(self.means.schema().as_ref().clone());
        let both = [&self.rows, &self.means].map(|frame| frame::with_columns_of(frame, &schema));
        Ok(concat(both, UnionArgs::default())?.collect()?)
    }

    /// The slots in which the runs differ.
    pub fn slots(&self) -> &[String] {
        &self.slots
    }

    /// The baseline, as its policies' names with slashes between.
    pub fn baseline(&self) -> &str {
        &self.baseline
    }
}

/// Compares the runs of each trace and machine with the run of the baseline policy.
///
/// `runs` needs the columns `trace`, `machine`, `ipc_thread`, the slots and the metrics of
/// `options`. Where it has a `run_id`, rows with the same one count once. Not a number and infinity
/// count as null. A ratio is null if the baseline's IPC is null or zero.
///
/// # Errors
/// If a column is missing or not numeric, if the baseline is unknown, ambiguous or missing for a
/// workload, or if a workload has several runs with the same policies.
pub fn compare(runs: LazyFrame, options: &CompareOptions) -> Result<Comparison> {
    let runs = prepare(runs, options)?;
    let slots = varied_slots(&runs, options)?;
    let baseline = Baseline::resolve(&options.baseline, &runs, &slots)?;
    let runs = in_order_of_appearance(runs, &slots)?;
    check_one_run_each(&runs, &slots)?;
    let rows = with_ratio(&runs, &slots, &baseline, &options.metrics)?;
    let means = mean_rows(&rows, &slots, &options.metrics)?;
    let units = options.units.clone();
    Ok(Comparison { rows, means, slots, baseline: baseline.label(), units })
}

/// The columns that a comparison uses: keys as strings, values as finite floats or null.
fn prepare(mut runs: LazyFrame, options: &CompareOptions) -> Result<DataFrame> {
    const TABLE: &str = "the `runs` table";
    let schema = runs.collect_schema()?;
    let slots = options.slots.iter().map(String::as_str);
    let present = SLOTS.into_iter().filter(|slot| schema.contains(slot));
    let keys = distinct(["machine", "trace"].into_iter().chain(slots).chain(present));
    let metrics = options.metrics.iter().map(|metric| source(metric, &schema));
    let values = distinct(["ipc_thread"].into_iter().chain(metrics));
    keys.iter().try_for_each(|name| frame::require(&schema, TABLE, name))?;
    values.iter().try_for_each(|name| frame::require_numeric(&schema, TABLE, name))?;

    let keys = keys.into_iter().map(|key| col(key).cast(DataType::String).fill_null(lit("none")));
    let values = values.into_iter().map(|value| finite_or_null(col(value).cast(DataType::Float64)));
    if schema.contains("run_id") {
        let first = col(ROW).eq(col(ROW).min().over([col("run_id")])?);
        runs = runs.with_row_index(ROW, None).filter(col("run_id").is_null().or(first));
    }
    let runs = runs.select(keys.chain(values).collect::<Vec<_>>()).collect()?;
    if runs.height() == 0 { Err(Error::NoRuns) } else { Ok(runs) }
}

/// The column that a metric is made of.
fn source<'a>(metric: &'a str, schema: &Schema) -> &'a str {
    match relative(metric) {
        Some((column, _)) if !schema.contains(metric) => column,
        _ => metric,
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn finite_or_null(value: Expr) -> Expr {
    when(value.clone().is_finite()).then(value).otherwise(lit(NULL))
}

fn varied_slots(runs: &DataFrame, options: &CompareOptions) -> Result<Vec<String>> {
    if !options.slots.is_empty() {
        return Ok(options.slots.clone());
    }
    let mut varied = Vec::new();
    let mut present = Vec::new();
    for slot in SLOTS.into_iter().filter(|slot| runs.schema().contains(slot)) {
        present.push(slot.to_owned());
        if runs.column(slot)?.n_unique()? > 1 {
            varied.push(slot.to_owned());
        }
    }
    Ok(if varied.is_empty() { present } else { varied })
}

fn in_order_of_appearance(runs: DataFrame, slots: &[String]) -> Result<DataFrame> {
    let first_of = |keys: Vec<Expr>| col(ROW).min().over(keys);
    let policy = slots.iter().map(col).collect();
    let order = [vec![col("machine")], vec![col("trace")], policy].map(first_of);
    let order = order.into_iter().collect::<PolarsResult<Vec<Expr>>>()?;
    let indexed = runs.lazy().with_row_index(ROW, None);
    let sorted =
        indexed.sort_by_exprs(order, SortMultipleOptions::default().with_maintain_order(true));
    Ok(sorted.drop(by_name([ROW], true, false)).collect()?)
}

fn check_one_run_each(runs: &DataFrame, slots: &[String]) -> Result<()> {
    let keys = key_columns(slots);
    let groups = runs.clone().lazy().group_by_stable(&keys).agg([len().alias("runs")]);
    let several = groups.filter(col("runs").gt(lit(1))).limit(1).collect()?;
    if several.height() == 0 {
        return Ok(());
    }
    let inner = JoinArgs::new(JoinType::Inner);
    let group = runs.clone().lazy().join(several.lazy(), &keys, &keys, inner).collect()?;
    let differs = |slot: &&str| group.column(slot).and_then(Column::n_unique).is_ok_and(|n| n > 1);
    Err(Error::SeveralRuns {
        trace: strings(&group, "trace")?.swap_remove(0),
        machine: strings(&group, "machine")?.swap_remove(0),
        policy: labels(&group, slots)?.swap_remove(0),
        runs: group.height(),
        differ: SLOTS.iter().filter(|slot| differs(slot)).map(|slot| (*slot).to_owned()).collect(),
    })
}

fn key_columns(slots: &[String]) -> Vec<Expr> {
    ["machine", "trace"].into_iter().map(col).chain(slots.iter().map(col)).collect()
}

fn with_ratio(
    runs: &DataFrame,
    slots: &[String],
    baseline: &Baseline,
    metrics: &[String],
) -> Result<DataFrame> {
    const FOUND: &str = "baseline found";
    let values: Vec<&str> = names_from(runs, "ipc_thread").collect();
    let held: Vec<String> = slots.iter().filter(|slot| !baseline.names(slot)).cloned().collect();
    let keys = key_columns(&held);
    let base = runs.clone().lazy().filter(baseline.predicate()).select(
        keys.iter()
            .cloned()
            .chain(values.iter().map(|&value| col(value).alias(of_baseline(value))))
            .chain([lit(true).alias(FOUND)])
            .collect::<Vec<_>>(),
    );
    let mut join = JoinArgs::new(JoinType::Left);
    join.maintain_order = MaintainOrderJoin::Left;
    let joined = runs.clone().lazy().join(base, &keys, &keys, join).collect()?;
    check_baseline_found(&joined, joined.column(FOUND)?, slots, baseline)?;

    let keys = frame::names(runs).take_while(|name| *name != "ipc_thread").map(col);
    let ipc = [col("ipc_thread"), ratio("ipc_thread").alias("ipc_ratio")];
    let metrics = metrics.iter().map(|metric| match relative(metric) {
        Some((column, relation)) if !values.contains(&metric.as_str()) => {
            related(column, relation).alias(metric)
        }
        _ => col(metric),
    });
    let columns: Vec<Expr> = keys.chain(ipc).chain(metrics).collect();
    Ok(joined.lazy().select(columns).collect()?)
}

/// Names of the columns from `first` on.
fn names_from<'a>(frame: &'a DataFrame, first: &'a str) -> impl Iterator<Item = &'a str> {
    frame::names(frame).skip_while(move |name| *name != first)
}

/// Name of a column, for a while, with the baseline's value of another.
fn of_baseline(column: &str) -> String {
    format!("{column} of the baseline")
}

/// A column over the baseline's; null where that is null or not positive.
fn ratio(column: &str) -> Expr {
    let base = col(of_baseline(column));
    when(base.clone().gt(lit(0.0))).then(col(column) / base).otherwise(lit(NULL))
}

fn related(column: &str, relation: Relation) -> Expr {
    match relation {
        Relation::Ratio => ratio(column),
        Relation::Reduction => lit(1.0) - ratio(column),
    }
}

fn check_baseline_found(
    joined: &DataFrame,
    found: &Column,
    slots: &[String],
    baseline: &Baseline,
) -> Result<()> {
    let Some(row) = found.is_null().first_true_idx() else {
        return Ok(());
    };
    let (traces, machines) = (strings(joined, "trace")?, strings(joined, "machine")?);
    let policies = labels(joined, slots)?;
    let same = |other: &usize| traces[*other] == traces[row] && machines[*other] == machines[row];
    let available =
        (0..joined.height()).filter(same).map(|other| policies[other].clone()).collect();
    Err(Error::MissingBaseline {
        trace: traces[row].clone(),
        machine: machines[row].clone(),
        policy: policies[row].clone(),
        baseline: baseline.label(),
        available,
    })
}
