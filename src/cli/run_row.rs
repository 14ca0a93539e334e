//! Formatted row of a run.

use crate::params::{did_you_mean, nearest};
use crate::record::run_columns;
use serde_json::{Map, Value};
use warpmem_support::text::aligned;

/// Titles of the groups of a run's columns, each with its first column.
const GROUPS: [(&str, &str); 8] = [
    ("Run", "run_id"),
    ("Performance", "cycles"),
    ("Cycles of an SM", "active_cycles"),
    ("Loads and their divergence", "loads"),
    ("Latency of reads not served by L1", "read_requests"),
    ("L1", "l1_read_hits"),
    ("L2", "l2_read_hits"),
    ("DRAM", "reads"),
];

/// Column of the machine parameters, which is too long for a table of all columns.
const LONG: &str = "parameters";

/// Checks that the columns of a run include all these names.
pub fn check(names: &[String]) -> anyhow::Result<()> {
    let columns: Vec<String> = run_columns().into_iter().map(|column| column.name).collect();
    names.iter().try_for_each(|name| check_name(name, &columns)).map_err(anyhow::Error::msg)
}

/// Checks that one of the metrics `valid` is called `name`.
pub fn check_name(name: &str, valid: &[String]) -> Result<(), String> {
    if valid.iter().any(|valid| valid == name) {
        return Ok(());
    }
    let meant = did_you_mean(nearest(name, valid.iter().map(String::as_str)));
    Err(format!("no metric is called `{name}`{meant}; `warpmem run TRACE --all` shows them all"))
}

/// Returns the columns with these names, in the order of the row.
pub fn selected(row: &Map<String, Value>, names: &[String]) -> Map<String, Value> {
    let named = row.iter().filter(|(name, _)| names.contains(name));
    named.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Removes columns that are too long for a table.
pub fn abridged(mut row: Map<String, Value>) -> Map<String, Value> {
    row.remove(LONG);
    row
}

/// Formats the metrics of a row, one per line, in groups.
pub fn table(row: &Map<String, Value>) -> String {
    let mut text = String::new();
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut title = None;
    for column in &run_columns() {
        title = GROUPS.iter().find(|(_, first)| *first == column.name).or(title);
        if !row.contains_key(&column.name) {
            continue;
        }
        if let Some((title, _)) = title.take() {
            text.push_str(&aligned(&std::mem::take(&mut lines), &[]));
            text.push_str(&format!("\n{title}\n"));
        }
        let value = row.get(&column.name).unwrap_or(&Value::Null);
        lines.push(vec![format!("  {}", column.name), shown(value, column.unit)]);
    }
    text.push_str(&aligned(&lines, &[]));
    text.trim_start().to_owned()
}

/// Formats a value for display.
pub fn shown(value: &Value, unit: &str) -> String {
    let number = match value {
        Value::Null => return "–".to_owned(),
        Value::String(text) => return text.clone(),
        Value::Number(number) => number,
        other => return other.to_string(),
    };
    match (number.as_i64(), number.as_f64()) {
        (Some(count), _) => with_unit(&count.to_string(), unit),
        (None, Some(fraction)) if unit == "fraction" => format!("{:.1} %", fraction * 100.0),
        (None, Some(ratio)) => with_unit(&significant(ratio), unit),
        (None, None) => number.to_string(),
    }
}

fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() { number.to_owned() } else { format!("{number} {unit}") }
}

/// Formats four significant digits, or all digits of a longer integer part.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    format!("{value:.*}", (3 - magnitude).max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_begins_at_a_column_in_the_order_of_the_columns() {
        let columns = run_columns();
        let at = |name: &str| columns.iter().position(|column| column.name == name);
        let starts: Vec<Option<usize>> = GROUPS.iter().map(|(_, first)| at(first)).collect();
        assert!(starts.iter().all(Option::is_some), "{starts:?}");
        assert!(starts.is_sorted());
        assert_eq!(starts[0], Some(0));
    }

    #[test]
    fn values_are_shown_with_their_units() {
        assert_eq!(shown(&Value::Null, "cycles"), "–");
        assert_eq!(shown(&12.into(), "core cycles"), "12 core cycles");
        assert_eq!(shown(&0.25.into(), "fraction"), "25.0 %");
        assert_eq!(shown(&1234.56.into(), ""), "1235");
        assert_eq!(shown(&0.012_344.into(), "banks"), "0.01234 banks");
        assert_eq!(shown(&0.0.into(), ""), "0");
    }
}
