//! Complementary cumulative distributions.

use polars::prelude::*;

use crate::counts::{ROWS, VALUE, counts};
use crate::error::Result;
use crate::frame::{require, require_numeric};

/// Points of a tail per decade of the share, in addition to one per percent.
const POINTS_PER_DECADE: f64 = 20.0;

/// Computes, for each combination of the `keys`, the share of the rows of `frame` whose `column` is
/// at least a given value: the curve from the smallest value (share 1) to the largest. Columns: the
/// keys, the value under the name of its column, and `share`.
///
/// Every point is exact. Long curves are thinned to points that differ in the whole percents of the
/// share or, for rare large values, in a twentieth of its decimal logarithm: at most about 240
/// points for ten million rows. Nulls are ignored.
///
/// ```
/// use warpmem_analysis::{polars::{df, prelude::IntoLazy}, table_to_csv, tail};
///
/// let loads = df!("run_id" => ["a"; 4], "load_time" => [700i64, 500, 500, 900])?;
/// let table = tail(loads.lazy(), "load_time", &["run_id"])?.collect()?;
/// assert_eq!(table_to_csv(&table)?, "run_id,load_time,share\na,500,1.0\na,700,0.5\na,900,0.25\n");
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If a key or the column is missing, or if the column holds no numbers.
pub fn tail(mut frame: LazyFrame, column: &str, keys: &[&str]) -> Result<LazyFrame> {
    const TABLE: &str = "the table";
    let schema = frame.collect_schema()?;
    keys.iter().try_for_each(|key| require(&schema, TABLE, key))?;
    require_numeric(&schema, TABLE, column)?;
    let columns =
        |names: &[&str]| -> Vec<Expr> { keys.iter().chain(names).map(|name| col(*name)).collect() };
    let of_keys = |value: Expr| if keys.is_empty() { Ok(value) } else { value.over(columns(&[])) };
    let values = counts(frame.filter(col(column).is_not_null()), col(column), keys, &[])?;
    let rows = || col(ROWS).cast(DataType::Float64);
    let share = of_keys(rows().cum_sum(true))? / of_keys(rows().sum())?;
    let shares = values.with_columns([share.alias(SHARE)]);
    let percent = (col(SHARE) * lit(100.0)).cast(DataType::Int32).alias(PERCENT);
    let decade = (col(SHARE).log(lit(10.0)) * lit(-POINTS_PER_DECADE)).cast(DataType::Int32);
    let places = shares.with_columns([percent, decade.alias(DECADE)]);
    let points = places.group_by_stable(columns(&[PERCENT, DECADE]));
    let last = [col(VALUE).last().alias(column), col(SHARE).last()];
    Ok(points.agg(last).select(columns(&[column, SHARE])))
}

const SHARE: &str = "share";
// Names of temporary columns.
const PERCENT: &str = "percent of the rows";
const DECADE: &str = "decimal logarithm of the share";
