//! Tables, JSON and CSV contain the same values under the documented names.

use super::support::{Bench, repository};
use serde_json::{Map, Value};
use warpmem_analysis::{Results, SLOTS, table_to_json};

type Row = Map<String, Value>;

fn rows(json: &str) -> Vec<Row> {
    serde_json::from_str(json).unwrap()
}

/// Keys of every row of results, a few of each kind of metric.
const KEYS: [&str; 22] = [
    "trace",
    "machine",
    "cycles",
    "ipc_thread",
    "ipc_warp",
    "memory_block_cycles",
    "no_warp_cycles",
    "dependency_stall_cycles",
    "l1_read_hits",
    "l2_read_misses",
    "row_hit_rate",
    "row_locality",
    "blp",
    "bandwidth_utilization",
    "dram_efficiency",
    "latency_mean",
    "latency_p50",
    "latency_p99",
    "latency_max",
    "divergence_mean",
    "in_mc_fraction",
    "load_time_p99",
];

#[test]
fn a_run_in_json_is_one_row_with_a_key_per_slot() {
    let bench = Bench::with_trace();
    let rows =
        rows(&bench.output(&["run", "small.wmt", "--format", "json", "--warp-scheduler", "lrr"]));
    assert_eq!(rows.len(), 1);
    for key in KEYS.into_iter().chain(SLOTS) {
        assert!(rows[0].contains_key(key), "{key}");
    }
    assert_eq!(rows[0]["trace"], "small");
    assert_eq!(rows[0]["machine"], "v100");
    assert_eq!(rows[0]["warp_scheduler"], "lrr");
    assert_eq!(rows[0]["command"], "warpmem run small.wmt --machine v100 --warp-scheduler lrr");
}

#[test]
fn run_prints_ten_lines_or_the_named_metrics() {
    let bench = Bench::with_trace();
    let run = |arguments: &[&str]| {
        bench.output(&[&["run", "small.wmt", "--machine", "li2015"], arguments].concat())
    };
    let few = run(&[]);
    assert_eq!(few.lines().count(), 10);
    assert!(few.starts_with("time ") && !few.contains("– %"), "{few}");
    let named = run(&["--metrics", "row_hit_rate,cycles"]);
    let names: Vec<&str> =
        named.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert_eq!(names, ["cycles", "row_hit_rate"]);
    let csv = run(&["--metrics", "row_hit_rate,cycles", "--format", "csv"]);
    assert!(csv.starts_with("cycles,row_hit_rate\n"), "{csv}");
    let parameters = run(&["--metrics", "parameters"]);
    assert!(parameters.starts_with("Run\n  parameters  {"), "{parameters}");
    assert!(!run(&["--all"]).contains("\n  parameters "), "too long for a table of everything");
}

#[test]
fn unknown_metric_error_is_uniform() {
    let bench = Bench::with_trace();
    let told =
        "no metric is called `ipc_wrap` (did you mean `ipc_warp`?); `warpmem run TRACE --all`";
    for name in ["run", "compare", "report"] {
        bench.refuses(&[name, "small.wmt", "--metrics", "ipc_wrap"], &[told]);
    }
    bench.refuses(&["compare", "small.wmt", "--metrics", "ipc_wrap_ratio"], &[told]);
}

#[test]
fn run_prints_the_row_of_its_table() {
    let bench = Bench::with_trace();
    let printed = bench.output(&["run", "small.wmt", "--format", "json", "-o", "results"]);
    let runs = Results::open(bench.path("results")).unwrap().runs().unwrap().collect().unwrap();
    assert_eq!(rows(&printed), rows(&table_to_json(&runs).unwrap()));
}

#[test]
fn a_run_in_csv_has_the_keys_and_values_of_json() {
    let bench = Bench::with_trace();
    let json = rows(&bench.output(&["run", "small.wmt", "--format", "json"])).swap_remove(0);
    let text = bench.output(&["run", "small.wmt", "--format", "csv"]);
    let mut csv = csv::Reader::from_reader(text.as_bytes());
    let heading: Vec<String> = csv.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(heading, json.keys().cloned().collect::<Vec<_>>());
    let values: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!(values.len(), 1);
    for (field, value) in values[0].iter().zip(json.values()) {
        match value {
            Value::Null => assert_eq!(field, ""),
            Value::String(text) => assert_eq!(field, text),
            number => assert_eq!(serde_json::from_str::<Value>(field).unwrap(), *number),
        }
    }
}

#[test]
fn a_run_as_a_table_has_every_metric_in_its_group() {
    let bench = Bench::with_trace();
    let table = bench.output(&["run", "small.wmt", "--all"]);
    let row = rows(&bench.output(&["run", "small.wmt", "--format", "json"])).swap_remove(0);
    for key in row.keys().filter(|key| *key != "parameters") {
        assert!(table.lines().any(|line| line.split_whitespace().next() == Some(key)), "{key}");
    }
    let after =
        |title: &str| table.lines().skip_while(|line| *line != title).nth(1).map(str::trim_start);
    assert!(after("DRAM").unwrap().starts_with("reads "));
    assert!(after("L1").unwrap().starts_with("l1_read_hits "));
}

#[test]
fn a_comparison_in_json_has_the_runs_and_their_means() {
    let bench = Bench::with_trace();
    bench.generate("gather", &[("n", "2^11")], "gather.wmt");
    let arguments = ["compare", "small.wmt", "gather.wmt", "--dram-scheduler", "fcfs,fr-fcfs"];
    let rows = rows(&bench.output(&[&arguments[..], &["--format", "json"]].concat()));
    let runs: Vec<&Row> = rows.iter().filter(|row| row["mean"].is_null()).collect();
    let names: Vec<_> = runs.iter().map(|row| (&row["trace"], &row["dram_scheduler"])).collect();
    let expected =
        [("small", "fcfs"), ("small", "fr-fcfs"), ("gather", "fcfs"), ("gather", "fr-fcfs")];
    assert_eq!(names.len(), expected.len());
    for (name, expected) in names.iter().zip(expected) {
        assert_eq!((name.0.as_str(), name.1.as_str()), (Some(expected.0), Some(expected.1)));
    }
    for key in KEYS.into_iter().chain(SLOTS) {
        assert!(runs[0].contains_key(key), "{key}");
    }
    for pair in runs.chunks(2) {
        let ipc = |row: &Row| row["ipc_thread"].as_f64().unwrap();
        assert_eq!(pair[1]["ipc_ratio"], 1.0);
        let ratio = pair[0]["ipc_ratio"].as_f64().unwrap();
        // Parsing JSON may lose the last bit of a number.
        assert!((ratio * ipc(pair[1]) / ipc(pair[0]) - 1.0).abs() < 1e-12);
    }
    let means: Vec<&Row> = rows.iter().filter(|row| !row["mean"].is_null()).collect();
    assert_eq!(means.len(), 2 * 3);
    assert!(means.iter().all(|row| row["workloads"] == 2 && row["trace"].is_null()));
}

#[test]
fn a_comparison_in_csv_has_the_keys_of_json() {
    let bench = Bench::with_trace();
    let compare = |format| bench.output(&["compare", "small.wmt", "--format", format]);
    let json = rows(&compare("json")).swap_remove(0);
    let text = compare("csv");
    let heading = text.lines().next().unwrap();
    assert_eq!(heading, json.keys().cloned().collect::<Vec<_>>().join(","));
}

#[test]
fn metrics_are_selected_and_compared_with_the_baseline() {
    let bench = Bench::with_trace();
    let policies = ["--warp-scheduler", "gto,lrr", "--baseline", "gto"];
    let run = [&["compare", "small.wmt"], &policies[..], &["--metrics"]].concat();
    let json =
        bench.output(&[&run[..], &["l1_evictions,cycles_ratio", "--format", "json"]].concat());
    let rows = rows(&json);
    assert_eq!(rows[0]["cycles_ratio"], 1.0);
    assert!(rows[1]["cycles_ratio"].as_f64().is_some() && rows[1].contains_key("l1_evictions"));
    assert!(!rows[1].contains_key("blp"));
    bench.refuses(&[&run[..], &["l1_evictoins"]].concat(), &["did you mean `l1_evictions`"]);
}

#[test]
fn machines_and_several_slots_are_compared() {
    let bench = Bench::with_trace();
    let arguments = [
        "compare",
        "small.wmt",
        "--machine",
        "li2015,warpedmc2023",
        "--dram-scheduler",
        "fcfs,fr-fcfs(row_hit_cap=4,page=closed)",
        "--warp-scheduler",
        "lrr,gto",
        "--baseline",
        "fcfs/gto",
        "--format",
        "json",
    ];
    let rows = rows(&bench.output(&arguments));
    let runs: Vec<&Row> = rows.iter().filter(|row| row["mean"].is_null()).collect();
    assert_eq!(runs.len(), 2 * 2 * 2);
    for run in
        runs.iter().filter(|row| row["dram_scheduler"] == "fcfs" && row["warp_scheduler"] == "gto")
    {
        assert_eq!(run["ipc_ratio"], 1.0);
    }
    let capped = |row: &&&Row| row["dram_scheduler"] == "fr-fcfs(row_hit_cap=4,page=closed)";
    assert_eq!(runs.iter().filter(capped).count(), 4);
}

#[test]
fn traces_of_equal_file_names_are_named_by_path() {
    let bench = Bench::new();
    for (folder, n) in [("a", "64"), ("b", "128")] {
        std::fs::create_dir(bench.path(folder)).unwrap();
        bench.generate("vecadd", &[("n", n)], &format!("{folder}/t.wmt"));
    }
    bench.generate("vecadd", &[("n", "256")], "other.wmt");
    let arguments = ["compare", "a/t.wmt", "other.wmt", "b/t.wmt", "--format", "json"];
    let rows = rows(&bench.output(&arguments));
    let names: Vec<&str> = rows.iter().filter_map(|row| row["trace"].as_str()).collect();
    assert_eq!(names, ["a/t.wmt", "other", "b/t.wmt"]);
}

#[test]
fn overrides_reach_the_machine() {
    let bench = Bench::with_trace();
    let run = |set: &[&str]| {
        rows(&bench.output(&[&["run", "small.wmt", "--format", "json"], set].concat()))
    };
    let slow = run(&["--set", "dram.timing.tcl=40", "--set", "clocks.dram_mhz=300"]).swap_remove(0);
    let own = run(&[]).swap_remove(0);
    assert!(slow["cycles"].as_u64() > own["cycles"].as_u64());
    let parameters: Row = serde_json::from_str(slow["parameters"].as_str().unwrap()).unwrap();
    assert_eq!(parameters["dram.timing.tcl"], 40);
    assert_eq!(parameters["clocks.dram_mhz"], 300);
}

#[test]
fn info_in_json_adds_up() {
    let bench = Bench::with_trace();
    let info: Row =
        serde_json::from_str(&bench.output(&["info", "small.wmt", "--format", "json"])).unwrap();
    let kernel = &info["kernels"][0];
    assert_eq!((&info["ctas"], &kernel["ctas"]), (&8.into(), &8.into()));
    assert_eq!(kernel["block"], serde_json::json!([256, 1, 1]));
    // Two loads and a store for each of 2^11 / 32 warps.
    assert_eq!(info["memory_records"], 3 * 64);
    let kinds = kernel["memory_records"].as_array().unwrap();
    let counts: Vec<_> =
        kinds.iter().map(|k| (k["kind"].as_str(), k["records"].as_u64())).collect();
    assert_eq!(counts, [(Some("load"), Some(128)), (Some("store"), Some(64))]);
    let compute: u64 =
        kernel["compute"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    // Each warp also has a record for its exit.
    assert_eq!(kernel["warp_instructions"].as_u64(), Some(compute + 3 * 64 + 64));
    assert_eq!(info["file_bytes"], std::fs::metadata(bench.path("small.wmt")).unwrap().len());
    let text = bench.output(&["info", "small.wmt"]);
    for part in ["warpmem generate vecadd --n 2^11", "global", "bytes per record with addresses"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn no_progress_without_a_terminal() {
    let bench = Bench::with_trace();
    let policies = ["--machine", "li2015", "--dram-scheduler", "fcfs,fr-fcfs"];
    let stderr = bench.run(&[&["compare", "small.wmt"], &policies[..]].concat()).stderr;
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    let head = "3 runs in ";
    assert!(
        stderr.starts_with(head) && stderr.contains("warp instructions"),
        "one is the bound: {stderr}"
    );
    assert!(!stderr.contains(['\r', '\u{1b}']), "{stderr}");
}

/// Progress is reported again while memory drains.
#[test]
fn the_summary_counts_each_warp_instruction_once() {
    let bench = Bench::new();
    let gather = repository().join("sample-traces/gather.wmt").display().to_string();
    let ran = bench.run(&["run", &gather, "--format", "json"]);
    let counted = rows(&ran.stdout)[0]["warp_instructions"].as_u64();
    assert_eq!(counted, Some(13_312));
    assert!(ran.stderr.contains(": 13,312 warp instructions"), "{ran:?}");
}

/// A chase has one request at a time; its note is for people only.
#[test]
fn a_run_that_leaves_dram_idle_is_noted() {
    let bench = Bench::with_trace();
    bench.generate("pointer-chase", &[("nodes", "2^8"), ("hops", "2^8")], "chase.wmt");
    let notes = |arguments: &[&str]| {
        let ran = bench.run(&[arguments, &["--machine", "li2015"]].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        ran.stderr.lines().filter(|line| line.contains("DRAM")).collect::<Vec<_>>().join("\n")
    };
    let head = "note: in this run DRAM has a request pending in ";
    let run = notes(&["run", "chase.wmt"]);
    assert!(run.starts_with(head) && run.ends_with("smaller machines use DRAM more"), "{run}");
    for arguments in [
        &["run", "small.wmt"][..],
        &["run", "chase.wmt", "--all"],
        &["run", "chase.wmt", "--format", "json"],
        &["compare", "chase.wmt"],
        &["run", "chase.wmt", "--set", "policy.ideal=perfect-dram"],
        &["run", "chase.wmt", "--quiet"],
    ] {
        assert_eq!(notes(arguments), "", "{arguments:?}");
    }
}
