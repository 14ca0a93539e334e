//! Values of runs relative to the baseline's.

use super::fixture::{
    against, comparison, floats, in_metrics, ipcs, numbers, ratios, runs, runs_without_a_baseline,
    strings, two_slots, with,
};
use crate::{CompareOptions, Table, Values, compare};

#[test]
fn ratio_is_to_the_baseline_of_the_same_trace() {
    let comparison = comparison();
    assert_eq!(ratios(&comparison), [0.5, 0.75, 1.0, 2.0, 1.0, 1.0].map(Some));
    assert_eq!(comparison.slots(), ["dram_scheduler"]);
    assert_eq!(comparison.baseline(), "fr-fcfs");
}

#[test]
fn ratio_over_zero_is_null() {
    let runs = ipcs(&[
        ("idle", "m", "a", "gto", Some(1.0)),
        ("idle", "m", "base", "gto", Some(0.0)),
        ("unknown", "m", "a", "gto", Some(1.0)),
        ("unknown", "m", "base", "gto", None),
        ("nan", "m", "a", "gto", Some(f64::NAN)),
        ("nan", "m", "base", "gto", Some(2.0)),
        ("fine", "m", "a", "gto", Some(3.0)),
        ("fine", "m", "base", "gto", Some(2.0)),
    ]);
    let comparison = compare(&runs, &against("base")).unwrap();
    let expected = [None, None, None, None, None, Some(1.0), Some(1.5), Some(1.0)];
    assert_eq!(ratios(&comparison), expected);
    assert_eq!(numbers(&comparison.rows(), "ipc_thread")[4], None);
    let means = comparison.means();
    let workloads = [1, 1, 1, 2, 2, 2].map(Some).to_vec();
    assert_eq!(means.column("workloads"), Some(&Values::Count(workloads)));
    assert_eq!(numbers(&means, "ipc_ratio")[2], Some(1.5));
}

#[test]
fn machines_traces_and_policies_keep_their_order_of_first_appearance() {
    let runs = ipcs(&[
        ("z", "m2", "b", "gto", Some(1.0)),
        ("y", "m1", "b", "gto", Some(4.0)),
        ("z", "m2", "a", "gto", Some(2.0)),
        ("y", "m2", "a", "gto", Some(3.0)),
        ("y", "m2", "b", "gto", Some(6.0)),
        ("y", "m1", "a", "gto", Some(1.0)),
    ]);
    let comparison = compare(&runs, &against("b")).unwrap();
    let (rows, means) = (comparison.rows(), comparison.means());
    assert_eq!(strings(&rows, "machine"), ["m2", "m2", "m2", "m2", "m1", "m1"]);
    assert_eq!(strings(&rows, "trace"), ["z", "z", "y", "y", "y", "y"]);
    assert_eq!(strings(&rows, "dram_scheduler"), ["b", "a", "b", "a", "b", "a"]);
    assert_eq!(ratios(&comparison), [1.0, 2.0, 1.0, 0.5, 1.0, 0.25].map(Some));
    assert_eq!(strings(&means, "machine"), [["m2"; 6], ["m1"; 6]].concat());
    assert_eq!(numbers(&means, "ipc_ratio")[9], Some(0.25));
}

#[test]
fn slots_outside_the_baseline_are_held_equal() {
    let comparison = compare(&two_slots(), &against("fr-fcfs")).unwrap();
    assert_eq!(comparison.slots(), ["dram_scheduler", "warp_scheduler"]);
    assert_eq!(ratios(&comparison), [0.25, 0.4, 1.0, 1.0].map(Some));
    assert_eq!(comparison.means().height(), 12);
}

#[test]
fn a_baseline_can_name_a_policy_of_every_slot() {
    for baseline in ["fr-fcfs/gto", "gto/fr-fcfs", "warp_scheduler=gto / dram_scheduler=fr-fcfs"] {
        let comparison = compare(&two_slots(), &against(baseline)).unwrap();
        assert_eq!(ratios(&comparison), [0.2, 0.4, 0.8, 1.0].map(Some), "{baseline}");
    }
}

#[test]
fn a_baseline_may_hold_an_equals_sign_or_a_slash() {
    let runs = ipcs(&[
        ("t", "m", "fr-fcfs(row_hit_cap=4)", "gto", Some(1.0)),
        ("t", "m", "dram/own", "gto", Some(2.0)),
    ]);
    let comparison = compare(&runs, &against("fr-fcfs(row_hit_cap=4)")).unwrap();
    assert_eq!(ratios(&comparison), [1.0, 2.0].map(Some));
    let comparison = compare(&runs, &against("dram/own")).unwrap();
    assert_eq!(ratios(&comparison), [0.5, 1.0].map(Some));
}

#[test]
fn the_same_run_from_two_places_counts_once() {
    let twice = compare(&Table::stacked(&[runs(), runs()]), &CompareOptions::new("fr-fcfs"));
    assert_eq!(twice.unwrap().table(), comparison().table());
}

#[test]
fn a_single_policy_is_its_own_baseline() {
    let runs = ipcs(&[("t", "m", "fcfs", "gto", Some(2.0))]);
    assert_eq!(ratios(&compare(&runs, &against("fcfs")).unwrap()), [Some(1.0)]);
}

#[test]
fn slots_that_do_not_vary_are_kept_in_every_row() {
    let table = compare(&runs(), &against("fr-fcfs")).unwrap().table();
    assert_eq!(strings(&table, "warp_scheduler"), ["gto"; 15]);
}

#[test]
fn workload_without_a_baseline_has_no_ratio_and_enters_no_mean() {
    let options = CompareOptions { allow_unmatched: true, ..CompareOptions::new("fr-fcfs") };
    let comparison = compare(&runs_without_a_baseline(), &options).unwrap();
    let of_stream = comparison.rows().with_text("trace", &["stream.wmt"]);
    assert_eq!(comparison.unmatched(), of_stream.height());
    assert_eq!(numbers(&of_stream, "ipc_ratio"), [None; 2]);
    assert!(numbers(&of_stream, "ipc_thread").iter().all(Option::is_some));
    assert!(numbers(&comparison.means(), "workloads").iter().all(|count| *count == Some(1.0)));
    assert_eq!(compare(&runs(), &options).unwrap().unmatched(), 0);
}

#[test]
fn metric_is_compared_with_the_baseline() {
    let metrics = ["latency_mean_ratio", "blp", "latency_p99_reduction"];
    let comparison = compare(&runs(), &in_metrics("fr-fcfs", &metrics)).unwrap();
    let rows = comparison.rows();
    let expected = [1.8, 1.4, 1.0, 1.05, 1.025, 1.0].map(Some);
    assert_eq!(numbers(&rows, "latency_mean_ratio"), expected);
    assert_eq!(numbers(&rows, "latency_p99_reduction")[1], Some(1.0 - 4000.0 / 3000.0));
    assert_eq!(numbers(&comparison.means(), "latency_mean_ratio")[0], Some(1.425));
    assert_eq!(rows.names()[rows.names().len() - 3..], metrics);
    assert!(comparison.to_text(200).contains("-33.3"), "in percent");
}

#[test]
fn a_metric_named_twice_is_shown_once() {
    let metrics = ["blp", "ipc_thread", "blp"];
    let rows = compare(&runs(), &in_metrics("fr-fcfs", &metrics)).unwrap().rows();
    assert_eq!(rows.names()[rows.names().len() - 3..], ["ipc_thread", "ipc_ratio", "blp"]);
}

#[test]
fn a_ratio_to_nothing_is_null() {
    let options = in_metrics("fr-fcfs", &["row_hit_rate_reduction"]);
    let rows = compare(&runs(), &options).unwrap().rows();
    let got = numbers(&rows, "row_hit_rate_reduction");
    assert_eq!(got[3..], [None; 3], "the baseline has none");
}

#[test]
fn undefined_metrics_are_null_not_nan() {
    let wild = with(&runs(), "blp", floats(&[f64::NAN; 6]));
    let wild = with(&wild, "latency_mean", floats(&[f64::INFINITY; 6]));
    let wild = with(&wild, "row_locality", floats(&[0.0, 0.5, 2.5, 6.5, 8.5, 10.5]));
    let metrics = ["blp", "latency_mean_ratio", "row_locality_ratio", "row_locality_reduction"];
    let table = compare(&wild, &in_metrics("fcfs", &metrics)).unwrap().table();
    for (name, values) in table.columns() {
        if let Values::Float(values) = values {
            assert!(values.iter().flatten().all(|value| value.is_finite()), "{name}: {values:?}");
        }
    }
}
