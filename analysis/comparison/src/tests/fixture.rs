//! Hand-made runs.

use crate::{CompareOptions, Comparison, Error, Table, Values, compare};

pub fn texts(texts: &[&str]) -> Values {
    Values::Text(texts.iter().map(|text| Some((*text).to_owned())).collect())
}

pub fn floats(values: &[f64]) -> Values {
    Values::Float(values.iter().copied().map(Some).collect())
}

fn counts(values: &[i64]) -> Values {
    Values::Count(values.iter().copied().map(Some).collect())
}

pub fn table<'a>(columns: impl IntoIterator<Item = (&'a str, Values)>) -> Table {
    let columns = columns.into_iter().map(|(name, values)| (name.to_owned(), values));
    Table::new(columns.collect())
}

/// Returns the table with another column, or with other values in one of its own.
pub fn with(table: &Table, column: &str, values: Values) -> Table {
    let mut columns = table.columns().to_vec();
    match columns.iter_mut().find(|(name, _)| name == column) {
        Some((_, own)) => *own = values,
        None => columns.push((column.to_owned(), values)),
    }
    Table::new(columns)
}

/// Makes two workloads under three schedulers on one machine. IPC relative to `fr-fcfs`: `fcfs` 0.5
/// and 2, `banked-fifo` 0.75 and 1.
pub fn runs() -> Table {
    let divergence = [Some(1234.5), Some(800.0), Some(400.0), None, None, None];
    let in_mc = [Some(0.9), Some(0.8), Some(0.7), None, None, None];
    let hits = [Some(0.25), Some(0.5), Some(0.75), Some(0.875), Some(0.9), None];
    table([
        ("run_id", texts(&["1", "2", "3", "4", "5", "6"])),
        (
            "trace",
            texts(&["bfs.wmt", "bfs.wmt", "bfs.wmt", "stream.wmt", "stream.wmt", "stream.wmt"]),
        ),
        ("machine", texts(&["li2015"; 6])),
        (
            "dram_scheduler",
            texts(&["fcfs", "banked-fifo", "fr-fcfs", "fcfs", "banked-fifo", "fr-fcfs"]),
        ),
        ("warp_scheduler", texts(&["gto"; 6])),
        ("cycles", counts(&[2000, 1400, 1000, 500, 1000, 1000])),
        ("ipc_thread", floats(&[20.0, 30.0, 40.0, 160.0, 80.0, 80.0])),
        ("row_hit_rate", Values::Float(hits.to_vec())),
        ("row_locality", floats(&[1.5, 2.0, 4.0, 8.0, 10.0, 12.0])),
        ("blp", floats(&[1.25, 2.5, 3.0, 1.0, 1.0, 1.5])),
        ("divergence_mean", Values::Float(divergence.to_vec())),
        ("in_mc_fraction", Values::Float(in_mc.to_vec())),
        ("latency_mean", floats(&[900.0, 700.0, 500.0, 420.0, 410.0, 400.0])),
        ("latency_p99", counts(&[5000, 4000, 3000, 1000, 990, 980])),
        ("bandwidth_utilization", floats(&[0.2, 0.3, 0.4, 0.8, 0.85, 0.9])),
        ("dram_efficiency", floats(&[0.25, 0.35, 0.45, 0.85, 0.9, 0.95])),
    ])
}

/// Returns [`runs`] without the baseline of the second workload.
pub fn runs_without_a_baseline() -> Table {
    runs().with_text("run_id", &["1", "2", "3", "4", "5"])
}

/// Trace, machine, DRAM scheduler, warp scheduler, IPC.
type Ipc = (&'static str, &'static str, &'static str, &'static str, Option<f64>);

/// Makes the smallest table that a comparison without further metrics needs.
pub fn ipcs(rows: &[Ipc]) -> Table {
    let column = |get: fn(&Ipc) -> &'static str| texts(&rows.iter().map(get).collect::<Vec<_>>());
    table([
        ("trace", column(|row| row.0)),
        ("machine", column(|row| row.1)),
        ("dram_scheduler", column(|row| row.2)),
        ("warp_scheduler", column(|row| row.3)),
        ("ipc_thread", Values::Float(rows.iter().map(|row| row.4).collect())),
    ])
}

pub fn two_slots() -> Table {
    ipcs(&[
        ("t", "m", "fcfs", "lrr", Some(1.0)),
        ("t", "m", "fcfs", "gto", Some(2.0)),
        ("t", "m", "fr-fcfs", "lrr", Some(4.0)),
        ("t", "m", "fr-fcfs", "gto", Some(5.0)),
    ])
}

/// Makes runs of `fcfs` and `fr-fcfs` with the default read queue, with 32 and with 128 entries:
/// IPC 2 over 4, 1 over 2, 3 over 8.
pub fn overridden() -> Table {
    let [none, small, large] = ["", "dram.read_queue=32", "dram.read_queue=128"];
    table([
        ("trace", texts(&["t"; 6])),
        ("machine", texts(&["m"; 6])),
        ("overrides", texts(&[none, none, small, small, large, large])),
        ("dram_scheduler", texts(&["fcfs", "fr-fcfs", "fcfs", "fr-fcfs", "fcfs", "fr-fcfs"])),
        ("ipc_thread", floats(&[2.0, 4.0, 1.0, 2.0, 3.0, 8.0])),
    ])
}

/// Returns options without metrics beside the IPC.
pub fn against(baseline: &str) -> CompareOptions {
    CompareOptions { metrics: Vec::new(), ..CompareOptions::new(baseline) }
}

/// Returns options with these metrics.
pub fn in_metrics(baseline: &str, metrics: &[&str]) -> CompareOptions {
    let metrics = metrics.iter().map(|metric| (*metric).to_owned()).collect();
    CompareOptions { metrics, ..CompareOptions::new(baseline) }
}

/// Compares [`runs`] with `fr-fcfs` in the usual metrics.
pub fn comparison() -> Comparison {
    compare(&runs(), &CompareOptions::new("fr-fcfs")).unwrap()
}

pub fn numbers(table: &Table, column: &str) -> Vec<Option<f64>> {
    table.column(column).unwrap().numbers().unwrap()
}

/// Returns a text column; null is `null`.
pub fn strings(table: &Table, column: &str) -> Vec<String> {
    let Some(Values::Text(values)) = table.column(column) else { panic!("{column} holds text") };
    values.iter().map(|value| value.clone().unwrap_or_else(|| "null".to_owned())).collect()
}

pub fn ratios(comparison: &Comparison) -> Vec<Option<f64>> {
    numbers(&comparison.rows(), "ipc_ratio")
}

pub fn message(result: Result<Comparison, Error>) -> String {
    result.expect_err("an error").to_string()
}
