//! Results of streams, as text and as rows.

use super::super::format::{self, Format};
use super::super::output::width;
use super::super::run_row::shown;
use crate::standalone::dram::{Outcome, Row, columns, rows};
use serde_json::{Map, Value};
use warpmem_support::text::aligned;

/// Formats the results of one stream under several schedulers.
pub fn print(outcomes: Vec<Outcome>, format: Format) -> String {
    let several = outcomes.len() > 1;
    let mut rows: Vec<Row> = outcomes.into_iter().flat_map(rows).collect();
    match format {
        Format::Table => {
            // With several schedulers, rows of single channels would not fit.
            rows.retain(|row| !several || row.channel().is_none());
            table(&rows, several)
        }
        Format::Json => format::json(&objects(&rows)),
        Format::Csv => format::csv(&objects(&rows)),
    }
}

/// Makes rows with the same keys: a counter that a scheduler lacks is null.
fn objects(rows: &[Row]) -> Vec<Map<String, Value>> {
    let columns = columns();
    let names = counters(rows);
    let object = |row: &Row| {
        let metrics = columns.iter().map(|column| (column.name.clone(), column.json(row)));
        let counters = names.iter().map(|&name| (name.to_owned(), counter(row, name)));
        metrics.chain(counters).collect()
    };
    rows.iter().map(object).collect()
}

/// Returns the distinct names of the schedulers' counters.
fn counters(rows: &[Row]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for counter in rows.iter().flat_map(Row::counters) {
        if !names.contains(&counter.name) {
            names.push(counter.name);
        }
    }
    names
}

fn counter(row: &Row, name: &str) -> Value {
    let found = row.counters().into_iter().find(|counter| counter.name == name);
    found.map_or(Value::Null, |counter| counter.value.into())
}

/// Columns shown above the table or in its heading.
const HEAD: [&str; 4] = ["device", "stream", "dram_scheduler", "channel"];

/// Formats a line for each metric and a column for each row, as many as fit the terminal.
fn table(rows: &[Row], several: bool) -> String {
    let columns = columns();
    let mut lines = vec![vec![String::new(), String::new()]];
    lines[0].extend(rows.iter().map(|row| heading(row, several)));
    for column in columns.iter().filter(|column| !HEAD.contains(&column.name.as_str())) {
        let values: Vec<Value> = rows.iter().map(|row| column.json(row)).collect();
        push(&mut lines, &column.name, column.unit, &values);
    }
    for name in counters(rows) {
        let values: Vec<Value> = rows.iter().map(|row| counter(row, name)).collect();
        push(&mut lines, name, "", &values);
    }
    let left_out = narrow(&mut lines);
    let right: Vec<usize> = (2..lines[0].len()).collect();
    let mut text = aligned(&lines, &right);
    if let Some(row) = rows.first() {
        let name = |name: &str| columns.iter().find(|column| column.name == name);
        let title = ["device", "stream"].into_iter().filter_map(name);
        let title = title.map(|column| format!("{} {}\n", column.name, text_of(&column.json(row))));
        text = title.collect::<String>() + &text;
    }
    if left_out > 0 {
        text.push_str(&format!("and {left_out} more: see `--format csv`\n"));
    }
    text
}

fn heading(row: &Row, several: bool) -> String {
    match row.channel() {
        _ if several => row.scheduler().to_owned(),
        None => "all".to_owned(),
        Some(channel) => channel.to_string(),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Adds a line unless it is empty.
fn push(lines: &mut Vec<Vec<String>>, name: &str, unit: &str, values: &[Value]) {
    if values.iter().all(Value::is_null) {
        return;
    }
    // Fractions are shown as percentages.
    let (label, inner) = if unit == "fraction" { ("", unit) } else { (unit, "") };
    let cells = values.iter().map(|value| shown(value, inner));
    lines.push([name.to_owned(), label.to_owned()].into_iter().chain(cells).collect());
}

/// Drops trailing columns that do not fit and returns their number. At least one column remains.
fn narrow(lines: &mut [Vec<String>]) -> usize {
    let columns = lines[0].len();
    let width_of = |column: usize| {
        lines.iter().map(|line| line[column].chars().count() + 2).max().unwrap_or(0)
    };
    let mut used = 0;
    let fitting = (0..columns).take_while(|&column| {
        used += width_of(column);
        used <= width() + 2
    });
    let kept = fitting.count().clamp(3.min(columns), columns);
    lines.iter_mut().for_each(|line| line.truncate(kept));
    columns - kept
}
