//! Kernels of a run under the metric names of Nsight Compute.

use crate::cli::format::{self, Format};
use crate::gpu::results::{KernelResult, RunResult};
use crate::record::{NcuMetric, RunKey, ncu_metrics, ncu_rows_json};
use serde_json::{Map, Value, json};
use warpmem_support::text::{aligned, printable_cell};
use warpmem_trace::Trace;

/// Formats the kernels. CSV has the form of `ncu --page raw --csv`: the units in the second row.
pub fn kernels(format: Format, key: &RunKey, result: &RunResult, trace: &Trace) -> String {
    let metrics = ncu_rows_json(key, result);
    let rows = result.kernels.iter().zip(metrics);
    let rows: Vec<Map<String, Value>> = rows
        .map(|(kernel, metrics)| identity(kernel, trace).into_iter().chain(metrics).collect())
        .collect();
    match format {
        Format::Table => table(&rows),
        Format::Json => format::json(&rows),
        Format::Csv => format::csv(&[units()].into_iter().chain(rows).collect::<Vec<_>>()),
    }
}

/// Columns of Nsight Compute before the metrics.
const IDENTITY: [&str; 5] = ["ID", "Kernel Name", "Stream", "Block Size", "Grid Size"];

fn identity(kernel: &KernelResult, trace: &Trace) -> Map<String, Value> {
    let info = &trace.kernels()[kernel.launch as usize].info;
    let size = |[x, y, z]: [u32; 3]| json!(format!("({x}, {y}, {z})"));
    let values = [
        json!(kernel.launch),
        json!(kernel.name),
        json!(info.stream),
        size(info.block),
        size(info.grid),
    ];
    IDENTITY.map(str::to_owned).into_iter().zip(values).collect()
}

fn units() -> Map<String, Value> {
    let identity = IDENTITY.map(|name| (name.to_owned(), Value::Null));
    let unit = |metric: NcuMetric| (metric.name, json!(metric.unit));
    identity.into_iter().chain(ncu_metrics().into_iter().map(unit)).collect()
}

fn table(rows: &[Map<String, Value>]) -> String {
    let units = units();
    let metrics = || rows.iter().flat_map(|row| row.iter().skip(IDENTITY.len()));
    let line = |(name, value): (&String, &Value)| {
        vec![format!("  {name}"), cell(&units[name]), cell(value)]
    };
    let lines = aligned(&metrics().map(line).collect::<Vec<_>>(), &[2]);
    let mut lines = lines.lines();
    let mut text = String::new();
    for row in rows {
        let [id, name, _, block, grid] = IDENTITY.map(|name| cell(&row[name]));
        text.extend([&*printable_cell(&format!("{id} {name} {grid} x {block}")), "\n"]);
        let of_row = lines.by_ref().take(row.len() - IDENTITY.len());
        of_row.for_each(|line| text.extend([line, "\n"]));
    }
    text
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            format!("{:.2}", number.as_f64().unwrap_or(0.0))
        }
        other => other.to_string(),
    }
}
