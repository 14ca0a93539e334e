//! Our runs compared with those of a reference.

use super::support::{Bench, Ran, names_in};
use serde_json::{Map, Value, json};
use std::{fs, io};

pub(super) type Row = Map<String, Value>;

/// Returns the row of a run of `trace` on `accelsim-qv100`.
pub(super) fn run(bench: &Bench, trace: &str, arguments: &[&str]) -> Row {
    let arguments =
        [&["run", trace, "--machine", "accelsim-qv100", "--format", "json"], arguments].concat();
    let mut rows: Vec<Row> = serde_json::from_str(&bench.output(&arguments)).unwrap();
    rows.remove(0)
}

fn sum(row: &Row, level: &str, names: &[&str]) -> u64 {
    names.iter().map(|name| row[&format!("{level}_{name}")].as_u64().unwrap()).sum()
}

/// Builds the results of a reference simulator that agrees with `row`, plus 5000 cycles of launch overhead.
fn reference(trace: &str, row: &Row) -> Value {
    const MISSES: [&str; 4] =
        ["read_misses", "read_sector_misses", "write_misses", "write_sector_misses"];
    const HITS: [&str; 3] = ["read_hits", "read_pending_hits", "write_hits"];
    let cycles = row["cycles"].as_u64().unwrap();
    let accesses = |level| sum(row, level, &MISSES) + sum(row, level, &HITS);
    let busy = row["bandwidth_utilization"].as_f64().unwrap();
    json!({
        "trace": trace, "trace_dir": format!("{trace}.wmt"), "config": "SM7_QV100",
        "dram_scheduler": "FR-FCFS", "launch_latency_cycles_per_kernel": 5000, "n_kernels": 1,
        "kernels": [{"gpu_sim_cycle": cycles + 5000, "gpu_sim_insn": row["thread_instructions"]}],
        "totals": {
            "gpu_tot_sim_cycle": cycles + 5000,
            "gpu_tot_sim_insn": row["thread_instructions"],
            "L1D_accesses": accesses("l1"), "L1D_misses": sum(row, "l1", &MISSES),
            "L2_accesses": accesses("l2"), "L2_misses": sum(row, "l2", &MISSES),
            "dram_reads": row["reads"], "dram_writes": row["writes"],
            "dram_activations": row["activations"],
            "dram_bw_util_mean": busy * cycles as f64 / (cycles + 5000) as f64,
            "averagemflatency": row["reply_latency_mean"],
        },
        "host": {"user_s": 100.0},
    })
}

/// Makes a directory with `small.wmt`, and `r.json`, a reference that agrees with our results.
fn bench() -> Bench {
    bench_of("2^11")
}

/// Makes such a directory with a trace of `additions` additions.
fn bench_of(additions: &str) -> Bench {
    let bench = Bench::new();
    bench.generate("vecadd", &[("n", additions)], "small.wmt");
    let run = reference("small", &run(&bench, "small.wmt", &[]));
    bench.write("r.json", json!({"runs": [run]}).to_string());
    bench
}

/// Changes the reference.
fn change(bench: &Bench, change: impl Fn(&mut Vec<Value>)) {
    let text = fs::read_to_string(bench.path("r.json")).unwrap();
    let mut results: Value = serde_json::from_str(&text).unwrap();
    change(results["runs"].as_array_mut().unwrap());
    bench.write("r.json", results.to_string());
}

fn correlate(bench: &Bench, arguments: &[&str]) -> Value {
    let arguments = [&["correlate", "r.json", "--format", "json"], arguments].concat();
    serde_json::from_str(&bench.output(&arguments)).unwrap()
}

#[test]
fn beside_themselves_our_runs_have_no_error() {
    let bench = bench();
    let all = correlate(&bench, &["--kernels"]);
    let row = all["runs"][0].as_object().unwrap();
    let errors: Vec<&str> = row.keys().filter_map(|key| key.strip_suffix("_error")).collect();
    assert_eq!(errors.len(), 11);
    for metric in errors {
        assert!(
            row[metric].is_number() && row[&format!("{metric}_reference")].is_number(),
            "{metric}"
        );
        let error = row[&format!("{metric}_error")].as_f64().unwrap();
        assert!(error.abs() < 1e-9, "{metric}: {error}");
    }
    assert_eq!(row["cycles"], row["cycles_reference"]);
    assert_eq!(all["kernels"].as_array().unwrap().len(), 1);
    let of_kernels = &all["summary"]["kernels"];
    assert_eq!((&of_kernels["kernels"], &of_kernels["mape"]), (&json!(1), &json!(0.0)));
    assert_eq!(of_kernels["worst"]["kernel"], 0);
    let summary = &all["summary"]["cycles"];
    assert_eq!(summary.as_array().unwrap().len(), 1);
    assert_eq!((&summary[0]["mape"], &summary[0]["runs"]), (&json!(0.0), &json!(1)));
}

#[test]
fn error_is_relative_to_the_reference() {
    let bench = bench();
    change(&bench, |runs| {
        let cycles = runs[0]["totals"]["gpu_tot_sim_cycle"].as_u64().unwrap() - 5000;
        runs[0]["totals"]["gpu_tot_sim_cycle"] = json!(2 * cycles + 5000);
    });
    let all = correlate(&bench, &[]);
    assert_eq!(all["runs"][0]["cycles_error"], -0.5);
    assert_eq!(all["runs"][0]["ipc_thread_error"], 1.0);
    assert_eq!(all["summary"]["cycles"][0]["worst"]["trace"], "small");
    let text = bench.output(&["correlate", "r.json"]);
    assert!(
        text.contains("accelsim-qv100 (SM7_QV100), FR-FCFS\n") && text.contains("-50.0 %"),
        "{text}"
    );
}

#[test]
fn over_orders_cycles_are_the_median_of_runs_from_other_first_sms() {
    let bench = bench();
    let all = correlate(&bench, &["--orders", "3", "--kernels"]);
    // 80 SMs in thirds.
    let mut cycles = ["0", "26", "53"].map(|first| {
        let row = run(&bench, "small.wmt", &["--set", &format!("run.first_sm={first}")]);
        row["cycles"].as_u64().unwrap()
    });
    cycles.sort_unstable();
    for row in [&all["runs"][0], &all["kernels"][0]] {
        let found = ["cycles_least", "cycles", "cycles_most"].map(|key| row[key].as_u64().unwrap());
        assert_eq!(found, cycles);
    }
    let text = bench.output(&["correlate", "r.json", "--orders", "3"]);
    assert!(text.contains("Errors of cycles over orders of the SMs"), "{text}");
    let one = correlate(&bench, &[]);
    assert!(one["runs"][0].get("cycles_least").is_none(), "of one order there is no range");
}

#[test]
fn fifo_is_a_queue_of_two_and_is_paired_with_fr_fcfs() {
    let bench = bench_of("2^14");
    let fifo = ["--dram-scheduler", "fcfs(banks=overlap)", "--set", "dram.read_queue=2"];
    let fifo = run(&bench, "small.wmt", &fifo)["cycles"].as_u64().unwrap();
    let own = run(&bench, "small.wmt", &[])["cycles"].as_u64().unwrap();
    assert!(fifo > own, "{fifo} {own}");
    change(&bench, |runs| {
        runs.push(runs[0].clone());
        runs[1]["dram_scheduler"] = json!("FIFO");
    });
    let all = correlate(&bench, &[]);
    let cycles = |run: usize| all["runs"][run]["cycles"].as_u64();
    assert_eq!((cycles(0), cycles(1)), (Some(own), Some(fifo)));
    let pair = &all["summary"]["fifo_over_fr_fcfs"][0];
    assert_eq!(pair["ratio"], fifo as f64 / own as f64);
    assert_eq!(pair["ratio_reference"], 1.0);
    let groups = all["summary"]["cycles"].as_array().unwrap();
    let groups: Vec<&Value> = groups.iter().map(|group| &group["dram_scheduler"]).collect();
    assert_eq!(groups, ["FR-FCFS", "FIFO", "all"]);
}

#[test]
fn overrides_are_applied() {
    let bench = bench();
    let with = correlate(&bench, &["--set", "l1.latency=200"]);
    let expected = run(&bench, "small.wmt", &["--set", "l1.latency=200"]);
    assert_eq!(with["runs"][0]["cycles"], expected["cycles"]);
    assert_ne!(with["runs"][0]["cycles"], with["runs"][0]["cycles_reference"]);
    let parts = ["`l1.latenc`", "did you mean `l1.latency`?"];
    bench.refuses(&["correlate", "r.json", "--set", "l1.latenc=1"], &parts);
}

#[test]
fn captured_traces_are_imported_once_and_as_far_as_the_reference_ran_them() {
    let bench = Bench::new();
    bench.generate("bfs", &[("nodes", "2^8")], "bfs.wmt");
    bench.output(&["export", "accel-sim", "bfs.wmt", "-o", "bfs"]);
    let info = bench.output(&["info", "bfs.wmt", "--format", "json"]);
    let info: Value = serde_json::from_str(&info).unwrap();
    let kernel = |index: usize| {
        let ours = &info["kernels"][index];
        json!({
            "name": ours["name"], "gpu_sim_cycle": 7000, "gpu_sim_insn": ours["thread_instructions"],
        })
    };
    let run = json!({
        "trace": "bfs", "trace_dir": "bfs", "config": "SM7_QV100", "dram_scheduler": "FR-FCFS",
        "launch_latency_cycles_per_kernel": 5000, "kernels": [kernel(0), kernel(1)], "totals": {},
    });
    let mut other = run.clone();
    other["config"] = json!("SM75_RTX2060_S");
    bench.write("r.json", json!({"runs": [run, other]}).to_string());
    let arguments = ["--cache", "imported", "--kernels"];
    let all = correlate(&bench, &arguments);
    let kernels = all["kernels"].as_array().unwrap();
    let numbers: Vec<&Value> = kernels.iter().map(|kernel| &kernel["kernel"]).collect();
    assert_eq!(numbers, [0, 1, 0, 1]);
    assert_eq!(kernels[3]["machine"], "accelsim-rtx2060s");
    assert_eq!(kernels[3]["cycles_reference"], 2000);

    let imported = names_in(&bench.path("imported"));
    assert_eq!(imported.len(), 1);
    assert!(imported[0].starts_with("bfs-2-") && imported[0].ends_with(".wmt"), "{imported:?}");
    let written =
        fs::metadata(bench.path("imported").join(&imported[0])).unwrap().modified().unwrap();
    assert_eq!(correlate(&bench, &arguments), all);
    let again =
        fs::metadata(bench.path("imported").join(&imported[0])).unwrap().modified().unwrap();
    assert_eq!(again, written);

    // Our launches take no time either, even if those of the machine do.
    let slow = "base = \"accelsim-qv100\"\n[launch]\nstream_ns = 2000\n\
                [run]\nlaunch = \"stream\"\nlaunch_latency = 5000\n";
    bench.write("slow.toml", slow);
    let slow = correlate(&bench, &["--cache", "imported", "--map", "SM7_QV100=slow.toml"]);
    assert_eq!(slow["runs"][0]["cycles"], all["runs"][0]["cycles"]);

    // `bfs.wmt` takes precedence over the folder, and has more kernels.
    let ran = bench.run(&["correlate", "r.json", "--traces", "."]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("kernels, the reference ran 2"), "{ran:?}");
    fs::remove_file(bench.path("bfs.wmt")).unwrap();
    assert_eq!(correlate(&bench, &["--traces", ".", "--kernels"]), all);
}

/// Makes a log of `small.wmt` on a machine with `sms` SMs.
fn log(bench: &Bench, sms: &str) -> String {
    let info = bench.output(&["info", "small.wmt", "--format", "json"]);
    let info: Value = serde_json::from_str(&info).unwrap();
    let name = info["kernels"][0]["name"].as_str().unwrap();
    let instructions = &info["kernels"][0]["thread_instructions"];
    format!(
        "-gpgpu_n_clusters {sms} # clusters\n-gpgpu_n_cores_per_cluster 1 #\n\
         kernel_name = {name} \ngpu_sim_cycle = 2000\ngpu_sim_insn = {instructions}\n\
         gpgpu_simulation_time = 0 days, 0 hrs, 0 min, 65 sec (65 sec)\n"
    )
}

#[test]
fn log_of_another_machine_is_refused() {
    let bench = Bench::with_trace();
    bench.write("run.log", log(&bench, "34"));
    let on = |machine| ["correlate", "run.log", "--trace", "small.wmt", "--machine", machine];
    let ran = bench.run(&on("accelsim-qv100"));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    let message = "accelsim-qv100 is not the machine of the log: `sm.count` is 80, the log has 34 (-gpgpu_n_clusters";
    assert!(ran.stderr.contains(message), "{ran:?}");
    assert_eq!(bench.run(&on("accelsim-rtx2060s")).status, Some(0));
    let set = [&on("accelsim-qv100")[..], &["--set", "sm.count=34"]].concat();
    assert_eq!(bench.run(&set).status, Some(0), "a machine that is made the log's is it");
}

#[test]
fn trace_of_another_kernel_is_refused() {
    let bench = bench();
    change(&bench, |runs| {
        let mut other = runs[0].clone();
        other["kernels"][0]["name"] = json!("_Z5otherPf");
        runs.push(other);
        let mut longer = runs[0].clone();
        longer["kernels"][0]["gpu_sim_insn"] = json!(7);
        runs.push(longer);
    });
    let ran = bench.run(&["correlate", "r.json", "--format", "csv"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 2, "the run of the same trace is printed");
    let refused: Vec<&str> =
        ran.stderr.lines().filter(|line| line.contains("its kernel 1 is")).collect();
    let start = "small on SM7_QV100 with FR-FCFS: small.wmt is not the trace of the reference";
    assert!(refused.iter().all(|line| line.contains(start)), "{ran:?}");
    assert!(refused[0].contains("the reference's is `_Z5otherPf` with "), "{ran:?}");
    assert!(refused[1].ends_with("is one without a name with 7 thread instructions"), "{ran:?}");

    bench.write("run.log", log(&bench, "80").replace("gpu_sim_insn = ", "gpu_sim_insn = 1"));
    let ran =
        bench.run(&["correlate", "run.log", "--trace", "small.wmt", "--machine", "accelsim-qv100"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    let message = "small.wmt is not the trace of the reference: its kernel 1 is `";
    assert!(ran.stderr.contains(message), "{ran:?}");
}

#[test]
fn a_log_has_wall_clock_time_which_is_not_compared_with_ours() {
    let bench = Bench::with_trace();
    bench.write("run.log", log(&bench, "80"));
    let arguments =
        ["correlate", "run.log", "--trace", "small.wmt", "--machine", "accelsim-qv100", "--speed"];
    let json = bench.output(&[&arguments[..], &["--format", "json"]].concat());
    let all: Value = serde_json::from_str(&json).unwrap();
    let run = &all["runs"][0];
    assert!(run["cpu_seconds"].is_number() && run["cpu_seconds_reference"].is_null(), "{run}");
    assert_eq!((&run["wall_seconds_reference"], &run["speedup"]), (&json!(65.0), &Value::Null));
    assert_eq!(all["summary"]["speedup"], Value::Null);
    let text = bench.output(&arguments);
    assert!(text.contains(" 65 wall ") && !text.contains("times as fast"), "{text}");
}

#[test]
fn a_log_needs_a_trace_and_a_machine() {
    let bench = Bench::with_trace();
    bench.write("run.log", log(&bench, "80"));
    bench.refuses(&["correlate", "run.log"], &["run.log is a log", "--trace and --machine"]);
    let arguments = [
        "correlate",
        "run.log",
        "--trace",
        "small.wmt",
        "--machine",
        "accelsim-qv100",
        "--format",
        "json",
    ];
    let ran = bench.run(&arguments);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("run.log does not state gpu_tot_sim_cycle, "), "{ran:?}");
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(all["runs"][0]["trace"], "small");
    assert_eq!(all["runs"][0]["cycles_reference"], 2000);
    assert_eq!(all["runs"][0]["dram_reads_reference"], Value::Null);

    bench.write("none.log", "hello\n");
    let arguments =
        ["correlate", "none.log", "--trace", "small.wmt", "--machine", "accelsim-qv100"];
    bench.refuses(&arguments, &["none.log", "no line `kernel_name = …`"]);
}

#[test]
fn runs_without_trace_machine_or_scheduler_are_left_out_and_named() {
    let bench = bench();
    change(&bench, |runs| {
        for (key, value) in [
            ("trace_dir", json!("elsewhere")),
            ("trace_dir", Value::Null),
            ("config", json!("SM80_A100")),
            ("dram_scheduler", json!("LIFO")),
        ] {
            let mut run = runs[0].clone();
            run[key] = value;
            runs.push(run);
        }
    });
    let ran = bench.run(&["correlate", "r.json", "--format", "json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(all["runs"].as_array().unwrap().len(), 1);
    let reasons = [
        "left out: small on SM80_A100 with FR-FCFS: no machine is known for SM80_A100: --map",
        "small on SM7_QV100 with LIFO: unknown DRAM scheduler LIFO",
        "there is no trace at elsewhere; --traces DIR",
        "the reference does not state the location of its trace",
    ];
    for reason in reasons {
        assert!(ran.stderr.contains(reason), "{reason}\n{}", ran.stderr);
    }
}

#[test]
fn reference_without_runnable_traces_is_an_error() {
    let bench = bench();
    change(&bench, |runs| runs[0]["trace_dir"] = json!("elsewhere"));
    let ran = bench.run(&["correlate", "r.json"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].starts_with("left out: small on SM7_QV100 with FR-FCFS: "), "{ran:?}");
    assert_eq!(lines[1..], ["error: no run of the reference is left"]);
}

#[test]
fn a_trace_that_breaks_off_fails_after_the_others_are_printed() {
    let bench = bench();
    let mut bytes = fs::read(bench.path("small.wmt")).unwrap();
    bytes[40] ^= 1;
    bench.write("damaged.wmt", &bytes);
    change(&bench, |runs| {
        runs.insert(0, runs[0].clone());
        runs[0]["trace_dir"] = json!("damaged.wmt");
    });
    let ran = bench.run(&["correlate", "r.json", "--format", "csv"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 2);
    assert!(ran.stderr.contains("error: failed to run damaged.wmt on accelsim-qv100"), "{ran:?}");
}

#[test]
fn filters_choose_runs() {
    let bench = bench();
    change(&bench, |runs| {
        let (mut fifo, mut other) = (runs[0].clone(), runs[0].clone());
        fifo["dram_scheduler"] = json!("FIFO");
        other["trace"] = json!("other");
        other["config"] = json!("SM75_RTX2060_S");
        runs.extend([fifo, other]);
    });
    let names = |arguments: &[&str]| -> Vec<String> {
        let all = correlate(&bench, arguments);
        let name = |run: &Value| {
            ["trace", "machine", "dram_scheduler"].map(|key| run[key].as_str().unwrap()).join(" ")
        };
        all["runs"].as_array().unwrap().iter().map(name).collect()
    };
    let [own, fifo, other] = [
        "small accelsim-qv100 FR-FCFS",
        "small accelsim-qv100 FIFO",
        "other accelsim-rtx2060s FR-FCFS",
    ];
    assert_eq!(names(&[]), [own, fifo, other]);
    assert_eq!(names(&["--only", "other"]), [other]);
    assert_eq!(names(&["--exclude", "other"]), [own, fifo]);
    assert_eq!(names(&["--machines", "SM75_RTX2060_S"]), [other]);
    assert_eq!(names(&["--machines", "accelsim-qv100"]), [own, fifo]);
    assert_eq!(names(&["--dram-schedulers", "FR-FCFS", "--only", "small"]), [own]);
    assert_eq!(
        names(&["--map", "SM75_RTX2060_S=accelsim-qv100", "--only", "other"]),
        ["other accelsim-qv100 FR-FCFS"]
    );
    let refuses = |arguments: &[&str], parts: &[&str]| {
        bench.refuses(&[&["correlate", "r.json"], arguments].concat(), parts);
    };
    let parts = ["no trace `smal` (did you mean `small`?)", "it has other, small"];
    refuses(&["--only", "smal"], &parts);
    refuses(&["--exclude", "smal"], &parts);
    refuses(&["--machines", "li2015"], &["no machine `li2015`", "SM7_QV100"]);
    refuses(&["--dram-schedulers", "fifo"], &["no DRAM scheduler `fifo`", "FIFO, FR-FCFS"]);
    refuses(
        &["--only", "other", "--machines", "accelsim-qv100"],
        &["no run of the reference passes"],
    );
    refuses(&["--map", "SM7_QV100"], &["NAME=MACHINE"]);
}

#[test]
fn results_made_before_are_the_same_as_running() {
    let bench = bench();
    bench.output(&["compare", "small.wmt", "--machine", "accelsim-qv100", "-o", "results"]);
    let past = correlate(&bench, &["--results", "results", "--kernels"]);
    assert_eq!(past, correlate(&bench, &["--kernels"]));

    let other = ["correlate", "r.json", "--results", "results", "--set", "l1.latency=21"];
    let ran = bench.run(&other);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("its run in results differs in l1.latency\n"), "{ran:?}");
    let other = ["correlate", "r.json", "--results", "results", "--map", "SM7_QV100=li2015"];
    let ran = bench.run(&other);
    assert!(ran.stderr.contains("results has no run of this trace and machine"), "{ran:?}");
    bench.refuses(&["correlate", "r.json", "--results", "none"], &["none", "No such file"]);
}

#[test]
fn csv_has_the_runs_or_the_kernels_of_json() {
    let bench = bench();
    let all = correlate(&bench, &["--kernels"]);
    for (part, arguments) in [("runs", &[][..]), ("kernels", &["--kernels"])] {
        let text = bench.output(&[&["correlate", "r.json", "--format", "csv"], arguments].concat());
        let mut csv = csv::Reader::from_reader(text.as_bytes());
        let heading: Vec<String> = csv.headers().unwrap().iter().map(str::to_owned).collect();
        let row = all[part][0].as_object().unwrap();
        assert_eq!(heading, row.keys().cloned().collect::<Vec<_>>());
        let lines: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        assert_eq!(lines.len(), 1);
        for (field, value) in lines[0].iter().zip(row.values()) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(field, text);
        }
    }
}

#[test]
fn speed_is_told_where_it_is_asked_for() {
    let bench = bench();
    assert_eq!(correlate(&bench, &[])["runs"][0].get("cpu_seconds"), None);
    let all = correlate(&bench, &["--speed"]);
    let run = &all["runs"][0];
    let (ours, ratio) = (run["cpu_seconds"].as_f64().unwrap(), run["speedup"].as_f64().unwrap());
    assert_eq!(run["cpu_seconds_reference"], 100.0);
    assert!((ratio * ours / 100.0 - 1.0).abs() < 1e-9, "{run}");
    assert_eq!(all["summary"]["speedup"]["runs"], 1);
    let text = bench.output(&["correlate", "r.json", "--speed"]);
    assert!(text.contains("times as fast (geometric mean)"), "{text}");
    assert_eq!(bench.run(&["correlate", "r.json", "--speed", "--jobs", "1"]).status, Some(0));
    bench.refuses(&["correlate", "r.json", "--speed", "--jobs", "2"], &["--jobs 1"]);
}

#[test]
fn a_plot_is_svg_or_png_and_whole() {
    let bench = bench();
    bench.output(&["correlate", "r.json", "--plot", "p.svg"]);
    let svg = fs::read_to_string(bench.path("p.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains("accelsim-qv100, FR-FCFS") && svg.contains("± 10 %"), "{svg}");
    bench.output(&["correlate", "r.json", "--plot", "p.PNG"]);
    assert!(fs::read(bench.path("p.PNG")).unwrap().starts_with(b"\x89PNG\r\n"));
    assert_eq!(bench.names(), ["p.PNG", "p.svg", "r.json", "small.wmt"]);
    let refuses = |path, parts: &[&str]| {
        bench.refuses(&["correlate", "r.json", "--plot", path], parts);
    };
    refuses("p.gif", &["ends in .svg, .pdf or .png"]);
    let ran = bench.run(&["correlate", "r.json", "--plot", "none/p.svg"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("error: failed to write none/p.svg\n  caused by: "), "{ran:?}");
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let bench = bench();
    change(&bench, |runs| {
        for latency in [0, 1, 2] {
            let mut run = runs[0].clone();
            run["trace"] = json!(format!("t{latency}"));
            run["launch_latency_cycles_per_kernel"] = json!(latency);
            runs.push(run);
        }
    });
    let text = |jobs| bench.output(&["correlate", "r.json", "--jobs", jobs]);
    assert_eq!(text("1"), text("4"));
}

#[test]
fn malformed_reference_is_refused_by_file_and_field() {
    let bench = bench();
    let refuses = |parts: &[&str]| bench.refuses(&["correlate", "r.json"], parts);
    change(&bench, |runs| runs[0]["totals"]["L2_misses"] = json!("many"));
    refuses(&["r.json: `runs[0].totals.L2_misses`: invalid type: string \"many\", expected u64"]);
    bench.write("r.json", "{\"runs\": [");
    refuses(&["r.json", "EOF"]);
    bench.write("r.json", "{}");
    refuses(&["r.json", "missing field `runs`"]);
    bench.write("r.json", "");
    bench.refuses(
        &["correlate", "r.json", "--trace", "small.wmt", "--machine", "accelsim-qv100"],
        &["r.json: no line `kernel_name"],
    );
    bench.refuses(&["correlate", "none.json"], &["failed to read none.json", "No such file"]);
}

#[test]
fn closed_pipe_is_no_error() {
    let bench = bench();
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let ran = Ran::from(bench.command(&["correlate", "r.json"]).stdout(writer).output().unwrap());
    assert_eq!(ran.status, Some(0), "{ran:?}");
}
