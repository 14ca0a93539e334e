//! The CUDA versions, and how each repeats the launches of its generator.
//!
//! Eight of them run on a GPU in the measurements of `warpmem-hardware`. Three more show patterns that those
//! lack: `bfs` a traversal whose branches and trip counts depend on data, `hash-join` compare-and-swap retries
//! and an append aggregated over the warp, `pagerank` floating-point atomics behind warp shuffles.

use super::device::Argument::{self, Array, Word};
use super::device::Call;
use super::{CudaVersion, GeneratorLaunch, check};
use crate::tests::registry::Given;

macro_rules! ptx {
    ($name:literal) => {
        include_str!(concat!("../../../cuda/", $name, ".ptx"))
    };
}

fn always(_: &Given) -> bool {
    true
}

/// Whether `parameter` has this value or its default.
fn is(given: &Given, parameter: &str, value: &str) -> bool {
    given.get(parameter).is_none_or(|given| given == value)
}

fn call(kernel: impl Into<String>, arguments: Vec<Argument>) -> Call {
    Call { kernel: kernel.into(), arguments, dynamic_shared: false }
}

/// Returns the length of an array of 4-byte elements.
fn elements(launch: &GeneratorLaunch<'_>, array: usize) -> u32 {
    launch.arrays[array].len() as u32 / 4
}

fn arrays<const N: usize>(numbers: [usize; N]) -> impl Iterator<Item = Argument> {
    numbers.into_iter().map(|number| Array(number, 0))
}

fn words<const N: usize>(words: [u32; N]) -> impl Iterator<Item = Argument> {
    words.into_iter().map(Word)
}

pub const GATHER: CudaVersion = CudaVersion {
    generator: "gather",
    ptx: ptx!("gather"),
    covers: always,
    partial_warps: &[
        &[("n", "1000"), ("block", "96"), ("pattern", "hot")],
        &[("n", "33"), ("block", "40")],
    ],
    call: |launch| call("gather", arrays([0, 1, 2]).chain(words([elements(launch, 1)])).collect()),
    accesses: 342,
};

const TRANSPOSE: CudaVersion = CudaVersion {
    generator: "transpose",
    ptx: ptx!("transpose"),
    covers: always,
    partial_warps: &[
        &[("variant", "tiled"), ("tile", "32"), ("width", "70"), ("height", "37")],
        &[("variant", "tiled"), ("tile", "16"), ("width", "37"), ("height", "70")],
        &[("variant", "naive"), ("tile", "32"), ("width", "37"), ("height", "70")],
        &[("variant", "naive"), ("tile", "16"), ("width", "70"), ("height", "37")],
    ],
    call: |launch| {
        let variant = match launch.info.name.as_str() {
            "transposeNaive" => "straight",
            _ => "tiled",
        };
        let [width, height] = ["width", "height"].map(|name| launch.arguments.count32(name));
        let arguments = arrays([0, 1]).chain(words([width, height])).collect();
        call(format!("{variant}_{}", launch.info.block[0]), arguments)
    },
    accesses: 1_833,
};

pub const REDUCTION: CudaVersion = CudaVersion {
    generator: "reduction",
    ptx: ptx!("reduction"),
    covers: always,
    partial_warps: &[
        &[("n", "5000"), ("block", "64")],
        &[("n", "777"), ("block", "32")],
        &[("n", "1001"), ("block", "16")],
    ],
    call: |launch| {
        let from = launch.number;
        let arguments = arrays([from, from + 1]).chain(words([elements(launch, from)]));
        Call { dynamic_shared: true, ..call("reduce", arguments.collect()) }
    },
    accesses: 355,
};

const GEMM: CudaVersion = CudaVersion {
    generator: "gemm",
    ptx: ptx!("gemm"),
    covers: always,
    partial_warps: &[
        &[("m", "50"), ("n", "37"), ("k", "19")],
        &[("m", "33"), ("n", "70"), ("k", "40"), ("tile", "32")],
    ],
    call: |launch| {
        let [m, n, k] = ["m", "n", "k"].map(|name| launch.arguments.count32(name));
        let arguments = arrays([2, 0, 1]).chain(words([m, n, k])).collect();
        call(format!("multiply_{}", launch.info.block[0]), arguments)
    },
    accesses: 2_370,
};

const GESUMMV: CudaVersion = CudaVersion {
    generator: "gesummv",
    ptx: ptx!("gesummv"),
    covers: always,
    partial_warps: &[&[("n", "70"), ("columns", "5"), ("pitch", "33"), ("block", "40")]],
    call: |launch| {
        let sizes = ["n", "columns", "pitch"].map(|name| launch.arguments.count32(name));
        call("gesummv_kernel", arrays([0, 1, 2, 3, 4]).chain(words(sizes)).collect())
    },
    accesses: 1_310,
};

const SPMV: CudaVersion = CudaVersion {
    generator: "spmv",
    ptx: ptx!("spmv"),
    covers: |given| is(given, "variant", "scalar") || is(given, "variant", "vector"),
    partial_warps: &[
        &[("variant", "scalar"), ("matrix", "power-law"), ("rows", "333"), ("block", "96")],
        &[("variant", "vector"), ("matrix", "power-law"), ("rows", "333"), ("block", "96")],
        &[("variant", "vector"), ("rows", "40"), ("nnz-per-row", "70"), ("block", "128")],
    ],
    call: |launch| {
        let arguments = arrays([0, 1, 2, 3, 4]).chain(words([elements(launch, 4)])).collect();
        call(launch.info.name.clone(), arguments)
    },
    accesses: 20_139,
};

pub const HISTOGRAM: CudaVersion = CudaVersion {
    generator: "histogram",
    ptx: ptx!("histogram"),
    covers: always,
    partial_warps: &[
        &[
            ("n", "1000"),
            ("bins", "70"),
            ("grid", "3"),
            ("block", "96"),
            ("variant", "global"),
            ("pattern", "hot"),
        ],
        &[
            ("n", "1000"),
            ("bins", "70"),
            ("grid", "3"),
            ("block", "96"),
            ("variant", "shared"),
            ("pattern", "uniform"),
        ],
    ],
    call: |launch| {
        let in_shared = launch.info.name == "histogram_shared";
        let bins = in_shared.then(|| Word(elements(launch, 1)));
        let arguments = arrays([0, 1]).chain(words([elements(launch, 0)])).chain(bins);
        let call = call(launch.info.name.clone(), arguments.collect());
        Call { dynamic_shared: in_shared, ..call }
    },
    accesses: 1_337,
};

const STENCIL2D: CudaVersion = CudaVersion {
    generator: "stencil2d",
    ptx: ptx!("stencil2d"),
    covers: always,
    partial_warps: &[
        &[("width", "70"), ("height", "19"), ("block-x", "16"), ("block-y", "6")],
        &[("width", "33"), ("height", "3")],
    ],
    call: |launch| {
        let (from, to) = (launch.number % 2, 1 - launch.number % 2);
        let [width, height] = ["width", "height"].map(|name| launch.arguments.count32(name));
        let arguments = arrays([from, to]).chain(words([width, height])).collect();
        call("runJacobiCUDA_kernel1", arguments)
    },
    accesses: 3_312,
};

pub const BFS: CudaVersion = CudaVersion {
    generator: "bfs",
    ptx: ptx!("bfs"),
    covers: |given| is(given, "variant", "topology"),
    partial_warps: &[
        &[("nodes", "333"), ("graph", "uniform"), ("degree", "3"), ("block", "96")],
        &[("nodes", "100"), ("graph", "grid"), ("block", "40")],
    ],
    call: |launch| {
        let n = launch.arrays[2].len() as u32;
        // Arrays: nodes, edges, mask, updating, visited, cost, over.
        let arguments = match launch.info.name.as_str() {
            "Kernel" => arrays([0, 1, 2, 3, 4, 5]).chain(words([n])).collect(),
            _ => arrays([2, 3, 4, 6]).chain(words([n])).collect(),
        };
        call(launch.info.name.clone(), arguments)
    },
    accesses: 62_511,
};

const PAGERANK: CudaVersion = CudaVersion {
    generator: "pagerank",
    ptx: ptx!("pagerank"),
    covers: always,
    partial_warps: &[
        &[("nodes", "333"), ("degree", "2"), ("block", "96"), ("variant", "pull")],
        &[("nodes", "333"), ("degree", "2"), ("block", "96"), ("variant", "push")],
    ],
    call: |launch| {
        // Arrays: row, col, rank, scratch, totals.
        let n = [Word(elements(launch, 2))];
        let (dangling, change) = (Array(4, 0), Array(4, 4));
        let arguments: Vec<Argument> = match launch.info.name.as_str() {
            "contributions" => arrays([0, 2, 3]).chain([dangling]).chain(n).collect(),
            "pull" => arrays([0, 1, 2, 3]).chain([dangling, change]).chain(n).collect(),
            "push" => arrays([0, 1, 2, 3]).chain([dangling]).chain(n).collect(),
            _ => arrays([2, 3]).chain([dangling, change]).chain(n).collect(),
        };
        call(launch.info.name.clone(), arguments)
    },
    accesses: 73_364,
};

const HASH_JOIN: CudaVersion = CudaVersion {
    generator: "hash-join",
    ptx: ptx!("hash_join"),
    covers: always,
    partial_warps: &[
        &[("build", "500"), ("probe", "1000"), ("fill", "95"), ("block", "96")],
        &[("build", "77"), ("probe", "300"), ("match", "100"), ("skew", "2"), ("block", "40")],
        &[("build", "40"), ("probe", "100"), ("match", "0")],
    ],
    call: |launch| {
        // Arrays: table, output, cursor, build keys, build values, probe keys, probe values.
        let slots = launch.arrays[0].len() as u32 / 8;
        let (input, output): (_, &[usize]) = match launch.info.name.as_str() {
            "build" => ([3, 4], &[]),
            _ => ([5, 6], &[1, 2]),
        };
        let arguments = arrays(input)
            .chain(words([elements(launch, input[0])]))
            .chain(arrays([0]))
            .chain(words([slots]))
            .chain(output.iter().map(|&array| Array(array, 0)))
            .collect();
        call(launch.info.name.clone(), arguments)
    },
    accesses: 10_780,
};

#[test]
fn gather_accesses_match_its_cuda_version() {
    check(&GATHER);
}

#[test]
fn transpose_accesses_match_its_cuda_version() {
    check(&TRANSPOSE);
}

#[test]
fn reduction_accesses_match_its_cuda_version() {
    check(&REDUCTION);
}

#[test]
fn gemm_accesses_match_its_cuda_version() {
    check(&GEMM);
}

#[test]
fn gesummv_accesses_match_its_cuda_version() {
    check(&GESUMMV);
}

#[test]
fn spmv_accesses_match_its_cuda_version() {
    check(&SPMV);
}

#[test]
fn histogram_accesses_match_its_cuda_version() {
    check(&HISTOGRAM);
}

#[test]
fn stencil2d_accesses_match_its_cuda_version() {
    check(&STENCIL2D);
}

#[test]
fn bfs_accesses_match_its_cuda_version() {
    check(&BFS);
}

#[test]
fn pagerank_accesses_match_its_cuda_version() {
    check(&PAGERANK);
}

#[test]
fn hash_join_accesses_match_its_cuda_version() {
    check(&HASH_JOIN);
}
