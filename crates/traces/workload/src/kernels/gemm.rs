//! Dense matrix product in single precision, tile by tile through shared memory.
//!
//! ```cuda
//! // The guards are ours: NVIDIA's sizes are multiples of the tile.
//! template <int T> __global__ void MatrixMulCUDA(float *C, const float *A, const float *B, int m, int n, int k) {
//!     __shared__ float As[T][T], Bs[T][T];
//!     int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, column = blockIdx.x * T + tx;
//!     float sum = 0;
//!     for (int t = 0; t < k; t += T) {
//!         As[ty][tx] = row < m && t + tx < k ? A[row * k + t + tx] : 0;
//!         Bs[ty][tx] = t + ty < k && column < n ? B[(t + ty) * n + column] : 0;
//!         __syncthreads();
//!         #pragma unroll
//!         for (int i = 0; i < T; i++) sum += As[ty][i] * Bs[i][tx];
//!         __syncthreads();
//!     }
//!     if (row < m && column < n) C[row * n + column] = sum;
//! }
//! ```
//!
//! As compiled (nvcc 13 for sm_75): the inner loop is unrolled and reads `As`, whose elements are
//! contiguous, in fours (`LDS.128`); the guards of the loads are predicates.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "gemm",
    summary: "dense matrix product, tiles in shared memory",
    source: "CUDA samples, matrixMul",
    parameters: &[&[
        Parameter::count("m", 160, (1, 1 << 14), "rows", "Rows of A and C"),
        Parameter::count("n", 160, (1, 1 << 14), "columns", "Columns of B and C"),
        Parameter::count("k", 160, (1, 1 << 14), "elements", "Columns of A, rows of B"),
        Parameter::choice::<Tile>("tile", "16", "Side of a tile and of a CTA"),
    ]],
    run: |gpu, arguments, random| {
        let [m, n, k] = ["m", "n", "k"].map(|name| arguments.count32(name));
        let (a, b) = (small_floats(m * k, random), small_floats(k * n, random));
        gemm(gpu, arguments.choice("tile"), [m, n, k], &a, &b).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Tile {
    Small,
    Large,
}

impl Choice for Tile {
    const NAMES: &'static [(&'static str, Tile)] = &[("16", Tile::Small), ("32", Tile::Large)];
}

/// The matrices on the device: `c` = `a` × `b`, row-major.
#[derive(Clone, Copy)]
struct Product {
    a: Array<f32>,
    b: Array<f32>,
    c: Array<f32>,
    m: u32,
    n: u32,
    k: u32,
    tile: u32,
}

/// Computes C of `m` × `n` from A of `m` × `k` and B of `k` × `n`.
fn gemm(
    gpu: &mut Gpu,
    tile: Tile,
    [m, n, k]: [u32; 3],
    a: &[f32],
    b: &[f32],
) -> Result<Array<f32>, WorkloadError> {
    let (tile, registers_per_thread) = match tile {
        Tile::Small => (16, 39),
        Tile::Large => (32, 42),
    };
    let (a, b, c) = (gpu.upload(a), gpu.upload(b), gpu.zeros(u64::from(m * n)));
    let product = Product { a, b, c, m, n, k, tile };
    let launch = Launch {
        name: "MatrixMulCUDA",
        grid: [n.div_ceil(tile), m.div_ceil(tile), 1],
        block: [tile, tile, 1],
        registers_per_thread,
        shared_bytes: 2 * tile * tile * 4,
    };
    gpu.launch(&launch, async |w| product.multiply(w).await)?;
    Ok(c)
}

impl Product {
    async fn multiply(&self, w: &Warp) {
        let Product { m, n, k, tile, .. } = *self;
        let (a_tile, b_tile) = (w.shared::<f32>(tile * tile), w.shared::<f32>(tile * tile));
        let (tx, ty) = (w.thread_x(), w.thread_y());
        let (row, column) = (w.block_y().mad(tile, ty), w.block_x().mad(tile, tx));
        let (row_exists, column_exists) = (row.lt(m), column.lt(n));
        let own = ty.mad(tile, tx);
        let (own_a, own_b) = (a_tile.at(own), b_tile.at(own));
        let (a_row, b_column) = (a_tile.at(ty * tile).cast::<[f32; 4]>(), b_tile.at(tx));
        let sum = w.var(0.0);
        w.range_in_step(0, k, tile, async |t| {
            let (a, b) = (w.var(0.0), w.var(0.0));
            let (across, down) = (t + tx, t + ty);
            w.predicated(row_exists & across.lt(k), || a.set(self.a.load(row.mad(k, across))));
            own_a.store(&a);
            w.predicated(down.lt(k) & column_exists, || b.set(self.b.load(down.mad(n, column))));
            own_b.store(&b);
            w.barrier().await;
            for i in (0..tile).step_by(4) {
                let four = a_row.offset(i / 4).load();
                for j in 0..4 {
                    let b = b_column.offset((i + j) * tile).load();
                    sum.set(four.part(j as usize).mad(b, &sum));
                }
            }
            w.barrier().await;
        })
        .await;
        w.exit_unless(row_exists & column_exists);
        self.c.store(row.mad(n, column), &sum);
    }
}

#[cfg(test)]
mod tests {
    use warpmem_trace::OpClass;

    use super::super::testing::*;
    use super::*;

    fn plain_product([m, n, k]: [u32; 3], a: &[f32], b: &[f32]) -> Vec<f32> {
        let dot = |row: u32, column: u32| {
            (0..k).map(|i| a[(row * k + i) as usize] * b[(i * n + column) as usize]).sum()
        };
        (0..m).flat_map(|row| (0..n).map(move |column| dot(row, column))).collect()
    }

    #[test]
    fn gives_the_product_for_any_size() {
        let mut random = Random::new(4);
        for [m, n, k] in [[1, 1, 1], [32, 32, 64], [33, 17, 40], [5, 70, 3], [48, 16, 16]] {
            let (a, b) = (small_floats(m * k, &mut random), small_floats(k * n, &mut random));
            for &(name, tile) in Tile::NAMES {
                let run = run(|gpu| {
                    let c = gemm(gpu, tile, [m, n, k], &a, &b)?;
                    Ok((gpu.download(c), c.range()))
                });
                let context = format!("{name} {m} {n} {k}");
                assert_eq!(run.result.0, plain_product([m, n, k], &a, &b), "{context}");
                let written = run.result.1.clone().step_by(4).collect();
                assert_eq!(run.addresses(Kind::Store), written, "{context}");
            }
        }
    }

    #[test]
    fn every_element_is_read_once_by_each_cta_that_needs_it() {
        // 2 × 3 CTAs: A is read by the three of its rows, B by the two of its columns.
        let run = run(|gpu| gemm(gpu, Tile::Large, [64, 96, 40], &[1.0; 2560], &[1.0; 3840]));
        assert_eq!(run.accesses(Kind::Load).len(), 3 * 64 * 40 + 2 * 40 * 96);
    }

    #[test]
    fn shared_tiles_are_read_by_vector_and_scalar_loads() {
        let run = run(|gpu| gemm(gpu, Tile::Small, [16, 16, 16], &[1.0; 256], &[1.0; 256]));
        let executed = run.warp(0);
        let loads = |width| {
            let is_load = |i: &warpmem_trace::Instruction| {
                i.kind == Kind::Load && i.space == Space::Shared && i.width == width
            };
            executed.iter().filter(|(i, _)| is_load(i)).count()
        };
        assert_eq!((loads(16), loads(4)), (4, 16));
        let multiplications = executed
            .iter()
            .flat_map(|(i, _)| &i.compute)
            .filter(|compute| compute.class == OpClass::Fp32)
            .count();
        assert_eq!(multiplications, 16);
        assert_eq!(executed.iter().filter(|(i, _)| i.kind == Kind::Barrier).count(), 2);
    }
}
