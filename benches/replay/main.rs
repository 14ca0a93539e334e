//! Replay and import rates on generated traces.
//!
//! For each workload and machine: warp instructions, L1-miss requests and engine steps per second
//! of one core, and the ratio to the design's targets; then the cost per warp instruction as a
//! trace grows; then the rate at which exported Accel-Sim text is imported again. `cargo bench
//! --bench replay [-- recording]`; `recording` also compares replay with and without the load rows
//! written to Parquet. `--pair OLD` instead compares this build of the program with another, OLD,
//! on captured traces; `--threads N` compares runs of them on 1 to N threads.
#![allow(clippy::print_stdout)]

mod captured;
mod pair;
mod threads;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::import::{ExportOptions, ImportOptions, export_accel_sim, import_accel_sim};
use warpmem::machine::{Machine, load};
use warpmem::record::{Recorded, ResultsWriter, RunKey};
use warpmem::workload::generate;
use warpmem_trace::Trace;

const MACHINES: [&str; 3] = ["li2015", "accelsim-qv100", "accelsim-rtx2060s"];

/// Generators with parameters that make them large enough to time.
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

/// Recordings of the comparison with a recorder.
const LOADS: Recorded = Recorded { loads: true, intervals: None, requests: None };

/// First argument of the child process that measures memory.
const RESIDENT: &str = "resident";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, first, path] = arguments.as_slice()
        && first == RESIDENT
    {
        return replay_and_print_peak(path);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    if let Some(at) = arguments.iter().position(|argument| argument == "--pair") {
        let old = arguments.get(at + 1).expect("--pair needs the path of the other program");
        return pair::compare(Path::new(old), folder.path());
    }
    if let Some(at) = arguments.iter().position(|argument| argument == "--threads") {
        let most = arguments.get(at + 1).and_then(|most| most.parse().ok());
        return threads::compare(most.expect("--threads needs a number"), folder.path());
    }
    growth(folder.path());
    let traces: Vec<(&str, PathBuf)> = WORKLOADS
        .iter()
        .map(|&(name, parameters)| (name, make(folder.path(), name, name, parameters)))
        .collect();
    replay(&traces);
    import(folder.path(), &traces);
    if arguments.iter().any(|argument| argument == "recording") {
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

/// Measures the fastest of three runs.
fn time(machine: &Machine, trace: &Trace) -> (RunResult, Duration) {
    let run = || {
        let start = Instant::now();
        let result = Simulation::new(machine, trace).run(&mut Discard).expect("the run ends");
        (result, start.elapsed())
    };
    (0..3).map(|_| run()).min_by_key(|&(_, time)| time).expect("three runs")
}

fn warp_instructions(result: &RunResult) -> f64 {
    result.sms.iter().map(|sm| sm.warp_instructions as f64).sum()
}

/// Counts the requests that arrived at the L2.
fn requests(result: &RunResult) -> f64 {
    let counts = result.slices.iter().map(|slice| &slice.cache);
    let of = |c: &warpmem::cache::CacheCounts| {
        c.read_hits
            + c.read_misses
            + c.read_sector_misses
            + c.read_pending_hits
            + c.write_hits
            + c.write_misses
            + c.write_sector_misses
    };
    counts.map(|c| of(c) as f64).sum()
}

fn replay(traces: &[(&str, PathBuf)]) {
    println!("\nreplay, one thread: millions per second and ratio to the target");
    println!(
        "{:10} {:10} {:>14} {:>7} {:>14} {:>7} {:>10}",
        "machine", "workload", "warp instr/s", "ratio", "L2 requests/s", "ratio", "ns/step"
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

/// Prints the cost per warp instruction of ever longer traces of one kind; the target is a constant
/// cost.
fn growth(folder: &Path) {
    println!("cost and peak memory as the trace grows (li2015, vecadd)");
    println!(
        "{:>10} {:>18} {:>22} {:>7} {:>13} {:>7}",
        "elements", "warp instructions", "ns/warp instruction", "ratio", "resident MiB", "ratio"
    );
    let machine = load("li2015", &[]).expect("a preset");
    let mut first = None;
    for n in ["2^18", "2^20", "2^22", "2^24"] {
        let path = make(folder, &format!("growth-{n}"), "vecadd", &[("n", n)]);
        let trace = Trace::open(&path).expect("the trace opens");
        let (result, time) = time(&machine, &trace);
        let cost = time.as_secs_f64() * 1e9 / warp_instructions(&result);
        let resident = resident_mib(&path);
        let (first_cost, first_resident) = *first.get_or_insert((cost, resident));
        println!(
            "{n:>10} {:18.0} {cost:22.1} {:7.2} {resident:13.1} {:7.2}",
            warp_instructions(&result),
            cost / first_cost,
            resident / first_resident
        );
    }
}

/// Returns the peak resident memory of a process that only replays the trace, MiB.
fn resident_mib(path: &Path) -> f64 {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program).args([RESIDENT, &path.to_string_lossy()]).output();
    let text =
        String::from_utf8(output.expect("the child runs").stdout).expect("the child prints text");
    text.trim().parse().unwrap_or(f64::NAN)
}

/// Runs in the child: replays the trace and prints its own peak in MiB, if the system reports it.
fn replay_and_print_peak(path: &str) {
    let machine = load("li2015", &[]).expect("a preset");
    let trace = Trace::open(Path::new(path)).expect("the trace opens");
    Simulation::new(&machine, &trace).run(&mut Discard).expect("the run ends");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    let kib: Option<f64> = peak.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    println!("{}", kib.map_or(f64::NAN, |kib| kib / 1024.0));
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

/// Compares replay with every load row written against replay without.
fn recording(folder: &Path, traces: &[(&str, PathBuf)]) {
    println!("\nrecording of load rows (target 1.05)");
    println!(
        "{:10} {:>12} {:>10} {:>10} {:>7}",
        "workload", "loads", "without s", "with s", "ratio"
    );
    let machine = load("accelsim-qv100", &[]).expect("a preset");
    for (workload, path) in traces {
        let trace = Trace::open(path).expect("the trace opens");
        let (result, without) = time(&machine, &trace);
        let with = (0..3)
            .map(|round| {
                let results = folder.join(format!("results-{workload}-{round}"));
                let writer = ResultsWriter::create(&results).expect("a results folder");
                let key = RunKey::new(*workload, 0, machine.clone(), "bench");
                let mut recorder = writer.begin_run(key, LOADS).expect("a recorder");
                let start = Instant::now();
                let simulation = Simulation::new(&machine, &trace);
                let result = simulation.run(&mut recorder).expect("the run ends");
                let time = start.elapsed();
                writer.finish_run(0, recorder, &result).expect("the run is written");
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
