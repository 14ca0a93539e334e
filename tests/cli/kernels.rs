//! Kernels of a run: their counts add up to those of the run.

use super::support::{Bench, repository};
use serde_json::{Map, Value};

type Row = Map<String, Value>;

fn trace(name: &str) -> String {
    repository().join("sample-traces").join(name).display().to_string()
}

fn rows(bench: &Bench, arguments: &[&str]) -> Vec<Row> {
    let text = bench.output(&[&["run"], arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

/// Columns with a kernel's own values or names.
const OWN: [&str; 6] = ["kernel", "alike", "stands_for", "start_cycle", "end_cycle", "cycles"];

#[track_caller]
fn assert_sums(bench: &Bench, arguments: &[&str]) {
    let kernels = rows(bench, &[arguments, &["--kernels"]].concat());
    let run = rows(bench, arguments).swap_remove(0);
    assert_eq!(run["kernels"], kernels.len());
    let sms = sms(&run);
    let counts = kernels[0].iter().filter(|(_, value)| value.is_u64());
    let counts: Vec<&String> = counts.map(|(name, _)| name).collect();
    assert!(counts.len() > 50, "{counts:?}");
    for name in counts.into_iter().filter(|name| !OWN.contains(&name.as_str())) {
        let sum: u64 = kernels.iter().map(|row| row[name].as_u64().unwrap()).sum();
        let whole = match &run[name] {
            Value::Number(count) if count.is_u64() => count.as_u64().unwrap(),
            mean => (mean.as_f64().unwrap() * sms).round() as u64,
        };
        assert_eq!(sum, whole, "{name}");
    }
}

/// Returns the number of SMs of the run's machine.
fn sms(run: &Row) -> f64 {
    let parameters: Value = serde_json::from_str(run["parameters"].as_str().unwrap()).unwrap();
    parameters["sm.count"].as_f64().unwrap()
}

#[test]
fn kernel_counts_sum_to_the_run() {
    let bench = Bench::new();
    let bfs = trace("cache-resident/bfs-rmat.wmt");
    for policies in [
        &["--machine", "accelsim-qv100"][..],
        &["--dram-scheduler", "warped-mc", "--warp-scheduler", "lrr"],
        &["--l2-queue", "calrs", "--set", "run.launch_latency=500"],
        &["--machine", "li2015", "--set", "l2.cache.size_bytes=8192"],
    ] {
        assert_sums(&bench, &[&[bfs.as_str()], policies].concat());
    }
}

#[test]
fn a_line_for_each_kernel() {
    let bench = Bench::new();
    let bfs = trace("cache-resident/bfs-rmat.wmt");
    let table = bench.output(&["run", &bfs, "--kernels"]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 11, "{table}");
    let head: Vec<&str> = lines[0].split("  ").map(str::trim).filter(|c| !c.is_empty()).collect();
    assert_eq!(head[..4], ["kernel", "µs", "IPC", "GB/s"]);
    assert!(lines[1].starts_with("0  Kernel ") && lines[10].starts_with("9  Kernel2"), "{table}");
    let json = rows(&bench, &[&bfs, "--kernels"]);
    let csv = bench.output(&["run", &bfs, "--kernels", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 1 + json.len());
    bench.refuses(&["run", &bfs, "--kernels", "--all"], &["--kernels", "--all"]);
}

#[test]
fn ten_lines_about_several_kernels_say_so() {
    let bench = Bench::with_trace();
    let bfs = trace("cache-resident/bfs-rmat.wmt");
    let hint = "note: these figures cover 10 kernels together; --kernels prints a line for each\n";
    let notes = |arguments: &[&str]| bench.run(arguments).stderr;
    assert!(notes(&["run", &bfs]).contains(hint));
    for arguments in [
        &["run", bfs.as_str(), "--kernels"][..],
        &["run", bfs.as_str(), "--format", "csv"],
        &["run", "small.wmt"],
    ] {
        assert!(!notes(arguments).contains("--kernels"), "{arguments:?}");
    }
}
