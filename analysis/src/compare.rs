//! Compares the runs of policies with those of a baseline policy, workload by workload.

use polars::prelude::*;
use std::collections::BTreeMap;

use crate::baseline::Baseline;
use crate::error::{Error, Result};
use crate::frame::{self, NONE, labels, strings};
use crate::means::mean_rows;
use crate::metric::{COMPARED, Relation, relative};
use crate::mixed;
use crate::overrides::{OVERRIDES, holds_overrides, places};
use crate::results::SLOTS;

/// Name of a temporary column: position of the row in the `runs` table.
const ROW: &str = "row of runs";
/// Name of a temporary column: set if the run has a baseline run to compare with.
const FOUND: &str = "baseline found";
/// Options of a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// Policy that the others are compared with.
    ///
    /// It names a value of one varied slot (`fr-fcfs`), or values of several slots separated by
    /// slashes (`fr-fcfs/gto`); `slot=value` selects the slot explicitly. Varied slots that the
    /// baseline does not name are held equal: with the baseline `fr-fcfs`, a run with `gto` is
    /// compared with the run of `fr-fcfs` with `gto`. Overrides are held equal too, unless the
    /// baseline names some, spelled as in their column (`dram.read_queue=32`; `none` for no
    /// override).
    pub baseline: String,
    /// Columns in which the runs of a workload differ. If empty: the columns of [`SLOTS`] with more
    /// than one value, or `overrides` if only these vary.
    pub slots: Vec<String>,
    /// Units of metrics missing from [`METRICS`](crate::METRICS), by column. Text output shows
    /// them; a `fraction` is shown in percent.
    pub units: BTreeMap<String, String>,
    /// Metric columns to show and average in addition to the IPC: columns of `runs`, `COLUMN_ratio`
    /// for a value relative to the baseline's, and `COLUMN_reduction` for the fraction by which a
    /// value is below the baseline's.
    pub metrics: Vec<String>,
    /// Compare runs even if traces of the same name differ in content, machines of the same name
    /// and overrides differ in parameters other than policies, or engine versions differ. Rows that
    /// differ from their baseline in this way are marked.
    pub allow_mixed: bool,
    /// Compare runs even if the baseline did not run on some of their workloads; their ratios are
    /// null.
    pub allow_unmatched: bool,
}

impl CompareOptions {
    /// Compares against `baseline`, in the slots that vary, with the metrics of [`COMPARED`].
    pub fn new(baseline: impl Into<String>) -> Self {
        let metrics = COMPARED.map(str::to_owned).to_vec();
        let (slots, units) = Default::default();
        CompareOptions {
            baseline: baseline.into(),
            slots,
            units,
            metrics,
            allow_mixed: false,
            allow_unmatched: false,
        }
    }
}

/// Runs compared with a baseline, and their means over workloads.
#[derive(Clone, Debug)]
pub struct Comparison {
    rows: DataFrame,
    means: DataFrame,
    slots: Vec<String>,
    baseline: String,
    baseline_slots: Vec<(String, String)>,
    mixed: Vec<String>,
    unmatched: usize,
    pub(crate) units: BTreeMap<String, String>,
}

impl Comparison {
    /// Returns one row per run: `machine`, `trace`, `overrides`, the policy slots, `ipc_thread`,
    /// `ipc_ratio` and the metrics. Machines, overrides, traces and policies appear in the order of
    /// their first appearance. If runs are [mixed](Comparison::mixed), the column `mixed` states
    /// how a run differs from its baseline apart from policies.
    pub fn rows(&self) -> &DataFrame {
        &self.rows
    }

    /// Returns three rows per machine, overrides and policy, one for each of
    /// [`MEANS`](crate::MEANS) in the column `mean`.
    ///
    /// All three average `ipc_ratio`; metrics are averaged arithmetically, in the first row only.
    /// Nulls are ignored. `workloads` counts the workloads with an `ipc_ratio`.
    pub fn means(&self) -> &DataFrame {
        &self.means
    }

    /// Returns the rows, then the means, as one table: `mean` and `workloads` are null in the rows,
    /// `trace` and `ipc_thread` in the means.
    ///
    /// # Errors
    /// If the dataframe engine fails.
    pub fn table(&self) -> Result<DataFrame> {
        let mut schema = self.rows.schema().as_ref().clone();
        schema.merge(self.means.schema().as_ref().clone());
        let both = [&self.rows, &self.means].map(|frame| frame::with_columns_of(frame, &schema));
        Ok(concat(both, UnionArgs::default())?.collect()?)
    }

    /// Returns the slots in which the runs differ.
    pub fn slots(&self) -> &[String] {
        &self.slots
    }

    /// Returns the unexpected differences between the runs; empty unless
    /// [allowed](CompareOptions::allow_mixed).
    pub fn mixed(&self) -> &[String] {
        &self.mixed
    }

    /// Returns the number of runs without a baseline run to compare with; 0 unless
    /// [allowed](CompareOptions::allow_unmatched).
    pub fn unmatched(&self) -> usize {
        self.unmatched
    }

    /// Returns the slots that the baseline names, each with its policy; runs are compared with a
    /// run that is equal in all other slots.
    pub fn baseline_slots(&self) -> &[(String, String)] {
        &self.baseline_slots
    }

    /// Returns the names of the baseline's policies, separated by slashes.
    pub fn baseline(&self) -> &str {
        &self.baseline
    }
}

/// Compares the runs of each trace, machine and overrides with the run of the baseline policy.
///
/// `runs` needs the columns `trace`, `machine`, `ipc_thread`, the slots and the metrics of
/// `options`. If it has a `run_id`, rows with the same id count once. Not-a-number and infinity
/// count as null. A ratio is null if the baseline's IPC is null or zero.
///
/// The columns `trace_hash`, `parameters` and `engine_version`, where present, must agree: one
/// content per trace name, one set of parameters (policies aside) per machine and overrides, one
/// version for all.
///
/// ```
/// use warpmem_analysis::{CompareOptions, compare, polars::{df, prelude::IntoLazy}};
///
/// let runs = df!(
///     "trace" => ["bfs", "bfs"], "machine" => ["li2015", "li2015"],
///     "dram_scheduler" => ["fcfs", "fr-fcfs"], "ipc_thread" => [2.0, 4.0],
/// )?;
/// let options = CompareOptions { metrics: Vec::new(), ..CompareOptions::new("fr-fcfs") };
/// let comparison = compare(runs.lazy(), &options)?;
/// assert_eq!(comparison.rows().column("ipc_ratio")?.f64()?.get(0), Some(0.5));
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If a column is missing or not numeric, if the baseline is unknown, ambiguous or missing for a
/// workload, if a workload has several runs with the same policies, or if runs are mixed.
pub fn compare(runs: LazyFrame, options: &CompareOptions) -> Result<Comparison> {
    let runs = prepare(runs, options)?;
    let mixed = mixed::differences(&runs)?;
    if !mixed.is_empty() && !options.allow_mixed {
        return Err(Error::Mixed { differences: mixed });
    }
    let slots = varied_slots(&runs, options)?;
    let baseline = Baseline::resolve(&options.baseline, &runs, &slots)?;
    let runs = in_order_of_appearance(runs, &slots)?;
    check_one_run_each(&runs, &slots)?;
    let beside = beside_baseline(&runs, &slots, &baseline)?;
    let unmatched = beside.column(FOUND)?.null_count();
    if unmatched > 0 && !options.allow_unmatched {
        return Err(missing_baseline(&beside, &slots, &baseline)?);
    }
    let rows = with_ratio(&runs, beside, &options.metrics, !mixed.is_empty(), &baseline)?;
    let means = mean_rows(&rows, &slots, &options.metrics)?;
    let units = options.units.clone();
    let (baseline, baseline_slots) = (baseline.label(), baseline.into_slots());
    Ok(Comparison { rows, means, slots, baseline, baseline_slots, mixed, unmatched, units })
}

/// Selects the columns that a comparison uses: keys as strings, values as finite floats or null,
/// and the columns that must agree.
fn prepare(mut runs: LazyFrame, options: &CompareOptions) -> Result<DataFrame> {
    const TABLE: &str = "the `runs` table";
    let schema = runs.collect_schema()?;
    let slots = options.slots.iter().map(String::as_str);
    let present = [OVERRIDES].into_iter().chain(SLOTS).filter(|slot| schema.contains(slot));
    let keys = distinct(["machine", "trace"].into_iter().chain(present).chain(slots));
    let metrics = options.metrics.iter().map(|metric| source(metric, &schema));
    let values = distinct(["ipc_thread"].into_iter().chain(metrics));
    keys.iter().try_for_each(|name| frame::require(&schema, TABLE, name))?;
    values.iter().try_for_each(|name| frame::require_numeric(&schema, TABLE, name))?;

    let keys = keys.into_iter().map(|key| {
        let none = if key == OVERRIDES { "" } else { NONE };
        col(key).cast(DataType::String).fill_null(lit(none))
    });
    let values =
        values.into_iter().map(|value| frame::finite_or_null(col(value).cast(DataType::Float64)));
    if schema.contains("run_id") {
        let first = col(ROW).eq(col(ROW).min().over([col("run_id")])?);
        runs = runs.with_row_index(ROW, None).filter(col("run_id").is_null().or(first));
    }
    let columns = mixed::columns(&schema).into_iter().chain(keys).chain(values);
    let runs = runs.select(columns.collect::<Vec<_>>()).collect()?;
    if runs.height() == 0 { Err(Error::NoRuns) } else { mixed::without_policies(runs) }
}

/// Returns the column that a metric is computed from.
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

fn varied_slots(runs: &DataFrame, options: &CompareOptions) -> Result<Vec<String>> {
    let present: Vec<&str> =
        SLOTS.into_iter().filter(|slot| runs.schema().contains(slot)).collect();
    let is_varied = |name: &&str| runs.column(name).and_then(Column::n_unique).is_ok_and(|n| n > 1);
    let varied: Vec<&str> = present.iter().copied().filter(is_varied).collect();
    let has_overrides = is_varied(&OVERRIDES);
    let mut slots = match (&options.slots, varied.is_empty()) {
        (slots, _) if !slots.is_empty() => slots.clone(),
        (_, true) if has_overrides => Vec::new(),
        (_, true) => owned(&present),
        (_, false) => owned(&varied),
    };
    let is_compared = slots.is_empty() || Baseline::has_overrides(&options.baseline, runs)?;
    if has_overrides && is_compared && !slots.iter().any(|slot| slot == OVERRIDES) {
        slots.push(OVERRIDES.to_owned());
    }
    Ok(slots)
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn in_order_of_appearance(runs: DataFrame, slots: &[String]) -> Result<DataFrame> {
    let first_of = |keys: Vec<Expr>| col(ROW).min().over(keys);
    let policy = slots.iter().map(col).collect();
    let mut order = vec![vec![col("machine")], vec![col("trace")], policy];
    if holds_overrides(&runs, slots) {
        order.insert(1, vec![col(OVERRIDES)]);
    }
    let order = order.into_iter().map(first_of).collect::<PolarsResult<Vec<Expr>>>()?;
    let indexed = runs.lazy().with_row_index(ROW, None);
    let sorted =
        indexed.sort_by_exprs(order, SortMultipleOptions::default().with_maintain_order(true));
    Ok(sorted.drop(by_name([ROW], true, false)).collect()?)
}

fn check_one_run_each(runs: &DataFrame, slots: &[String]) -> Result<()> {
    let keys: Vec<Expr> = key_names(runs, slots).into_iter().map(col).collect();
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
        machine: places(&group, slots)?.swap_remove(0),
        policy: labels(&group, slots)?.swap_remove(0),
        runs: group.height(),
        differ: owned(&SLOTS.into_iter().chain(mixed::COLUMNS).filter(differs).collect::<Vec<_>>()),
    })
}

/// Returns the columns that together identify a run.
fn key_names<'a>(runs: &DataFrame, slots: &'a [String]) -> Vec<&'a str> {
    let overrides = holds_overrides(runs, slots).then_some(OVERRIDES);
    let workload = ["machine", "trace"].into_iter().chain(overrides);
    workload.chain(slots.iter().map(String::as_str)).collect()
}

/// Joins each run with the columns of its baseline's run, and sets [`FOUND`] if there is one.
fn beside_baseline(runs: &DataFrame, slots: &[String], baseline: &Baseline) -> Result<DataFrame> {
    let held = key_names(runs, slots).into_iter().filter(|name| !baseline.names(name));
    let keys: Vec<Expr> = held.map(col).collect();
    let origin = mixed::COLUMNS.into_iter().filter(|column| runs.schema().contains(column));
    let values = names_from(runs, "ipc_thread").chain(origin);
    let values = values.map(|name| col(name).alias(of_baseline(name)));
    let columns = keys.iter().cloned().chain(values).chain([lit(true).alias(FOUND)]);
    let base = runs.clone().lazy().filter(baseline.predicate()).select(columns.collect::<Vec<_>>());
    let mut join = JoinArgs::new(JoinType::Left);
    join.maintain_order = MaintainOrderJoin::Left;
    Ok(runs.clone().lazy().join(base, &keys, &keys, join).collect()?)
}

fn with_ratio(
    runs: &DataFrame,
    beside: DataFrame,
    metrics: &[String],
    is_mixed: bool,
    baseline: &Baseline,
) -> Result<DataFrame> {
    let keys = frame::names(runs).take_while(|name| *name != "ipc_thread");
    let keys = keys.filter(|name| !mixed::COLUMNS.contains(name)).map(col);
    let mark = || mixed::mark(runs.schema(), baseline.names(OVERRIDES), of_baseline);
    let marks =
        is_mixed.then(|| when(col(FOUND)).then(mark()).otherwise(lit(NULL)).alias(mixed::MIXED));
    let ipc = [col("ipc_thread"), ratio("ipc_thread").alias("ipc_ratio")];
    let has = |metric: &str| names_from(runs, "ipc_thread").any(|name| name == metric);
    let metrics = metrics.iter().map(|metric| match relative(metric) {
        Some((column, relation)) if !has(metric) => related(column, relation).alias(metric),
        _ => col(metric),
    });
    let columns: Vec<Expr> = keys.chain(marks).chain(ipc).chain(metrics).collect();
    Ok(beside.lazy().select(columns).collect()?)
}

/// Returns the names of the columns from `first` on.
fn names_from<'a>(frame: &'a DataFrame, first: &'a str) -> impl Iterator<Item = &'a str> {
    frame::names(frame).skip_while(move |name| *name != first)
}

/// Returns the name of a temporary column that holds the baseline's value of `column`.
fn of_baseline(column: &str) -> String {
    format!("{column} of the baseline")
}

/// Divides a column by the baseline's; null if that is null or not positive.
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

/// Refuses the first run without a baseline run to compare with.
fn missing_baseline(beside: &DataFrame, slots: &[String], baseline: &Baseline) -> Result<Error> {
    let row = beside.column(FOUND)?.is_null().first_true_idx().unwrap_or(0);
    let (traces, machines) = (strings(beside, "trace")?, places(beside, slots)?);
    let policies = labels(beside, slots)?;
    let same = |other: &usize| traces[*other] == traces[row] && machines[*other] == machines[row];
    let available =
        (0..beside.height()).filter(same).map(|other| policies[other].clone()).collect();
    Ok(Error::MissingBaseline {
        trace: traces[row].clone(),
        machine: machines[row].clone(),
        policy: policies[row].clone(),
        baseline: baseline.label(),
        available,
    })
}
