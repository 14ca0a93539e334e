//! The twins of irregular programs with many kinds of launches, as `launches`.

use super::device::Argument::{self, Float, Word};
use super::device::Call;
use super::launches::{always, arrays, call, elements, ptx, words};
use super::{Kernel, Twin, check_all};

/// The levels of the tree in an array above its leaves.
fn height(nodes: &[u8], order: u32) -> u32 {
    let word = |at: u32| {
        let bytes = &nodes[4 * at as usize..];
        u32::from_le_bytes(*bytes.first_chunk().unwrap())
    };
    let (mut height, mut node) = (0, 0);
    // Number, indices, keys, whether it is a leaf, number of keys.
    while word(node * (2 * order + 5) + 2 * order + 3) == 0 {
        node = word(node * (2 * order + 5) + 1);
        height += 1;
    }
    height
}

pub const B_PLUS_TREE: Twin = Twin {
    generator: "b+tree",
    ptx: ptx!("b_plus_tree"),
    covers: always,
    uneven: &[
        &[("records", "700"), ("order", "7"), ("variant", "find-k")],
        &[("records", "700"), ("order", "7"), ("variant", "find-range-k")],
        &[("records", "3"), ("order", "70"), ("variant", "find-k")],
    ],
    launch: |kernel| {
        let order = kernel.arguments.count32("order");
        let shape = words([height(kernel.arrays[0], order), order]);
        // nodes, values, current, next, keys, answers; for ranges nodes, two searches, starts, lengths
        let arguments: Vec<Argument> = match kernel.info.name.as_str() {
            "findK" => shape.chain(arrays([0, 1, 2, 3, 4, 5])).collect(),
            _ => shape.chain(arrays([0, 1, 2, 3, 4, 5, 6, 7, 8])).collect(),
        };
        call(kernel.info.name.clone(), arguments)
    },
};

pub const MERGE_SORT: Twin = Twin {
    generator: "merge-sort",
    ptx: ptx!("merge_sort"),
    covers: always,
    uneven: &[
        &[("n", "128"), ("tile", "32"), ("sample", "8")],
        &[("n", "256"), ("tile", "64"), ("sample", "64")],
    ],
    launch: |kernel| {
        // keys, values, the same merged, ranks in A and B, places in A and B
        let [tile, sample] = ["tile", "sample"].map(|name| kernel.arguments.count32(name));
        if kernel.info.name == "sortTiles" {
            let arguments = arrays([0, 1]).chain(words([tile])).collect();
            return Call { dynamic_shared: true, ..call("sortTiles", arguments) };
        }
        let (round, step) = ((kernel.number - 1) / 4, (kernel.number - 1) % 4);
        let (run, pairs) = (tile << round, elements(kernel, 4) / 2);
        let (from, to) = (2 * (round % 2), 2 - 2 * (round % 2));
        let arguments: Vec<Argument> = match step {
            0 => arrays([from, 4, 5]).chain(words([run, sample, pairs])).collect(),
            1 | 2 => arrays([step + 3, step + 5]).chain(words([run / sample, pairs])).collect(),
            _ => arrays([from, from + 1, 6, 7, to, to + 1]).chain(words([run, sample])).collect(),
        };
        Call { dynamic_shared: step == 3, ..call(kernel.info.name.clone(), arguments) }
    },
};

/// The bias that as many percent of the free variables have, or a stronger one.
fn threshold(bias: &[u8], value: &[u8], percent: u32) -> f32 {
    let word = |bytes: &[u8]| *bytes.first_chunk::<4>().unwrap();
    let biases = bias.chunks_exact(4).map(|bytes| f32::from_le_bytes(word(bytes)).abs());
    let is_free = value.chunks_exact(4).map(|bytes| word(bytes) == [0; 4]);
    let mut free: Vec<f32> = biases.zip(is_free).filter(|pair| pair.1).map(|pair| pair.0).collect();
    free.sort_by(f32::total_cmp);
    let fixed = (free.len() as u32 * percent).div_ceil(100);
    free[free.len() - fixed as usize].max(f32::MIN_POSITIVE)
}

pub const SURVEY_PROPAGATION: Twin = Twin {
    generator: "survey-propagation",
    ptx: ptx!("survey_propagation"),
    covers: always,
    uneven: &[
        &[("variables", "100"), ("literals", "5"), ("ratio", "9"), ("block", "96")],
        &[("variables", "77"), ("rounds", "4"), ("decimate", "20"), ("block", "40")],
    ],
    launch: |kernel| {
        // rows and literals of clauses, clauses of edges, rows and edges of variables, eta, pi_u, pi_s, pi_0, value,
        // bias, satisfied, most
        let [variables, clauses] = [9, 11].map(|array| Word(elements(kernel, array)));
        let arguments: Vec<Argument> = match kernel.info.name.as_str() {
            "calc_pi" => arrays([3, 4, 9, 5, 6, 7, 8]).chain([variables]).collect(),
            "update_eta" => arrays([0, 11, 5, 6, 7, 8, 12]).chain([clauses]).collect(),
            "calc_bias" => arrays([3, 4, 9, 5, 10]).chain([variables]).collect(),
            _ => {
                let percent = kernel.arguments.count32("decimate");
                let threshold = threshold(kernel.arrays[10], kernel.arrays[9], percent);
                let arrays = arrays([3, 4, 9, 10, 0, 2, 11, 5, 6, 7, 8]);
                arrays.chain([Float(threshold), variables]).collect()
            }
        };
        call(kernel.info.name.clone(), arguments)
    },
};

/// An array in which threads of 256 to a CTA add up what another holds; it may be longer by one. The sums of parts are in
/// new arrays, from `free` on.
fn scan(
    calls: &mut Vec<Call>,
    (from, n): (usize, u32),
    (to, n_out): (usize, u32),
    free: &mut usize,
) {
    let (sums, parts) = (*free, n_out.div_ceil(256));
    *free += 1;
    let arguments = arrays([from, to, sums]).chain(words([n, n_out])).collect();
    calls.push(call("scanParts", arguments));
    if parts > 1 {
        let offsets = *free;
        *free += 1;
        scan(calls, (sums, parts), (offsets, parts), free);
        calls.push(call("addSums", arrays([to, offsets]).chain(words([n_out])).collect()));
    }
}

pub const MRI_GRIDDING: Twin = Twin {
    generator: "mri-gridding",
    ptx: ptx!("mri_gridding"),
    covers: always,
    uneven: &[
        &[("samples", "100"), ("side", "4"), ("kernel-width", "5"), ("block", "96")],
        &[("samples", "70"), ("variant", "scatter"), ("kernel-width", "1.5"), ("block", "40")],
    ],
    launch: |kernel| gridding_calls(kernel).swap_remove(kernel.number),
};

/// All launches of a run.
fn gridding_calls(kernel: &Kernel<'_>) -> Vec<Call> {
    // samples, weights, points; bins, ranks, counts, starts, those of the scan, sorted places and data
    let [side, n] = ["side", "samples"].map(|name| kernel.arguments.count32(name));
    let width = kernel.arguments.hundredths("kernel-width") as u32;
    let cutoff = width as f32 / 200.0;
    let log = side.ilog2();
    let shape = || {
        let floats = [cutoff * cutoff, 4096.0 / (cutoff * cutoff)].map(Float);
        words([log, width.div_ceil(200), width / 200]).chain(floats)
    };
    if kernel.info.name == "scatter" {
        let arguments = arrays([0]).chain(words([n])).chain(arrays([1, 2])).chain(shape());
        return vec![call("scatter", arguments.collect())];
    }
    let samples = || arrays([0]).chain(words([n]));
    let points = side.pow(3);
    let binning = samples().chain(arrays([3, 4, 5])).chain(words([log])).collect();
    let mut calls = vec![call("binning", binning)];
    let mut free = 7;
    scan(&mut calls, (5, points), (6, points + 1), &mut free);
    let reorder = samples().chain(arrays([3, 4, 6, free, free + 1])).collect();
    calls.push(call("reorder", reorder));
    let gridding = arrays([free, free + 1, 6, 1, 2]).chain(shape()).collect();
    calls.push(call("gridding", gridding));
    calls
}

pub const PAGE_VIEW_COUNT: Twin = Twin {
    generator: "page-view-count",
    ptx: ptx!("page_view_count"),
    covers: always,
    uneven: &[
        &[("records", "700"), ("pages", "20"), ("block", "96")],
        &[("records", "40"), ("pages", "7")],
    ],
    launch: |kernel| map_reduce_calls(kernel).swap_remove(kernel.number),
};

pub const INVERTED_INDEX: Twin = Twin {
    generator: "inverted-index",
    ptx: ptx!("inverted_index"),
    covers: always,
    uneven: &[&[("documents", "100"), ("pages", "70"), ("block", "96")]],
    launch: |kernel| map_reduce_calls(kernel).swap_remove(kernel.number),
};

/// All launches of a run, and perhaps one more.
fn map_reduce_calls(kernel: &Kernel<'_>) -> Vec<Call> {
    // text, offsets; counts of pairs and bytes, places of both, those of the scans; directory, keys, values; first of a
    // group, its number, those of the scan; starts, views
    let tasks = elements(kernel, 2);
    let arguments = arrays([0, 1, 2, 3]).chain(words([tasks])).collect();
    let mut calls = vec![call("map_count", arguments)];
    let mut free = 6;
    scan(&mut calls, (2, tasks), (4, tasks), &mut free);
    scan(&mut calls, (3, tasks), (5, tasks), &mut free);
    let [directory, keys, values] = [free, free + 1, free + 2];
    let arguments = arrays([0, 1, 4, 5, directory, keys, values]).chain(words([tasks])).collect();
    calls.push(call("map", arguments));
    let mut sort = |name, parameters| {
        calls.push(call(name, arrays([directory, keys]).chain(words(parameters)).collect()));
    };
    let entries = elements(kernel, directory) / 4;
    sort("sortChunks", [2, 512]);
    let mut run = 1024;
    while run <= entries {
        let mut distance = run / 2;
        while distance >= 512 {
            sort("sortStep", [run, distance]);
            distance /= 2;
        }
        sort("sortChunks", [run, run]);
        run *= 2;
    }
    let (n, [first, number]) = (elements(kernel, values), [free + 3, free + 4]);
    calls.push(call("markGroups", arrays([directory, keys, first]).chain(words([n])).collect()));
    free += 5;
    scan(&mut calls, (first, n), (number, n), &mut free);
    let groups = elements(kernel, free) - 1;
    let arguments = arrays([first, number, free]).chain(words([n, groups])).collect();
    calls.push(call("findGroups", arguments));
    let arguments = arrays([directory, values, free, free + 1]).chain(words([groups])).collect();
    calls.push(call("reduce", arguments));
    calls
}

#[test]
fn b_plus_tree() {
    check_all(&B_PLUS_TREE);
}

const HEARTWALL: Twin = Twin {
    generator: "heartwall",
    ptx: ptx!("heartwall"),
    covers: always,
    uneven: &[&[
        ("points", "3"),
        ("template-radius", "1"),
        ("search-radius", "4"),
        ("width", "90"),
        ("height", "70"),
        ("block", "40"),
    ]],
    launch: |kernel| {
        let side = |name| 2 * kernel.arguments.count32(name) + 1;
        let [template, area] = ["template-radius", "search-radius"].map(side);
        let name = format!("{}_{template}_{area}", kernel.info.name);
        let width = Word(kernel.arguments.count32("width"));
        // frame, corners, templates, and what a search needs
        let later: Vec<Argument> = match kernel.info.name.as_str() {
            "track" => arrays([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]).collect(),
            _ => arrays([1, 2]).collect(),
        };
        call(name, arrays([0]).chain([width]).chain(later).collect())
    },
};

#[test]
fn heartwall() {
    check_all(&HEARTWALL);
}

#[test]
fn merge_sort() {
    check_all(&MERGE_SORT);
}

#[test]
fn survey_propagation() {
    check_all(&SURVEY_PROPAGATION);
}

#[test]
fn mri_gridding() {
    check_all(&MRI_GRIDDING);
}

#[test]
fn page_view_count() {
    check_all(&PAGE_VIEW_COUNT);
}

#[test]
fn inverted_index() {
    check_all(&INVERTED_INDEX);
}
