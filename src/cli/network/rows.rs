//! Latency curves, as text and as rows.

use super::super::format::{self, Format};
use super::super::run_row::shown;
use crate::standalone::network::{Point, columns, summary};
use serde_json::{Map, Value};
use warpmem_support::text::aligned;

/// Formats the points of each curve.
pub fn print(curves: &[Vec<Point>], format: Format) -> String {
    match format {
        Format::Table => table(curves),
        Format::Json => format::json(&objects(curves)),
        Format::Csv => format::csv(&objects(curves)),
    }
}

fn objects(curves: &[Vec<Point>]) -> Vec<Map<String, Value>> {
    let columns = columns();
    let object = |point: &Point| {
        columns.iter().map(|column| (column.name.clone(), column.json(point))).collect()
    };
    curves.iter().flatten().map(object).collect()
}

/// Columns of the table: names, in two lines, and the decimals of those that are not counts.
const COLUMNS: [(&str, [&str; 2], usize); 13] = [
    ("load", ["offered", "load"], 4),
    ("accepted", ["accep-", "ted"], 4),
    ("latency_mean", ["latency", "mean"], 2),
    ("latency_p50", ["", "p50"], 0),
    ("latency_p99", ["", "p99"], 0),
    ("latency_max", ["", "max"], 0),
    ("wait_mean", ["of it at", "source"], 2),
    ("pipeline_mean", ["hops", "alone"], 2),
    ("serialisation_mean", ["", "flits"], 0),
    ("contention_mean", ["conten-", "tion"], 2),
    ("link_utilization_mean", ["links", "mean"], 3),
    ("link_utilization_max", ["used", "max"], 3),
    ("fairness", ["", "fairness"], 3),
];

/// Formats a block for each curve: its name, its points, its summary.
fn table(curves: &[Vec<Point>]) -> String {
    let cells = |point: &Point| COLUMNS.map(|(name, _, digits)| cell(point, name, digits)).to_vec();
    let heads = [0, 1].map(|line| COLUMNS.map(|(_, head, _)| head[line].to_owned()).to_vec());
    let lines: Vec<Vec<String>> =
        heads.into_iter().chain(curves.iter().flatten().map(cells)).collect();
    let all: Vec<usize> = (0..COLUMNS.len()).collect();
    let text = aligned(&lines, &all);
    let mut lines = text.lines().map(|line| format!("  {line}\n"));
    let mut text = title(curves);
    text.extend(lines.by_ref().take(2));
    for (curve, name) in curves.iter().zip(names(curves)).filter(|(curve, _)| !curve.is_empty()) {
        text.push_str(&format!("{name}\n"));
        text.extend(lines.by_ref().take(curve.len()));
        text.push_str(&format!("  {}\n", sum(curve)));
    }
    text
}

fn column(point: &Point, name: &str) -> Value {
    let columns = columns();
    columns
        .iter()
        .find(|column| column.name == name)
        .map_or(Value::Null, |column| column.json(point))
}

fn cell(point: &Point, name: &str, digits: usize) -> String {
    let value = column(point, name);
    match (value.as_u64(), value.as_f64()) {
        (Some(count), _) => count.to_string(),
        (None, Some(number)) => format!("{number:.digits$}"),
        (None, None) => shown(&value, ""),
    }
}

/// Formats the title: `uniform: 64 sources, 64 destinations, 1 flit a packet; network of li2015,
/// cycles of its clock`.
fn title(curves: &[Vec<Point>]) -> String {
    let Some(point) = curves.iter().flatten().next() else { return String::new() };
    let [pattern, sources, destinations, flits, machine] =
        ["pattern", "sources", "destinations", "packet_flits", "machine"]
            .map(|name| shown(&column(point, name), ""));
    let plural = if flits == "1" { "" } else { "s" };
    format!(
        "{pattern}: {sources} sources, {destinations} destinations, {flits} flit{plural} a packet; network of {machine}\n\
         loads in flits per source and cycle, latencies in network cycles\n\n"
    )
}

/// Names each curve: topology and arbiter, or only the one that differs between curves.
pub fn names(curves: &[Vec<Point>]) -> Vec<String> {
    let policies = |slot| -> Vec<String> {
        let first = curves.iter().map(|curve| curve.first());
        first
            .map(|point| point.map_or(String::new(), |point| shown(&column(point, slot), "")))
            .collect()
    };
    let (topologies, arbiters) = (policies("topology"), policies("arbiter"));
    let is_shared = |of: &[String]| of.iter().all(|policy| *policy == of[0]);
    if is_shared(&arbiters) {
        return topologies;
    }
    if is_shared(&topologies) {
        return arbiters;
    }
    topologies.iter().zip(&arbiters).map(|(one, other)| format!("{one}, {other}")).collect()
}

/// Summarizes a curve: `empty: 6 cycles · three times that at 0.52 · saturated from 0.6 on · at
/// most 0.584 accepted`.
fn sum(curve: &[Point]) -> String {
    let whole = summary(curve);
    let show = |value: f64| shown(&value.into(), "");
    let mut parts = vec![format!("empty: {} cycles", show(curve[0].zero_load_latency()))];
    parts.extend(whole.high_latency.map(|load| format!("three times that at {}", show(load))));
    parts.push(match whole.saturated {
        Some(load) => format!("saturated from {} on", show(load)),
        None => "not saturated".to_owned(),
    });
    parts.push(format!("at most {} accepted", show(whole.throughput)));
    parts.join(" · ")
}
