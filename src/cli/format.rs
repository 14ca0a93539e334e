//! Output formats of rows.

use clap::ValueEnum;
use serde_json::{Map, Value};
use warpmem_support::text::csv_text;

/// Output format of a table of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned text for people
    Table,
    /// An array with an object per row
    Json,
    /// A heading and a line per row
    Csv,
}

/// Output format of a result that is not a table of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// Aligned text for people
    Table,
    /// The same for programs
    Json,
}

/// Formats rows as a JSON array with one object per line.
pub fn json(rows: &[Map<String, Value>]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| Value::from(row.clone()).to_string()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// Formats rows with equal keys as CSV. Null is an empty field, and no text can be read as a
/// formula.
pub fn csv(rows: &[Map<String, Value>]) -> String {
    let mut text = csv::Writer::from_writer(Vec::new());
    let in_memory = "writing rows of equal length to memory does not fail";
    if let Some(first) = rows.first() {
        text.write_record(first.keys().map(|key| csv_text(key).into_owned())).expect(in_memory);
    }
    for row in rows {
        text.write_record(row.values().map(field)).expect(in_memory);
    }
    let bytes = text.into_inner().expect(in_memory);
    String::from_utf8(bytes).expect("made of strings")
}

fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => csv_text(text).into_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows() -> Vec<Map<String, Value>> {
        [json!({"a": "x,\"y", "b": null}), json!({"a": 1, "b": 0.5})]
            .into_iter()
            .filter_map(|row| row.as_object().cloned())
            .collect()
    }

    #[test]
    fn csv_quotes_what_needs_it_and_leaves_null_empty() {
        assert_eq!(csv(&rows()), "a,b\n\"x,\"\"y\",\n1,0.5\n");
    }

    #[test]
    fn csv_has_no_formulas() {
        let row = json!({"@a": "=1+1", "b": "-x", "c": -1, "d": "-1.5"});
        let rows = [row.as_object().unwrap().clone()];
        assert_eq!(csv(&rows), "'@a,b,c,d\n'=1+1,'-x,-1,-1.5\n");
    }

    #[test]
    fn json_is_an_array_of_the_rows() {
        let read: Value = serde_json::from_str(&json(&rows())).unwrap();
        assert_eq!(read, json!([{"a": "x,\"y", "b": null}, {"a": 1, "b": 0.5}]));
    }
}
