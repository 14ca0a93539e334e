//! Runs of different traces, machines or engines under one name.

use super::fixture::{against, message, ratios, runs, strings, texts, with};
use crate::{CompareOptions, compare};

fn mixed() -> CompareOptions {
    CompareOptions { allow_mixed: true, ..against("fr-fcfs") }
}

#[test]
fn differing_trace_contents_are_refused_or_marked() {
    let runs = with(&runs(), "trace_hash", texts(&["aa", "bb", "bb", "cc", "cc", "cc"]));
    insta::assert_snapshot!(
        message(compare(&runs, &against("fr-fcfs"))),
        @"these runs cannot be compared: trace `bfs.wmt` has several contents (aa, bb); compare runs that agree, or allow mixed runs (`--allow-mixed` of a report), which are then marked"
    );
    let comparison = compare(&runs, &mixed()).unwrap();
    let marks = strings(&comparison.rows(), "mixed");
    assert_eq!(marks, ["trace", "null", "null", "null", "null", "null"]);
    assert_eq!(ratios(&comparison)[0], Some(0.5));
    let text = comparison.to_text(1000);
    assert!(text.ends_with("Mixed: trace `bfs.wmt` has several contents (aa, bb).\n"), "{text}");
    assert_eq!(strings(&comparison.table(), "mixed")[..2], ["trace", "null"]);
}

#[test]
fn differing_machine_parameters_except_policies_are_refused_or_marked() {
    let set = |queue: u32, policy: &str| {
        format!(r#"{{"dram.read_queue":{queue},"l1.ways":4,"policy.dram_scheduler":"{policy}"}}"#)
    };
    let (one, other, large) = (set(32, "fcfs"), set(32, "fr-fcfs"), set(64, "fcfs"));
    let alike = [&one, &other, &other, &one, &other, &other].map(String::as_str);
    let alike = with(&runs(), "parameters", texts(&alike));
    let comparison = compare(&alike, &against("fr-fcfs")).unwrap();
    assert!(comparison.mixed().is_empty() && comparison.rows().column("mixed").is_none());
    let apart = [&one, &large, &other, &one, &large, &other].map(String::as_str);
    let apart = with(&runs(), "parameters", texts(&apart));
    insta::assert_snapshot!(
        message(compare(&apart, &against("fr-fcfs"))),
        @"these runs cannot be compared: machine `li2015` has several sets of parameters (dram.read_queue 32 or 64); compare runs that agree, or allow mixed runs (`--allow-mixed` of a report), which are then marked"
    );
    let marks = strings(&compare(&apart, &mixed()).unwrap().rows(), "mixed");
    assert_eq!(marks, ["null", "parameters", "null", "null", "parameters", "null"]);
    let overrides = ["", "dram.read_queue=64", "", "", "dram.read_queue=64", ""];
    let error =
        message(compare(&with(&apart, "overrides", texts(&overrides)), &against("fr-fcfs")));
    assert!(error.contains("has no run of the baseline"), "they are other machines: {error}");
}

#[test]
fn differing_engine_versions_are_refused_or_marked() {
    let versions = ["1.0", "1.0", "1.1", "1.1", "1.1", "1.1"];
    let runs = with(&runs(), "engine_version", texts(&versions));
    insta::assert_snapshot!(
        message(compare(&runs, &against("fr-fcfs"))),
        @"these runs cannot be compared: engine versions are 1.0, 1.1; compare runs that agree, or allow mixed runs (`--allow-mixed` of a report), which are then marked"
    );
    let both = with(&runs, "trace_hash", texts(&["y", "x", "x", "x", "x", "x"]));
    let marks = strings(&compare(&both, &mixed()).unwrap().rows(), "mixed");
    assert_eq!(marks, ["trace, engine", "engine", "null", "null", "null", "null"]);
}

#[test]
fn unreadable_parameters_are_refused() {
    let runs = with(&runs(), "parameters", texts(&["{"; 6]));
    let message = message(compare(&runs, &against("fr-fcfs")));
    assert_eq!(message, "failed to parse `parameters` of a run: {");
}
