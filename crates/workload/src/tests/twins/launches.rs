//! The twins: how each is launched, and what is the same.

use super::Argument::{Array, Float, Word};
use super::{Argument, Call, Kernel, Order, Twin, check_all};
use crate::tests::registry::Given;

macro_rules! ptx {
    ($name:literal) => {
        include_str!(concat!("../../../cuda/", $name, ".ptx"))
    };
}

/// Whether arrays hold the same, as single-precision numbers if a tolerance is given.
pub(super) fn is_close(expected: &[u8], found: &[u8], tolerance: f64) -> bool {
    if tolerance == 0.0 {
        return expected == found;
    }
    let numbers = |bytes: &[u8]| -> Vec<f64> {
        let word = |word: &[u8]| f64::from(f32::from_le_bytes(*word.first_chunk().unwrap()));
        bytes.chunks_exact(4).map(word).collect()
    };
    let pairs = numbers(expected).into_iter().zip(numbers(found));
    expected == found || pairs.into_iter().all(|(a, b)| (a - b).abs() <= tolerance * a.abs())
}

fn always(_: &Given) -> bool {
    true
}

/// Without a choice, or with this one.
fn is(given: &Given, parameter: &str, value: &str) -> bool {
    given.get(parameter).is_none_or(|given| given == value)
}

fn call(kernel: impl Into<String>, arguments: Vec<Argument>) -> Call {
    let kernel = kernel.into();
    Call { kernel, arguments, dynamic_shared: false, constant: None, order: Order::Same }
}

fn with_loads_moved(call: Call) -> Call {
    Call { order: Order::LoadsMoved, ..call }
}

/// The elements of an array of 4 bytes each.
fn elements(kernel: &Kernel<'_>, array: usize) -> u32 {
    kernel.arrays[array].len() as u32 / 4
}

fn arrays<const N: usize>(numbers: [usize; N]) -> impl Iterator<Item = Argument> {
    numbers.into_iter().map(|number| Array(number, 0))
}

fn words<const N: usize>(words: [u32; N]) -> impl Iterator<Item = Argument> {
    words.into_iter().map(Word)
}

#[test]
fn gather() {
    check_all(&Twin {
        generator: "gather",
        ptx: ptx!("gather"),
        covers: always,
        launch: |kernel| {
            call("gather", arrays([0, 1, 2]).chain(words([elements(kernel, 1)])).collect())
        },
        accesses: 240,
        tolerance: 0.0,
    });
}

#[test]
fn transpose() {
    check_all(&Twin {
        generator: "transpose",
        ptx: ptx!("transpose"),
        covers: always,
        launch: |kernel| {
            let variant = match kernel.info.name.as_str() {
                "transposeNaive" => "straight",
                _ => "tiled",
            };
            let [width, height] = ["width", "height"].map(|name| kernel.arguments.count32(name));
            let arguments = arrays([0, 1]).chain(words([width, height])).collect();
            call(format!("{variant}_{}", kernel.info.block[0]), arguments)
        },
        accesses: 912,
        tolerance: 0.0,
    });
}

#[test]
fn reduction() {
    check_all(&Twin {
        generator: "reduction",
        ptx: ptx!("reduction"),
        covers: always,
        launch: |kernel| {
            let from = kernel.number;
            let arguments = arrays([from, from + 1]).chain(words([elements(kernel, from)]));
            Call { dynamic_shared: true, ..call("reduce", arguments.collect()) }
        },
        accesses: 17,
        tolerance: 0.0,
    });
}

#[test]
fn gemm() {
    check_all(&Twin {
        generator: "gemm",
        ptx: ptx!("gemm"),
        covers: always,
        launch: |kernel| {
            let [m, n, k] = ["m", "n", "k"].map(|name| kernel.arguments.count32(name));
            let arguments = arrays([2, 0, 1]).chain(words([m, n, k])).collect();
            call(format!("multiply_{}", kernel.info.block[0]), arguments)
        },
        accesses: 1_488,
        tolerance: 0.0,
    });
}

#[test]
fn spmv() {
    check_all(&Twin {
        generator: "spmv",
        ptx: ptx!("spmv"),
        covers: |given| is(given, "variant", "scalar") || is(given, "variant", "vector"),
        launch: |kernel| {
            let arguments = arrays([0, 1, 2, 3, 4]).chain(words([elements(kernel, 4)])).collect();
            with_loads_moved(call(kernel.info.name.clone(), arguments))
        },
        accesses: 15_786,
        tolerance: 0.0,
    });
}

#[test]
fn histogram() {
    check_all(&Twin {
        generator: "histogram",
        ptx: ptx!("histogram"),
        covers: always,
        launch: |kernel| {
            let in_shared = kernel.info.name == "histogram_shared";
            let bins = in_shared.then(|| Word(elements(kernel, 1)));
            let arguments = arrays([0, 1]).chain(words([elements(kernel, 0)])).chain(bins);
            let call = call(kernel.info.name.clone(), arguments.collect());
            Call { dynamic_shared: in_shared, ..call }
        },
        accesses: 1_232,
        tolerance: 0.0,
    });
}

#[test]
fn stencil2d() {
    check_all(&Twin {
        generator: "stencil2d",
        ptx: ptx!("stencil2d"),
        covers: always,
        launch: |kernel| {
            let (from, to) = (kernel.number % 2, 1 - kernel.number % 2);
            let [width, height] = ["width", "height"].map(|name| kernel.arguments.count32(name));
            let arguments = arrays([from, to]).chain(words([width, height])).collect();
            with_loads_moved(call("runJacobiCUDA_kernel1", arguments))
        },
        accesses: 2_208,
        tolerance: 0.0,
    });
}

#[test]
fn bfs() {
    check_all(&Twin {
        generator: "bfs",
        ptx: ptx!("bfs"),
        covers: |given| is(given, "variant", "topology"),
        launch: |kernel| {
            let n = kernel.arrays[2].len() as u32;
            // nodes, edges, mask, updating, visited, cost, over
            let arguments = match kernel.info.name.as_str() {
                "Kernel" => arrays([0, 1, 2, 3, 4, 5]).chain(words([n])).collect(),
                _ => arrays([2, 3, 4, 6]).chain(words([n])).collect(),
            };
            with_loads_moved(call(kernel.info.name.clone(), arguments))
        },
        accesses: 59_435,
        tolerance: 0.0,
    });
}

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

#[test]
fn kmeans() {
    check_all(&Twin {
        generator: "kmeans",
        ptx: ptx!("kmeans"),
        covers: always,
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
            Call {
                constant: Some(("c_clusters", centres(kernel, is_first))),
                ..call(name, arguments)
            }
        },
        accesses: 26_800,
        tolerance: 0.0,
    });
}

#[test]
fn pagerank() {
    check_all(&Twin {
        generator: "pagerank",
        ptx: ptx!("pagerank"),
        covers: always,
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
            with_loads_moved(call(kernel.info.name.clone(), arguments))
        },
        accesses: 69_656,
        tolerance: 1e-5,
    });
}

#[test]
fn hash_join() {
    check_all(&Twin {
        generator: "hash-join",
        ptx: ptx!("hash_join"),
        covers: always,
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
            with_loads_moved(call(kernel.info.name.clone(), arguments))
        },
        accesses: 299,
        tolerance: 0.0,
    });
}

#[test]
fn paged_attention() {
    check_all(&Twin {
        generator: "paged-attention",
        ptx: ptx!("paged_attention"),
        covers: always,
        launch: |kernel| {
            let [heads, kv_heads] =
                ["heads", "kv-heads"].map(|name| kernel.arguments.count32(name));
            let max_blocks = elements(kernel, 3) / elements(kernel, 4);
            let page = kernel.given.get("page").map_or("16", String::as_str);
            let arguments = arrays([0, 1, 2, 3, 4, 5])
                .chain(words([heads, kv_heads, max_blocks]))
                .chain([Float(1.0 / 128f32.sqrt())]);
            Call { dynamic_shared: true, ..call(format!("decode_{page}"), arguments.collect()) }
        },
        accesses: 5_984,
        tolerance: 0.0,
    });
}
