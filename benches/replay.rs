//! Replay and import rates on generated traces.
//!
//! For each workload and machine: warp instructions, L1-miss requests and engine steps per second of one
//! core, and the ratio to the design's targets; then the cost per warp instruction as a trace grows; then the
//! rate at which exported Accel-Sim text is imported again. `cargo bench --bench replay [-- recording]`; with
//! `recording` it also compares replay with and without the load rows written to Parquet.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use warpmem::engine::{NoProgress, simulate};
use warpmem::import::{ExportOptions, ImportOptions, export_accel_sim, import_accel_sim};
use warpmem::machine::{Machine, load};
use warpmem::record::{LoadSink, NoLoads, ResultsWriter, RunKey, RunResult};
use warpmem::workload::generate;
use warpmem_trace::Trace;

const MACHINES: [&str; 3] = ["li2015", "v100", "rtx2060s"];

/// Generators with what makes them large enough to time.
const WORKLOADS: [(&str, &[(&str, &str)]); 7] = [
    ("vecadd", &[("n", "2^20")]),
    ("stream", &[("n", "2^19")]),
    ("gather", &[("n", "2^18")]),
    ("bfs", &[("nodes", "2^15")]),
    ("spmv", &[("rows", "2^15")]),
    ("histogram", &[]),
    ("reduction", &[]),
];

/// Targets of the design, per second of one core.
const WARP_INSTRUCTIONS: f64 = 1.0e6;
const REQUESTS: f64 = 1.5e6;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let traces: Vec<(&str, PathBuf)> = WORKLOADS
        .iter()
        .map(|&(name, parameters)| (name, make(folder.path(), name, name, parameters)))
        .collect();
    replay(&traces);
    growth(folder.path());
    import(folder.path(), &traces);
    if std::env::args().any(|argument| argument == "recording") {
        recording(folder.path(), &traces);
    }
}

fn make(folder: &Path, file: &str, name: &str, parameters: &[(&str, &str)]) -> PathBuf {
    let path = folder.join(format!("{file}.wmt"));
    let given: BTreeMap<String, String> =
        parameters.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    generate(name, &given, 1, &path, &mut |_| ControlFlow::Continue(()))
        .expect("the generator runs");
    path
}

/// The shortest of three runs.
fn time(machine: &Machine, trace: &Trace) -> (RunResult, Duration) {
    let run = || {
        let start = Instant::now();
        let result = simulate(machine, trace, &mut NoLoads, &mut NoProgress).expect("the run ends");
        (result, start.elapsed())
    };
    (0..3).map(|_| run()).min_by_key(|&(_, time)| time).expect("three runs")
}

fn warp_instructions(result: &RunResult) -> f64 {
    result.sms.iter().map(|sm| sm.warp_instructions as f64).sum()
}

/// Requests that arrived at the LLC.
fn requests(result: &RunResult) -> f64 {
    let counts = result.slices.iter().map(|slice| &slice.cache);
    let of = |c: &warpmem::record::CacheCounts| {
        c.read_hits
            + c.read_misses
            + c.read_sector_misses
            + c.read_pending_hits
            + c.write_hits
            + c.write_misses
    };
    counts.map(|c| of(c) as f64).sum()
}

fn replay(traces: &[(&str, PathBuf)]) {
    println!("replay, one thread: millions per second and ratio to the target");
    println!(
        "{:10} {:10} {:>14} {:>7} {:>14} {:>7} {:>10}",
        "machine", "workload", "warp instr/s", "ratio", "LLC requests/s", "ratio", "ns/step"
    );
    for name in MACHINES {
        let machine = load(name, &[]).expect("a preset");
        for (workload, path) in traces {
            let trace = Trace::open(path).expect("the trace opens");
            let (result, time) = time(&machine, &trace);
            let seconds = time.as_secs_f64();
            let instructions = warp_instructions(&result) / seconds;
            let requests = requests(&result) / seconds;
            println!(
                "{name:10} {workload:10} {:14.2} {:7.2} {:14.2} {:7.2} {:10.0}",
                instructions / 1e6,
                instructions / WARP_INSTRUCTIONS,
                requests / 1e6,
                requests / REQUESTS,
                seconds * 1e9 / result.steps as f64
            );
        }
    }
}

/// Cost per warp instruction of ever longer traces of one kind: flat is the target.
fn growth(folder: &Path) {
    println!("\ncost as the trace grows (li2015, vecadd)");
    println!(
        "{:>12} {:>18} {:>22} {:>7}",
        "elements", "warp instructions", "ns/warp instruction", "ratio"
    );
    let machine = load("li2015", &[]).expect("a preset");
    let mut first = None;
    for n in ["2^18", "2^20", "2^22"] {
        let path = make(folder, &format!("growth-{n}"), "vecadd", &[("n", n)]);
        let trace = Trace::open(&path).expect("the trace opens");
        let (result, time) = time(&machine, &trace);
        let cost = time.as_secs_f64() * 1e9 / warp_instructions(&result);
        let ratio = cost / *first.get_or_insert(cost);
        println!("{n:>12} {:18.0} {cost:22.1} {ratio:7.2}", warp_instructions(&result));
    }
}

fn import(folder: &Path, traces: &[(&str, PathBuf)]) {
    println!("\nimport of exported Accel-Sim text (target 150 MB/s of text)");
    println!("{:10} {:>10} {:>10} {:>7}", "workload", "MB", "MB/s", "ratio");
    for (workload, path) in traces {
        let trace = Trace::open(path).expect("the trace opens");
        let text = folder.join(format!("{workload}-text"));
        export_accel_sim(&trace, &text, ExportOptions::default(), &()).expect("the export works");
        let output = folder.join(format!("{workload}-again.wmt"));
        let start = Instant::now();
        let list = text.join("kernelslist.g");
        let summary = import_accel_sim(&list, &output, &ImportOptions::default(), &())
            .expect("the import works");
        let megabytes = summary.text_bytes as f64 / 1e6;
        let rate = megabytes / start.elapsed().as_secs_f64();
        println!("{workload:10} {megabytes:10.1} {rate:10.0} {:7.2}", rate / 150.0);
        std::fs::remove_dir_all(&text).expect("the text can be removed");
    }
}

/// Replay with every load row written, against replay without.
fn recording(folder: &Path, traces: &[(&str, PathBuf)]) {
    println!("\nrecording of load rows (target 1.05)");
    println!(
        "{:10} {:>12} {:>10} {:>10} {:>7}",
        "workload", "loads", "without s", "with s", "ratio"
    );
    let machine = load("v100", &[]).expect("a preset");
    for (workload, path) in traces {
        let trace = Trace::open(path).expect("the trace opens");
        let (result, without) = time(&machine, &trace);
        let with = (0..3)
            .map(|round| {
                let results = folder.join(format!("results-{workload}-{round}"));
                let writer = ResultsWriter::create(&results).expect("a results folder");
                let key = RunKey::new(*workload, 0, machine.clone(), "bench", None);
                let mut recorder = writer.begin_run(0, key).expect("a recorder");
                let start = Instant::now();
                let sink: &mut dyn LoadSink = &mut recorder;
                let result =
                    simulate(&machine, &trace, sink, &mut NoProgress).expect("the run ends");
                let time = start.elapsed();
                writer.finish_run(recorder, &result).expect("the run is written");
                time
            })
            .min()
            .expect("three runs");
        let ratio = with.as_secs_f64() / without.as_secs_f64();
        println!(
            "{workload:10} {:12} {:10.3} {:10.3} {ratio:7.2}",
            result.loads.loads,
            without.as_secs_f64(),
            with.as_secs_f64()
        );
    }
}
