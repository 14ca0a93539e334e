//! The values of a frame as cells, which know their spelling in each output format.

use polars::prelude::{AnyValue, Column, DataFrame};
use warpmem_comparison::Cell;

use crate::error::Result;

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
    Ok(match value {
        AnyValue::Null => Cell::Null,
        AnyValue::Boolean(value) => Cell::Bool(*value),
        AnyValue::String(value) => Cell::Text((*value).to_owned()),
        AnyValue::StringOwned(value) => Cell::Text(value.to_string()),
        AnyValue::List(values) => {
            Cell::List(values.iter().map(|v| cell(&v)).collect::<Result<_>>()?)
        }
        value if value.is_integer() => Cell::Integer(value.try_extract()?),
        value if value.is_float() => Cell::float(Some(value.try_extract()?)),
        other => Cell::Text(other.to_string()),
    })
}
