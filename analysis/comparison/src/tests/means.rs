//! Means over workloads.

use super::fixture::{against, comparison, ipcs, numbers, strings};
use crate::{MEANS, compare};

#[test]
fn three_means_of_the_ratio_and_the_arithmetic_mean_of_the_rest() {
    let means = comparison().means();
    let policies = ["fcfs", "banked-fifo", "fr-fcfs"];
    assert_eq!(strings(&means, "dram_scheduler"), policies.map(|policy| [policy; 3]).concat());
    assert_eq!(strings(&means, "mean"), [MEANS; 3].concat());
    let rounded = |value: Option<f64>| value.map(|value| (value * 1e12).round() / 1e12);
    let ratios: Vec<_> = numbers(&means, "ipc_ratio").into_iter().map(rounded).collect();
    let geometric = (0.75f64.sqrt() * 1e12).round() / 1e12;
    let expected = [1.25, 1.0, 0.8, 0.875, geometric, 0.857_142_857_143, 1.0, 1.0, 1.0];
    assert_eq!(ratios, expected.map(Some));
    let blp = [Some(1.125), None, None, Some(1.75), None, None, Some(2.25), None, None];
    assert_eq!(numbers(&means, "blp"), blp);
    let p99 = [Some(3000.0), None, None, Some(2495.0), None, None, Some(1990.0), None, None];
    assert_eq!(numbers(&means, "latency_p99"), p99);
}

#[test]
fn a_null_is_left_out_of_a_mean() {
    let comparison = comparison();
    let means = comparison.means();
    let hits = numbers(&means, "row_hit_rate");
    assert_eq!((hits[0], hits[6]), (Some(0.5625), Some(0.75)));
    assert_eq!(numbers(&comparison.rows(), "row_hit_rate")[5], None);
    assert_eq!(numbers(&means, "divergence_mean")[0], Some(1234.5));
}

#[test]
fn means_of_no_workload_are_null() {
    let runs = ipcs(&[("t", "m", "a", "gto", Some(1.0)), ("t", "m", "base", "gto", Some(0.0))]);
    let means = compare(&runs, &against("base")).unwrap().means();
    assert_eq!(numbers(&means, "ipc_ratio"), [None; 6]);
}

#[test]
fn zero_ipc_gives_zero_geometric_and_harmonic_means() {
    let runs = ipcs(&[
        ("s", "m", "a", "gto", Some(0.0)),
        ("s", "m", "base", "gto", Some(1.0)),
        ("t", "m", "a", "gto", Some(1.0)),
        ("t", "m", "base", "gto", Some(1.0)),
    ]);
    let means = compare(&runs, &against("base")).unwrap().means();
    assert_eq!(numbers(&means, "ipc_ratio"), [0.5, 0.0, 0.0, 1.0, 1.0, 1.0].map(Some));
}
