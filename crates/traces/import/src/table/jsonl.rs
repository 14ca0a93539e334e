//! JSON lines: an object per line.

use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::Table;
use super::column::{Cell, Cells};
use crate::error::{ImportError, Place};
use crate::input::{bytes_of, for_each_line};
use crate::options::TableOptions;
use crate::progress::Progress;
use crate::summary::ImportSummary;

/// Imports a table of JSON lines, compressed or not, into the trace `output`. A missing or null key
/// is an empty cell.
///
/// # Errors
/// As [`import_csv`](crate::import_csv).
pub fn import_jsonl(
    input: &Path,
    output: &Path,
    options: &TableOptions,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let bytes_in = bytes_of(input)?;
    progress.total(bytes_in);
    let mut table = Table::create(input, output, options, progress)?;
    let text_bytes = for_each_line(input, progress, |number, line| {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let place = Place::Line(number);
        let fail = |what| ImportError::Place { path: input.to_path_buf(), place, what };
        let object: Object =
            serde_json::from_slice(line).map_err(|error| fail(unreadable(&error)))?;
        let mut cells = Cells::default();
        for (key, value) in &object.0 {
            if let Some(column) = options.column(key).map_err(fail)? {
                cells[column as usize] = cell(value);
            }
        }
        table.row(&cells, place)
    })?;
    table.finish(bytes_in, text_bytes)
}

/// The keys of an object and their values, each key once.
struct Object(Map<String, Value>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        deserializer.deserialize_map(Object(Map::new()))
    }
}

impl<'de> Visitor<'de> for Object {
    type Value = Object;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Object, A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if self.0.contains_key(&key) {
                return Err(A::Error::custom(format_args!("key `{key}` occurs twice")));
            }
            self.0.insert(key, map.next_value()?);
        }
        Ok(self)
    }
}

/// Returns the error without its line number, which is always 1.
fn unreadable(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
    format!("expected a JSON object on one line; column {}: {what}", error.column())
}

fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Null => Cell::Empty,
        Value::String(text) => Cell::text(text),
        Value::Number(number) => number
            .as_u64()
            .map(Cell::Number)
            .or_else(|| number.as_i64().map(Cell::Negative))
            .unwrap_or_else(|| number.as_f64().map_or(Cell::Empty, Cell::float)),
        Value::Array(values) => {
            let numbers: Option<Vec<u64>> = values.iter().map(number).collect();
            numbers.map_or_else(|| Cell::Other(value.to_string()), Cell::List)
        }
        Value::Bool(_) | Value::Object(_) => Cell::Other(value.to_string()),
    }
}

/// Returns a number of a list, which may be text, since JSON has no hexadecimal numbers.
fn number(value: &Value) -> Option<u64> {
    match cell(value) {
        Cell::Number(number) => Some(number),
        Cell::Text(text) => super::column::parse_number(&text),
        _ => None,
    }
}
