//! A single value of a frame, and its spelling in each output format.

use polars::prelude::{AnyValue, Column, DataFrame};

use crate::error::Result;
use crate::metric::Digits;
use warpmem_support::text::csv_text;

/// A value of a type that tables hold, or that a query derives from them. Not-a-number is
/// represented as null.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Cell>),
}

/// Returns the rows of a frame as cells.
pub(crate) fn rows(frame: &DataFrame) -> impl Iterator<Item = Result<Vec<Cell>>> {
    let columns = frame.columns();
    (0..frame.height()).map(|row| columns.iter().map(|column| cell(&column.get(row)?)).collect())
}

/// Returns the cells of one column.
pub(crate) fn column_cells(column: &Column) -> Result<Vec<Cell>> {
    (0..column.len()).map(|row| cell(&column.get(row)?)).collect()
}

fn cell(value: &AnyValue) -> Result<Cell> {
    let float = |value: f64| if value.is_finite() { Cell::Float(value) } else { Cell::Null };
    Ok(match value {
        AnyValue::Null => Cell::Null,
        AnyValue::Boolean(value) => Cell::Bool(*value),
        AnyValue::String(value) => Cell::Text((*value).to_owned()),
        AnyValue::StringOwned(value) => Cell::Text(value.to_string()),
        AnyValue::List(values) => {
            Cell::List(values.iter().map(|v| cell(&v)).collect::<Result<_>>()?)
        }
        value if value.is_integer() => Cell::Integer(value.try_extract()?),
        value if value.is_float() => float(value.try_extract()?),
        other => Cell::Text(other.to_string()),
    })
}

impl Cell {
    /// Formats a CSV field: the shortest digits that read back as the same value, empty for null;
    /// text is never a formula.
    pub(crate) fn to_csv(&self) -> String {
        match self {
            Cell::Null => String::new(),
            Cell::Bool(value) => value.to_string(),
            Cell::Integer(value) => value.to_string(),
            Cell::Float(value) => format!("{value:?}"),
            Cell::Text(value) => csv_text(value).into_owned(),
            Cell::List(_) => self.to_json().to_string(),
        }
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Cell::Null => serde_json::Value::Null,
            Cell::Bool(value) => (*value).into(),
            Cell::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => value.into(),
                (_, Ok(value)) => value.into(),
                _ => serde_json::Value::Null,
            },
            Cell::Float(value) => (*value).into(),
            Cell::Text(value) => value.as_str().into(),
            Cell::List(values) => values.iter().map(Cell::to_json).collect(),
        }
    }

    /// Formats the value for display: rounded, a dash for null.
    pub(crate) fn to_display(&self, digits: Option<Digits>) -> String {
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
