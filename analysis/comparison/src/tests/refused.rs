//! Runs that cannot be compared.

use super::fixture::{
    against, in_metrics, ipcs, message, runs, runs_without_a_baseline, texts, two_slots, with,
};
use crate::{CompareOptions, Error, Table, compare};

#[test]
fn unknown_baseline_error_lists_the_policies() {
    insta::assert_snapshot!(
        message(compare(&runs(), &CompareOptions::new("fr-fcsf"))),
        @"no run of the baseline `fr-fcsf`; runs vary in dram_scheduler (banked-fifo, fcfs, fr-fcfs)"
    );
    insta::assert_snapshot!(
        message(compare(&two_slots(), &against("warp_scheduler=fr-fcfs"))),
        @"no run of the baseline `warp_scheduler=fr-fcfs`; runs vary in dram_scheduler (fcfs, fr-fcfs); warp_scheduler (gto, lrr)"
    );
}

#[test]
fn a_workload_without_its_baseline_is_named() {
    insta::assert_snapshot!(
        message(compare(&runs_without_a_baseline(), &CompareOptions::new("fr-fcfs"))),
        @"trace `stream.wmt` on machine `li2015` has no run of the baseline `fr-fcfs` to compare `fcfs` with; it was run with: fcfs, banked-fifo; run it with the baseline too, or choose another"
    );
}

#[test]
fn ambiguous_policy_name_is_refused() {
    let runs = ipcs(&[("t", "m", "a", "b", Some(1.0)), ("t", "m", "b", "a", Some(1.0))]);
    insta::assert_snapshot!(
        message(compare(&runs, &against("a"))),
        @"`a` of the baseline is a value of several slots (dram_scheduler, warp_scheduler); write slot=a"
    );
}

#[test]
fn duplicate_runs_of_a_policy_are_refused_with_their_differing_slots() {
    let options = CompareOptions { slots: vec!["dram_scheduler".to_owned()], ..against("fcfs") };
    insta::assert_snapshot!(
        message(compare(&two_slots(), &options)),
        @"2 runs of trace `t` on machine `m` with `fcfs`, but a comparison needs exactly one; they differ in warp_scheduler"
    );
    let same = ipcs(&[("t", "m", "a", "gto", Some(1.0)), ("t", "m", "a", "gto", Some(1.0))]);
    insta::assert_snapshot!(
        message(compare(&same, &against("a"))),
        @"2 runs of trace `t` on machine `m` with `a/gto`, but a comparison needs exactly one; they differ in no slot"
    );
}

#[test]
fn columns_that_are_missing_or_hold_no_numbers_are_named() {
    let lacking = runs().columns().iter().filter(|(name, _)| name != "blp").cloned().collect();
    let error = compare(&Table::new(lacking), &CompareOptions::new("fr-fcfs")).unwrap_err();
    assert!(matches!(&error, Error::MissingColumn { column, .. } if column == "blp"), "{error}");
    let topology = CompareOptions { slots: vec!["topology".to_owned()], ..against("mesh") };
    let error = message(compare(&runs(), &topology));
    let start = "the `runs` table has no column `topology`; it has: run_id,";
    assert!(error.starts_with(start), "{error}");
    let error = message(compare(&runs(), &in_metrics("fr-fcfs", &["no_such_ratio"])));
    assert!(error.contains("`no_such`"), "{error}");
    let text = with(&runs(), "ipc_thread", texts(&["fast"; 6]));
    insta::assert_snapshot!(
        message(compare(&text, &CompareOptions::new("fr-fcfs"))),
        @"column `ipc_thread` of the `runs` table holds str, not numbers"
    );
}

#[test]
fn a_comparison_without_runs_is_refused() {
    let none = runs().with_text("run_id", &[]);
    assert!(matches!(compare(&none, &CompareOptions::new("fr-fcfs")), Err(Error::NoRuns)));
}
