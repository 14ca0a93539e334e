//! The twins of kernels whose accesses do not depend on data.

use super::device::Argument::{Array, Float, Word};
use super::device::Call;
use super::launches::{always, arrays, call, elements, ptx, words};
use super::{Kernel, Twin, check_all};

const GESUMMV: Twin = Twin {
    generator: "gesummv",
    ptx: ptx!("gesummv"),
    covers: always,
    uneven: &[&[("n", "70"), ("columns", "5"), ("pitch", "33"), ("block", "40")]],
    launch: |kernel| {
        let sizes = ["n", "columns", "pitch"].map(|name| kernel.arguments.count32(name));
        call("gesummv_kernel", arrays([0, 1, 2, 3, 4]).chain(words(sizes)).collect())
    },
};

const SYR2K: Twin = Twin {
    generator: "syr2k",
    ptx: ptx!("syr2k"),
    covers: always,
    uneven: &[&[("n", "33"), ("k", "7"), ("block-x", "16"), ("block-y", "6")]],
    launch: |kernel| {
        let sizes = ["n", "k"].map(|name| kernel.arguments.count32(name));
        call("syr2k_kernel", arrays([0, 1, 2]).chain(words(sizes)).collect())
    },
};

const GAUSSIAN: Twin = Twin {
    generator: "gaussian",
    ptx: ptx!("gaussian"),
    covers: always,
    uneven: &[
        &[("n", "21"), ("pivots", "30"), ("block", "40")],
        &[("n", "37"), ("pivots", "2"), ("side", "8")],
    ],
    launch: |kernel| {
        let sizes = words([kernel.arguments.count32("n"), kernel.number as u32 / 2]);
        // a, b, m
        let arguments = match kernel.info.name.as_str() {
            "Fan1" => arrays([2, 0]).chain(sizes).collect(),
            _ => arrays([2, 0, 1]).chain(sizes).collect(),
        };
        call(kernel.info.name.clone(), arguments)
    },
};

const NN: Twin = Twin {
    generator: "nn",
    ptx: ptx!("nn"),
    covers: always,
    uneven: &[&[("n", "300"), ("block", "96")], &[("n", "33"), ("block", "40")]],
    launch: |kernel| {
        let arguments = arrays([0, 1]).chain(words([elements(kernel, 1)]));
        call("euclid", arguments.chain([Float(30.0), Float(90.0)]).collect())
    },
};

/// Launches in global memory of a transform of so many elements, and what is left.
fn stages(n: u32) -> (u32, u32) {
    let far = n.ilog2().saturating_sub(10) / 2;
    (far, n.ilog2() - 2 * far)
}

const FWT: Twin = Twin {
    generator: "fwt",
    ptx: ptx!("fwt"),
    covers: always,
    uneven: &[&[("n", "64"), ("kernel", "9")], &[("n", "2^11")], &[("n", "32"), ("kernel", "32")]],
    launch: |kernel| {
        let n = elements(kernel, 0);
        let (far, left) = stages(n);
        let (number, launches) = (kernel.number as u32, far + 1);
        // The kernel's transform, the data's, the product, and its transform.
        let (array, stage) = match number.checked_sub(2 * launches) {
            None => ((number / launches) as usize, number % launches),
            Some(0) => return call("modulateKernel", arrays([1, 0]).chain([Word(n)]).collect()),
            Some(after) => (1, after - 1),
        };
        let argument = if stage == far { left } else { n >> (2 * (stage + 1)) };
        let call = call(kernel.info.name.clone(), vec![Array(array, 0), Word(argument)]);
        Call { dynamic_shared: stage == far, ..call }
    },
};

const BACKPROP: Twin = Twin {
    generator: "backprop",
    ptx: ptx!("backprop"),
    covers: always,
    uneven: &[&[("inputs", "48"), ("iterations", "3")]],
    launch: |kernel| {
        // inputs, weights, last change, partial sums, delta
        let hidden = [Word(16)];
        let arguments = match kernel.info.name.as_str() {
            "bpnn_layerforward_CUDA" => arrays([0, 1, 3]).chain(hidden).collect(),
            _ => arrays([4]).chain(hidden).chain(arrays([0, 1, 2])).collect(),
        };
        call(kernel.info.name.clone(), arguments)
    },
};

fn floats<'a>(kernel: &Kernel<'a>, array: usize) -> impl Iterator<Item = f32> + use<'a> {
    let words = kernel.arrays[array].chunks_exact(4);
    words.map(|word| f32::from_le_bytes(*word.first_chunk().unwrap()))
}

fn speckle(sum: f32, squares: f32, pixels: u32) -> f32 {
    let (mean, square) = (sum / pixels as f32, squares / pixels as f32);
    (square - mean * mean) / (mean * mean)
}

/// Of version 2, whose host adds up the image.
fn srad_tiled(kernel: &Kernel<'_>) -> Call {
    // pixels, coefficients, differences to the north, south, west and east
    let columns = Word(kernel.arguments.count32("columns"));
    let differences = arrays([5, 4, 2, 3]);
    let arguments = match kernel.info.name.as_str() {
        "srad_cuda_1" => {
            let pixels = || floats(kernel, 0);
            let (sum, squares) = (pixels().sum(), pixels().map(|p| p * p).sum());
            let scale = Float(speckle(sum, squares, elements(kernel, 0)));
            differences.chain(arrays([0, 1])).chain([columns, scale]).collect()
        }
        _ => differences.chain(arrays([0, 1])).chain([columns]).collect(),
    };
    call(kernel.info.name.clone(), arguments)
}

/// Of version 1.
fn srad_indexed(kernel: &Kernel<'_>) -> Call {
    // pixels, neighbours in the north, south, west and east, two sums, four differences, coefficients
    let (n, rows) = (elements(kernel, 0), kernel.arguments.count32("rows"));
    let block = kernel.info.block[0];
    let sizes = words([rows, n]);
    let arguments = match kernel.info.name.as_str() {
        "prepare" => [Word(n)].into_iter().chain(arrays([0, 5, 6])).collect(),
        "reduce" => {
            let counts: Vec<u32> =
                std::iter::successors(Some(n), |count| Some(count.div_ceil(block)))
                    .take_while(|&count| count > 1)
                    .collect();
            let fold = (kernel.number - 2) % (counts.len() + 3);
            let launch = words([counts[fold], block.pow(fold as u32)]);
            let call = call("reduce", launch.chain(arrays([5, 6])).collect());
            return Call { dynamic_shared: true, ..call };
        }
        "srad" => {
            let [sum, squares] = [5, 6].map(|array| floats(kernel, array).next().unwrap());
            let neighbours = arrays([1, 2, 4, 3, 7, 8, 9, 10]);
            let scale = [Float(speckle(sum, squares, n))];
            sizes.chain(neighbours).chain(scale).chain(arrays([11, 0])).collect()
        }
        "srad2" => sizes.chain(arrays([2, 4, 7, 8, 9, 10, 11, 0])).collect(),
        _ => vec![Word(n), Array(0, 0)],
    };
    call(kernel.info.name.clone(), arguments)
}

const SRAD: Twin = Twin {
    generator: "srad",
    ptx: ptx!("srad"),
    covers: always,
    uneven: &[
        &[("variant", "v1"), ("rows", "19"), ("columns", "30"), ("block", "64")],
        &[("variant", "v1"), ("rows", "7"), ("columns", "11"), ("block", "16")],
        &[("variant", "v2"), ("rows", "16"), ("columns", "32")],
    ],
    launch: |kernel| match kernel.info.name.starts_with("srad_cuda") {
        true => srad_tiled(kernel),
        false => srad_indexed(kernel),
    },
};

const DCT: Twin = Twin {
    generator: "dct",
    ptx: ptx!("dct"),
    covers: always,
    uneven: &[],
    launch: |kernel| {
        let width = Word(kernel.arguments.count32("width"));
        call(kernel.info.name.clone(), arrays([0, 1]).chain([width]).collect())
    },
};

#[test]
fn gesummv() {
    check_all(&GESUMMV);
}

#[test]
fn syr2k() {
    check_all(&SYR2K);
}

#[test]
fn gaussian() {
    check_all(&GAUSSIAN);
}

#[test]
fn nn() {
    check_all(&NN);
}

#[test]
fn fwt() {
    check_all(&FWT);
}

#[test]
fn backprop() {
    check_all(&BACKPROP);
}

#[test]
fn srad() {
    check_all(&SRAD);
}

#[test]
fn dct() {
    check_all(&DCT);
}
