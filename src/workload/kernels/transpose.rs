//! Matrix transposition: straight from row to column (naive: what is read in a line is stored in 32), or through a
//! tile in shared memory (tiled: both sides in lines; a column of padding keeps the tile's columns in different banks).
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
//! As compiled (nvcc 13 for sm_75): the loops are unrolled, and the guards are predicates.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "transpose",
    summary: "matrix transposition, straight or through tiles in shared memory",
    source: "CUDA samples, transpose (Ruetsch and Micikevicius 2009)",
    parameters: &[&[
        Parameter::choice::<Variant>(
            "variant",
            "tiled",
            "Straight (naive) or through shared memory (tiled)",
        ),
        Parameter::count("width", 1 << 10, (1, 1 << 20), "elements", "Columns of the input"),
        Parameter::count("height", 1 << 10, (1, 1 << 20), "elements", "Rows of the input"),
    ]],
    run: |gpu, arguments, random| {
        let (width, height) = (arguments.count32("width"), arguments.count32("height"));
        check_entries("elements", width, height)?;
        let input = small_floats(width * height, random);
        transpose(gpu, arguments.choice("variant"), &input, width).map(drop)
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

/// Rows and columns of a tile.
const TILE: u32 = 32;
/// Rows of threads.
const ROWS: u32 = 8;
/// Elements of shared memory from one row of the tile to the next.
const PITCH: u32 = TILE + 1;

/// A matrix and its transposed on the device.
#[derive(Clone, Copy)]
struct Transposition {
    input: Array<f32>,
    output: Array<f32>,
    width: u32,
    height: u32,
}

/// `input` has rows of `width` elements.
fn transpose(
    gpu: &mut Gpu,
    variant: Variant,
    input: &[f32],
    width: u32,
) -> Result<Array<f32>, WorkloadError> {
    let height = input.len() as u32 / width;
    let output = gpu.zeros(input.len() as u64);
    let matrix = Transposition { input: gpu.upload(input), output, width, height };
    let (name, registers_per_thread, shared_bytes) = match variant {
        Variant::Naive => ("transposeNaive", 18, 0),
        Variant::Tiled => ("transposeNoBankConflicts", 24, TILE * PITCH * 4),
    };
    let grid = [width.div_ceil(TILE), height.div_ceil(TILE), 1];
    let block = [TILE, ROWS, 1];
    let launch = Launch { name, grid, block, registers_per_thread, shared_bytes };
    match variant {
        Variant::Naive => gpu.launch(&launch, async |w| matrix.naive(w)),
        Variant::Tiled => gpu.launch(&launch, async |w| matrix.tiled(w).await),
    }?;
    Ok(output)
}

impl Transposition {
    fn naive(&self, w: &Warp) {
        let x = w.block_x().mad(TILE, w.thread_x());
        let y = w.block_y().mad(TILE, w.thread_y());
        let to = self.output.at(x.mad(self.height, y));
        for j in (0..TILE).step_by(ROWS as usize) {
            let row = y + j;
            w.predicated(x.lt(self.width) & row.lt(self.height), || {
                to.offset(j).store(self.input.load(row.mad(self.width, x)));
            });
        }
    }

    async fn tiled(&self, w: &Warp) {
        let tile = w.shared::<f32>(TILE * PITCH);
        let (column, line) = (w.thread_x(), w.thread_y());
        let (x, y) = (w.block_x().mad(TILE, column), w.block_y().mad(TILE, line));
        let to = tile.at(line.mad(PITCH, column));
        for j in (0..TILE).step_by(ROWS as usize) {
            let row = y + j;
            w.predicated(x.lt(self.width) & row.lt(self.height), || {
                to.offset(j * PITCH).store(self.input.load(row.mad(self.width, x)));
            });
        }
        w.barrier().await;
        let (x, y) = (w.block_y().mad(TILE, column), w.block_x().mad(TILE, line));
        let from = tile.at(column.mad(PITCH, line));
        for j in (0..TILE).step_by(ROWS as usize) {
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
            for &(name, variant) in Variant::NAMES {
                let run = run(|gpu| {
                    let output = transpose(gpu, variant, &input, width)?;
                    Ok((gpu.download(output), output.range()))
                });
                let context = format!("{name} {width} × {height}");
                assert_eq!(run.result.0, expected, "{context}");
                let mut stores = run.accesses(Kind::Store);
                stores.sort_unstable();
                let all: Vec<u64> = run.result.1.clone().step_by(4).collect();
                assert_eq!(stores, all, "{context}");
                assert_eq!(run.accesses(Kind::Load).len(), input.len(), "{context}");
            }
        }
    }

    /// Lines of 128 bytes and banks of 4 bytes that each full-warp access of `space` and `kind` touches.
    fn spread(variant: Variant, space: Space, kind: Kind) -> Vec<(usize, usize)> {
        let run = run(|gpu| transpose(gpu, variant, &numbered(64, 64), 64));
        let executed = run.warp(3);
        let accesses = executed.iter().filter(|(i, _)| i.kind == kind && i.space == space);
        let distinct = |addresses: &[u64], of: fn(u64) -> u64| {
            addresses.iter().map(|&a| of(a)).collect::<std::collections::BTreeSet<_>>().len()
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
        assert_eq!(spread(Variant::Naive, Space::Global, Kind::Load), [(1, 32); 4]);
        assert_eq!(spread(Variant::Naive, Space::Global, Kind::Store), [(32, 1); 4]);
        assert_eq!(spread(Variant::Tiled, Space::Global, Kind::Load), [(1, 32); 4]);
        assert_eq!(spread(Variant::Tiled, Space::Global, Kind::Store), [(1, 32); 4]);
        for kind in [Kind::Store, Kind::Load] {
            let banks = spread(Variant::Tiled, Space::Shared, kind);
            assert!(banks.iter().all(|&(_, banks)| banks == 32), "{banks:?}");
            assert_eq!(banks.len(), 4);
        }
    }
}
