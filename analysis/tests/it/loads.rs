use polars::df;
use polars::prelude::*;
use warpmem_analysis::{Error, load_distribution};

use crate::common::floats;

/// Run 7: load times 1 to 100, mean 50.5, in falling order, and a longer one of a load that does not
/// diverge. Runs 3 and 5: one load each, without divergence and of no time.
fn loads() -> LazyFrame {
    let mut run = vec![7u64; 101];
    let mut time: Vec<u64> = (1..=100).rev().collect();
    let mut divergence = vec![Some(0u64); 100];
    let mut in_mc = vec![Some(0i64); 100];
    (divergence[0], in_mc[0]) = (Some(300), Some(250));
    (divergence[1], in_mc[1]) = (Some(100), Some(-50));
    run.extend([3, 5]);
    time.extend([9999, 20, 0]);
    divergence.extend([None, None, Some(0)]);
    in_mc.extend([None, None, Some(0)]);
    df!("run_id" => run, "load_time" => time, "divergence" => divergence, "in_mc_divergence" => in_mc)
        .unwrap()
        .lazy()
}

fn counts(frame: &DataFrame, column: &str) -> Vec<Option<u32>> {
    frame.column(column).unwrap().u32().unwrap().iter().collect()
}

#[test]
fn loads_with_fewer_than_two_offchip_requests_only_count() {
    let frame = load_distribution(loads(), &["run_id"]).unwrap().collect().unwrap();
    assert_eq!(counts(&frame, "loads"), [Some(101), Some(1), Some(1)]);
    assert_eq!(counts(&frame, "divergent_loads"), [Some(100), Some(0), Some(1)]);
    assert_eq!(floats(&frame, "load_time_mean"), [Some(50.5), None, Some(0.0)]);
}

#[test]
fn percentiles_are_ranks_divided_by_the_mean() {
    let frame = load_distribution(loads(), &["run_id"]).unwrap().collect().unwrap();
    for (percent, rank) in
        [("p1", 1.0), ("p25", 25.0), ("p50", 50.0), ("p99", 99.0), ("max", 100.0)]
    {
        let value = floats(&frame, &format!("load_time_{percent}"))[0];
        assert_eq!(value, Some(rank / 50.5), "{percent}");
    }
}

#[test]
fn divergence_is_a_mean_and_its_share_is_of_the_sum() {
    let frame = load_distribution(loads(), &["run_id"]).unwrap().collect().unwrap();
    assert_eq!(floats(&frame, "divergence_mean"), [Some(4.0), None, Some(0.0)]);
    assert_eq!(floats(&frame, "in_mc_fraction"), [Some(0.5), None, None]);
}

#[test]
fn a_quotient_with_nothing_below_is_null() {
    let frame = load_distribution(loads(), &["run_id"]).unwrap().collect().unwrap();
    assert_eq!(floats(&frame, "load_time_p50")[1..], [None, None]);
    assert_eq!(floats(&frame, "load_time_max")[1..], [None, None]);
}

#[test]
fn a_missing_column_is_named() {
    let lacking = loads().drop(by_name(["divergence"], true, false));
    let error = load_distribution(lacking, &["run_id"]).err().unwrap();
    assert!(
        matches!(&error, Error::MissingColumn { column, .. } if column == "divergence"),
        "{error}"
    );
    let error = load_distribution(loads(), &["kernel"]).err().unwrap();
    assert!(matches!(&error, Error::MissingColumn { column, .. } if column == "kernel"), "{error}");
}
