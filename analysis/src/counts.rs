//! Occurrences of each value, from which percentiles and tails are computed. Cycle counts repeat,
//! so distinct values are far fewer than rows, and only these need sorting.

use polars::prelude::*;

use crate::frame::quotient;

/// Columns of the counts besides the keys: a value and its number of rows.
pub(crate) const VALUE: &str = "value that is counted";
pub(crate) const ROWS: &str = "rows of the value";
/// A temporary column.
const POSITION: &str = "position of the value";

/// Counts each `value` among the rows with the same `keys`, with the `sums` over these rows. Values
/// are in ascending order, null last; keys in the order of their first appearance.
pub(crate) fn counts(
    frame: LazyFrame,
    value: Expr,
    keys: &[&str],
    sums: &[Expr],
) -> PolarsResult<LazyFrame> {
    let by = || keys.iter().map(|key| col(*key));
    let rows = len().cast(DataType::Int64).alias(ROWS);
    let counted = frame
        .group_by_stable(by().chain([value.alias(VALUE)]).collect::<Vec<_>>())
        .agg([&[rows], sums].concat())
        .with_row_index(POSITION, None);
    let mut order = vec![col(VALUE)];
    if !keys.is_empty() {
        order.insert(0, col(POSITION).min().over(by().collect::<Vec<_>>())?);
    }
    let rising = SortMultipleOptions::default().with_maintain_order(true).with_nulls_last(true);
    Ok(counted.sort_by_exprs(order, rising))
}

/// Computes a row for the counts of each of the `keys`, in their order; one row without keys.
pub(crate) fn by_keys(counts: LazyFrame, keys: &[&str], columns: Vec<Expr>) -> LazyFrame {
    match keys {
        [] => counts.select(columns),
        keys => {
            let keys = keys.iter().map(|key| col(*key)).collect::<Vec<_>>();
            counts.group_by_stable(keys).agg(columns)
        }
    }
}

/// Counts the rows that have a value, over counts with the same keys.
pub(crate) fn rows() -> Expr {
    col(ROWS).filter(col(VALUE).is_not_null()).sum()
}

/// Sums the values over rows, over counts with the same keys.
pub(crate) fn total() -> Expr {
    (col(VALUE).cast(DataType::Float64) * col(ROWS).cast(DataType::Float64)).sum()
}

/// Averages over rows, over counts with the same keys.
pub(crate) fn mean() -> Expr {
    quotient(total(), rows())
}

/// Computes the value at rank ⌈q n⌉ over counts with the same keys, the definition of a percentile
/// in the engine's histograms.
pub(crate) fn percentile(percent: u32) -> Expr {
    let percents = |rows: Expr, factor: u32| rows * lit(i64::from(factor));
    let is_reached = percents(col(ROWS).cum_sum(false), 100).gt_eq(percents(rows(), percent));
    col(VALUE).filter(is_reached).first().cast(DataType::Float64)
}
