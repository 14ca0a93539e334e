//! Symmetric rank-2k update, `C = β C + α A Bᵀ + α B Aᵀ`: one thread per element of C, which walks
//! a row of A and of B for its row and another of each for its column.
//!
//! ```cuda
//! __global__ void syr2k_kernel(const float *a, const float *b, float *c, int n, int k) {
//!     int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
//!     if (i >= n || j >= n) return;
//!     c[i * n + j] *= BETA;
//!     for (int l = 0; l < k; l++)
//!         c[i * n + j] += ALPHA * a[i * k + l] * b[j * k + l] + ALPHA * b[i * k + l] * a[j * k + l];
//! }
//! ```
//!
//! As compiled: `c` may alias `a` and `b`, so its element is stored in every step; since nothing
//! else is stored, it also stays in its register. PolyBench's matrices are square; `k` is an
//! addition. nvcc unrolls the loop by four; here it is not unrolled.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "syr2k",
    summary: "symmetric rank-2k update, one thread per element of the result",
    source: "PolyBench/GPU 1.0, SYR2K (Grauer-Gray et al., InPar 2012)",
    parameters: &[&[
        Parameter::count("n", 512, (1, 1 << 13), "rows", "Rows of A, B and C, columns of C"),
        Parameter::count("k", 64, (1, 1 << 13), "columns", "Columns of A and B"),
        Parameter::count("block-x", 32, (1, 1024), "threads", "Columns of a CTA"),
        Parameter::count("block-y", 8, (1, 1024), "threads", "Rows of a CTA"),
    ]],
    run: |gpu, arguments, random| {
        let (n, k) = (arguments.count32("n"), arguments.count32("k"));
        let block = block_of(arguments)?;
        let [a, b] = [0; 2].map(|_| small_floats(n * k, random));
        let c = small_floats(n * n, random);
        syr2k(gpu, [&a, &b, &c], n, block).map(drop)
    },
};

/// Weights of the products and of C itself.
const ALPHA: f32 = 2.0;
const BETA: f32 = 3.0;

/// Computes C from A, B and C, which have `n` rows.
fn syr2k(
    gpu: &mut Gpu,
    matrices: [&[f32]; 3],
    n: u32,
    block: [u32; 3],
) -> Result<Array<f32>, WorkloadError> {
    let k = matrices[0].len() as u32 / n;
    let [a, b, c] = matrices.map(|matrix| gpu.upload(matrix));
    let launch = Launch {
        name: "syr2k_kernel",
        grid: [n.div_ceil(block[0]), n.div_ceil(block[1]), 1],
        block,
        registers_per_thread: 26,
        shared_bytes: 0,
    };
    gpu.launch(&launch, async |w| {
        let (i, j) = (w.global_y(), w.global_x());
        w.exit_unless(i.lt(n) & j.lt(n));
        let element = c.at(i.mad(n, j));
        let sum = w.var(element.load() * BETA);
        element.store(&sum);
        let (own, other) = (i * k, j * k);
        w.range(0, k, 1, |l| {
            let (row, column) = (own + l, other + l);
            let (of_a, of_b) = (a.load(row) * ALPHA, b.load(column));
            let product = b.load(row) * ALPHA * a.load(column);
            sum.set(of_a.mad(of_b, product) + &sum);
            element.store(&sum);
        });
    })?;
    Ok(c)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn gives_the_update_for_any_size() {
        for (n, k, block) in [(1, 1, [32, 8, 1]), (40, 19, [32, 8, 1]), (33, 40, [16, 4, 1])] {
            let mut random = Random::new(4);
            let [a, b] = [0; 2].map(|_| small_floats(n * k, &mut random));
            let c = small_floats(n * n, &mut random);
            let run = run(|gpu| {
                let c = syr2k(gpu, [&a, &b, &c], n, block)?;
                Ok(gpu.download(c))
            });
            let dot = |left: &[f32], i: u32, right: &[f32], j: u32| -> f32 {
                (0..k).map(|l| left[(i * k + l) as usize] * right[(j * k + l) as usize]).sum()
            };
            let element = |at: u32| {
                let (i, j) = (at / n, at % n);
                BETA * c[at as usize] + ALPHA * (dot(&a, i, &b, j) + dot(&b, i, &a, j))
            };
            assert_eq!(run.result, (0..n * n).map(element).collect::<Vec<_>>(), "{n} by {k}");
        }
    }

    #[test]
    fn a_step_reads_two_words_of_rows_and_two_lines_of_columns() {
        let matrix = [1.0; 32 * 64];
        let run = run(|gpu| syr2k(gpu, [&matrix, &matrix, &[0.0; 1024]], 32, [32, 8, 1]));
        let executed = run.warp(0);
        let accesses = executed.iter().filter(|(i, _)| i.kind.is_memory());
        let distances: Vec<(Kind, u64)> = accesses
            .map(|(i, record)| {
                (i.kind, record.active_addresses()[1] - record.active_addresses()[0])
            })
            .collect();
        let step = [
            (Kind::Load, 0),
            (Kind::Load, 256),
            (Kind::Load, 0),
            (Kind::Load, 256),
            (Kind::Store, 4),
        ];
        assert_eq!(distances[..2], [(Kind::Load, 4), (Kind::Store, 4)]);
        assert_eq!(distances[2..], step.repeat(64));
    }
}
