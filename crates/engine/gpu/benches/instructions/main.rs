//! Host instructions of the engine against a committed budget.
//!
//! Callgrind counts the instructions of eight short runs on one thread. Counts repeat within 0.3 % whatever
//! else the host does. `budget.toml` states them, and a run that takes over 2 % more fails:
//!
//! ```sh
//! cargo bench -p warpmem-gpu --bench instructions                     # compare with the budget
//! cargo bench -p warpmem-gpu --bench instructions -- --update         # lower the budget
//! cargo bench -p warpmem-gpu --bench instructions -- --update REASON  # raise it too
//! ```
//!
//! A count covers the simulation, without start-up; [`callgrind`] says which code.

#![allow(clippy::print_stdout, reason = "a program")]

mod budget;
mod callgrind;

use budget::Budget;
use callgrind::count;
use std::path::Path;
use std::process::ExitCode;
use warpmem_gpu::engine::Simulation;
use warpmem_gpu::results::Discard;
use warpmem_machine::load;
use warpmem_trace::Trace;

/// Traces in `traces/`, each with the command that generated it in its provenance, and the machine of their
/// run: mirrors of Accel-Sim (`accelsim-qv100`, `accelsim-rtx2060s`), machines of papers, and chips.
const RUNS: [(&str, &str); 8] = [
    ("triad", "accelsim-qv100"),
    ("vecadd", "accelsim-rtx2060s"),
    ("merge-sort", "li2015"),
    ("stencil", "accelsim-qv100"),
    ("gups", "h100"),
    ("bfs", "accelsim-rtx2060s"),
    ("spmv", "owl2013"),
    ("gemm", "a100"),
];

/// First argument of a process that makes one run.
const ONE: &str = "one";

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let arguments: Vec<String> = arguments.collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [ONE, machine, trace] => simulate(machine, Path::new(trace)),
        [] => check(),
        ["--update"] => update(None),
        ["--update", reason] => update(Some(reason)),
        _ => {
            println!("usage: instructions [--update [REASON]]");
            ExitCode::FAILURE
        }
    }
}

fn simulate(machine: &str, trace: &Path) -> ExitCode {
    let machine = load(machine, &[]).expect("a preset");
    let trace = Trace::open(trace).expect("the trace opens");
    callgrind::counted_region(|| {
        Simulation::new(&machine, &trace).run(&mut Discard).expect("the run ends")
    });
    ExitCode::SUCCESS
}

/// Prints the counts beside the budget; fails if one exceeds it.
fn check() -> ExitCode {
    let Some(counts) = counts() else { return ExitCode::SUCCESS };
    let budget = Budget::read();
    print!("{}", budget.table(&counts));
    match budget.is_kept(&counts) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn update(reason: Option<&str>) -> ExitCode {
    let Some(counts) = counts() else { return ExitCode::FAILURE };
    let mut budget = Budget::read();
    print!("{}", budget.table(&counts));
    budget.update(&counts, reason);
    budget.write();
    match budget.is_kept(&counts) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Counts the instructions of every run; `None` without valgrind.
fn counts() -> Option<Vec<(String, u64)>> {
    if !callgrind::is_installed() {
        println!("no instructions are counted: valgrind is not installed");
        return None;
    }
    let count = |(trace, machine): (&str, &str)| {
        let path =
            format!("{}/benches/instructions/traces/{trace}.wmt", env!("CARGO_MANIFEST_DIR"));
        (format!("{trace} on {machine}"), count(&[ONE, machine, &path]))
    };
    Some(RUNS.map(count).into())
}
