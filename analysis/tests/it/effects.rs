//! Factorials with known effects.

use crate::common::{floats, strings};
use polars::df;
use polars::prelude::*;
use warpmem_analysis::{Error, RunsError, effects};

/// Makes two workloads of different IPC. Level b doubles the IPC and y multiplies it by eight; b with y
/// gives four times the product of the two.
fn runs() -> DataFrame {
    df!(
        "trace" => ["s", "s", "s", "s", "t", "t", "t", "t"],
        "warp_scheduler" => ["a", "a", "b", "b", "a", "a", "b", "b"],
        "dram_scheduler" => ["x", "y", "x", "y", "x", "y", "x", "y"],
        "ipc_thread" => [1.0, 8.0, 2.0, 64.0, 10.0, 80.0, 20.0, 640.0],
    )
    .unwrap()
}

const FACTORS: [&str; 2] = ["warp_scheduler", "dram_scheduler"];

/// Base-2 logarithms of IPC over that of a with x: 0, 3, 1, 6, of mean 2.5. Effects: a -1, b 1; x -2, y 2. Interactions:
/// a with x 0 - 2.5 + 1 + 2 = 0.5, a with y -0.5, b with x -0.5, b with y 0.5.
#[test]
fn effects_are_differences_of_mean_logarithms() {
    let table = effects(runs().lazy(), &FACTORS, "ipc_thread").unwrap().collect().unwrap();
    let both = "warp_scheduler × dram_scheduler";
    let factors =
        [[FACTORS[0]; 2].as_slice(), &[FACTORS[1]; 2], &[both; 4], &["workload"]].concat();
    assert_eq!(strings(&table, "factors"), factors);
    let levels = ["a", "b", "x", "y", "a × x", "a × y", "b × x", "b × y", "workload"];
    assert_eq!(strings(&table, "levels"), levels);
    let expected = [-1.0f64, 1.0, -2.0, 2.0, 0.5, -0.5, -0.5, 0.5];
    for (effect, expected) in floats(&table, "effect").into_iter().zip(expected) {
        let log = (effect.unwrap() + 1.0).log2();
        assert!((log - expected).abs() < 1e-12, "{log} {expected}");
    }
    let runs: Vec<u32> = table.column("runs").unwrap().u32().unwrap().iter().flatten().collect();
    assert_eq!(runs, [4, 4, 4, 4, 2, 2, 2, 2, 8]);
}

/// Squares: 8 runs of 1, 8 of 4, 8 of 0.25; in all 42.
#[test]
fn terms_explain_the_whole_variation() {
    let table = effects(runs().lazy(), &FACTORS, "ipc_thread").unwrap().collect().unwrap();
    let shares = floats(&table, "variation");
    for (share, expected) in [(shares[0], 8.0), (shares[2], 32.0), (shares[4], 2.0)] {
        assert!((share.unwrap() - expected / 42.0).abs() < 1e-12, "{share:?} {expected}");
    }
    assert!(shares[8].unwrap().abs() < 1e-12, "workloads do not differ");
}

/// In s, b doubles the IPC; in t it halves it: no mean effect, so workloads explain all of the
/// variation.
#[test]
fn workload_effects_are_separated_from_policy_effects() {
    let ipc = [1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0];
    let mut frame = runs();
    frame.with_column(Column::new("ipc_thread".into(), ipc)).unwrap();
    let table = effects(frame.lazy(), &FACTORS, "ipc_thread").unwrap().collect().unwrap();
    let shares: Vec<f64> = floats(&table, "variation").into_iter().flatten().collect();
    assert!((shares[8] - 1.0).abs() < 1e-12 && shares[..8].iter().all(|s| s.abs() < 1e-12));
    assert_eq!(floats(&table, "effect")[8], None);
}

#[test]
fn without_variation_effects_are_zero_and_shares_null() {
    let same = runs().lazy().with_columns([lit(3.0).alias("ipc_thread")]);
    let table = effects(same, &FACTORS, "ipc_thread").unwrap().collect().unwrap();
    assert_eq!(floats(&table, "effect")[..8], [Some(0.0); 8]);
    assert_eq!(floats(&table, "variation"), [None; 9]);
}

/// The mean of three equal logarithms may differ from them by rounding.
#[test]
fn rounding_of_equal_runs_is_no_variation() {
    for levels in [3, 6, 7, 12] {
        for ipc in (1..40).map(|hundredths| f64::from(hundredths) / 100.0) {
            let names: Vec<String> = (0..levels).map(|level| format!("p{level:02}")).collect();
            let frame = df!(
                "trace" => vec!["t"; levels], "machine" => vec!["m"; levels],
                "dram_scheduler" => names, "ipc_thread" => vec![ipc; levels],
            );
            let table = effects(frame.unwrap().lazy(), &["dram_scheduler"], "ipc_thread").unwrap();
            let shares = floats(&table.collect().unwrap(), "variation");
            assert!(shares.iter().all(Option::is_none), "{levels} runs of {ipc}: {shares:?}");
        }
    }
}

fn refusal(runs: LazyFrame) -> String {
    effects(runs, &FACTORS, "ipc_thread").err().unwrap().to_string()
}

#[test]
fn a_factorial_that_is_not_full_is_refused_by_name() {
    insta::assert_snapshot!(
        refusal(runs().slice(0, 7).lazy()),
        @"no effects can be computed: there is no run of warp_scheduler=b, dram_scheduler=y on t"
    );
    insta::assert_snapshot!(
        refusal(runs().vstack(&runs().slice(1, 1)).unwrap().lazy()),
        @"no effects can be computed: there are two runs of warp_scheduler=a, dram_scheduler=y on s"
    );
    insta::assert_snapshot!(
        refusal(runs().lazy().with_columns([(col("ipc_thread") - lit(1.0)).alias("ipc_thread")])),
        @"no effects can be computed: `ipc_thread` of a run is 0, but effects need a number above 0"
    );
    let none = effects(runs().slice(0, 0).lazy(), &FACTORS, "ipc_thread").err().unwrap();
    assert!(matches!(none, Error::Runs(RunsError::NoRuns)), "{none}");
}
