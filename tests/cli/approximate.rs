//! Runs that simulate only some of the similar launches.

use super::support::Bench;
use serde_json::{Map, Value};

type Row = Map<String, Value>;

/// Makes twelve launches of one kernel.
fn bench() -> Bench {
    let bench = Bench::new();
    let size = ["--width", "128", "--height", "64", "--iterations", "12"];
    bench.output(&[&["generate", "stencil2d", "-o", "s.wmt"], &size[..]].concat());
    bench
}

fn rows(bench: &Bench, arguments: &[&str]) -> Vec<Row> {
    serde_json::from_str(&bench.output(&[arguments, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn approximate_run_counts_all_launches_and_states_the_simulated_ones() {
    let bench = bench();
    let whole = rows(&bench, &["run", "s.wmt"]).remove(0);
    let approximate = ["run", "s.wmt", "--approximate=3"];
    let some = rows(&bench, &approximate).remove(0);
    for exact in ["kernels", "warp_instructions", "ctas", "memory_instructions"] {
        assert_eq!(some[exact], whole[exact], "{exact}");
    }
    let simulated = some["simulated_kernels"].as_u64().unwrap();
    assert_eq!(whole["simulated_kernels"], 12);
    assert!((3..=5).contains(&simulated), "{simulated}");
    assert!(some["cycles_error"].is_f64() && whole["cycles_error"].is_null());
    let kernels = rows(&bench, &[&approximate[..], &["--kernels"]].concat());
    assert_eq!(kernels.len() as u64, simulated);
    assert_eq!(kernels.iter().map(|row| row["stands_for"].as_u64().unwrap()).sum::<u64>(), 12);
    let notes = bench.run(&approximate).stderr;
    let note = format!(
        "note: {simulated} of 12 launches simulated; the others are extrapolated; standard error"
    );
    assert!(notes.contains(&note), "{notes}");
    assert!(some["command"].as_str().unwrap().contains("--set run.alike_launches=3"));
    assert_ne!(some["run_id"], whole["run_id"]);
}

#[test]
fn without_a_number_five_are_simulated_and_policies_are_compared_on_the_same_launches() {
    let bench = bench();
    let compare =
        ["compare", "s.wmt", "--dram-scheduler", "fcfs,fr-fcfs", "--approximate", "-o", "out"];
    let notes = bench.run(&compare).stderr;
    assert!(notes.contains(" of 24 launches simulated"), "{notes}");
    let launches = |policy: &str| {
        let arguments =
            ["run", "s.wmt", "--approximate=5", "--kernels", "--dram-scheduler", policy];
        let launch = |row: &Row| (row["kernel"].as_u64(), row["stands_for"].as_u64());
        rows(&bench, &arguments).iter().map(launch).collect::<Vec<_>>()
    };
    assert_eq!(launches("fcfs"), launches("fr-fcfs"));
}

#[test]
fn what_cannot_be_approximated_is_refused() {
    let bench = bench();
    for (arguments, reason) in [
        (&["run", "s.wmt", "--approximate=1"][..], "1 is not in 2.."),
        (
            &["run", "s.wmt", "--set", "run.alike_launches=1"],
            "the first launch represents no other",
        ),
        (
            &["run", "s.wmt", "--approximate", "--set", "run.concurrent_kernels=true"],
            "0 with `run.concurrent_kernels`",
        ),
        (
            &["sample", "estimate", "s.wmt", "--fraction", "50%", "--set", "run.alike_launches=3"],
            "every launch is evaluated here",
        ),
    ] {
        bench.refuses(arguments, &[reason]);
    }
}
