//! Measurements through the command line, on the project's own driver: it executes PTX without
//! timing, so the measured quantity is the number of instructions, equal in every run.
#![cfg(unix)]

use super::support::{Bench, repository};
use serde_json::{Value, json};
use std::fs;

/// Instructions per hop of a chase: eight hops take eleven instructions.
const HOP: f64 = 11.0 / 8.0;

/// Returns the option that names the driver, which is built beside the tests.
fn driver() -> String {
    let executable = std::env::current_exe().unwrap();
    format!("--driver={}", executable.with_file_name("libwarpmem_cudart.so").display())
}

/// Runs `warpmem hardware` with one repetition per measurement; returns standard output.
fn measured(bench: &Bench, arguments: &[&str]) -> String {
    let driver = driver();
    bench.output(&[&["hardware", driver.as_str(), "--repeat", "1"], arguments].concat())
}

/// Makes a directory with `hardware.json`, from the fast chases.
fn with_latencies() -> Bench {
    let bench = Bench::new();
    measured(&bench, &["--only", "l1-latency,l2-lines", "-o", "hardware.json"]);
    bench
}

/// Makes a directory with a launch file, `table.toml`, and its PTX.
fn with_launches() -> Bench {
    let bench = Bench::new();
    let folder = repository().join("sample-traces/captured");
    fs::copy(folder.join("hash_table.ptx"), bench.path("hash_table.ptx")).unwrap();
    fs::copy(folder.join("hash_table.toml"), bench.path("table.toml")).unwrap();
    bench
}

fn read(bench: &Bench, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(bench.path(name)).unwrap()).unwrap()
}

fn change(bench: &Bench, name: &str, change: impl Fn(&mut Value)) {
    let mut value = read(bench, name);
    change(&mut value);
    bench.write(name, value.to_string());
}

#[test]
fn measurements_are_listed_without_a_gpu() {
    insta::assert_snapshot!(Bench::new().output(&["hardware", "--list"]));
}

#[test]
fn latencies_are_measured_and_written() {
    let bench = Bench::new();
    let only = ["--only", "l1-latency,l2-lines", "-o", "hardware.json"];
    insta::assert_snapshot!(measured(&bench, &only));
    let file = read(&bench, "hardware.json");
    assert_eq!(file["warpmem_hardware"], 1);
    assert_eq!((&file["device"]["name"], &file["device"]["sms"]), (&json!("warpmem"), &json!(34)));
    let figure = &file["measurements"][0]["figures"][0];
    assert_eq!((&figure["samples"], &figure["unit"]), (&json!([HOP]), &json!("cycles")));
    assert_eq!(file["measurements"][0]["parameters"]["bytes"], 8192);
    assert_eq!(bench.names(), ["hardware.json"]);
}

#[test]
fn rows_are_the_table_for_programs() {
    let bench = Bench::new();
    let csv = measured(&bench, &["--only", "l1-latency", "-o", "x.json", "--format", "csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "measurement,figure,unit,median,least,most,samples,clock_mhz");
    assert!(
        lines[1].starts_with("l1-latency,l1-latency,cycles,1.375,1.375,1.375,1,1000."),
        "{csv}"
    );
}

#[test]
fn a_gpu_is_compared_with_the_machine_that_runs_the_same_ptx() {
    let bench = with_latencies();
    let correlate = ["correlate", "--hardware", "hardware.json", "--machine", "accelsim-rtx2060s"];
    insta::assert_snapshot!(bench.output(&correlate));
    let json = bench.output(&[&correlate[..], &["--format", "json"]].concat());
    let compared: Value = serde_json::from_str(&json).unwrap();
    let latency = |of: &Value| of["figures"][0]["warpmem"].as_f64().unwrap();
    assert_eq!(latency(&compared), 24.0, "the latency of its L1");
    assert_eq!(compared["figures"][0]["error"], (24.0 - HOP) / HOP);
    // A key of the machine changes only our side.
    let slower = ["--set", "l1.latency=120", "--only", "l1-latency", "--format", "json"];
    let slower: Value =
        serde_json::from_str(&bench.output(&[&correlate[..], &slower].concat())).unwrap();
    assert_eq!(latency(&slower), 124.0, "the key was 20");
    assert_eq!(slower["figures"][0]["device"], HOP);
}

/// The driver is the one of captured programs, which describes the machine's device.
#[test]
fn lines_near_and_far_are_found_on_a_machine_with_two_partitions() {
    let bench = Bench::new();
    let warpmem = env!("CARGO_BIN_EXE_warpmem");
    let capture = ["capture", "--check", "--machine", "a100", "--capability", "8.0", "--", warpmem];
    let hardware = ["hardware", "--repeat", "1", "--only", "l2-lines", "-o", "hardware.json"];
    bench.output(&[&capture[..], &hardware].concat());
    change(&bench, "hardware.json", |file| {
        assert_eq!(file["device"]["name"], "warpmem a100");
        file["device"]["name"] = json!("NVIDIA A100-SXM4-40GB");
    });
    let ours = |machine: &[&str]| {
        let correlate = ["correlate", "--hardware", "hardware.json", "--format", "json"];
        let json = bench.output(&[&correlate[..], machine].concat());
        let mut compared: Value = serde_json::from_str(&json).unwrap();
        let rows = compared["figures"].take();
        let figure = |row: &Value| {
            let name = row["figure"].as_str().unwrap().to_owned();
            (name, row["warpmem"].as_f64().unwrap(), row["device"] == Value::Null)
        };
        rows.as_array().unwrap().iter().map(figure).collect::<Vec<_>>()
    };
    // The name identifies the preset. 213 less the 36 cycles of L1, which a bypassing load skips, in whole cycles of L2:
    // with copies, all lines are near.
    let near = ("l2-near".to_owned(), 176.25, false);
    assert_eq!(ours(&[]), std::slice::from_ref(&near));
    let without_copies = "base = \"a100\"\n[l2]\ncopies = false\n[policy]\n\
        topology = \"partitioned-crossbar(link_latency=199,link_width=20)\"\n";
    bench.write("parted.toml", without_copies);
    assert_eq!(ours(&["--machine", "parted.toml"]), [near, ("l2-far".to_owned(), 376.0, true)]);
}

#[test]
fn own_kernels_are_measured_and_run_from_the_same_launch_file() {
    let bench = with_launches();
    fs::create_dir(bench.path("results")).unwrap();
    measured(&bench, &["--launch", "table.toml", "-o", "results/own.json"]);
    let file = read(&bench, "results/own.json");
    assert_eq!(file["measurements"][0]["launch_file"], "../table.toml");
    let captured = ["capture", "--launch", "table.toml", "-o", "table.wmt"];
    bench.output(&captured);
    let machine = ["--machine", "accelsim-rtx2060s"];
    let run = ["run", "table.wmt", "--set", "run.launch_latency=0", "--format", "json"];
    let run: Value = serde_json::from_str(&bench.output(&[&run[..], &machine].concat())).unwrap();
    let csv = ["correlate", "--hardware", "results/own.json", "--format", "csv"];
    let csv = bench.output(&[&csv[..], &machine].concat());
    let all = csv.lines().find(|line| line.contains(",all launches,")).unwrap();
    let ours: f64 = all.split(',').nth(8).unwrap().parse().unwrap();
    // Nothing runs between the two launches.
    let cycles = run[0]["cycles"].as_f64().unwrap();
    assert!(ours <= cycles && ours > 0.95 * cycles, "{ours} of {cycles}");
    // A launch file with other content is not compared.
    let text = fs::read_to_string(bench.path("table.toml")).unwrap();
    bench.write("table.toml", text.replace("seed = 1", "seed = 2"));
    let correlate =
        ["correlate", "--hardware", "results/own.json", "--machine", "accelsim-rtx2060s"];
    bench.refuses(&correlate, &["`table` has changed since it was measured"]);
}

#[test]
fn another_machine_is_refused_unless_asked_for() {
    let bench = with_latencies();
    let correlate = ["correlate", "--hardware", "hardware.json", "--only", "l1-latency"];
    bench.refuses(&correlate, &["no machine is known for the GPU `warpmem`", "--machine"]);
    let a100 = [&correlate[..], &["--map", "warpmem=a100"]].concat();
    let parts = ["`a100` differs from", "sm.count: 34 on the GPU, 108 on `a100`", "l2.", "dram."];
    bench.refuses(&a100, &parts);
    let table = bench.output(&[&a100[..], &["--other-machine"]].concat());
    assert!(table.starts_with("warpmem (GPU) and a100 (Warpmem)\n"), "{table}");
    let unknown = ["correlate", "--hardware", "hardware.json", "--only", "l3-latency"];
    bench.refuses(&unknown, &["`l3-latency` was not measured", "l1-latency, l2-lines"]);
    bench.write("other.json", "{}");
    bench.refuses(
        &["correlate", "--hardware", "other.json"],
        &["not a result of `warpmem hardware`"],
    );
    let both = bench.run(&["correlate", "r.json", "--hardware", "hardware.json"]);
    assert_eq!(both.status, Some(2), "{both:?}");
}

#[test]
fn failed_measurements_are_named_and_others_kept() {
    let bench = with_launches();
    let text = fs::read_to_string(bench.path("table.toml")).unwrap();
    bench.write("broken.toml", text.replace("\"look_up\"", "\"look_down\""));
    bench.write("texture.toml", format!("{text}\n[textures.t]\nbuffer = 'keys'\nwidth = 1\n"));
    let driver = driver();
    let all = ["--launch", "broken.toml", "--launch", "texture.toml", "--launch", "table.toml"];
    let ran = bench
        .run(&[&["hardware", driver.as_str(), "--repeat", "1", "-o", "x.json"], &all[..]].concat());
    assert_eq!(ran.status, Some(2), "{ran:?}");
    for part in ["failed to measure broken", "look_down", "failed to measure texture", "textures"] {
        assert!(ran.stderr.contains(part), "`{part}`: {ran:?}");
    }
    let file = read(&bench, "x.json");
    assert_eq!(file["measurements"].as_array().unwrap().len(), 1);
    assert_eq!(file["measurements"][0]["name"], "table");
}

#[test]
fn refusals_say_what_would_be_right() {
    let bench = with_launches();
    let missing = ["hardware", "--driver", "libnothing.so", "-o", "x.json"];
    bench.refuses(&missing, &["failed to load the CUDA driver libnothing.so", "libcuda.so.1"]);
    let driver = driver();
    let with =
        |arguments: &[&str]| bench.refusal(&[&["hardware", driver.as_str()], arguments].concat());
    let unknown = with(&["--only", "l1-latencie", "-o", "x.json"]);
    assert!(unknown.contains("did you mean `l1-latency`?"), "{unknown}");
    let other = with(&["--device", "2", "-o", "x.json"]);
    assert!(other.contains("there is no device 2; the driver has 1"), "{other}");
    let twice = with(&["--launch", "table.toml", "--launch", "./table.toml", "-o", "x.json"]);
    assert!(twice.contains("two measurements are called `table`"), "{twice}");
    let nowhere = with(&["--only", "l1-latency", "-o", "nowhere/x.json"]);
    assert!(nowhere.contains("failed to write nowhere/x.json"), "{nowhere}");
    assert_eq!(bench.names(), ["hash_table.ptx", "table.toml"]);
}

/// `cargo install` copies programs only, so the runtime is also linked as a program's file.
#[test]
fn the_runtime_that_cargo_installs_is_a_driver() {
    let driver = format!("--driver={}", env!("CARGO_BIN_EXE_libwarpmem_cudart"));
    let only = ["hardware", &driver, "--only", "l1-latency", "-o", "hardware.json"];
    assert!(Bench::new().output(&only).contains("l1-latency"));
}
