//! Numbers of the distributions of a run, as columns of a study.
//!
//! | column | number |
//! | --- | --- |
//! | `DISTRIBUTION_max` | greatest value |
//! | `DISTRIBUTION_kinds` | number of different values; those of 128 and more in buckets |
//! | `DISTRIBUTION_at_N` | share of the items with the value N, a power of two up to 32 |
//! | `DISTRIBUTION_above_8` | share of the items with a value above 8 |

use crate::error::Result;
use warpmem_analysis::Results;
use warpmem_analysis::polars::prelude::{DataType, Expr, LazyFrame, col, lit};

const DISTRIBUTIONS: [&str; 4] =
    ["requests_per_load", "offchip_per_load", "banks_per_load", "critical_field"];
const VALUES: [i64; 6] = [1, 2, 4, 8, 16, 32];
const ABOVE: i64 = 8;

/// Makes a frame with a row per run and the columns of every distribution.
///
/// # Errors
/// If the table cannot be read.
pub(crate) fn distributions(results: &Results) -> Result<LazyFrame> {
    Ok(of(results.table("histograms")?))
}

/// Returns the names of the columns.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = String> {
    let kinds = ["max", "kinds", "above_8"].map(str::to_owned).into_iter();
    let kinds: Vec<String> = kinds.chain(VALUES.map(|value| format!("at_{value}"))).collect();
    DISTRIBUTIONS
        .iter()
        .flat_map(move |name| kinds.clone().into_iter().map(move |kind| format!("{name}_{kind}")))
}

fn of(histograms: LazyFrame) -> LazyFrame {
    let columns: Vec<Expr> = DISTRIBUTIONS.iter().flat_map(|name| columns(name)).collect();
    histograms.group_by_stable([col("run_id")]).agg(columns)
}

fn columns(name: &str) -> Vec<Expr> {
    let is_it = || col("distribution").eq(lit(name));
    let count = |which: Expr| col("count").filter(which).sum().cast(DataType::Float64);
    let share = |condition: Expr| count(is_it().and(condition)) / count(is_it());
    let most = col("highest").filter(is_it()).max().cast(DataType::Float64);
    let kinds = col("count").filter(is_it()).count().cast(DataType::Float64);
    let at = |value: &i64| share(col("lowest").eq(lit(*value))).alias(format!("{name}_at_{value}"));
    let above = share(col("lowest").gt(lit(ABOVE))).alias(format!("{name}_above_{ABOVE}"));
    let named = [most.alias(format!("{name}_max")), kinds.alias(format!("{name}_kinds")), above];
    named.into_iter().chain(VALUES.iter().map(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_analysis::polars::df;
    use warpmem_analysis::polars::prelude::IntoLazy;

    #[test]
    fn shares_and_extremes_are_of_one_distribution() {
        let table = df!(
            "run_id" => ["a", "a", "a", "a", "b"],
            "distribution" =>
                ["critical_field", "critical_field", "critical_field", "load_time", "load_time"],
            "lowest" => [1i64, 4, 26, 900, 900],
            "highest" => [1i64, 4, 26, 910, 910],
            "count" => [6i64, 3, 1, 50, 50],
        );
        let found = of(table.unwrap().lazy()).collect().unwrap();
        let number =
            |column: &str, run: usize| found.column(column).unwrap().f64().unwrap().get(run);
        let of_a = ["critical_field_max", "critical_field_kinds", "critical_field_at_1"];
        assert_eq!(of_a.map(|column| number(column, 0)), [Some(26.0), Some(3.0), Some(0.6)]);
        let shares = ["critical_field_at_4", "critical_field_at_2", "critical_field_above_8"];
        assert_eq!(shares.map(|column| number(column, 0)), [Some(0.3), Some(0.0), Some(0.1)]);
        assert_eq!(number("critical_field_max", 1), None);
        assert!(number("critical_field_at_1", 1).unwrap().is_nan(), "counts as no number");
    }
}
