//! Frames as aligned terminal text.

use polars::prelude::{Column, DataFrame};
use warpmem_comparison::{Align, Digits, Grid, Heading, Metric, Row, digits, metric};

use crate::cell::column_cells;
use crate::error::Result;

/// Formats the rows of a frame as an aligned table. Columns that do not fit in `width` terminal
/// columns follow below, after a repeated first column.
///
/// # Errors
/// If a column is of a type that tables do not hold.
pub fn table_to_string(frame: &DataFrame, width: usize) -> Result<String> {
    let columns = frame.columns();
    let cells = columns.iter().map(shown).collect::<Result<Vec<_>>>()?;
    let rows = (0..frame.height())
        .map(|row| Row::Cells(cells.iter().map(|column| column[row].clone()).collect()));
    let grid = Grid { columns: columns.iter().map(name_and_unit).collect(), rows: rows.collect() };
    Ok(grid.render(width))
}

/// Formats a frame transposed: one line per column, with its unit, and one value column per row.
/// For tables with many columns and few rows.
///
/// # Errors
/// As [`table_to_string`].
pub fn record_to_string(frame: &DataFrame, width: usize) -> Result<String> {
    let left = || Heading { lines: Vec::new(), align: Align::Left };
    let value = || Heading { lines: Vec::new(), align: Align::Right };
    let mut rows = Vec::new();
    for column in frame.columns() {
        let label = match unit(column.name()) {
            None | Some("") => column.name().to_string(),
            Some(unit) => format!("{} ({unit})", column.name()),
        };
        rows.push(Row::Cells([label].into_iter().chain(shown(column)?).collect()));
    }
    let columns = [left()].into_iter().chain((0..frame.height()).map(|_| value())).collect();
    Ok(Grid { columns, rows }.render(width))
}

/// Formats the values of a column for display: with `digits`, or else four significant digits; a
/// dash for null.
///
/// # Errors
/// As [`table_to_string`].
pub fn column_to_strings(column: &Column, digits: Option<Digits>) -> Result<Vec<String>> {
    Ok(column_cells(column)?.iter().map(|cell| cell.to_display(digits)).collect())
}

fn shown(column: &Column) -> Result<Vec<String>> {
    column_to_strings(column, digits(column.name()))
}

fn align(column: &Column) -> Align {
    if column.dtype().is_primitive_numeric() { Align::Right } else { Align::Left }
}

fn name_and_unit(column: &Column) -> Heading {
    let mut lines = vec![column.name().to_string()];
    lines.extend(unit(column.name()).map(str::to_owned));
    Heading { lines, align: align(column) }
}

/// Returns the unit in which a column is shown.
pub fn unit(name: &str) -> Option<&'static str> {
    let of_metric = metric(name).map(Metric::shown_unit);
    of_metric.or_else(|| matches!(digits(name), Some(Digits::Percent(_))).then_some("%"))
}
