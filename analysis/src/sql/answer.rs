//! Evaluates planned frames and gives their columns the names of the query.

use std::collections::HashMap;

use polars::prelude::*;

use super::scope::{Output, Table};
use crate::error::{Result, refused};
use crate::frame::finite_or_null;

/// Returns the columns of an answer under their names; repeated names are numbered.
pub(super) fn named(answer: Table) -> LazyFrame {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let column = |column: &Output| {
        let count = taken.entry(column.name.clone()).or_insert(0);
        *count += 1;
        let name = match *count {
            1 => column.name.clone(),
            count => format!("{}_{}", column.name, count - 1),
        };
        col(column.id.clone()).alias(name)
    };
    let columns: Vec<Expr> = answer.columns.iter().map(column).collect();
    answer.frame.select(columns)
}

/// Replaces values that are not finite numbers by null.
pub(super) fn finite(answer: DataFrame) -> Result<DataFrame> {
    let floats = answer.columns().iter().filter(|column| column.dtype().is_float());
    let floats = floats.map(|column| column.name().clone());
    let floats = floats.map(|name| finite_or_null(col(name.clone())).alias(name));
    let floats: Vec<Expr> = floats.collect();
    Ok(answer.lazy().with_columns(floats).collect()?)
}

/// Evaluates a frame.
pub(super) fn collect(frame: LazyFrame) -> Result<DataFrame> {
    let explained = |error: PolarsError| {
        let text = error.to_string();
        if text.contains("conversion from `f64` to `i64` failed") {
            return refused(
                "a number exceeds 64-bit integers: calculate with x::DOUBLE".to_owned(),
            );
        }
        // The other lines of the message are polars' query plan.
        refused(text.lines().next().unwrap_or_default().to_owned())
    };
    frame.collect().map_err(explained)
}
