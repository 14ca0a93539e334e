//! Distributions over the loads of each run.

use polars::prelude::*;

use crate::error::Result;
use crate::frame::require_numeric;

/// Percentiles of the load time that [`load_distribution`] gives.
pub const LOAD_TIME_PERCENTILES: [u32; 5] = [1, 25, 50, 75, 99];

/// What the rows of `loads` that have the same `keys` are like together. Columns:
///
/// - the keys, `loads`, the number of rows, and `divergent_loads`, the number of those with two or
///   more off-chip requests, that is, with a divergence; all that follows is of these;
/// - `load_time_mean`, core cycles, and `load_time_p1`, `_p25`, `_p50`, `_p75`, `_p99`, `_max`, each
///   divided by that mean. A percentile is the smallest value that at least so many percent of the
///   values do not exceed;
/// - `divergence_mean`, core cycles;
/// - `in_mc_fraction`, the sum of `in_mc_divergence` divided by that of `divergence`.
///
/// A quotient with nothing below is null. Rows stand in the order in which the keys appear.
///
/// # Errors
/// If a key or one of the columns `load_time`, `divergence`, `in_mc_divergence` is missing or holds
/// no numbers.
pub fn load_distribution(mut loads: LazyFrame, keys: &[&str]) -> Result<LazyFrame> {
    const TABLE: &str = "the `loads` table";
    let schema = loads.collect_schema()?;
    keys.iter().try_for_each(|key| crate::frame::require(&schema, TABLE, key))?;
    for name in ["load_time", "divergence", "in_mc_divergence"] {
        require_numeric(&schema, TABLE, name)?;
    }
    let load_time = col("load_time").filter(col("divergence").is_not_null());
    let mean = load_time.clone().mean();
    let mut columns = vec![
        len().alias("loads"),
        col("divergence").count().alias("divergent_loads"),
        mean.clone().alias("load_time_mean"),
        col("divergence").mean().alias("divergence_mean"),
        quotient(col("in_mc_divergence").sum(), col("divergence").sum()).alias("in_mc_fraction"),
        quotient(load_time.clone().max(), mean.clone()).alias("load_time_max"),
    ];
    for percent in LOAD_TIME_PERCENTILES {
        let value = load_time.clone().quantile(lit(f64::from(percent) / 100.0), INVERTED_CDF);
        columns.push(quotient(value, mean.clone()).alias(format!("load_time_p{percent}")));
    }
    let keys: Vec<Expr> = keys.iter().map(|key| col(*key)).collect();
    let mut order = keys.clone();
    order.extend(["loads", "divergent_loads", "load_time_mean"].map(col));
    order.extend(LOAD_TIME_PERCENTILES.map(|percent| col(format!("load_time_p{percent}"))));
    order.extend(["load_time_max", "divergence_mean", "in_mc_fraction"].map(col));
    Ok(loads.group_by_stable(keys).agg(columns).select(order))
}

/// The value at rank ⌈q n⌉, as the engine's histograms define a percentile.
const INVERTED_CDF: QuantileMethod = QuantileMethod::Equiprobable;

fn quotient(above: Expr, below: Expr) -> Expr {
    let below = below.cast(DataType::Float64);
    when(below.clone().gt(lit(0.0)))
        .then(above.cast(DataType::Float64) / below)
        .otherwise(lit(NULL))
}
