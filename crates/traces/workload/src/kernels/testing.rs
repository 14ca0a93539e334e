//! Helpers of the kernel tests: run a kernel, then inspect its result and its trace, read back from
//! disk.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

use tempfile::TempDir;
use warpmem_trace::{Instruction, Provenance, Record, Trace};
pub use warpmem_trace::{Kind, Space};

use crate::WorkloadError;
use crate::gpu::{Gpu, Progress};
use crate::input::{Csr, Graph, GraphKind, Random, graph};
use crate::parameters::Choice;
use warpmem_trace::Ranges;

/// A finished run.
pub struct Run<R> {
    /// Result of the host code.
    pub result: R,
    trace: Trace,
    _directory: TempDir,
}

/// Runs `host` on an empty device.
pub fn run<R>(host: impl FnOnce(&mut Gpu) -> Result<R, WorkloadError>) -> Run<R> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.wmt");
    let provenance =
        Provenance { tool: String::new(), source: String::new(), command: String::new() };
    let mut progress = |_: &Progress<'_>| ControlFlow::Continue(());
    let mut gpu = Gpu::create(&path, provenance, Ranges::all(), &mut progress).unwrap();
    let result = host(&mut gpu).unwrap();
    gpu.finish().unwrap();
    Run { result, trace: Trace::open(&path).unwrap(), _directory: directory }
}

/// Returns a graph of every kind with `nodes` vertices and about `degree` neighbours each, one with
/// a single vertex, and one without edges.
pub fn graphs(nodes: u32, degree: u32) -> Vec<(&'static str, Csr)> {
    let mut random = Random::new(11);
    let drawn = GraphKind::NAMES.iter();
    let mut graphs: Vec<_> =
        drawn.map(|&(name, kind)| (name, graph(kind, nodes, degree, &mut random))).collect();
    graphs.push(("one vertex", Csr::from_pairs(1, Vec::new())));
    graphs.push(("no edges", Csr::from_pairs(40, Vec::new())));
    graphs
}

/// Returns a graph whose edges all have weight 1.
pub fn unweighted(structure: &Csr, directed: bool) -> Graph {
    let weights = vec![1; structure.columns.len()];
    Graph { structure: structure.clone(), weights, labels: None, directed }
}

/// Calls `visit` with every record of `trace` and its instruction, in the order kernel, CTA, warp; `warp` counts
/// within the kernel.
pub fn visit_records(trace: &Trace, mut visit: impl FnMut(usize, usize, &Instruction, &Record)) {
    for (index, kernel) in trace.kernels().iter().enumerate() {
        let instructions = trace.instructions(index).unwrap();
        let mut record = Record::new();
        let mut warp = 0;
        for chunk in 0..kernel.chunks.len() {
            let chunk = trace.chunk(index, chunk).unwrap();
            for (cta, entry) in chunk.ctas().iter().enumerate() {
                for warp_in_cta in 0..entry.warps.len() {
                    let mut cursor = chunk.warp(cta, warp_in_cta);
                    while cursor.next(&mut record).unwrap() {
                        let instruction = &instructions[record.instruction.0 as usize];
                        visit(index, warp, instruction, &record);
                    }
                    warp += 1;
                }
            }
        }
    }
}

impl<R> Run<R> {
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns the global addresses of every access of `kind` by a lane, over all kernels.
    pub fn accesses(&self, kind: Kind) -> Vec<u64> {
        let mut addresses = Vec::new();
        visit_records(&self.trace, |_, _, instruction, record| {
            if instruction.kind == kind && instruction.space == Space::Global {
                addresses.extend_from_slice(record.active_addresses());
            }
        });
        addresses
    }

    /// Returns the distinct addresses of [`Run::accesses`].
    pub fn addresses(&self, kind: Kind) -> BTreeSet<u64> {
        self.accesses(kind).into_iter().collect()
    }

    /// Counts the lane accesses to the array at `range`, over all kernels.
    pub fn count(&self, kind: Kind, range: &Range<u64>) -> usize {
        self.accesses(kind).iter().filter(|address| range.contains(address)).count()
    }

    /// Returns the 128-byte lines touched by each access of `kind` to the array at `range`, over
    /// all kernels.
    pub fn lines(&self, kind: Kind, range: &Range<u64>) -> Vec<usize> {
        let mut lines = Vec::new();
        visit_records(&self.trace, |_, _, instruction, record| {
            let addresses = record.active_addresses();
            let is_there = addresses.first().is_some_and(|first| range.contains(first));
            if instruction.kind == kind && instruction.space == Space::Global && is_there {
                lines.push(addresses.iter().map(|a| a / 128).collect::<BTreeSet<_>>().len());
            }
        });
        lines
    }

    /// Returns the number of async copies, and of those with a wait.
    pub fn copies_and_waited(&self) -> [usize; 2] {
        let mut copies = [0, 0];
        visit_records(&self.trace, |_, _, instruction, _| {
            if instruction.kind == Kind::AsyncCopy {
                copies[0] += 1;
                copies[1] += usize::from(instruction.use_distance.is_some());
            }
        });
        copies
    }

    /// Returns the instructions of warp `warp` of the first kernel, in order.
    pub fn warp(&self, warp: usize) -> Vec<(Instruction, Record)> {
        let mut executed = Vec::new();
        visit_records(&self.trace, |kernel, w, instruction, record| {
            if kernel == 0 && w == warp {
                executed.push((instruction.clone(), record.clone()));
            }
        });
        executed
    }
}
