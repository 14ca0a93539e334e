//! Summaries of single runs, from the tables `runs`, `banks` and `intervals`.

use polars::prelude::*;

use crate::error::Result;
use crate::frame::{keys_of, quotient, require, require_numeric};

/// Stages of a read request, in order. The column `latency_STAGE` of `runs` is the mean time in a
/// stage.
pub const STAGES: [&str; 8] = [
    "l1",
    "request_network",
    "l2_queue",
    "l2",
    "l2_to_dram",
    "dram_queue",
    "dram_service",
    "reply_network",
];

/// Breaks down the read latency into a row per run and stage. Columns: the key columns of `runs`,
/// `stage` (one of [`STAGES`], in their order), `cycles` (mean time in the stage, core cycles) and
/// `share` of the sum over stages. Null if a run has no such reads.
///
/// ```
/// use warpmem_analysis::{STAGES, latency_breakdown, polars::{df, prelude::*}};
///
/// let stages = STAGES.map(|stage| lit(if stage == "l2" { 30.0 } else { 10.0 }).alias(format!("latency_{stage}")));
/// let runs = df!("run_id" => ["a", "b"])?.lazy().with_columns(stages);
/// let table = latency_breakdown(runs)?.collect()?;
/// assert_eq!(table.height(), 2 * STAGES.len());
/// assert_eq!(table.column("share")?.f64()?.get(3), Some(0.3));
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If `latency_STAGE` of a stage is missing or holds no numbers.
pub fn latency_breakdown(mut runs: LazyFrame) -> Result<LazyFrame> {
    let columns = STAGES.map(|stage| format!("latency_{stage}"));
    let schema = runs.collect_schema()?;
    columns.iter().try_for_each(|column| require_numeric(&schema, "the `runs` table", column))?;
    let sum = columns.iter().map(col).fold(lit(0.0), |sum, stage| sum + stage);
    let stages = STAGES.into_iter().zip(&columns).map(|(stage, column)| {
        vec![
            lit(stage).alias("stage"),
            col(column).cast(DataType::Float64).alias("cycles"),
            quotient(col(column), sum.clone()).alias("share"),
        ]
    });
    long(runs, &keys_of(&schema), stages)
}

/// Returns the time series of each run in long form: for each interval, a row for each of the
/// `metrics`, which are columns of `intervals`. Columns: the key columns, `cycle` (the middle of
/// the interval, core cycles), `metric` and `value`. The metrics of an interval are in the given
/// order.
///
/// ```
/// use warpmem_analysis::{interval_series, polars::{df, prelude::IntoLazy}, table_to_csv};
///
/// let intervals = df!(
///     "run_id" => ["a", "a"], "start_cycle" => [0i64, 100], "cycles" => [100i64, 50],
///     "ipc_thread" => [8.0, 4.0], "blp" => [None, Some(2.0)],
/// )?;
/// let table = interval_series(intervals.lazy(), &["ipc_thread", "blp"])?.collect()?;
/// assert_eq!(
///     table_to_csv(&table)?,
///     "run_id,cycle,metric,value\na,50.0,ipc_thread,8.0\na,50.0,blp,\na,125.0,ipc_thread,4.0\na,125.0,blp,2.0\n"
/// );
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If one of the columns is missing or holds no numbers.
pub fn interval_series(mut intervals: LazyFrame, metrics: &[&str]) -> Result<LazyFrame> {
    const TABLE: &str = "the `intervals` table";
    let schema = intervals.collect_schema()?;
    let mut numbers = ["start_cycle", "cycles"].iter().chain(metrics);
    numbers.try_for_each(|column| require_numeric(&schema, TABLE, column))?;
    let middle = col("start_cycle").cast(DataType::Float64) + col("cycles") * lit(0.5);
    let mut keys = keys_of(&schema);
    keys.push(middle.alias("cycle"));
    let values = metrics.iter().map(|metric| {
        vec![lit(*metric).alias("metric"), col(*metric).cast(DataType::Float64).alias("value")]
    });
    long(intervals, &keys, values)
}

/// Repeats each row of `frame` once per part: the `keys`, then the part's columns.
fn long(
    frame: LazyFrame,
    keys: &[Expr],
    parts: impl Iterator<Item = Vec<Expr>>,
) -> Result<LazyFrame> {
    const ROW: &str = "position of the row";
    let frame = frame.with_row_index(ROW, None);
    let of_part = |columns: Vec<Expr>| {
        let row = [col(ROW)].into_iter().chain(keys.iter().cloned());
        frame.clone().select(row.chain(columns).collect::<Vec<_>>())
    };
    let stable = SortMultipleOptions::default().with_maintain_order(true);
    let by_row =
        concat(parts.map(of_part).collect::<Vec<_>>(), UnionArgs::default())?.sort([ROW], stable);
    Ok(by_row.drop(by_name([ROW], true, false)))
}

/// Returns row locality and bank-level parallelism of each run: the key columns of `runs`,
/// `row_locality` (requests per activation) and `blp` (banks) [OWL, Yuan]. Runs that lack either,
/// such as runs without DRAM, are omitted.
///
/// ```
/// use warpmem_analysis::{polars::{df, prelude::IntoLazy}, row_locality_vs_blp, table_to_csv};
///
/// let runs = df!("run_id" => ["a", "b"], "blp" => [Some(3.5), None], "row_locality" => [4.0, 5.0])?;
/// let table = row_locality_vs_blp(runs.lazy())?.collect()?;
/// assert_eq!(table_to_csv(&table)?, "run_id,row_locality,blp\na,4.0,3.5\n");
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If one of the two columns is missing or holds no numbers.
pub fn row_locality_vs_blp(mut runs: LazyFrame) -> Result<LazyFrame> {
    let both = ["row_locality", "blp"];
    let schema = runs.collect_schema()?;
    both.iter().try_for_each(|column| require_numeric(&schema, "the `runs` table", column))?;
    let columns = keys_of(&schema).into_iter().chain(both.map(col));
    let are_there = both.map(|column| col(column).is_not_null());
    Ok(runs
        .select(columns.collect::<Vec<_>>())
        .filter(are_there[0].clone().and(are_there[1].clone())))
}

/// Returns the distribution of each run's requests over banks: the key columns of `banks`,
/// `channel`, `bank`, `requests` (row hits, misses and conflicts), `share` of the run's requests
/// (null if there are none), `activations` and `row_hit_rate`.
///
/// ```
/// use warpmem_analysis::{bank_map, polars::{df, prelude::IntoLazy}, table_to_csv};
///
/// let banks = df!(
///     "run_id" => ["a", "a"], "channel" => [0i64, 0], "bank" => [0i64, 1],
///     "row_hits" => [2i64, 0], "row_misses" => [1i64, 1], "row_conflicts" => [0i64, 0],
///     "activations" => [1i64, 1], "row_hit_rate" => [2.0 / 3.0, 0.0],
/// )?;
/// let table = bank_map(banks.lazy())?.select(["bank", "requests", "share"].map(warpmem_analysis::polars::prelude::col)).collect()?;
/// assert_eq!(table_to_csv(&table)?, "bank,requests,share\n0,3,0.75\n1,1,0.25\n");
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If one of these columns, or `run_id`, is missing, or holds no numbers.
pub fn bank_map(mut banks: LazyFrame) -> Result<LazyFrame> {
    const TABLE: &str = "the `banks` table";
    let parts = ["row_hits", "row_misses", "row_conflicts"];
    let places = ["channel", "bank"];
    let values = ["activations", "row_hit_rate"];
    let schema = banks.collect_schema()?;
    require(&schema, TABLE, "run_id")?;
    let numbers = || parts.into_iter().chain(places).chain(values);
    numbers().try_for_each(|column| require_numeric(&schema, TABLE, column))?;
    let requests = || parts.map(col).into_iter().reduce(|sum, part| sum + part).unwrap_or(lit(0));
    let share = quotient(requests(), requests().sum().over(["run_id"])?);
    let mut columns = keys_of(&schema);
    columns.extend(places.map(col));
    columns.extend([requests().alias("requests"), share.alias("share")]);
    columns.extend(values.map(col));
    Ok(banks.select(columns))
}
