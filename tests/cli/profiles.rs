//! Our kernels beside profiles of Nsight Compute and nvprof.

use super::correlate::run;
use super::support::{Bench, Ran};
use serde_json::{Value, json};
use std::fs;

/// Makes a directory with `k.wmt`, a trace of two kernels, and `p.csv`, its profile under the names
/// of Nsight Compute: our own metrics.
fn profiled() -> Bench {
    let bench = Bench::new();
    bench.generate("bfs", &[("nodes", "2^8")], "k.wmt");
    let arguments = [
        "run",
        "k.wmt",
        "--machine",
        "accelsim-qv100",
        "--set",
        "run.cold_launches=true",
        "--set",
        "run.launch=profiled",
        "--ncu",
    ];
    bench.write("p.csv", bench.output(&[&arguments[..], &["--format", "csv"]].concat()));
    bench
}

fn beside_profile(bench: &Bench, arguments: &[&str]) -> Ran {
    let own =
        ["correlate", "--profile", "p.csv", "--trace", "k.wmt", "--machine", "accelsim-qv100"];
    bench.run(&[&own[..], arguments].concat())
}

fn profile_json(bench: &Bench, arguments: &[&str]) -> Value {
    let ran = beside_profile(bench, &[arguments, &["--format", "json"]].concat());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn a_profile_of_our_own_metrics_has_no_error() {
    let bench = profiled();
    let all = profile_json(&bench, &[]);
    let rows = all["rows"].as_array().unwrap();
    let figures: Vec<&str> = rows.iter().map(|row| row["metric"].as_str().unwrap()).collect();
    assert!(figures.len() > 9 && figures.contains(&"dram__sectors_read.sum"), "{figures:?}");
    for row in rows {
        assert_eq!(row["measured"], row["warpmem"], "{row}");
        assert_eq!(row["error"], 0.0, "{row}");
    }
    let summary = all["summary"].as_array().unwrap();
    assert!(summary.iter().all(|figure| figure["mean_absolute_error"] == 0.0));
    assert_eq!(
        all["unmatched"][0],
        json!({"profile": "p.csv", "only_in_trace": [], "only_in_profile": []})
    );
    // With warm caches a later kernel reads less.
    let warm = profile_json(&bench, &["--warm"]);
    let reads = warm["rows"].as_array().unwrap().iter();
    let mut reads = reads.filter(|row| row["metric"] == "dram__sectors_read.sum");
    assert!(reads.any(|row| row["error"].as_f64() < Some(0.0)), "{warm:#}");
}

#[test]
fn profiles_are_printed_by_kernel_with_a_summary() {
    let bench = profiled();
    let text = beside_profile(&bench, &[]).stdout;
    assert!(text.starts_with("k on accelsim-qv100\n  figure "), "{text}");
    for part in ["\n0 ", "\n  cycles ", "\n  L2 hit rate ", "mean abs. error", " +0.00 pt"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let csv = beside_profile(&bench, &["--format", "csv"]).stdout;
    let header = "profile,kernel,name,grid,block,profiled_launches,simulated_launches,metric,measured,warpmem,error\n";
    assert!(csv.starts_with(header), "{csv}");
}

#[test]
fn launches_that_one_side_lacks_are_listed() {
    let bench = profiled();
    let profile = fs::read_to_string(bench.path("p.csv")).unwrap();
    let last = profile.lines().last().unwrap();
    let other =
        format!("9,void other<int>(int *),0,\"(32, 1, 1)\",\"(2, 1, 1)\"{}", ",1".repeat(24));
    bench.write("p.csv", profile.replace(last, &other));
    let ran = beside_profile(&bench, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let of_trace = "left out: 1 launch of the trace is not in p.csv: ";
    let of_profile =
        "left out: 1 launch of p.csv is not in the trace: void other<int>(int *) 2x1x1 x 32x1x1";
    assert!(ran.stderr.contains(of_trace) && ran.stderr.contains(of_profile), "{ran:?}");

    let none: String =
        profile.lines().take(2).chain([other.as_str()]).map(|line| format!("{line}\n")).collect();
    bench.write("p.csv", none);
    let ran = beside_profile(&bench, &[]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains("no launch of the trace is in the profile"), "{ran:?}");
}

#[test]
fn another_clock_is_noted_with_the_override_that_removes_it() {
    let bench = profiled();
    let note = |arguments: &[&str]| beside_profile(&bench, arguments).stderr;
    let parameters = run(&bench, "k.wmt", &[])["parameters"].clone();
    let parameters: Value = serde_json::from_str(parameters.as_str().unwrap()).unwrap();
    assert!(!note(&[]).contains("removes the difference"), "{}", note(&[]));
    let [core, dram] =
        ["clocks.core_mhz", "clocks.dram_mhz"].map(|key| format!("{key}={}", parameters[key]));
    for (key, shown) in [("clocks.core_mhz=900", &core), ("clocks.dram_mhz=600", &dram)] {
        let stderr = note(&["--set", key]);
        assert!(stderr.contains(&format!("--set {shown} removes the difference")), "{stderr}");
    }
}

#[test]
fn durations_of_nvprof_are_compared_with_warm_caches() {
    let bench = profiled();
    let info = bench.output(&["info", "k.wmt", "--format", "json"]);
    let info: Value = serde_json::from_str(&info).unwrap();
    let name = info["kernels"][0]["name"].as_str().unwrap();
    let launch = |kernel: &Value| {
        let sizes = |key: &str| {
            let sizes = kernel[key].as_array().unwrap();
            sizes.iter().map(|size| format!(",{size}")).collect::<String>()
        };
        format!("1.0,10.0{}{},\"{name}(int*) [5]\"\n", sizes("grid"), sizes("block"))
    };
    let header = "==7== Profiling result:\n\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\
                  \"Block X\",\"Block Y\",\"Block Z\",\"Name\"\nms,us,,,,,,,\n";
    let kernels = info["kernels"].as_array().unwrap();
    let rows: String = kernels.iter().filter(|kernel| kernel["name"] == name).map(launch).collect();
    bench.write("p.csv", format!("{header}{rows}0.5,1.0,,,,,,,\"[CUDA memcpy HtoD]\"\n"));
    let ran = beside_profile(&bench, &["--set", "clocks.core_mhz=1000", "--format", "json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("p.csv has durations and no clock: cycles are at the 1000 MHz"),
        "{ran:?}"
    );
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    let row = &all["rows"][0];
    assert_eq!(
        (&row["metric"], &row["measured"]),
        (&json!("gpc__cycles_elapsed.max"), &json!(10_000.0))
    );
    let warm = [
        "run",
        "k.wmt",
        "--machine",
        "accelsim-qv100",
        "--set",
        "clocks.core_mhz=1000",
        "--ncu",
        "--format",
        "json",
    ];
    let ours: Value = serde_json::from_str(&bench.output(&warm)).unwrap();
    assert_eq!(row["warpmem"].as_f64(), ours[0]["gpc__cycles_elapsed.max"].as_f64());
}

#[test]
fn a_profile_needs_a_trace_and_a_machine() {
    let bench = profiled();
    bench.refuses(&["correlate", "--profile", "p.csv", "--trace", "k.wmt"], &["--machine"]);
    bench.refuses(&["correlate", "--profile", "p.csv", "--machine", "v100"], &["--trace"]);
    bench.write("p.csv", "hello\n");
    let ran = beside_profile(&bench, &[]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains("p.csv: no table of a profile; expected the CSV"), "{ran:?}");
}
