//! Generation rates: warp-level records and lanes' addresses per second of one core.
//!
//! For each workload: the rate of the whole of `generate` per second of CPU time, the rate from the
//! first CTA on, with the input already made (kernels run, records encoded, compressed and
//! written), and the ratio of the latter to the target. `cargo bench --no-default-features --bench
//! generate [-- WORKLOAD…]`.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};
use warpmem::workload::{Progress, generate};
use warpmem_trace::Trace;

/// Generators with parameters that make them large enough to time.
const WORKLOADS: [(&str, &[(&str, &str)]); 10] = [
    ("vecadd", &[("n", "2^22")]),
    ("stream", &[("n", "2^24")]),
    ("reduction", &[("n", "2^22")]),
    ("bfs", &[("nodes", "2^17")]),
    ("spmv", &[("rows", "2^17"), ("variant", "vector")]),
    ("spmv", &[("rows", "2^17"), ("variant", "scalar")]),
    ("gather", &[("n", "2^22"), ("table", "2^14")]),
    ("gather", &[("n", "2^22"), ("table", "2^24")]),
    ("histogram", &[("n", "2^22")]),
    ("pointer-chase", &[("warps", "128")]),
];

/// Target, records per second.
const RECORDS: f64 = 5.0e6;

fn main() {
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("generated.wmt");
    println!("millions per second of one core");
    println!(
        "{:36} {:>8} {:>7} {:>10} {:>10} {:>10} {:>7}",
        "workload", "records", "bytes", "whole rec", "rec", "addresses", "ratio"
    );
    for (name, parameters) in WORKLOADS {
        if chosen.is_empty() || chosen.iter().any(|chosen| chosen == name) {
            print(name, parameters, &path);
        }
    }
}

fn print(name: &str, parameters: &[(&str, &str)], path: &Path) {
    let runs = (0..3).map(|_| run(name, parameters, path));
    let fastest = runs.min_by(|a, b| a.emission.total_cmp(&b.emission)).expect("three runs");
    let options: Vec<String> =
        parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
    println!(
        "{:36} {:7.2}M {:7.1} {:10.2} {:10.2} {:10.0} {:7.2}",
        format!("{name} {}", options.join(" ")),
        fastest.records / 1e6,
        fastest.bytes / fastest.records,
        fastest.records / fastest.whole / 1e6,
        fastest.records / fastest.emission / 1e6,
        fastest.addresses / fastest.emission / 1e6,
        fastest.records / fastest.emission / RECORDS
    );
}

struct Run {
    records: f64,
    addresses: f64,
    /// Size of the file, bytes.
    bytes: f64,
    /// CPU seconds of the whole, and from the first CTA on.
    whole: f64,
    emission: f64,
}

fn run(name: &str, parameters: &[(&str, &str)], path: &Path) -> Run {
    let given: BTreeMap<String, String> =
        parameters.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let start = processor_seconds();
    let mut first_cta = None;
    let mut progress = |_: &Progress| {
        first_cta.get_or_insert_with(processor_seconds);
        ControlFlow::Continue(())
    };
    let summary = generate(name, &given, 1, path, &mut progress).expect("the generator runs");
    let end = processor_seconds();
    let trace = Trace::open(path).expect("the trace opens");
    let kinds = trace.kernels().iter().flat_map(|kernel| &kernel.records_by_kind);
    let addresses: u64 =
        kinds.filter(|count| count.kind.is_memory()).map(|count| count.lanes).sum();
    Run {
        records: summary.records as f64,
        addresses: addresses as f64,
        bytes: summary.file_bytes as f64,
        whole: end - start,
        emission: end - first_cta.unwrap_or(start),
    }
}

/// Returns the CPU time of this process, which other processes affect less than wall-clock time.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
