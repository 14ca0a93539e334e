//! The twins: how each is launched, and what is the same.

use super::device::Argument::{self, Array, Float, Word};
use super::device::Call;
use super::{Kernel, Twin, check_all};
use crate::tests::registry::Given;

macro_rules! ptx {
    ($name:literal) => {
        include_str!(concat!("../../../cuda/", $name, ".ptx"))
    };
}
pub(super) use ptx;

pub(super) fn always(_: &Given) -> bool {
    true
}

/// Without a choice, or with this one.
fn is(given: &Given, parameter: &str, value: &str) -> bool {
    given.get(parameter).is_none_or(|given| given == value)
}

pub(super) fn call(kernel: impl Into<String>, arguments: Vec<Argument>) -> Call {
    let kernel = kernel.into();
    Call { kernel, arguments, dynamic_shared: false, constant: None }
}

/// The elements of an array of 4 bytes each.
pub(super) fn elements(kernel: &Kernel<'_>, array: usize) -> u32 {
    kernel.arrays[array].len() as u32 / 4
}

pub(super) fn arrays<const N: usize>(numbers: [usize; N]) -> impl Iterator<Item = Argument> {
    numbers.into_iter().map(|number| Array(number, 0))
}

pub(super) fn words<const N: usize>(words: [u32; N]) -> impl Iterator<Item = Argument> {
    words.into_iter().map(Word)
}

pub const GATHER: Twin = Twin {
    generator: "gather",
    ptx: ptx!("gather"),
    covers: always,
    uneven: &[
        &[("n", "1000"), ("block", "96"), ("pattern", "hot")],
        &[("n", "33"), ("block", "40")],
    ],
    launch: |kernel| {
        call("gather", arrays([0, 1, 2]).chain(words([elements(kernel, 1)])).collect())
    },
};

pub const TRANSPOSE: Twin = Twin {
    generator: "transpose",
    ptx: ptx!("transpose"),
    covers: always,
    uneven: &[
        &[("variant", "tiled"), ("tile", "32"), ("width", "70"), ("height", "37")],
        &[("variant", "tiled"), ("tile", "16"), ("width", "37"), ("height", "70")],
        &[("variant", "naive"), ("tile", "32"), ("width", "37"), ("height", "70")],
        &[("variant", "naive"), ("tile", "16"), ("width", "70"), ("height", "37")],
    ],
    launch: |kernel| {
        let variant = match kernel.info.name.as_str() {
            "transposeNaive" => "straight",
            _ => "tiled",
        };
        let [width, height] = ["width", "height"].map(|name| kernel.arguments.count32(name));
        let arguments = arrays([0, 1]).chain(words([width, height])).collect();
        call(format!("{variant}_{}", kernel.info.block[0]), arguments)
    },
};

pub const REDUCTION: Twin = Twin {
    generator: "reduction",
    ptx: ptx!("reduction"),
    covers: always,
    uneven: &[
        &[("n", "5000"), ("block", "64")],
        &[("n", "777"), ("block", "32")],
        &[("n", "1001"), ("block", "16")],
    ],
    launch: |kernel| {
        let from = kernel.number;
        let arguments = arrays([from, from + 1]).chain(words([elements(kernel, from)]));
        Call { dynamic_shared: true, ..call("reduce", arguments.collect()) }
    },
};

pub const GEMM: Twin = Twin {
    generator: "gemm",
    ptx: ptx!("gemm"),
    covers: always,
    uneven: &[
        &[("m", "50"), ("n", "37"), ("k", "19")],
        &[("m", "33"), ("n", "70"), ("k", "40"), ("tile", "32")],
    ],
    launch: |kernel| {
        let [m, n, k] = ["m", "n", "k"].map(|name| kernel.arguments.count32(name));
        let arguments = arrays([2, 0, 1]).chain(words([m, n, k])).collect();
        call(format!("multiply_{}", kernel.info.block[0]), arguments)
    },
};

pub const SPMV: Twin = Twin {
    generator: "spmv",
    ptx: ptx!("spmv"),
    covers: |given| is(given, "variant", "scalar") || is(given, "variant", "vector"),
    uneven: &[
        &[("variant", "scalar"), ("matrix", "power-law"), ("rows", "333"), ("block", "96")],
        &[("variant", "vector"), ("matrix", "power-law"), ("rows", "333"), ("block", "96")],
        &[("variant", "vector"), ("rows", "40"), ("nnz-per-row", "70"), ("block", "128")],
    ],
    launch: |kernel| {
        let arguments = arrays([0, 1, 2, 3, 4]).chain(words([elements(kernel, 4)])).collect();
        call(kernel.info.name.clone(), arguments)
    },
};

pub const HISTOGRAM: Twin = Twin {
    generator: "histogram",
    ptx: ptx!("histogram"),
    covers: always,
    uneven: &[
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
    launch: |kernel| {
        let in_shared = kernel.info.name == "histogram_shared";
        let bins = in_shared.then(|| Word(elements(kernel, 1)));
        let arguments = arrays([0, 1]).chain(words([elements(kernel, 0)])).chain(bins);
        let call = call(kernel.info.name.clone(), arguments.collect());
        Call { dynamic_shared: in_shared, ..call }
    },
};

pub const STENCIL2D: Twin = Twin {
    generator: "stencil2d",
    ptx: ptx!("stencil2d"),
    covers: always,
    uneven: &[
        &[("width", "70"), ("height", "19"), ("block-x", "16"), ("block-y", "6")],
        &[("width", "33"), ("height", "3")],
    ],
    launch: |kernel| {
        let (from, to) = (kernel.number % 2, 1 - kernel.number % 2);
        let [width, height] = ["width", "height"].map(|name| kernel.arguments.count32(name));
        let arguments = arrays([from, to]).chain(words([width, height])).collect();
        call("runJacobiCUDA_kernel1", arguments)
    },
};

pub const BFS: Twin = Twin {
    generator: "bfs",
    ptx: ptx!("bfs"),
    covers: |given| is(given, "variant", "topology"),
    uneven: &[
        &[("nodes", "333"), ("graph", "uniform"), ("degree", "3"), ("block", "96")],
        &[("nodes", "100"), ("graph", "grid"), ("block", "40")],
    ],
    launch: |kernel| {
        let n = kernel.arrays[2].len() as u32;
        // nodes, edges, mask, updating, visited, cost, over
        let arguments = match kernel.info.name.as_str() {
            "Kernel" => arrays([0, 1, 2, 3, 4, 5]).chain(words([n])).collect(),
            _ => arrays([2, 3, 4, 6]).chain(words([n])).collect(),
        };
        call(kernel.info.name.clone(), arguments)
    },
};

/// The centres of a round: at first the first points, then the means of their points.
fn centres(kernel: &Kernel<'_>, is_first: bool) -> Vec<u8> {
    let [features, clusters] =
        ["features", "clusters"].map(|name| kernel.arguments.count32(name) as usize);
    let float = |word: &[u8]| f32::from_le_bytes(*word.first_chunk().unwrap());
    let points: Vec<f32> = kernel.arrays[0].chunks_exact(4).map(float).collect();
    let mut centres = points[..clusters * features].to_vec();
    if !is_first {
        let membership = kernel.arrays[kernel.arrays.len() - 1].chunks_exact(4);
        let membership: Vec<usize> = membership
            .map(|word| u32::from_le_bytes(*word.first_chunk().unwrap()) as usize)
            .collect();
        for (cluster, centre) in centres.chunks_exact_mut(features).enumerate() {
            let own =
                points.chunks_exact(features).zip(&membership).filter(|(_, of)| **of == cluster);
            let own: Vec<&[f32]> = own.map(|(point, _)| point).collect();
            for (at, value) in centre.iter_mut().enumerate() {
                *value = own.iter().map(|point| point[at]).sum::<f32>() / own.len() as f32;
            }
        }
    }
    centres.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub const KMEANS: Twin = Twin {
    generator: "kmeans",
    ptx: ptx!("kmeans"),
    covers: always,
    uneven: &[
        &[
            ("points", "300"),
            ("features", "5"),
            ("clusters", "3"),
            ("block", "96"),
            ("layout", "soa"),
        ],
        &[
            ("points", "300"),
            ("features", "5"),
            ("clusters", "3"),
            ("block", "96"),
            ("layout", "aos"),
        ],
    ],
    launch: |kernel| {
        let soa = kernel.arrays.len() == 3;
        let names = ["features", "points", "clusters"];
        let [features, points, clusters] = names.map(|name| kernel.arguments.count32(name));
        if kernel.info.name == "invert_mapping" {
            return call(
                "invert_mapping",
                arrays([0, 1]).chain(words([points, features])).collect(),
            );
        }
        let (name, read) = if soa { ("nearest_soa", 1) } else { ("nearest_aos", 0) };
        let arguments = arrays([read]).chain(words([features, points, clusters]));
        let arguments = arguments.chain([Array(kernel.arrays.len() - 1, 0)]).collect();
        let is_first = kernel.number == usize::from(soa);
        Call { constant: Some(("c_clusters", centres(kernel, is_first))), ..call(name, arguments) }
    },
};

pub const PAGERANK: Twin = Twin {
    generator: "pagerank",
    ptx: ptx!("pagerank"),
    covers: always,
    uneven: &[
        &[("nodes", "333"), ("degree", "2"), ("block", "96"), ("variant", "pull")],
        &[("nodes", "333"), ("degree", "2"), ("block", "96"), ("variant", "push")],
    ],
    launch: |kernel| {
        // row, col, rank, scratch, totals
        let n = [Word(elements(kernel, 2))];
        let (dangling, change) = (Array(4, 0), Array(4, 4));
        let arguments: Vec<Argument> = match kernel.info.name.as_str() {
            "contributions" => arrays([0, 2, 3]).chain([dangling]).chain(n).collect(),
            "pull" => arrays([0, 1, 2, 3]).chain([dangling, change]).chain(n).collect(),
            "push" => arrays([0, 1, 2, 3]).chain([dangling]).chain(n).collect(),
            _ => arrays([2, 3]).chain([dangling, change]).chain(n).collect(),
        };
        call(kernel.info.name.clone(), arguments)
    },
};

pub const HASH_JOIN: Twin = Twin {
    generator: "hash-join",
    ptx: ptx!("hash_join"),
    covers: always,
    uneven: &[
        &[("build", "500"), ("probe", "1000"), ("fill", "95"), ("block", "96")],
        &[("build", "77"), ("probe", "300"), ("match", "100"), ("skew", "2"), ("block", "40")],
        &[("build", "40"), ("probe", "100"), ("match", "0")],
    ],
    launch: |kernel| {
        // table, out, cursor, keys and values to build, keys and values to probe
        let slots = Word(kernel.arrays[0].len() as u32 / 8);
        let arguments: Vec<Argument> = match kernel.info.name.as_str() {
            "build" => {
                vec![Array(3, 0), Array(4, 0), Word(elements(kernel, 3)), Array(0, 0), slots]
            }
            _ => vec![
                Array(5, 0),
                Array(6, 0),
                Word(elements(kernel, 5)),
                Array(0, 0),
                slots,
                Array(1, 0),
                Array(2, 0),
            ],
        };
        call(kernel.info.name.clone(), arguments)
    },
};

pub const PAGED_ATTENTION: Twin = Twin {
    generator: "paged-attention",
    ptx: ptx!("paged_attention"),
    covers: always,
    uneven: &[
        &[
            ("context", "200"),
            ("sequences", "3"),
            ("heads", "4"),
            ("kv-heads", "4"),
            ("page", "32"),
        ],
        &[
            ("context", "200"),
            ("sequences", "3"),
            ("heads", "4"),
            ("kv-heads", "1"),
            ("page", "16"),
        ],
    ],
    launch: |kernel| {
        let [heads, kv_heads] = ["heads", "kv-heads"].map(|name| kernel.arguments.count32(name));
        let max_blocks = elements(kernel, 3) / elements(kernel, 4);
        let page = kernel.given.get("page").map_or("16", String::as_str);
        let arguments = arrays([0, 1, 2, 3, 4, 5])
            .chain(words([heads, kv_heads, max_blocks]))
            .chain([Float(1.0 / 128f32.sqrt())]);
        Call { dynamic_shared: true, ..call(format!("decode_{page}"), arguments.collect()) }
    },
};

#[test]
fn gather() {
    check_all(&GATHER);
}

#[test]
fn transpose() {
    check_all(&TRANSPOSE);
}

#[test]
fn reduction() {
    check_all(&REDUCTION);
}

#[test]
fn gemm() {
    check_all(&GEMM);
}

#[test]
fn spmv() {
    check_all(&SPMV);
}

#[test]
fn histogram() {
    check_all(&HISTOGRAM);
}

#[test]
fn stencil2d() {
    check_all(&STENCIL2D);
}

#[test]
fn bfs() {
    check_all(&BFS);
}

#[test]
fn kmeans() {
    check_all(&KMEANS);
}

#[test]
fn pagerank() {
    check_all(&PAGERANK);
}

#[test]
fn hash_join() {
    check_all(&HASH_JOIN);
}

#[test]
fn paged_attention() {
    check_all(&PAGED_ATTENTION);
}
