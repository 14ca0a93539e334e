//! A column of a results table: name, unit, definition, and the function that computes its value
//! from a row.

use serde_json::Value;
use std::borrow::Borrow;

/// A column of a table with rows of type `R`.
pub struct Column<R> {
    pub name: String,
    /// Unit of the value; empty for text and identifiers.
    pub unit: &'static str,
    /// Definition and source, one or two sentences.
    pub doc: String,
    pub(crate) value: Getter<R>,
}

/// The type of a column. Text and counts are never null; a ratio whose denominator is 0 is null.
pub(crate) enum Getter<R> {
    Text(Box<dyn Fn(&R) -> &str + Send + Sync>),
    Count(Get<R, i64>),
    MaybeCount(Get<R, Option<i64>>),
    Ratio(Get<R, Option<f64>>),
}

type Get<R, T> = Box<dyn Fn(&R) -> T + Send + Sync>;

/// The values of a column, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Text(Vec<String>),
    Count(Vec<Option<i64>>),
    Ratio(Vec<Option<f64>>),
}

impl Values {
    /// Returns an empty list of values of this column's type.
    pub(crate) fn of<R>(column: &Column<R>) -> Values {
        match column.value {
            Getter::Text(_) => Values::Text(Vec::new()),
            Getter::Count(_) | Getter::MaybeCount(_) => Values::Count(Vec::new()),
            Getter::Ratio(_) => Values::Ratio(Vec::new()),
        }
    }

    /// Appends the column's values in these rows.
    pub(crate) fn extend<R>(&mut self, column: &Column<R>, rows: &[impl Borrow<R>]) {
        let rows = rows.iter().map(Borrow::borrow);
        match (self, &column.value) {
            (Values::Text(all), Getter::Text(of)) => all.extend(rows.map(|row| of(row).to_owned())),
            (Values::Count(all), Getter::Count(of)) => all.extend(rows.map(|row| Some(of(row)))),
            (Values::Count(all), Getter::MaybeCount(of)) => all.extend(rows.map(of)),
            (Values::Ratio(all), Getter::Ratio(of)) => all.extend(rows.map(of)),
            _ => unreachable!("the values of `{}` are of its type", column.name),
        }
    }
}

impl<R> Column<R> {
    /// Returns the type of the value, as in `docs/schema.md` and the Parquet schema.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Getter::Text(_) => "text",
            Getter::Count(_) | Getter::MaybeCount(_) => "int64",
            Getter::Ratio(_) => "float64",
        }
    }

    /// Whether a value may be missing.
    pub fn nullable(&self) -> bool {
        matches!(self.value, Getter::MaybeCount(_) | Getter::Ratio(_))
    }

    /// Returns the value in `row` as JSON.
    pub fn json(&self, row: &R) -> Value {
        match &self.value {
            Getter::Text(of) => of(row).into(),
            Getter::Count(of) => of(row).into(),
            Getter::MaybeCount(of) => of(row).into(),
            Getter::Ratio(of) => of(row).into(),
        }
    }

    /// Makes the column null in rows that `has` rejects, without computing its value.
    pub(crate) fn null_unless(mut self, has: fn(&R) -> bool) -> Column<R>
    where
        R: 'static,
    {
        self.value = match self.value {
            Getter::Text(of) => Getter::Text(of),
            Getter::Count(of) => Getter::MaybeCount(Box::new(move |row| has(row).then(|| of(row)))),
            Getter::MaybeCount(of) => {
                Getter::MaybeCount(Box::new(move |row| has(row).then(|| of(row)).flatten()))
            }
            Getter::Ratio(of) => {
                Getter::Ratio(Box::new(move |row| has(row).then(|| of(row)).flatten()))
            }
        };
        self
    }

    /// Returns the value in `row` if it is text.
    pub(crate) fn text<'a>(&'a self, row: &'a R) -> Option<&'a str> {
        match &self.value {
            Getter::Text(of) => Some(of(row)),
            _ => None,
        }
    }

    /// Returns the values in `rows`.
    pub fn values(&self, rows: &[impl Borrow<R>]) -> Values {
        let mut values = Values::of(self);
        values.extend(self, rows);
        values
    }

    /// Prefixes the name with `prefix` and an underscore.
    pub(crate) fn prefixed(mut self, prefix: &str) -> Column<R> {
        self.name = format!("{prefix}_{}", self.name);
        self
    }
}

/// Returns a column of names or descriptions.
pub fn text<R>(
    name: &str,
    doc: &str,
    of: impl Fn(&R) -> &str + Send + Sync + 'static,
) -> Column<R> {
    Column { name: name.into(), unit: "", doc: doc.into(), value: Getter::Text(Box::new(of)) }
}

/// Returns a column of counts, cycles or indices.
pub fn count<R>(
    name: &str,
    unit: &'static str,
    doc: &str,
    of: impl Fn(&R) -> u64 + Send + Sync + 'static,
) -> Column<R> {
    let value = Getter::Count(Box::new(move |row| int(of(row))));
    Column { name: name.into(), unit, doc: doc.into(), value }
}

/// Returns a column of counts that may be null.
pub fn maybe_count<R>(
    name: &str,
    unit: &'static str,
    doc: &str,
    of: impl Fn(&R) -> Option<u64> + Send + Sync + 'static,
) -> Column<R> {
    let value = Getter::MaybeCount(Box::new(move |row| of(row).map(int)));
    Column { name: name.into(), unit, doc: doc.into(), value }
}

/// Returns a column of signed differences that may be null.
pub(crate) fn maybe_signed<R>(
    name: &str,
    unit: &'static str,
    doc: &str,
    of: impl Fn(&R) -> Option<i64> + Send + Sync + 'static,
) -> Column<R> {
    Column { name: name.into(), unit, doc: doc.into(), value: Getter::MaybeCount(Box::new(of)) }
}

/// Returns a column of means, rates or fractions; null where the denominator is 0.
pub fn ratio<R>(
    name: &str,
    unit: &'static str,
    doc: &str,
    of: impl Fn(&R) -> Option<f64> + Send + Sync + 'static,
) -> Column<R> {
    Column { name: name.into(), unit, doc: doc.into(), value: Getter::Ratio(Box::new(of)) }
}

/// Converts to the signed integers of tables, so that differences never wrap in a reader. Counts of a
/// run are far below 2^63; a larger program counter keeps its bits.
fn int(value: u64) -> i64 {
    value.cast_signed()
}
