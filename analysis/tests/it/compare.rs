//! Comparisons of frames.

use crate::common::{floats, runs, strings};
use polars::prelude::*;
use warpmem_analysis::{
    CompareOptions, Comparison, Error, MEANS, RunsError, compare, table_to_csv,
};

fn compared(runs: LazyFrame) -> Comparison {
    compare(runs, &CompareOptions::new("fr-fcfs")).unwrap()
}

#[test]
fn a_comparison_of_a_frame_gives_frames() {
    let comparison = compared(runs().lazy());
    let (rows, means) = (comparison.rows(), comparison.means());
    assert_eq!(floats(rows, "ipc_ratio"), [0.5, 0.75, 1.0, 2.0, 1.0, 1.0].map(Some));
    assert_eq!(floats(rows, "row_hit_rate")[5], None);
    assert_eq!(strings(means, "mean"), [MEANS; 3].concat());
    let workloads: Vec<_> = means.column("workloads").unwrap().u32().unwrap().iter().collect();
    assert_eq!(workloads, [Some(2); 9]);
    let table = comparison.table().unwrap();
    assert_eq!(strings(&table, "trace")[6..], ["null"; 9]);
    assert_eq!(table.height(), rows.height() + means.height());
}

#[test]
fn integers_and_single_precision_count_like_doubles() {
    let runs = runs().lazy().with_columns([col("ipc_thread").cast(DataType::Float32)]);
    let comparison = compared(runs.with_columns([col("row_locality").cast(DataType::Int32)]));
    assert_eq!(floats(comparison.rows(), "ipc_ratio")[0], Some(0.5));
    assert_eq!(floats(comparison.rows(), "row_locality")[0], Some(1.0));
    assert_eq!(floats(comparison.rows(), "latency_p99")[0], Some(5000.0));
}

#[test]
fn the_same_run_from_two_places_counts_once() {
    let twice = concat([runs().lazy(), runs().lazy()], UnionArgs::default()).unwrap();
    let tables = [runs().lazy(), twice].map(|runs| compared(runs).table().unwrap());
    let [once, twice] = tables.map(|table| table_to_csv(&table).unwrap());
    assert_eq!(once, twice);
}

#[test]
fn columns_that_are_missing_or_hold_no_numbers_are_named() {
    let options = CompareOptions::new("fr-fcfs");
    let error = compare(runs().drop("blp").unwrap().lazy(), &options).unwrap_err();
    let is_missing = |error: &RunsError| {
        matches!(error, RunsError::MissingColumn { column, available, .. }
            if column == "blp" && available.contains(&"cycles".to_owned()))
    };
    assert!(matches!(&error, Error::Runs(error) if is_missing(error)), "{error}");
    let text = runs().lazy().with_columns([lit("fast").alias("ipc_thread")]);
    assert_eq!(
        compare(text, &options).unwrap_err().to_string(),
        "column `ipc_thread` of the `runs` table holds str, not numbers"
    );
}
