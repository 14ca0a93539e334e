//! The comparison as rows for programs.

use super::figures::{KernelFigures, Range};
use super::metric::{Compared, METRICS, Unit};
use super::summary::{
    Comparison, KernelSummary, MetricSummary, Worst, cycle_summary, kernel_summary, metric_summary,
    pairs, speed,
};
use serde_json::{Map, Value, json};

type Row = Map<String, Value>;

/// Makes an object of `runs`, with `kernels` and speed on request, and the `summary`.
pub fn object(runs: &[Comparison], kernels: bool, with_speed: bool) -> Value {
    let mut all = Row::new();
    all.insert("runs".to_owned(), json!(rows(runs, false, with_speed)));
    if kernels {
        all.insert("kernels".to_owned(), json!(rows(runs, true, with_speed)));
    }
    let mut summary = summary(runs, with_speed);
    if kernels {
        summary["kernels"] = of_kernels(runs);
    }
    all.insert("summary".to_owned(), summary);
    Value::from(all)
}

/// Makes a row for every run, or for every kernel.
pub fn rows(runs: &[Comparison], kernels: bool, with_speed: bool) -> Vec<Row> {
    match kernels {
        true => runs.iter().flat_map(kernel_rows).collect(),
        false => runs.iter().map(|run| run_row(run, with_speed)).collect(),
    }
}

/// Returns the keys that identify a run.
fn key(run: &Comparison) -> Row {
    [
        ("trace", &run.trace),
        ("machine", &run.machine),
        ("configuration", &run.configuration),
        ("dram_scheduler", &run.dram_scheduler),
    ]
    .map(|(key, value)| (key.to_owned(), json!(value)))
    .into_iter()
    .collect()
}

fn run_row(run: &Comparison, with_speed: bool) -> Row {
    let mut row = key(run);
    row.insert("kernels".to_owned(), json!(run.reference.kernels.len()));
    for metric in &METRICS {
        compared(&mut row, metric.name, metric.unit, run.of(metric));
    }
    range(&mut row, run.ours.range);
    if with_speed {
        row.insert("cpu_seconds".to_owned(), json!(run.ours.cpu_seconds));
        row.insert("cpu_seconds_reference".to_owned(), json!(run.reference.cpu_seconds));
        row.insert("wall_seconds_reference".to_owned(), json!(run.reference.wall_seconds));
        row.insert("speedup".to_owned(), json!(run.speedup()));
    }
    row
}

fn kernel_rows(run: &Comparison) -> Vec<Row> {
    let pairs = run.ours.kernels.iter().zip(&run.reference.kernels);
    let row = |(index, (ours, reference)): (usize, (&KernelFigures, &KernelFigures))| {
        let mut row = key(run);
        row.insert("kernel".to_owned(), json!(index));
        row.insert("name".to_owned(), json!(ours.name));
        let cycles = |kernel: &KernelFigures| Some(kernel.cycles as f64);
        let of = |get: fn(&KernelFigures) -> Option<f64>, unit| {
            Compared::new(unit, get(ours), get(reference))
        };
        compared(&mut row, "cycles", Unit::Count, of(cycles, Unit::Count));
        compared(&mut row, "ipc_thread", Unit::Ratio, of(KernelFigures::ipc, Unit::Ratio));
        range(&mut row, ours.range);
        row
    };
    pairs.enumerate().map(row).collect()
}

/// Adds `cycles_least` and `cycles_most`, if there are several orders.
fn range(row: &mut Row, range: Option<Range>) {
    if let Some(Range { least, most }) = range {
        row.insert("cycles_least".to_owned(), json!(least));
        row.insert("cycles_most".to_owned(), json!(most));
    }
}

/// Adds `NAME`, `NAME_reference` and `NAME_error`.
fn compared(row: &mut Row, name: &str, unit: Unit, compared: Compared) {
    let number = |value: Option<f64>| match value {
        Some(value) if unit == Unit::Count => json!(value as u64),
        value => json!(value),
    };
    row.insert(name.to_owned(), number(compared.ours));
    row.insert(format!("{name}_reference"), number(compared.reference));
    row.insert(format!("{name}_error"), json!(compared.error));
}

fn summary(runs: &[Comparison], with_speed: bool) -> Value {
    let all: Vec<&Comparison> = runs.iter().collect();
    let cycles: Vec<Value> = groups(runs)
        .into_iter()
        .filter_map(|(name, runs)| {
            let summary = cycle_summary(&runs)?;
            Some(json!({
                "dram_scheduler": name,
                "runs": summary.runs,
                "mape": summary.mape,
                "worst": worst(&summary.worst),
                "log_correlation": summary.log_correlation,
                "ratio": summary.ratio,
            }))
        })
        .collect();
    let metrics: Vec<Value> = METRICS
        .iter()
        .filter_map(|metric| {
            let MetricSummary { runs, mean, worst: greatest } = metric_summary(metric, &all)?;
            let worst = worst(&greatest);
            Some(json!({"metric": metric.name, "runs": runs, "mean_error": mean, "worst": worst}))
        })
        .collect();
    let pairs: Vec<Row> = pairs(runs)
        .into_iter()
        .map(|pair| {
            let mut row = key(pair.fifo);
            row.shift_remove("dram_scheduler");
            compared(&mut row, "ratio", Unit::Ratio, pair.ratio);
            row
        })
        .collect();
    let mut summary = json!({"cycles": cycles, "metrics": metrics, "fifo_over_fr_fcfs": pairs});
    if with_speed {
        summary["speedup"] = speed(&all).map_or(Value::Null, |speed| {
            let mut least = key(speed.least.0);
            least.insert("speedup".to_owned(), json!(speed.least.1));
            json!({"runs": speed.runs, "geometric_mean": speed.mean, "least": least})
        });
    }
    summary
}

/// Summarizes the kernels of all runs; null if there are none.
fn of_kernels(runs: &[Comparison]) -> Value {
    let Some(summary) = kernel_summary(&runs.iter().collect::<Vec<_>>()) else {
        return Value::Null;
    };
    let mut worst = worst(&summary.worst);
    worst.insert("kernel".to_owned(), json!(summary.worst_kernel));
    let name = &summary.worst.run.ours.kernels[summary.worst_kernel].name;
    worst.insert("name".to_owned(), json!(name));
    let KernelSummary { kernels, mape, ratio, .. } = summary;
    json!({"kernels": kernels, "mape": mape, "ratio": ratio, "worst": worst})
}

/// Groups the runs by DRAM scheduler, in order of first appearance, plus all of them if there is
/// more than one.
pub fn groups(runs: &[Comparison]) -> Vec<(&str, Vec<&Comparison>)> {
    let mut groups: Vec<(&str, Vec<&Comparison>)> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|(name, _)| *name == run.dram_scheduler) {
            Some((_, group)) => group.push(run),
            None => groups.push((&run.dram_scheduler, vec![run])),
        }
    }
    if groups.len() > 1 {
        groups.push(("all", runs.iter().collect()));
    }
    groups
}

fn worst(worst: &Worst<'_>) -> Row {
    let mut row = key(worst.run);
    row.insert("error".to_owned(), json!(worst.error));
    row
}
