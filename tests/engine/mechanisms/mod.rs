//! Small kernels that must show a paper's mechanism, and controls that must not: generated kernels,
//! whose parameters set the regime, and the traces of `mechanisms/README.md` beside the captured
//! ones. Runs are deterministic, so the bounds are close to the measured values.
//!
//! By default each mechanism shows in its shortest kernels, some of them cut; a [long](is_long) run adds kernels
//! that show the same on other data or between two extremes, and most controls.

mod calrs;
mod li;
mod owl;
mod warped_mc;
mod yuan;

use std::ops::ControlFlow;
use std::path::Path;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::import::{ImportOptions, import_accel_sim};
use warpmem::machine::load;
use warpmem::workload::generate;
use warpmem_testing::is_long;
use warpmem_trace::Trace;

/// Returns whether a test for [long](is_long) runs is left out, with a message.
fn is_left_out() -> bool {
    if !is_long() {
        eprintln!("skipped: it runs with WARPMEM_LONG_TESTS=1");
    }
    !is_long()
}

/// A trace on a machine with overrides.
struct Mechanism {
    trace: Trace,
    machine: &'static str,
    overrides: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Mechanism {
    /// Opens the trace `name`; none, with a message, without the folder of traces.
    fn open(name: &str, machine: &'static str) -> Option<Mechanism> {
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces/mechanisms");
        let list = shared.join(name).join("kernelslist.g");
        if !list.exists() {
            eprintln!("skipped: {} is not there", list.display());
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.wmt");
        import_accel_sim(&list, &path, &ImportOptions::default(), &()).unwrap();
        let trace = Trace::open(&path).unwrap();
        Some(Mechanism { trace, machine, overrides: Vec::new(), _folder: folder })
    }

    /// Opens a trace for [long](is_long) runs; none, with a message, in a short one.
    fn open_long(name: &str, machine: &'static str) -> Option<Mechanism> {
        if is_left_out() { None } else { Mechanism::open(name, machine) }
    }

    /// Generates the trace of `warpmem generate KERNEL` with `parameters`, as `--name value`.
    fn generated(kernel: &str, parameters: &str, machine: &'static str) -> Mechanism {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.wmt");
        let words: Vec<&str> = parameters.split_whitespace().collect();
        let given = words
            .chunks_exact(2)
            .map(|pair| (pair[0].trim_start_matches("--").to_owned(), pair[1].to_owned()))
            .collect();
        generate(kernel, &given, 1, &path, &mut |_| ControlFlow::Continue(())).unwrap();
        let trace = Trace::open(&path).unwrap();
        Mechanism { trace, machine, overrides: Vec::new(), _folder: folder }
    }

    /// Adds `overrides`, as `key=value`, to every run.
    fn with(mut self, overrides: &[&str]) -> Mechanism {
        self.overrides.extend(overrides.iter().map(|&text| text.to_owned()));
        self
    }

    /// Ends the kernel after this many warp instructions.
    fn cut(self, instructions: u32) -> Mechanism {
        self.with(&[&format!("run.launch_instructions={instructions}")])
    }

    /// Runs with further overrides.
    fn run(&self, overrides: &[&str]) -> RunResult {
        let further = overrides.iter().map(|&text| text.to_owned());
        let all: Vec<String> = self.overrides.iter().cloned().chain(further).collect();
        let machine = load(self.machine, &all).unwrap();
        Simulation::new(&machine, &self.trace).run(&mut Discard).unwrap()
    }

    /// Returns the IPC gain of each of the `variants` of a policy `slot` over `base`, in %.
    fn gains<const N: usize>(&self, slot: &str, base: &str, variants: [&str; N]) -> [f64; N] {
        let run = |policy: &str| self.run(&[&format!("policy.{slot}={policy}")]);
        let base = run(base);
        variants.map(|policy| gain(&base, &run(policy)))
    }
}

/// Changes of a machine that are irrelevant to every mechanism: data placement, and latencies of
/// the SMs.
const IRRELEVANT: [&str; 6] = [
    "run.page_offset=0",
    "run.page_offset=27",
    "run.page_offset=1699",
    "sm.operand_latency=5",
    "sm.operand_latency=7",
    "l1.latency=30",
];

/// Returns the mean of a gain over all irrelevant changes, and half of its 95 % interval (t of 5
/// degrees of freedom: 2.571).
fn over_irrelevant(gain: impl Fn(&'static str) -> f64) -> [f64; 2] {
    let gains = IRRELEVANT.map(gain);
    let count = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / count;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (count - 1.0);
    [mean, 2.571 * (variance / count).sqrt()]
}

/// Returns the IPC gain of `run` over `base`, in %; both run the same instructions.
fn gain(base: &RunResult, run: &RunResult) -> f64 {
    100.0 * (base.core_cycles as f64 / run.core_cycles as f64 - 1.0)
}
