//! The columns of a table, and the cells of a row.

use std::borrow::Cow;
use std::path::Path;

use crate::error::{ImportError, Place, shortened};

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Column {
    Kernel,
    Name,
    Grid,
    Block,
    Registers,
    SharedBytes,
    Cta,
    Warp,
    Pc,
    Op,
    Space,
    Bytes,
    Cache,
    L2,
    Mask,
    Lane,
    Addresses,
    Base,
    Stride,
    Dst,
    Src,
    Barrier,
    BarrierWarps,
    Count,
}

impl Column {
    pub const COUNT: usize = Column::ALL.len();
    pub const ALL: [Column; 24] = [
        Column::Kernel,
        Column::Name,
        Column::Grid,
        Column::Block,
        Column::Registers,
        Column::SharedBytes,
        Column::Cta,
        Column::Warp,
        Column::Pc,
        Column::Op,
        Column::Space,
        Column::Bytes,
        Column::Cache,
        Column::L2,
        Column::Mask,
        Column::Lane,
        Column::Addresses,
        Column::Base,
        Column::Stride,
        Column::Dst,
        Column::Src,
        Column::Barrier,
        Column::BarrierWarps,
        Column::Count,
    ];

    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Column::Kernel => "kernel",
            Column::Name => "name",
            Column::Grid => "grid",
            Column::Block => "block",
            Column::Registers => "registers",
            Column::SharedBytes => "shared_bytes",
            Column::Cta => "cta",
            Column::Warp => "warp",
            Column::Pc => "pc",
            Column::Op => "op",
            Column::Space => "space",
            Column::Bytes => "bytes",
            Column::Cache => "cache",
            Column::L2 => "l2",
            Column::Mask => "mask",
            Column::Lane => "lane",
            Column::Addresses => "addresses",
            Column::Base => "base",
            Column::Stride => "stride",
            Column::Dst => "dst",
            Column::Src => "src",
            Column::Barrier => "barrier",
            Column::BarrierWarps => "barrier_warps",
            Column::Count => "count",
        }
    }

    pub fn find(name: &str) -> Option<Column> {
        Column::ALL.into_iter().find(|column| column.name() == name)
    }

    /// Returns all names, separated by commas.
    pub fn names() -> String {
        Column::ALL.map(Column::name).join(", ")
    }
}

/// A cell, by the types that formats distinguish.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell<'a> {
    #[default]
    Empty,
    Number(u64),
    Negative(i64),
    Text(Cow<'a, str>),
    List(Vec<u64>),
    /// Any other value, as displayed in messages.
    Other(String),
}

/// The cells of a row, by [`Column`].
pub type Cells<'a> = [Cell<'a>; Column::COUNT];

/// The expected content of a cell.
#[derive(Debug, PartialEq)]
pub struct Wrong {
    pub column: Column,
    pub expected: Cow<'static, str>,
    /// Actual content.
    pub found: String,
}

impl Wrong {
    pub fn at(self, path: &Path, place: Place) -> ImportError {
        let Wrong { column, expected, found } = self;
        let found = shortened(found.as_bytes());
        let what = format!("column {}: expected {expected}, found `{found}`", column.name());
        ImportError::Place { path: path.to_path_buf(), place, what }
    }
}

impl Cell<'_> {
    pub fn is_empty(&self) -> bool {
        *self == Cell::Empty
    }

    pub fn float(value: f64) -> Cell<'static> {
        /// Beyond it, floats skip whole numbers.
        const WHOLE: f64 = (1u64 << 53) as f64;
        match value {
            _ if value.is_nan() => Cell::Empty,
            _ if value.fract() == 0.0 && (0.0..=WHOLE).contains(&value) => {
                Cell::Number(value as u64)
            }
            _ => Cell::Other(value.to_string()),
        }
    }

    pub fn integer(value: i64) -> Cell<'static> {
        u64::try_from(value).map_or(Cell::Negative(value), Cell::Number)
    }

    /// Returns a text cell; an empty text is an empty cell.
    pub fn text<'a>(text: impl Into<Cow<'a, str>>) -> Cell<'a> {
        let text = text.into();
        if text.is_empty() { Cell::Empty } else { Cell::Text(text) }
    }

    /// Returns its number, up to `most`; `None` if the cell is empty.
    pub fn number(
        &self,
        column: Column,
        most: u64,
        expected: &'static str,
    ) -> Result<Option<u64>, Wrong> {
        let number = match self {
            Cell::Empty => return Ok(None),
            Cell::Number(number) => Some(*number),
            Cell::Text(text) => parse_number(text),
            _ => None,
        };
        let number = number.filter(|&number| number <= most);
        number.map(Some).ok_or_else(|| self.wrong(column, expected))
    }

    /// Returns its numbers, up to `most` each; `None` if the cell is empty.
    pub fn numbers(
        &self,
        column: Column,
        most: u64,
        expected: &'static str,
    ) -> Result<Option<Vec<u64>>, Wrong> {
        let numbers = match self {
            Cell::Empty => return Ok(None),
            Cell::Number(number) => Some(vec![*number]),
            Cell::List(numbers) => Some(numbers.clone()),
            Cell::Text(text) => parse_numbers(text),
            _ => None,
        };
        let numbers = numbers.filter(|numbers| numbers.iter().all(|&number| number <= most));
        numbers.map(Some).ok_or_else(|| self.wrong(column, expected))
    }

    pub fn signed(&self, column: Column) -> Result<Option<i64>, Wrong> {
        let number = match self {
            Cell::Empty => return Ok(None),
            Cell::Number(number) => i64::try_from(*number).ok(),
            Cell::Negative(number) => Some(*number),
            Cell::Text(text) => text.parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| self.wrong(column, "a whole number"))
    }

    /// Returns its text, or its number as text; `None` if the cell is empty.
    pub fn label(&self, column: Column) -> Result<Option<Cow<'_, str>>, Wrong> {
        match self {
            Cell::Empty => Ok(None),
            Cell::Number(number) => Ok(Some(number.to_string().into())),
            Cell::Text(text) => Ok(Some(Cow::Borrowed(text))),
            _ => Err(self.wrong(column, "a number or a text")),
        }
    }

    pub fn wrong(&self, column: Column, expected: impl Into<Cow<'static, str>>) -> Wrong {
        Wrong { column, expected: expected.into(), found: self.shown() }
    }

    fn shown(&self) -> String {
        match self {
            Cell::Empty => "nothing".to_owned(),
            Cell::Number(number) => number.to_string(),
            Cell::Negative(number) => number.to_string(),
            Cell::Text(text) => text.to_string(),
            Cell::List(numbers) => format!("a list of {}", numbers.len()),
            Cell::Other(shown) => shown.clone(),
        }
    }
}

/// Parses a decimal number, or a hexadecimal one with `0x`. Tables with gaps write whole numbers as
/// `4.0`.
pub fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.strip_suffix(".0").unwrap_or(text).parse().ok(),
    }
}

/// Parses numbers between blanks, commas or semicolons, with or without brackets.
fn parse_numbers(text: &str) -> Option<Vec<u64>> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let parts = inner.split([' ', ',', ';', '\t']).filter(|part| !part.is_empty());
    parts.map(parse_number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_found_by_its_name() {
        for (place, column) in Column::ALL.into_iter().enumerate() {
            assert_eq!(column as usize, place, "{column:?}");
            assert_eq!(Column::find(column.name()), Some(column));
        }
        assert_eq!(Column::find("adresses"), None);
    }

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        let parsed = [
            "7",
            " 0x1F ",
            "4.0",
            "18446744073709551615",
            "0",
            "1f",
            "-1",
            "4.5",
            "",
            "0x",
            "0x+1",
        ]
        .map(parse_number);
        let expected = [
            Some(7),
            Some(31),
            Some(4),
            Some(u64::MAX),
            Some(0),
            None,
            None,
            None,
            None,
            None,
            None,
        ];
        assert_eq!(parsed, expected);
    }

    #[test]
    fn lists_have_equivalent_notations() {
        for text in ["1 2 0x3", "1;2;3", "[1, 2, 3]", " 1,2 ; 3 "] {
            assert_eq!(parse_numbers(text), Some(vec![1, 2, 3]), "{text}");
        }
        assert_eq!(parse_numbers("[]"), Some(vec![]));
        assert_eq!(parse_numbers("1 b"), None);
    }

    #[test]
    fn whole_floats_are_numbers() {
        assert_eq!(Cell::float(4.0), Cell::Number(4));
        assert_eq!(Cell::float(f64::NAN), Cell::Empty);
        for other in [4.5, -1.0, 1e300, f64::INFINITY] {
            assert!(matches!(Cell::float(other), Cell::Other(_)), "{other}");
        }
    }
}
