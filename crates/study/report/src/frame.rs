//! Small queries on dataframes.

use polars::prelude::*;
use warpmem_analysis::polars;

pub fn names(frame: &DataFrame) -> impl Iterator<Item = &str> {
    frame.columns().iter().map(|column| column.name().as_str())
}

/// Returns the distinct values of a text column, in order of first appearance.
pub fn distinct(frame: &DataFrame, column: &str) -> anyhow::Result<Vec<String>> {
    let unique = frame.column(column)?.unique_stable()?;
    Ok(unique.str()?.iter().flatten().map(str::to_owned).collect())
}

/// Returns whether some value of the column is neither null nor zero.
pub fn has_some(frame: &DataFrame, column: &str) -> bool {
    values(frame, column).iter().any(|value| *value != 0.0)
}

/// Returns whether some value of the column is not null.
pub fn has_value(frame: &DataFrame, column: &str) -> bool {
    frame.column(column).is_ok_and(|column| column.null_count() < column.len())
}

/// Returns the non-null values of a numeric column.
pub fn values(frame: &DataFrame, column: &str) -> Vec<f64> {
    let values = frame.column(column).ok().and_then(|column| column.cast(&DataType::Float64).ok());
    let values = values.as_ref().and_then(|column| column.f64().ok());
    values.map_or_else(Vec::new, |values| values.iter().flatten().collect())
}

/// Returns an expression that is true where the text column has one of `values`.
pub fn is_one_of(column: &str, values: &[String]) -> Expr {
    let values = Series::new(PlSmallStr::EMPTY, values);
    col(column).is_in(lit(values).implode(true), false)
}

/// Returns the rows whose `column` has one of `names`, in the order of the names.
pub fn ordered(frame: &DataFrame, column: &str, names: &[String]) -> anyhow::Result<DataFrame> {
    const ORDER: &str = "order of names";
    let order = df!(column => names, ORDER => (0..names.len() as u32).collect::<Vec<_>>())?;
    let key = [col(column)];
    let mut join = JoinArgs::new(JoinType::Inner);
    join.maintain_order = MaintainOrderJoin::Left;
    let joined = frame.clone().lazy().join(order.lazy(), &key, &key, join);
    let sorted = joined.sort([ORDER], SortMultipleOptions::default().with_maintain_order(true));
    Ok(sorted.drop(by_name([ORDER], true, false)).collect()?)
}

/// Unpivots the columns `parts`: their names go to `part`, their values to `value`, beside `keys`.
/// The second of each pair is the displayed name.
pub fn long(
    frame: &DataFrame,
    keys: &[&str],
    parts: &[(&str, &str)],
    part: &str,
    value: &str,
) -> anyhow::Result<DataFrame> {
    let frames = parts.iter().map(|(column, called)| {
        let keys = keys.iter().map(|key| col(*key));
        let of_part = [lit(*called).alias(part), col(*column).cast(DataType::Float64).alias(value)];
        frame.clone().lazy().select(keys.chain(of_part).collect::<Vec<_>>())
    });
    Ok(concat(frames.collect::<Vec<_>>(), UnionArgs::default())?.collect()?)
}

/// Joins on `key` (inner join), in the order of `left`.
pub fn joined(left: LazyFrame, right: LazyFrame, key: &str) -> anyhow::Result<DataFrame> {
    let mut join = JoinArgs::new(JoinType::Inner);
    join.maintain_order = MaintainOrderJoin::LeftRight;
    let key = [col(key)];
    Ok(left.join(right, &key, &key, join).collect()?)
}
