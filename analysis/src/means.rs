//! Means over rows with the same keys.

use std::f64::consts::E;

use polars::prelude::*;
use warpmem_comparison::Mean;

use crate::error::Result;
use crate::frame::{finite_or_null, require, require_numeric};

/// Computes the `mean` of each of `columns` over the rows of `frame` with the same `keys`, in order
/// of first appearance, and `rows`, their number. Nulls are ignored. The papers' metrics are
/// averaged harmonically in [Li, Yuan], in all three ways in [OWL], arithmetically in [WMC, CaLRS].
///
/// ```
/// use warpmem_analysis::{Mean, means, polars::{df, prelude::IntoLazy}, table_to_csv};
///
/// let ratios = df!("policy" => ["a", "a", "b"], "ipc_ratio" => [Some(0.5), Some(2.0), None])?;
/// let table = means(ratios.lazy(), &["policy"], &["ipc_ratio"], Mean::Harmonic)?.collect()?;
/// assert_eq!(table_to_csv(&table)?, "policy,rows,ipc_ratio\na,2,0.8\nb,1,\n");
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If a column is missing, or a column to average holds no numbers.
pub fn means(
    mut frame: LazyFrame,
    keys: &[&str],
    columns: &[&str],
    mean: Mean,
) -> Result<LazyFrame> {
    const TABLE: &str = "the table";
    let schema = frame.collect_schema()?;
    keys.iter().try_for_each(|key| require(&schema, TABLE, key))?;
    columns.iter().try_for_each(|column| require_numeric(&schema, TABLE, column))?;
    let keys: Vec<Expr> = keys.iter().map(|key| col(*key)).collect();
    let means = columns.iter().map(|column| of(mean, col(*column)).alias(*column));
    Ok(frame
        .group_by_stable(keys)
        .agg([len().alias("rows")].into_iter().chain(means).collect::<Vec<_>>()))
}

/// Averages the values. Nulls are ignored; the mean of no values is null, as is an undefined mean.
fn of(mean: Mean, values: Expr) -> Expr {
    let values = values.cast(DataType::Float64);
    finite_or_null(match mean {
        Mean::Arithmetic => values.mean(),
        Mean::Geometric => values.log(lit(E)).mean().exp(),
        Mean::Harmonic => lit(1.0) / (lit(1.0) / values).mean(),
    })
}
