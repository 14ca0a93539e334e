//! Matrix transposition: directly from row to column (naive: a line read is stored to 32 lines), or
//! through a tile in shared memory (tiled: whole lines on both sides; a padding column keeps the
//! tile's columns in different banks).
//!
//! ```cuda
//! // 32 × 8 threads for a tile of 32 × 32. The guards are ours: NVIDIA's sizes are multiples of 32.
//! __global__ void transposeNaive(float *odata, const float *idata, int width, int height) {
//!     int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
//!     for (int j = 0; j < 32; j += 8)
//!         if (x < width && y + j < height) odata[x * height + y + j] = idata[(y + j) * width + x];
//! }
//! __global__ void transposeNoBankConflicts(float *odata, const float *idata, int width, int height) {
//!     __shared__ float tile[32][32 + 1];
//!     int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
//!     for (int j = 0; j < 32; j += 8)
//!         if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
//!     __syncthreads();
//!     x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
//!     for (int j = 0; j < 32; j += 8)
//!         if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
//! }
//! ```
//!
//! As compiled (nvcc 13 for sm_75): the loops are unrolled, and the guards are predicates. Up to
//! CUDA 4 the samples have tiles of 16 × 16 with a thread per element (`tile` = 16), so that two
//! CTAs share each 128-byte line.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "transpose",
    summary: "matrix transposition, direct or through tiles in shared memory",
    source: "CUDA samples, transpose (Ruetsch and Micikevicius 2009)",
    parameters: &[&[
        Parameter::choice::<Variant>(
            "variant",
            "tiled",
            "Direct (naive) or through shared memory (tiled)",
        ),
        Parameter::choice::<Tile>(
            "tile",
            "32",
            "Side of a tile: 32 × 32 by 32 × 8 threads, or 16 × 16 by 16 × 16 threads",
        ),
        Parameter::count("width", 1 << 10, (1, 1 << 20), "elements", "Columns of the input"),
        Parameter::count("height", 1 << 10, (1, 1 << 20), "elements", "Rows of the input"),
    ]],
    run: |gpu, arguments, random| {
        let (width, height) = (arguments.count32("width"), arguments.count32("height"));
        check_entries("elements", width, height)?;
        let input = small_floats(width * height, random);
        transpose(gpu, arguments.choice("variant"), arguments.choice("tile"), &input, width)
            .map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Naive,
    Tiled,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("naive", Variant::Naive), ("tiled", Variant::Tiled)];
}

/// The tile of a CTA.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tile {
    /// Rows and columns.
    side: u32,
    /// Rows of threads.
    rows: u32,
}

impl Choice for Tile {
    const NAMES: &'static [(&'static str, Tile)] =
        &[("16", Tile { side: 16, rows: 16 }), ("32", Tile { side: 32, rows: 8 })];
}

impl Tile {
    /// Returns the row pitch of the tile in shared memory, in elements.
    fn pitch(self) -> u32 {
        self.side + 1
    }

    /// Returns the first row of each pass of the threads.
    fn passes(self) -> impl Iterator<Item = u32> {
        (0..self.side).step_by(self.rows as usize)
    }
}

/// A matrix and its transpose on the device.
#[derive(Clone, Copy)]
struct Transposition {
    input: Array<f32>,
    output: Array<f32>,
    width: u32,
    height: u32,
    tile: Tile,
}

/// Transposes `input`, whose rows have `width` elements.
fn transpose(
    gpu: &mut Gpu,
    variant: Variant,
    tile: Tile,
    input: &[f32],
    width: u32,
) -> Result<Array<f32>, WorkloadError> {
    let height = input.len() as u32 / width;
    let output = gpu.zeros(input.len() as u64);
    let matrix = Transposition { input: gpu.upload(input), output, width, height, tile };
    let (name, registers_per_thread, shared_bytes) = match variant {
        Variant::Naive => ("transposeNaive", 18, 0),
        Variant::Tiled => ("transposeNoBankConflicts", 24, tile.side * tile.pitch() * 4),
    };
    let grid = [width.div_ceil(tile.side), height.div_ceil(tile.side), 1];
    let block = [tile.side, tile.rows, 1];
    let launch = Launch { name, grid, block, registers_per_thread, shared_bytes };
    match variant {
        Variant::Naive => gpu.launch(&launch, async |w| matrix.naive(w)),
        Variant::Tiled => gpu.launch(&launch, async |w| matrix.tiled(w).await),
    }?;
    Ok(output)
}

impl Transposition {
    fn naive(&self, w: &Warp) {
        let x = w.block_x().mad(self.tile.side, w.thread_x());
        let y = w.block_y().mad(self.tile.side, w.thread_y());
        let to = self.output.at(x.mad(self.height, y));
        for j in self.tile.passes() {
            let row = y + j;
            w.predicated(x.lt(self.width) & row.lt(self.height), || {
                to.offset(j).store(self.input.load(row.mad(self.width, x)));
            });
        }
    }

    async fn tiled(&self, w: &Warp) {
        let (side, pitch) = (self.tile.side, self.tile.pitch());
        let tile = w.shared::<f32>(side * pitch);
        let (column, line) = (w.thread_x(), w.thread_y());
        let (x, y) = (w.block_x().mad(side, column), w.block_y().mad(side, line));
        let to = tile.at(line.mad(pitch, column));
        for j in self.tile.passes() {
            let row = y + j;
            w.predicated(x.lt(self.width) & row.lt(self.height), || {
                to.offset(j * pitch).store(self.input.load(row.mad(self.width, x)));
            });
        }
        w.barrier().await;
        let (x, y) = (w.block_y().mad(side, column), w.block_x().mad(side, line));
        let from = tile.at(column.mad(pitch, line));
        for j in self.tile.passes() {
            let row = y + j;
            w.predicated(x.lt(self.height) & row.lt(self.width), || {
                self.output.store(row.mad(self.height, x), from.offset(j).load());
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn numbered(width: u32, height: u32) -> Vec<f32> {
        (0..width * height).map(|i| i as f32).collect()
    }

    #[test]
    fn rows_become_columns_and_every_element_is_read_and_written_once() {
        for (width, height) in [(1, 1), (1, 70), (65, 3), (32, 32), (100, 40), (96, 64)] {
            let input = numbered(width, height);
            let (columns, rows) = (width as usize, height as usize);
            let expected: Vec<f32> =
                (0..columns * rows).map(|i| input[i % rows * columns + i / rows]).collect();
            let cases = Variant::NAMES.iter().flat_map(|v| Tile::NAMES.iter().map(move |t| (v, t)));
            for (&(name, variant), &(side, tile)) in cases {
                let run = run(|gpu| {
                    let output = transpose(gpu, variant, tile, &input, width)?;
                    Ok((gpu.download(output), output.range()))
                });
                let context = format!("{name} {width} × {height} in tiles of {side}");
                assert_eq!(run.result.0, expected, "{context}");
                let mut stores = run.accesses(Kind::Store);
                stores.sort_unstable();
                let all: Vec<u64> = run.result.1.clone().step_by(4).collect();
                assert_eq!(stores, all, "{context}");
                assert_eq!(run.accesses(Kind::Load).len(), input.len(), "{context}");
            }
        }
    }

    const LARGE: Tile = Tile { side: 32, rows: 8 };
    const SMALL: Tile = Tile { side: 16, rows: 16 };

    /// Returns the 128-byte lines and 4-byte banks touched by each full-warp access of `space` and
    /// `kind`.
    fn spread(variant: Variant, tile: Tile, space: Space, kind: Kind) -> Vec<(usize, usize)> {
        let run = run(|gpu| transpose(gpu, variant, tile, &numbered(64, 64), 64));
        let executed = run.warp(3);
        let accesses = executed.iter().filter(|(i, _)| i.kind == kind && i.space == space);
        let distinct = |addresses: &[u64], of: fn(u64) -> u64| {
            addresses.iter().map(|&a| of(a)).collect::<BTreeSet<_>>().len()
        };
        accesses
            .map(|(_, record)| {
                let addresses = record.active_addresses();
                (distinct(addresses, |a| a / 128), distinct(addresses, |a| a / 4 % 32))
            })
            .collect()
    }

    #[test]
    fn naive_stores_go_to_32_lines_and_tiled_ones_to_one_without_bank_conflicts() {
        assert_eq!(spread(Variant::Naive, LARGE, Space::Global, Kind::Load), [(1, 32); 4]);
        assert_eq!(spread(Variant::Naive, LARGE, Space::Global, Kind::Store), [(32, 1); 4]);
        assert_eq!(spread(Variant::Tiled, LARGE, Space::Global, Kind::Load), [(1, 32); 4]);
        assert_eq!(spread(Variant::Tiled, LARGE, Space::Global, Kind::Store), [(1, 32); 4]);
        for kind in [Kind::Store, Kind::Load] {
            let banks = spread(Variant::Tiled, LARGE, Space::Shared, kind);
            assert!(banks.iter().all(|&(_, banks)| banks == 32), "{banks:?}");
            assert_eq!(banks.len(), 4);
        }
    }

    #[test]
    fn two_ctas_share_each_line_where_tiles_have_16_columns() {
        for (tile, sharing) in [(LARGE, 1), (SMALL, 2)] {
            let run = run(|gpu| transpose(gpu, Variant::Tiled, tile, &numbered(64, 64), 64));
            let mut readers = BTreeMap::<u64, BTreeSet<usize>>::new();
            visit_records(run.trace(), |_, warp, instruction, record| {
                if instruction.kind == Kind::Load && instruction.space == Space::Global {
                    let lines = record.active_addresses().iter().map(|address| address / 128);
                    // A CTA has eight warps for either tile size.
                    for line in lines {
                        readers.entry(line).or_default().insert(warp / 8);
                    }
                }
            });
            assert_eq!(readers.len(), 64 * 64 * 4 / 128);
            assert!(readers.values().all(|ctas| ctas.len() == sharing), "{readers:?}");
        }
    }
}
