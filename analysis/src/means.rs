//! Means of a comparison's rows over workloads.

use std::f64::consts::E;

use polars::prelude::*;

use crate::error::Result;
use crate::frame::{finite_or_null, names, require, require_numeric};
use crate::mixed::MIXED;
use crate::overrides::{OVERRIDES, holds_overrides};
use crate::results::SLOTS;

/// A mean over workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mean {
    Arithmetic,
    Geometric,
    Harmonic,
}

impl Mean {
    /// All means, in the order of a comparison's rows.
    pub const ALL: [Mean; 3] = [Mean::Arithmetic, Mean::Geometric, Mean::Harmonic];

    /// Returns the name in the column `mean` of a comparison.
    pub const fn name(self) -> &'static str {
        match self {
            Mean::Arithmetic => "arithmetic",
            Mean::Geometric => "geometric",
            Mean::Harmonic => "harmonic",
        }
    }

    /// Averages the values. Nulls are ignored; the mean of no values is null, as is an undefined
    /// mean.
    fn of(self, values: Expr) -> Expr {
        let values = values.cast(DataType::Float64);
        finite_or_null(match self {
            Mean::Arithmetic => values.mean(),
            Mean::Geometric => values.log(lit(E)).mean().exp(),
            Mean::Harmonic => lit(1.0) / (lit(1.0) / values).mean(),
        })
    }
}

/// Names of the means of a comparison, in order.
pub const MEANS: [&str; 3] = [Mean::ALL[0].name(), Mean::ALL[1].name(), Mean::ALL[2].name()];

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
    let means = columns.iter().map(|column| mean.of(col(*column)).alias(*column));
    Ok(frame
        .group_by_stable(keys)
        .agg([len().alias("rows")].into_iter().chain(means).collect::<Vec<_>>()))
}

/// Computes one row per machine, policy in the varied `slots`, and mean of the IPC ratio; `metrics`
/// are averaged in the arithmetic row.
pub(crate) fn mean_rows(
    rows: &DataFrame,
    slots: &[String],
    metrics: &[String],
) -> Result<DataFrame> {
    const GROUP: &str = "position of the group";
    let overrides = holds_overrides(rows, slots).then_some(OVERRIDES);
    let machine = ["machine"].into_iter().chain(overrides).map(col);
    let group: Vec<Expr> = machine.chain(slots.iter().map(col)).collect();
    let same_slots = SLOTS
        .into_iter()
        .filter(|slot| rows.schema().contains(slot) && !slots.iter().any(|varied| varied == slot));
    let same_slots: Vec<Expr> = same_slots.map(value_if_same).collect();
    let order = columns_of_means(rows);
    let frames = Mean::ALL.map(|mean| {
        let mut columns = same_slots.clone();
        columns.push(col("ipc_ratio").count().alias("workloads"));
        columns.push(mean.of(col("ipc_ratio")).alias("ipc_ratio"));
        columns.extend(metrics.iter().map(|metric| match mean {
            Mean::Arithmetic => mean.of(col(metric)).alias(metric),
            _ => lit(NULL).cast(DataType::Float64).alias(metric),
        }));
        let means = rows.clone().lazy().group_by_stable(&group).agg(columns);
        means
            .with_columns([lit(mean.name()).alias("mean")])
            .select(&order)
            .with_row_index(GROUP, None)
    });
    let stable = SortMultipleOptions::default().with_maintain_order(true);
    let means = concat(frames, UnionArgs::default())?.sort([GROUP], stable);
    Ok(means.drop(by_name([GROUP], true, false)).collect()?)
}

fn value_if_same(slot: &str) -> Expr {
    let same = col(slot).n_unique().eq(lit(1));
    when(same).then(col(slot).first()).otherwise(lit(NULL)).alias(slot)
}

fn columns_of_means(rows: &DataFrame) -> Vec<Expr> {
    let not_averaged = ["machine", "trace", MIXED, "ipc_thread"];
    let of_rows = names(rows).filter(|name| !not_averaged.contains(name));
    ["machine", "mean", "workloads"].into_iter().chain(of_rows).map(col).collect()
}
