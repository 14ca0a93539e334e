//! Logs of DRAM commands, and checking them.

use super::support::Bench;
use serde_json::Value;
use std::fs;

/// A run's log passes the check, in both formats, and logging does not change the result.
#[test]
fn a_runs_log_keeps_every_rule() {
    let bench = Bench::with_trace();
    let plain =
        bench.output(&["run", "small.wmt", "--machine", "accelsim-qv100", "--format", "json"]);
    for log in ["log.csv", "log.parquet"] {
        let arguments = [
            "run",
            "small.wmt",
            "--machine",
            "accelsim-qv100",
            "--format",
            "json",
            "--command-log",
            log,
        ];
        assert_eq!(bench.output(&arguments), plain);
        let checked = bench.run(&["dram", "check", log]);
        assert_eq!((checked.status, checked.stdout.as_str()), (Some(0), ""), "{checked:?}");
        assert!(checked.stderr.contains(" channels, no violation"), "{checked:?}");
    }
}

/// A run on a machine with GDDR5, whose log has 12 cycles from an ACT to its first RD.
const RUN: [&str; 6] = ["run", "small.wmt", "--machine", "li2015", "--command-log", "log.csv"];

/// The same log under other rules: every RD needs a longer distance from its ACT than the log has.
#[test]
fn a_log_that_breaks_a_rule_has_a_row_for_it() {
    let bench = Bench::with_trace();
    bench.output(&RUN);
    let stricter = ["dram", "check", "log.csv", "--set", "dram.timing.trcd=13", "--limit", "2"];
    let table = bench.run(&stricter);
    assert_eq!(table.status, Some(1), "{table:?}");
    assert!(table.stdout.starts_with("rule  channel  cycle  command  bank  row"), "{table:?}");
    assert_eq!(table.stdout.lines().count(), 3);
    assert!(table.stderr.contains(" violations: tRCD ") && table.stderr.contains(" not shown"));
    let json = bench.run(&[&stricter[..], &["--format", "json"]].concat());
    let rows: Vec<Value> = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let number = |key: &str| row[key].as_u64().unwrap();
        assert_eq!(
            (&row["rule"], &row["command"], &row["after_command"]),
            (&"tRCD".into(), &"RD".into(), &"ACT".into())
        );
        assert_eq!(
            (row["bank"].clone(), row["row"].clone()),
            (row["after_bank"].clone(), row["after_row"].clone())
        );
        assert_eq!(number("first_legal_cycle"), number("after_cycle") + 13);
        assert!(number("cycle") < number("first_legal_cycle"));
    }
}

#[test]
fn other_rules_than_the_logs_own() {
    let bench = Bench::with_trace();
    bench.output(&RUN);
    let ran = |arguments: &[&str]| bench.run(&[&["dram", "check", "log.csv"], arguments].concat());
    assert_eq!(ran(&["--standard", "gddr5"]).status, Some(0));
    assert_eq!(ran(&["--machine", "li2015", "--refresh"]).status, Some(0));
    let unknown = ran(&["--standard", "gddr55"]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.stderr.contains("(did you mean `gddr5"), "{unknown:?}");
    let impossible = ran(&["--set", "dram.timing.tras=30"]);
    assert_eq!(impossible.status, Some(2));
    assert!(impossible.stderr.contains("`dram.timing.trc` = 40 is not valid"), "{impossible:?}");
}

#[test]
fn what_is_no_log_is_refused() {
    let bench = Bench::with_trace();
    fs::write(bench.path("x.csv"), "cycle,command\n").unwrap();
    let refused = bench.run(&["dram", "check", "x.csv"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("x.csv: not a command log"), "{refused:?}");
    let unwritable = bench.run(&["run", "small.wmt", "--command-log", "absent/log.csv"]);
    assert_eq!(unwritable.status, Some(2));
    assert!(unwritable.stderr.contains("failed to create absent/log.csv"), "{unwritable:?}");
}

/// The log of stand-alone channels as well, under one scheduler at a time.
#[test]
fn the_log_of_channels_alone_keeps_every_rule() {
    let bench = Bench::new();
    let stream = [
        "dram",
        "--stream",
        "random",
        "--standard",
        "hbm3",
        "--requests",
        "3000",
        "--channels",
        "2",
    ];
    let with = |more: &[&str]| bench.run(&[&stream[..], &["--format", "json"], more].concat());
    let plain = with(&["--dram-scheduler", "fr-fcfs"]);
    let logged = with(&["--dram-scheduler", "fr-fcfs", "--command-log", "log.csv"]);
    assert_eq!((logged.status, &logged.stdout), (Some(0), &plain.stdout), "{logged:?}");
    let checked = bench.run(&["dram", "check", "log.csv"]);
    assert_eq!(checked.status, Some(0), "{checked:?}");
    assert!(checked.stderr.contains("2 channels, no violation"), "{checked:?}");
    let two = with(&["--dram-scheduler", "fcfs,fr-fcfs", "--command-log", "two.csv"]);
    assert_eq!(two.status, Some(2), "{two:?}");
    assert!(two.stderr.contains("a single scheduler, not 2"), "{two:?}");
    assert!(!bench.path("two.csv").exists());
}
