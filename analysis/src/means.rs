//! Means of a comparison's rows over workloads.

use std::f64::consts::E;

use polars::prelude::*;

use crate::error::Result;
use crate::frame::names;
use crate::read::SLOTS;

/// Names of the means that a comparison gives, in their order.
pub const MEANS: [&str; 3] = ["arithmetic", "geometric", "harmonic"];

/// One row per machine, policy in the varied `slots`, and mean of the IPC ratio; `metrics` are
/// averaged in the arithmetic row.
pub(crate) fn mean_rows(
    rows: &DataFrame,
    slots: &[String],
    metrics: &[String],
) -> Result<DataFrame> {
    const GROUP: &str = "position of the group";
    let group: Vec<Expr> = [col("machine")].into_iter().chain(slots.iter().map(col)).collect();
    let same_slots = SLOTS
        .into_iter()
        .filter(|slot| rows.schema().contains(slot) && !slots.iter().any(|varied| varied == slot));
    let same_slots: Vec<Expr> = same_slots.map(value_if_same).collect();
    let order = columns_of_means(rows);
    let frames = MEANS.map(|mean| {
        let mut columns = same_slots.clone();
        columns.push(col("ipc_ratio").count().alias("workloads"));
        columns.push(mean_of(col("ipc_ratio"), mean).alias("ipc_ratio"));
        columns.extend(metrics.iter().map(|metric| match mean {
            "arithmetic" => mean_of(col(metric), mean).alias(metric),
            _ => lit(NULL).cast(DataType::Float64).alias(metric),
        }));
        let means = rows.clone().lazy().group_by_stable(&group).agg(columns);
        means.with_columns([lit(mean).alias("mean")]).select(&order).with_row_index(GROUP, None)
    });
    let stable = SortMultipleOptions::default().with_maintain_order(true);
    let means = concat(frames, UnionArgs::default())?.sort([GROUP], stable);
    Ok(means.drop(by_name([GROUP], true, false)).collect()?)
}

/// Nulls are left out; the mean of no values is null.
fn mean_of(values: Expr, mean: &str) -> Expr {
    match mean {
        "geometric" => values.log(lit(E)).mean().exp(),
        "harmonic" => lit(1.0) / (lit(1.0) / values).mean(),
        _ => values.mean(),
    }
}

fn value_if_same(slot: &str) -> Expr {
    let same = col(slot).n_unique().eq(lit(1));
    when(same).then(col(slot).first()).otherwise(lit(NULL)).alias(slot)
}

fn columns_of_means(rows: &DataFrame) -> Vec<Expr> {
    let of_rows = names(rows).filter(|name| !["machine", "trace", "ipc_thread"].contains(name));
    ["machine", "mean", "workloads"].into_iter().chain(of_rows).map(col).collect()
}
