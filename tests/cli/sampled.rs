//! Runs that simulate only some of the launches and CTAs.

use super::support::Bench;
use serde_json::{Map, Value};

type Row = Map<String, Value>;

/// Makes forty launches of one kernel.
fn bench() -> Bench {
    let bench = Bench::new();
    let size = ["--width", "128", "--height", "64", "--iterations", "40"];
    bench.output(&[&["generate", "stencil2d", "-o", "s.wmt"], &size[..]].concat());
    bench
}

fn rows(bench: &Bench, arguments: &[&str]) -> Vec<Row> {
    serde_json::from_str(&bench.output(&[arguments, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn a_sampled_run_counts_all_launches_and_states_its_error() {
    let bench = bench();
    let whole = rows(&bench, &["run", "s.wmt"]).remove(0);
    let sampled = ["run", "s.wmt", "--error", "2%"];
    let some = rows(&bench, &sampled).remove(0);
    for exact in ["kernels", "warp_instructions", "ctas", "memory_instructions"] {
        assert_eq!(some[exact], whole[exact], "{exact}");
    }
    let simulated = some["simulated_kernels"].as_u64().unwrap();
    assert_eq!(
        (&whole["simulated_kernels"], &whole["simulated_ctas"]),
        (&40.into(), &whole["ctas"])
    );
    assert!((4..=20).contains(&simulated), "{simulated}");
    assert!(whole["cycles_error"].is_null() && whole["cycles_interval"].is_null());
    let [error, interval] =
        ["cycles_error", "cycles_interval"].map(|key| some[key].as_f64().unwrap());
    assert!(error < interval && interval < 0.05, "{error} {interval}");
    let [whole_cycles, cycles] = [&whole, &some].map(|row| row["cycles"].as_f64().unwrap());
    assert!(
        (cycles / whole_cycles - 1.0).abs() < interval.max(0.02),
        "{cycles} for {whole_cycles}"
    );
    let kernels = rows(&bench, &[&sampled[..], &["--kernels"]].concat());
    assert_eq!(kernels.len() as u64, simulated);
    assert_eq!(kernels.iter().map(|row| row["stands_for"].as_u64().unwrap()).sum::<u64>(), 40);
    let notes = bench.run(&sampled).stderr;
    assert!(notes.contains(&format!("note: {simulated} of 40 launches and ")), "{notes}");
    assert!(notes.contains(" % (95 % interval)"), "{notes}");
    assert!(some["command"].as_str().unwrap().contains("--set run.error_permille=20"));
    assert_ne!(some["run_id"], whole["run_id"]);
}

#[test]
fn comparisons_state_that_they_are_sampled() {
    let bench = bench();
    let compare =
        ["compare", "s.wmt", "--dram-scheduler", "fcfs,fr-fcfs", "--error", "2%", "-o", "out"];
    let notes = bench.run(&compare).stderr;
    assert!(notes.contains("cycles_interval"), "{notes}");
}

#[test]
fn a_run_may_start_after_some_launches() {
    let bench = bench();
    let kernels = rows(&bench, &["run", "s.wmt", "--fast-forward", "38", "--kernels"]);
    assert_eq!(
        kernels.iter().map(|row| row["kernel"].as_u64()).collect::<Vec<_>>(),
        [Some(38), Some(39)]
    );
    bench.refuses(&["run", "s.wmt", "--fast-forward", "40"], &["leaves none of 40 launches"]);
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let bench = bench();
    for (arguments, reason) in [
        (&["run", "s.wmt", "--error", "30%"][..], "valid are 0.1% to 20%"),
        (&["run", "s.wmt", "--error", "0.01"], "valid are 0.1% to 20%"),
        (
            &["run", "s.wmt", "--error", "1%", "--set", "run.concurrent_kernels=true"],
            "0 with `run.concurrent_kernels`",
        ),
        (
            &["run", "s.wmt", "--error", "1%", "--set", "run.launch_instructions=100"],
            "0 with `run.launch_instructions`",
        ),
    ] {
        bench.refuses(arguments, &[reason]);
    }
}
