//! Distributions over the loads of each run: divergence and latency.

use polars::prelude::*;

use crate::counts::{ROWS, VALUE, by_keys, counts, mean, percentile, rows, total};
use crate::error::Result;
use crate::frame::{quotient, require, require_numeric};

const TABLE: &str = "the `loads` table";

/// Percentiles of the load time in the table of [`load_time`].
pub const LOAD_TIME_PERCENTILES: [u32; 5] = [1, 25, 50, 75, 99];

/// Percentiles of the divergence in the table of [`divergence`].
pub const DIVERGENCE_PERCENTILES: [u32; 3] = [50, 90, 99];

/// Summarizes memory divergence, the spread of a load's returning requests, over the rows of
/// `loads` with the same `keys`, or over all rows without keys. Columns:
///
/// - the keys, `loads`, the number of rows, and `divergent_loads`, the number of rows with two or
///   more off-chip requests and hence a divergence; the other columns cover only these;
/// - `divergence_mean`, `_p50`, `_p90`, `_p99` and `_max`, core cycles [WMC Fig 4a]. Percentile p
///   is the smallest value that at least p percent of the values do not exceed;
/// - `in_mc_fraction`, the sum of `in_mc_divergence` divided by the sum of `divergence` [WMC Fig
///   6]; null if the latter is 0.
///
/// Rows are in the order of the first appearance of their keys.
///
/// ```
/// use warpmem_analysis::{divergence, polars::{df, prelude::IntoLazy}, table_to_csv};
///
/// let loads = df!(
///     "run_id" => ["a", "a", "a"],
///     "divergence" => [Some(100i64), Some(300), None],
///     "in_mc_divergence" => [Some(80i64), Some(200), None],
/// )?;
/// let table = divergence(loads.lazy(), &["run_id"])?.collect()?;
/// assert_eq!(
///     table_to_csv(&table)?,
///     "run_id,loads,divergent_loads,divergence_mean,divergence_p50,divergence_p90,divergence_p99,divergence_max,in_mc_fraction\n\
///      a,3,2,200.0,100.0,300.0,300.0,300,0.7\n"
/// );
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If a key or one of the columns `divergence`, `in_mc_divergence` is missing or holds no numbers.
pub fn divergence(loads: LazyFrame, keys: &[&str]) -> Result<LazyFrame> {
    let loads = checked(loads, keys, &["divergence", "in_mc_divergence"])?;
    let in_mc = col("in_mc_divergence").sum();
    let counts = counts(loads, col("divergence"), keys, &[in_mc])?;
    let mut columns = vec![
        col(ROWS).sum().cast(IDX_DTYPE).alias("loads"),
        rows().cast(IDX_DTYPE).alias("divergent_loads"),
        mean().alias("divergence_mean"),
    ];
    columns.extend(
        DIVERGENCE_PERCENTILES
            .map(|percent| percentile(percent).alias(format!("divergence_p{percent}"))),
    );
    columns.push(col(VALUE).max().alias("divergence_max"));
    columns.push(quotient(col("in_mc_divergence").sum(), total()).alias("in_mc_fraction"));
    Ok(by_keys(counts, keys, columns))
}

/// Summarizes the load times of divergent loads, over the rows of `loads` with the same `keys`, or
/// over all rows without keys. Columns:
///
/// - the keys and `divergent_loads`, the number of rows with a divergence; the other columns cover
///   only these;
/// - `load_time_mean`, core cycles [WMC Fig 4b], and `load_time_p1`, `_p25`, `_p50`, `_p75`,
///   `_p99`, `_max`, each divided by that mean [WMC Fig 5, 12]; null if the mean is 0. Percentiles
///   are those of [`divergence`].
///
/// Rows are in the order of the first appearance of their keys.
///
/// ```
/// use warpmem_analysis::{load_time, polars::{df, prelude::IntoLazy}, table_to_csv};
///
/// let loads = df!(
///     "run_id" => ["a", "a", "a"],
///     "load_time" => [500i64, 1500, 77],
///     "divergence" => [Some(100i64), Some(300), None],
/// )?;
/// let table = load_time(loads.lazy(), &["run_id"])?.collect()?;
/// assert_eq!(
///     table_to_csv(&table)?,
///     "run_id,divergent_loads,load_time_mean,load_time_p1,load_time_p25,load_time_p50,load_time_p75,load_time_p99,load_time_max\n\
///      a,2,1000.0,0.5,0.5,0.5,1.5,1.5,1.5\n"
/// );
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If a key or one of the columns `load_time`, `divergence` is missing or holds no numbers.
pub fn load_time(loads: LazyFrame, keys: &[&str]) -> Result<LazyFrame> {
    let loads = checked(loads, keys, &["load_time", "divergence"])?;
    // Null if the load does not diverge, so that runs without divergent loads keep their row.
    let time = when(col("divergence").is_not_null()).then(col("load_time")).otherwise(lit(NULL));
    let counts = counts(loads, time, keys, &[])?;
    let mut columns =
        vec![rows().cast(IDX_DTYPE).alias("divergent_loads"), mean().alias("load_time_mean")];
    columns.extend(LOAD_TIME_PERCENTILES.map(|percent| {
        quotient(percentile(percent), mean()).alias(format!("load_time_p{percent}"))
    }));
    columns.push(quotient(col(VALUE).max(), mean()).alias("load_time_max"));
    Ok(by_keys(counts, keys, columns))
}

fn checked(mut loads: LazyFrame, keys: &[&str], values: &[&str]) -> Result<LazyFrame> {
    let schema = loads.collect_schema()?;
    keys.iter().try_for_each(|key| require(&schema, TABLE, key))?;
    values.iter().try_for_each(|value| require_numeric(&schema, TABLE, value))?;
    Ok(loads)
}
