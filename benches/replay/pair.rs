//! This build of `warpmem` against another: both run the same traces alternately, and their CPU
//! seconds are compared pairwise, so that load on the host affects both alike.

use super::captured::traces;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::path::Path;
use std::process::Command;

const MACHINES: [&str; 2] = ["accelsim-qv100", "accelsim-rtx2060s"];

/// Pairs of runs per trace and machine.
const PAIRS: usize = 7;

/// Columns in which two builds may differ: the origin of a row, not its results.
const OF_THE_BUILD: [&str; 3] = ["run_id", "engine_version", "command"];

/// CPU seconds of a run, and the row that it printed.
struct Run {
    seconds: f64,
    row: serde_json::Value,
}

/// Compares this build with the program at `old`. Prints a line for each run, then the geometric
/// mean and the minimum of the ratios.
pub fn compare(old: &Path, folder: &Path) {
    let new = Path::new(env!("CARGO_BIN_EXE_warpmem"));
    println!("CPU seconds of alternated runs, median of {PAIRS} pairs");
    println!(
        "{:10} {:14} {:>9} {:>9} {:>7} {:>15}  rows",
        "machine", "trace", "old", "new", "times", "least, greatest"
    );
    let mut ratios = Vec::new();
    for trace in traces(folder) {
        for machine in MACHINES {
            ratios.push(compare_on(machine, &trace, [old, new]));
        }
    }
    if ratios.is_empty() {
        println!("no captured traces beside this checkout");
        return;
    }
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    println!("geometric mean {:.2} times, least {least:.2}", mean.exp());
}

/// Returns the speed of the second of `programs` relative to the first.
fn compare_on(machine: &str, trace: &Path, programs: [&Path; 2]) -> f64 {
    // A first run of each brings programs and trace into the host's page cache. The old program may
    // lack the option for threads.
    let extra: [&[&str]; 2] = [&[], &["--threads", "1"]];
    let runs = || [0, 1].map(|of| run(programs[of], machine, trace, extra[of]));
    let [old, new] = runs().map(|run| run.row);
    let rows = if old == new { "equal" } else { "DIFFERENT" };
    let pairs: Vec<[f64; 2]> = (0..PAIRS).map(|_| runs().map(|run| run.seconds)).collect();
    let [old, new] = [0, 1].map(|of| median(pairs.iter().map(|pair| pair[of])));
    let ratios: Vec<f64> = pairs.iter().map(|[old, new]| old / new).collect();
    let ratio = median(ratios.iter().copied());
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = ratios.iter().copied().fold(0.0, f64::max);
    let name = trace.file_stem().unwrap_or_default().to_string_lossy();
    println!(
        "{machine:10} {name:14} {old:9.3} {new:9.3} {ratio:7.2} {:>15}  {rows}",
        format!("{least:.2}, {greatest:.2}")
    );
    ratio
}

fn run(program: &Path, machine: &str, trace: &Path, extra: &[&str]) -> Run {
    let before = seconds_of_children();
    let mut command = Command::new(program);
    command.arg("run").arg(trace).args(["--machine", machine, "--format", "json"]).args(extra);
    let output = command.output().expect("the program starts");
    let seconds = seconds_of_children() - before;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut row: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("the program prints a row");
    if let Some(columns) = row[0].as_object_mut() {
        columns.retain(|name, _| !OF_THE_BUILD.contains(&name.as_str()));
    }
    Run { seconds, row }
}

/// Returns the CPU seconds of all child processes that have ended.
fn seconds_of_children() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts time");
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6
}

pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
