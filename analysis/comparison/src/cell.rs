//! A single value of a table, and its spelling in each output format.

use crate::metric::Digits;
use serde_json::Value;
use warpmem_support::text::csv_text;

/// A value of a type that tables hold, or that a query derives from them. Not-a-number is
/// represented as null.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Cell>),
}

impl Cell {
    /// Returns a number; null if it does not exist or is not finite.
    pub fn float(value: Option<f64>) -> Cell {
        value.filter(|value| value.is_finite()).map_or(Cell::Null, Cell::Float)
    }

    /// Formats a CSV field: the shortest digits that read back as the same value, empty for null;
    /// text is never a formula.
    pub fn to_csv(&self) -> String {
        match self {
            Cell::Null => String::new(),
            Cell::Bool(value) => value.to_string(),
            Cell::Integer(value) => value.to_string(),
            Cell::Float(value) => format!("{value:?}"),
            Cell::Text(value) => csv_text(value).into_owned(),
            Cell::List(_) => self.to_json().to_string(),
        }
    }

    /// Formats a JSON value; integers beyond 64 bits become null.
    pub fn to_json(&self) -> Value {
        match self {
            Cell::Null => Value::Null,
            Cell::Bool(value) => (*value).into(),
            Cell::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => value.into(),
                (_, Ok(value)) => value.into(),
                _ => Value::Null,
            },
            Cell::Float(value) => (*value).into(),
            Cell::Text(value) => value.as_str().into(),
            Cell::List(values) => values.iter().map(Cell::to_json).collect(),
        }
    }

    /// Formats the value for display: rounded, a dash for null.
    pub fn to_display(&self, digits: Option<Digits>) -> String {
        match self {
            Cell::Null => "–".to_owned(),
            Cell::Float(value) => shown(*value, digits.unwrap_or(Digits::Significant(4))),
            Cell::Integer(value) => match digits {
                Some(percent @ Digits::Percent(_)) => shown(*value as f64, percent),
                _ => value.to_string(),
            },
            Cell::List(values) => {
                let shown = values.iter().map(|value| value.to_display(digits));
                format!("[{}]", shown.collect::<Vec<_>>().join(", "))
            }
            Cell::Text(value) => value.clone(),
            Cell::Bool(value) => value.to_string(),
        }
    }
}

/// Formats rows as CSV: a heading with the names of the columns, empty fields for null. Text that a
/// spreadsheet would read as a formula (leading `=`, `+`, `-`, `@`) is prefixed with an apostrophe.
///
/// # Errors
/// The first error of `rows`.
pub fn rows_to_csv<E>(
    names: &[&str],
    rows: impl Iterator<Item = Result<Vec<Cell>, E>>,
) -> Result<String, E> {
    let mut text = csv::Writer::from_writer(Vec::new());
    let in_memory = "writing rows of equal length to memory does not fail";
    text.write_record(names.iter().map(|name| csv_text(name).into_owned())).expect(in_memory);
    for row in rows {
        text.write_record(row?.iter().map(Cell::to_csv)).expect(in_memory);
    }
    let bytes = text.into_inner().expect(in_memory);
    Ok(String::from_utf8(bytes).expect("made of strings"))
}

/// Formats rows as a JSON array with one object per row, keys in the order of the columns.
///
/// # Errors
/// The first error of `rows`.
pub fn rows_to_json<E>(
    names: &[&str],
    rows: impl Iterator<Item = Result<Vec<Cell>, E>>,
) -> Result<String, E> {
    let mut lines = Vec::new();
    for row in rows {
        let fields = names.iter().zip(row?);
        let fields =
            fields.map(|(name, cell)| format!("{}:{}", Value::from(*name), cell.to_json()));
        lines.push(format!("{{{}}}", fields.collect::<Vec<_>>().join(",")));
    }
    Ok(match lines.is_empty() {
        true => "[]\n".to_owned(),
        false => format!("[\n{}\n]\n", lines.join(",\n")),
    })
}

fn shown(value: f64, digits: Digits) -> String {
    match digits {
        Digits::Decimals(decimals) => rounded(value, decimals),
        Digits::Percent(decimals) => rounded(value * 100.0, decimals),
        Digits::Significant(digits) => significant(value, digits),
    }
}

/// Rounds a value; a value that rounds to zero has no sign.
fn rounded(value: f64, decimals: u8) -> String {
    let text = format!("{value:.*}", usize::from(decimals));
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|digit| matches!(digit, b'0' | b'.')) => {
            digits.to_owned()
        }
        _ => text,
    }
}

fn significant(value: f64, digits: u8) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponent = value.abs().log10().floor() as i32;
    if exponent < -4 {
        return format!("{value:.*e}", usize::from(digits.saturating_sub(1)));
    }
    let decimals = (i32::from(digits) - 1 - exponent).max(0);
    format!("{value:.*}", decimals as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_keep_their_number_over_magnitudes() {
        let shown = |value| significant(value, 4);
        assert_eq!(shown(0.0), "0");
        assert_eq!(shown(0.012_345), "0.01235");
        assert_eq!(shown(1.0), "1.000");
        assert_eq!(shown(123.456), "123.5");
        assert_eq!(shown(-123.456), "-123.5");
        assert_eq!(shown(123_456.7), "123457");
        assert_eq!(shown(0.000_012_345), "1.234e-5");
    }

    #[test]
    fn display_rounds_and_csv_does_not() {
        let third = Cell::Float(1.0 / 3.0);
        assert_eq!(third.to_display(Some(Digits::Percent(1))), "33.3");
        assert_eq!(third.to_display(Some(Digits::Decimals(2))), "0.33");
        assert_eq!(Cell::Float(-0.04).to_display(Some(Digits::Decimals(1))), "0.0");
        assert_eq!(Cell::Float(-0.06).to_display(Some(Digits::Decimals(1))), "-0.1");
        assert_eq!(third.to_csv().parse(), Ok(1.0 / 3.0));
        assert_eq!(Cell::Integer(1).to_display(Some(Digits::Percent(1))), "100.0");
        assert_eq!(Cell::Integer(1).to_display(Some(Digits::Decimals(2))), "1");
        assert_eq!(Cell::Null.to_display(None), "–");
        assert_eq!(Cell::Null.to_csv(), "");
    }

    #[test]
    fn json_keeps_every_bit_of_an_integer() {
        assert_eq!(Cell::Integer(u64::MAX.into()).to_json().to_string(), u64::MAX.to_string());
        assert_eq!(Cell::Integer(i64::MIN.into()).to_json().to_string(), i64::MIN.to_string());
    }
}
