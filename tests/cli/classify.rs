//! Classes of workloads.

use super::support::Bench;
use serde_json::{Map, Value};
use std::fs;

type Row = Map<String, Value>;

/// Makes a directory with two traces: one streams, the other follows pointers in a small region.
fn bench() -> Bench {
    let bench = Bench::with_trace();
    bench.generate("pointer-chase", &[("nodes", "2^8"), ("hops", "2^8")], "chase.wmt");
    bench
}

const BOTH: [&str; 3] = ["classify", "small.wmt", "chase.wmt"];

fn with(rest: &[&'static str]) -> Vec<&'static str> {
    [&BOTH, rest].concat()
}

#[test]
fn a_table_for_people() {
    let table = bench().output(&with(&["--machine", "li2015"]));
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    insta::assert_snapshot!(table);
}

#[test]
fn a_table_names_what_was_set_of_the_machine() {
    let set = ["--set", "dram.channels=2", "--warp-scheduler", "lrr"];
    let table = bench().output(&with(&set));
    let first = "on v100 with dram.channels=2, warp_scheduler=lrr\n";
    assert!(table.starts_with(first), "{table}");
}

#[test]
fn formats_and_jobs_say_the_same() {
    let bench = bench();
    let rows: Vec<Row> = serde_json::from_str(&bench.output(&with(&["--format", "json"]))).unwrap();
    let traces: Vec<&Value> = rows.iter().map(|row| &row["trace"]).collect();
    assert_eq!(traces, ["small", "chase"]);
    for row in &rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        let speedup = number("cycles") / number("cycles_perfect_dram");
        // Parsing JSON may lose the last bit of a number.
        assert!((number("speedup_perfect_dram") / speedup - 1.0).abs() < 1e-12, "{row:?}");
        assert_eq!(row["ideal"], "none");
        assert_eq!(
            (&row["small_pages_per_instruction"], &row["translation_class"]),
            (&1.0.into(), &"LTD".into())
        );
    }
    let csv = bench.output(&with(&["--format", "csv", "--jobs", "1"]));
    assert!(csv.lines().next().unwrap().split(',').eq(rows[0].keys()));
    assert_eq!(csv.lines().count(), 3);
    assert_eq!(csv, bench.output(&with(&["--format", "csv", "--jobs", "2"])));
}

/// The class of a trace depends on the machine.
#[test]
fn the_machine_and_its_policies_are_those_asked_for() {
    let bench = bench();
    let row = |arguments: &[&'static str]| -> Row {
        let output = bench.output(&with(&[arguments, &["--format", "json"]].concat()));
        serde_json::from_str::<Vec<Row>>(&output).unwrap().remove(0)
    };
    let other = row(&["--machine", "calrs2015", "--dram-scheduler", "fcfs", "--set", "sm.count=6"]);
    assert_eq!(other["machine"], "calrs2015");
    assert_eq!(other["dram_scheduler"], "fcfs");
    // Six SMs, each with two schedulers that issue a warp every other cycle.
    let peak =
        |row: &Row| row["ipc_thread"].as_f64().unwrap() / row["ipc_over_peak"].as_f64().unwrap();
    assert!((peak(&other) - 192.0).abs() < 1e-9);
    let without = row(&["--set", "l2.enabled=false"]);
    assert!(without["inter_core_locality"].is_null());
    assert!(["insensitive", "sensitive"].contains(&without["li2015_class"].as_str().unwrap()));
}

#[test]
fn file_output_equals_printed_output() {
    let bench = bench();
    let printed = bench.output(&with(&["--format", "csv"]));
    let ran = bench.run(&with(&["--format", "csv", "-o", "classes.csv"]));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(fs::read_to_string(bench.path("classes.csv")).unwrap(), printed);
    assert_eq!(bench.names(), ["chase.wmt", "classes.csv", "small.wmt"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let bench = bench();
    let refuses =
        |arguments: &[&'static str], parts: &[&str]| bench.refuses(&with(arguments), parts);
    refuses(&["--ideal", "perfect-dram"], &["`perfect-dram`", "expected `none`"]);
    refuses(&["--machine", "li2051"], &["did you mean `li2015`?"]);
    refuses(&["--dram-scheduler", "fr-fcsf"], &["did you mean `fr-fcfs`?"]);
    refuses(&["none.wmt"], &["none.wmt"]);
    refuses(&["./small.wmt"], &["hold the same trace"]);
    refuses(&["-o", "none/classes.json"], &["failed to write none/classes.json"]);
    refuses(&["-o", "."], &["failed to write ."]);
    assert_eq!(bench.names(), ["chase.wmt", "small.wmt"]);
}
