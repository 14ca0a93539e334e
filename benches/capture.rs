//! Measures capture in thread instructions per second, with and without recording a trace.
//!
//! `cargo bench --no-default-features --bench capture`. The kernels are the CUDA counterparts of
//! the generators `gemm` and `spmv`.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::thread::available_parallelism;
use std::time::Instant;

use warpmem::capture::{
    Argument, Dimensions, Options, Plan, PlannedLaunch, Registers, Selection, capture,
};
use warpmem::simt::Limits;

/// A launch, its label and the target rate, million thread instructions per second on one thread.
struct Case {
    label: &'static str,
    ptx: &'static str,
    kernel: &'static str,
    grid: &'static str,
    block: &'static str,
    arguments: &'static [&'static str],
    /// Target rate while recording on one thread, in million thread instructions per second.
    target: f64,
}

const CASES: [Case; 2] = [
    Case {
        label: "gemm, 512 × 512 × 512, tiles of 16 in shared memory",
        ptx: "gemm.ptx",
        kernel: "multiply_16",
        grid: "32,32",
        block: "16,16",
        arguments: &[
            "buffer:f32[512,512]",
            "buffer:f32[512,512]=random",
            "buffer:f32[512,512]=random",
            "512",
            "512",
            "512",
        ],
        target: 100.0,
    },
    Case {
        label: "spmv, a warp per row, 2^16 rows of 64",
        ptx: "spmv.ptx",
        kernel: "spmv_csr_vector",
        grid: "2^13",
        block: "256",
        arguments: &[
            "buffer:u32[65537]=sequence(0,64)",
            "buffer:u32[2^22]=random(0,2^16)",
            "buffer:f32[2^22]=random",
            "buffer:f32[2^16]=random",
            "buffer:f32[2^16]",
            "2^16",
        ],
        target: 60.0,
    },
];

fn main() {
    let cores = available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    println!("million thread instructions per second, the best of three");
    println!("{:52} {:>9} {:>9} {:>7} {:>9}", "kernel", "executed", "recorded", "ratio", "threads");
    for case in &CASES {
        for threads in [1, cores] {
            let [executed, recorded] = [false, true].map(|recorded| best(case, threads, recorded));
            let ratio = recorded / case.target;
            println!("{:52} {executed:9.0} {recorded:9.0} {ratio:7.2} {threads:9}", case.label);
        }
    }
}

fn best(case: &Case, threads: usize, recorded: bool) -> f64 {
    (0..3).map(|_| rate(case, threads, recorded)).fold(0.0, f64::max)
}

/// Measures the rate from the moment the buffers are allocated.
fn rate(case: &Case, threads: usize, recorded: bool) -> f64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Options {
        output: recorded.then(|| folder.path().join("captured.wmt")),
        selection: Selection::all(),
        limits: Limits { threads, ..Limits::default() },
        registers: Registers::Estimated,
        command: String::new(),
    };
    let clock = Clock::default();
    let captured = capture(&plan(case), &options, &clock).expect("it is captured");
    let seconds = clock.seconds();
    captured.launches[0].warp_instructions as f64 * 32.0 / seconds / 1e6
}

fn plan(case: &Case) -> Plan {
    let cuda = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/traces/workload/cuda");
    let parse = |text: &&str| Argument::parse(text).expect("an argument");
    let size = |text: &str| text.parse::<Dimensions>().expect("dimensions");
    let launch = PlannedLaunch {
        cluster: None,
        kernel: case.kernel.to_owned(),
        grid: size(case.grid),
        block: size(case.block),
        shared: 0,
        arguments: case.arguments.iter().map(parse).collect(),
    };
    Plan {
        module: cuda.join(case.ptx),
        folder: cuda,
        seed: 1,
        buffers: Vec::new(),
        textures: Vec::new(),
        launches: vec![launch],
    }
}

/// Measures from the start of the launch to its end.
#[derive(Default)]
struct Clock {
    begun: std::cell::Cell<Option<Instant>>,
    seconds: std::cell::Cell<f64>,
}

impl Clock {
    fn seconds(&self) -> f64 {
        self.seconds.get()
    }
}

impl warpmem::capture::Observer for Clock {
    fn launch(&self, _: usize, _: usize, _: &str, _: u64) {
        self.begun.set(Some(Instant::now()));
    }

    fn advance(&self, _: u64, _: u64) -> bool {
        if let Some(begun) = self.begun.get() {
            self.seconds.set(begun.elapsed().as_secs_f64());
        }
        true
    }
}
