//! Helpers over frames and schemas.

use polars::prelude::*;

use crate::error::{Error, Result};
use crate::results::SLOTS;

pub(crate) fn require(schema: &Schema, table: &str, column: &str) -> Result<()> {
    if schema.contains(column) {
        return Ok(());
    }
    Err(Error::MissingColumn {
        table: table.to_owned(),
        column: column.to_owned(),
        available: schema.iter_names().map(|name| name.to_string()).collect(),
    })
}

pub(crate) fn require_numeric(schema: &Schema, table: &str, column: &str) -> Result<()> {
    require(schema, table, column)?;
    match schema.get(column) {
        Some(dtype) if !dtype.is_primitive_numeric() && *dtype != DataType::Null => {
            Err(Error::NotNumeric {
                table: table.to_owned(),
                column: column.to_owned(),
                dtype: dtype.to_string(),
            })
        }
        _ => Ok(()),
    }
}

pub(crate) fn names(frame: &DataFrame) -> impl Iterator<Item = &str> {
    frame.columns().iter().map(|column| column.name().as_str())
}

/// Extends the frame to the columns of `schema`; missing columns are null.
pub(crate) fn with_columns_of(frame: &DataFrame, schema: &Schema) -> LazyFrame {
    let column = |(name, dtype): (&PlSmallStr, &DataType)| match frame.schema().contains(name) {
        true => col(name.clone()),
        false => lit(NULL).cast(dtype.clone()).alias(name.clone()),
    };
    frame.clone().lazy().select(schema.iter().map(column).collect::<Vec<_>>())
}

/// Name of an absent policy or of absent overrides.
pub(crate) const NONE: &str = "none";

/// Returns the values of a string column, with `none` for null.
pub(crate) fn strings(frame: &DataFrame, column: &str) -> Result<Vec<String>> {
    let values = frame.column(column)?.str()?;
    Ok(values.iter().map(|value| value.unwrap_or(NONE).to_owned()).collect())
}

/// Returns each row's values of the string columns `slots`, separated by slashes.
pub(crate) fn labels(frame: &DataFrame, slots: &[String]) -> Result<Vec<String>> {
    let columns = slots.iter().map(|slot| strings(frame, slot)).collect::<Result<Vec<_>>>()?;
    let label = |text: &str| if text.is_empty() { NONE.to_owned() } else { text.to_owned() };
    let row = |row: usize| columns.iter().map(|c| label(&c[row])).collect::<Vec<_>>().join("/");
    Ok((0..frame.height()).map(row).collect())
}

/// Returns the key columns that a table has, in their order.
pub(crate) fn keys_of(schema: &Schema) -> Vec<Expr> {
    let keys = ["run_id", "trace", "machine", "overrides"].into_iter().chain(SLOTS);
    keys.filter(|key| schema.contains(key)).map(col).collect()
}

/// Divides two values as floats; null if the denominator is 0.
pub(crate) fn quotient(above: Expr, below: Expr) -> Expr {
    let below = below.cast(DataType::Float64);
    when(below.clone().gt(lit(0.0)))
        .then(above.cast(DataType::Float64) / below)
        .otherwise(lit(NULL))
}

pub(crate) fn finite_or_null(value: Expr) -> Expr {
    when(value.clone().is_finite()).then(value).otherwise(lit(NULL))
}
