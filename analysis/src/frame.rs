//! Helpers over frames and schemas.

use polars::prelude::*;
use warpmem_comparison::{Error as RunsError, NONE, SLOTS};

use crate::error::Result;

pub(crate) fn require(schema: &Schema, table: &str, column: &str) -> Result<()> {
    if schema.contains(column) {
        return Ok(());
    }
    Err(RunsError::MissingColumn {
        table: table.to_owned(),
        column: column.to_owned(),
        available: schema.iter_names().map(|name| name.to_string()).collect(),
    }
    .into())
}

pub(crate) fn require_numeric(schema: &Schema, table: &str, column: &str) -> Result<()> {
    require(schema, table, column)?;
    match schema.get(column) {
        Some(dtype) if !dtype.is_primitive_numeric() && *dtype != DataType::Null => {
            Err(RunsError::NotNumeric {
                table: table.to_owned(),
                column: column.to_owned(),
                dtype: dtype.to_string(),
            }
            .into())
        }
        _ => Ok(()),
    }
}

pub(crate) fn names(frame: &DataFrame) -> impl Iterator<Item = &str> {
    frame.columns().iter().map(|column| column.name().as_str())
}

/// Returns the values of a string column, with `none` for null.
pub(crate) fn strings(frame: &DataFrame, column: &str) -> Result<Vec<String>> {
    let values = frame.column(column)?.str()?;
    Ok(values.iter().map(|value| value.unwrap_or(NONE).to_owned()).collect())
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
