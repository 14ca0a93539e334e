use polars::df;
use polars::prelude::*;
use warpmem_analysis::{Error, RunsError, divergence, load_time, tail};

use crate::common::{floats, strings};

/// Makes loads. Run 7: load times 1 to 100, mean 50.5, in descending order, and a longer one of a load that does
/// not diverge. Runs 3 and 5: one load each, without divergence and with time 0.
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

fn divergences() -> DataFrame {
    divergence(loads(), &["run_id"]).unwrap().collect().unwrap()
}

fn load_times() -> DataFrame {
    load_time(loads(), &["run_id"]).unwrap().collect().unwrap()
}

#[test]
fn loads_with_fewer_than_two_offchip_requests_only_count() {
    assert_eq!(counts(&divergences(), "loads"), [Some(101), Some(1), Some(1)]);
    for frame in [divergences(), load_times()] {
        assert_eq!(counts(&frame, "divergent_loads"), [Some(100), Some(0), Some(1)]);
    }
    assert_eq!(floats(&load_times(), "load_time_mean"), [Some(50.5), None, Some(0.0)]);
}

#[test]
fn percentiles_are_ranks_and_load_times_are_relative_to_the_mean() {
    let frame = load_times();
    for (percent, rank) in
        [("p1", 1.0), ("p25", 25.0), ("p50", 50.0), ("p75", 75.0), ("p99", 99.0), ("max", 100.0)]
    {
        let value = floats(&frame, &format!("load_time_{percent}"))[0];
        assert_eq!(value, Some(rank / 50.5), "{percent}");
    }
    let divergence = |name| floats(&divergences(), name)[0];
    let percentiles = ["divergence_p50", "divergence_p90", "divergence_p99"].map(divergence);
    assert_eq!(percentiles, [0.0, 0.0, 100.0].map(Some));
}

#[test]
fn divergence_is_a_mean_and_its_share_is_of_the_sum() {
    let frame = divergences();
    assert_eq!(floats(&frame, "divergence_mean"), [Some(4.0), None, Some(0.0)]);
    assert_eq!(floats(&frame, "in_mc_fraction"), [Some(0.5), None, None]);
}

#[test]
fn division_by_zero_is_null() {
    assert_eq!(floats(&load_times(), "load_time_p50")[1..], [None, None]);
    assert_eq!(floats(&load_times(), "load_time_max")[1..], [None, None]);
}

#[test]
fn a_missing_column_is_named() {
    let lacking = || loads().drop(by_name(["divergence"], true, false));
    let missing = |result: warpmem_analysis::Result<LazyFrame>| match result.err().unwrap() {
        Error::Runs(RunsError::MissingColumn { column, .. }) => column,
        other => panic!("{other}"),
    };
    assert_eq!(missing(divergence(lacking(), &["run_id"])), "divergence");
    assert_eq!(missing(load_time(lacking(), &["run_id"])), "divergence");
    assert_eq!(missing(divergence(loads(), &["kernel"])), "kernel");
}

/// 1000 rows of run a with the values 1 to 1000; of run b, 7 twice and a null.
#[test]
fn a_tail_has_exact_points_and_not_too_many() {
    let mut values: Vec<Option<i64>> = (1..=1000).rev().map(Some).collect();
    let mut runs = vec!["a"; 1000];
    values.extend([Some(7), None, Some(7)]);
    runs.extend(["b"; 3]);
    let frame = df!("run_id" => runs, "load_time" => values).unwrap().lazy();
    let points = tail(frame, "load_time", &["run_id"]).unwrap().collect().unwrap();
    let names = strings(&points, "run_id");
    let of_a = names.iter().filter(|name| *name == "a").count();
    assert!((100..=160).contains(&of_a), "{of_a}");
    assert_eq!(names[of_a..], ["b"]);
    let (shares, values) = (floats(&points, "share"), points.column("load_time").unwrap().clone());
    let values: Vec<i64> = values.i64().unwrap().iter().flatten().collect();
    assert_eq!((values[0], values[of_a - 1]), (1, 1000));
    assert_eq!((values[of_a], shares[of_a]), (7, Some(1.0)));
    for (value, share) in values.iter().zip(&shares).take(of_a) {
        assert_eq!(*share, Some((1001 - value) as f64 / 1000.0));
    }
    assert!(shares[..of_a].windows(2).all(|pair| pair[0] > pair[1]));
}
