//! Output formats of rows.

use clap::ValueEnum;
use serde_json::{Map, Value};
use warpmem_analysis::{csv_text, printable_cell};

/// What a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned text for people
    Table,
    /// An array with an object per row
    Json,
    /// A heading and a line per row
    Csv,
}

/// What a command prints if its result is not a table of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// Aligned text for people
    Table,
    /// The same for programs
    Json,
}

/// A JSON array with one object per line.
pub fn json(rows: &[Map<String, Value>]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| Value::from(row.clone()).to_string()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// CSV of rows that have the same keys. Null is an empty field, and no text can be read as a
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

/// With its first letter in upper case.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Longest cell of a table, in characters: kernels' names may be as long as a file.
const MAX_CELL: usize = 1000;

/// Lines with aligned columns; those in `right` are aligned at their end. Control characters are
/// escaped.
pub fn aligned(rows: &[Vec<String>], right: &[usize]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| shown(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let padding = " ".repeat(widths[column] - cell.chars().count());
            if right.contains(&column) { padding + cell } else { format!("{cell}{padding}") }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A cell that fits its line.
fn shown(cell: &str) -> String {
    let shown = printable_cell(cell);
    match shown.char_indices().nth(MAX_CELL) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
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
    fn cells_of_any_length_and_content_are_aligned() {
        let long = "n".repeat(70_000);
        let rows = [vec![long, "1".to_owned()], vec!["a\u{1b}[31m".to_owned(), "2".to_owned()]];
        let text = aligned(&rows, &[1]);
        let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths, [MAX_CELL + 1 + 3; 2]);
        assert!(text.contains("…  1") && text.contains("a\\u001b[31m  "), "{}", &text[..20]);
    }

    #[test]
    fn json_is_an_array_of_the_rows() {
        let read: Value = serde_json::from_str(&json(&rows())).unwrap();
        assert_eq!(read, json!([{"a": "x,\"y", "b": null}, {"a": 1, "b": 0.5}]));
    }

    #[test]
    fn columns_line_up_and_lines_have_no_blanks_at_their_end() {
        let rows = [
            vec!["a".to_owned(), "1".to_owned(), String::new()],
            vec!["bcd".to_owned(), "22".to_owned()],
        ];
        assert_eq!(aligned(&rows, &[1]), "a     1\nbcd  22\n");
    }
}
