//! A linear layer for the few tokens of a decode step: every weight is read once and used for all
//! tokens.
//!
//! ```cuda
//! // Grid: (1, n / 2). M tokens, known when it is compiled; half8 is eight halves, read at once.
//! template <int M> __global__ void cudaCoreGemm(const half *act, const half *weight, half *out, int n, int k) {
//!     float acc[M][2] = {};
//!     act += 0, weight += 2 * blockIdx.y * k;
//!     for (int i = 8 * threadIdx.x; i < k; i += 8 * 128) {
//!         half8 w[2], a[M];
//!         for (int j = 0; j < 2; j++) w[j] = *(half8 *)&weight[j * k + i];
//!         for (int t = 0; t < M; t++) a[t] = *(half8 *)&act[t * k + i];
//!         for (int t = 0; t < M; t++)
//!             for (int j = 0; j < 2; j++)
//!                 for (int e = 0; e < 8; e++) acc[t][j] += (float)a[t][e] * (float)w[j][e];
//!     }
//!     __shared__ float shmem[4][2 * M];
//!     for (int t = 0; t < M; t++)
//!         for (int j = 0; j < 2; j++) {
//!             float sum = warp_sum(acc[t][j]);                    // with shuffles, in lane 0
//!             if (lane == 0) shmem[warp][2 * t + j] = sum;
//!         }
//!     __syncthreads();
//!     for (int i = threadIdx.x; i < 2 * M; i += 128)
//!         out[i / 2 * n + 2 * blockIdx.y + i % 2] = shmem[0][i] + shmem[1][i] + shmem[2][i] + shmem[3][i];
//! }
//! ```
//!
//! Loops over tokens, columns and elements are unrolled, the loop over `k` is not. The loads of an
//! iteration precede its first product.

use half::f16;

use super::halves::{Eight, activations, float, halvings, weights};
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "linear",
    summary: "linear layer of a decode step: a few tokens times a weight matrix in half precision",
    source: "TensorRT-LLM, cudaCoreGemm",
    parameters: &[&[
        Parameter::count("tokens", 1, (1, 16), "tokens", "Tokens, one per sequence"),
        Parameter::count("n", 1 << 9, (2, 1 << 17), "columns", "Outputs per token, even"),
        Parameter::count(
            "k",
            1 << 9,
            (8, 1 << 17),
            "elements",
            "Inputs per token, and weights per output, a multiple of 8",
        ),
    ]],
    run: |gpu, arguments, random| {
        let [tokens, n, k] = ["tokens", "n", "k"].map(|name| arguments.count32(name));
        check_shape(n, k)?;
        let (act, weight) = (activations(tokens * k, random), weights(n * k, random));
        linear(gpu, [tokens, n, k], &act, &weight).map(drop)
    },
};

/// Columns per CTA.
const TILE_N: u32 = 2;
const THREADS: u32 = 128;
const WARPS: u32 = THREADS / 32;

/// Refuses shapes that the kernel cannot read: `n` columns of `k` weights.
fn check_shape(n: u32, k: u32) -> Result<(), WorkloadError> {
    check_multiple("n", u64::from(n), u64::from(TILE_N))?;
    check_multiple("k", u64::from(k), 8)?;
    check_entries("weights", n, k)
}

fn linear(
    gpu: &mut Gpu,
    [tokens, n, k]: [u32; 3],
    act: &[f16],
    weight: &[f16],
) -> Result<Array<f16>, WorkloadError> {
    let (act, weight) = (gpu.upload(act), gpu.upload(weight));
    let layer = Linear { act, weight, out: gpu.zeros(u64::from(tokens * n)), tokens, n, k };
    layer.launch(gpu)?;
    Ok(layer.out)
}

/// Arguments of the kernel: `k` inputs and `n` outputs per token, and `k` weights per output.
#[derive(Clone, Copy)]
pub struct Linear {
    pub act: Array<f16>,
    pub weight: Array<f16>,
    pub out: Array<f16>,
    /// At most 16.
    pub tokens: u32,
    pub n: u32,
    pub k: u32,
}

impl Linear {
    pub fn launch(&self, gpu: &mut Gpu) -> Result<(), WorkloadError> {
        let launch = Launch {
            grid: [1, self.n / TILE_N, 1],
            shared_bytes: 4 * WARPS * self.sums(),
            ..grid_of("cudaCoreGemm", 0, THREADS, 40 + 6 * self.tokens)
        };
        gpu.launch(&launch, async |w| self.multiply(w).await)
    }

    /// Returns the number of sums per CTA.
    fn sums(&self) -> u32 {
        TILE_N * self.tokens
    }

    async fn multiply(&self, w: &Warp) {
        let shmem = w.shared::<f32>(WARPS * self.sums());
        let (thread, column) = (w.thread_x(), w.block_y() * TILE_N);
        let acc: Vec<Var<f32>> = (0..self.sums()).map(|_| w.var(0.0)).collect();
        self.products(w, thread, column, &acc);
        let (lane, warp) = (thread & 31, thread >> 5);
        for (i, acc) in (0..).zip(&acc) {
            acc.set(halvings(16).fold(acc.get(), |sum, by| sum + sum.shuffle_down(by)));
            w.when(lane.eq(0), || shmem.at(warp * self.sums()).offset(i).store(acc));
        }
        w.barrier().await;
        w.range(thread, self.sums(), THREADS, |i| {
            let of_warp = |warp: u32| shmem.at(i).offset(warp * self.sums()).load();
            let sum = (1..WARPS).fold(of_warp(0), |sum, warp| sum + of_warp(warp));
            let token = i.quotient(TILE_N);
            let place = token.mad(self.n, column + i.remainder(TILE_N));
            self.out.store(place, sum.to_f16());
        });
    }

    /// Adds the thread's products to its sums.
    fn products<'w>(
        &self,
        w: &'w Warp,
        thread: Lanes<'w, u32>,
        column: Lanes<'w, u32>,
        acc: &[Var<'w, f32>],
    ) {
        let (act, weight) = (self.act.cast::<Eight>(), self.weight.cast::<Eight>());
        let vectors = self.k / 8;
        let row = column * vectors;
        w.range(thread, vectors, THREADS, |i| {
            let (act, weight) = (act.at(i), weight.at(row + i));
            let columns: Vec<_> = (0..TILE_N).map(|j| weight.offset(j * vectors).load()).collect();
            let tokens: Vec<_> = (0..self.tokens).map(|t| act.offset(t * vectors).load()).collect();
            let floats =
                |vector| -> [Lanes<'w, f32>; 8] { std::array::from_fn(|e| float(vector, e)) };
            let columns: Vec<_> = columns.into_iter().map(floats).collect();
            for (token, acc) in tokens.into_iter().zip(acc.chunks_exact(TILE_N as usize)) {
                let token = floats(token);
                for (column, acc) in columns.iter().zip(acc) {
                    for (a, b) in token.iter().zip(column) {
                        acc.set(a.mad(*b, acc));
                    }
                }
            }
        });
    }
}

/// Computes the layer in double precision, rounded to half precision.
#[cfg(test)]
pub fn plain(tokens: &[f16], weight: &[f16], k: usize) -> Vec<f16> {
    let dot = |a: &[f16], b: &[f16]| -> f64 {
        a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum()
    };
    let token = |token| weight.chunks_exact(k).map(move |row| f16::from_f64(dot(token, row)));
    tokens.chunks_exact(k).flat_map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn gives_the_product_for_any_size() {
        // Products of multiples of 1/4 and 1/256, and their sums, are exact.
        for [tokens, n, k] in [[1, 2, 8], [1, 6, 1032], [2, 4, 2048], [5, 10, 264], [16, 2, 1024]] {
            let mut random = Random::new(3);
            let (act, weight) = (activations(tokens * k, &mut random), weights(n * k, &mut random));
            let run = run(|gpu| {
                let out = linear(gpu, [tokens, n, k], &act, &weight)?;
                Ok((gpu.download(out), out.range()))
            });
            let expected = plain(&act, &weight, k as usize);
            assert_eq!(run.result.0, expected, "{tokens} {n} {k}");
            assert!(expected.iter().all(|&x| x != f16::ZERO));
            let written = run.result.1.clone().step_by(2).collect();
            assert_eq!(run.addresses(Kind::Store), written, "{tokens} {n} {k}");
        }
    }

    #[test]
    fn weights_are_read_once_in_whole_lines() {
        let (act, weight) = (vec![f16::ONE; 3 * 1280], vec![f16::ONE; 4 * 1280]);
        let run = run(|gpu| {
            let (act, weight) = (gpu.upload(&act), gpu.upload(&weight));
            let layer = Linear { act, weight, out: gpu.zeros(12), tokens: 3, n: 4, k: 1280 };
            layer.launch(gpu)?;
            Ok([act.range(), weight.range()])
        });
        let [act, weight] = &run.result;
        // 1280 weights are 160 vectors: five warps' loads of 512 bytes.
        assert_eq!(run.lines(Kind::Load, weight), vec![4; 4 * 5]);
        assert_eq!(run.count(Kind::Load, weight), 4 * 160);
        assert_eq!(run.count(Kind::Load, act), 2 * 3 * 160, "each CTA reads the tokens");
    }

    #[test]
    fn loads_come_before_the_first_product() {
        let (act, weight) = (vec![f16::ONE; 2 * 256], vec![f16::ONE; 2 * 256]);
        let run = run(|gpu| linear(gpu, [2, 2, 256], &act, &weight));
        let executed = run.warp(0);
        let is_load = |i: &warpmem_trace::Instruction| {
            i.kind == Kind::Load && i.space == Space::Global && i.width == 16
        };
        let distances: Vec<_> =
            executed.iter().filter(|(i, _)| is_load(i)).map(|(i, _)| i.use_distance).collect();
        // Two of weights and two of tokens; the first weights are converted first, then the others.
        assert_eq!(distances, [Some(3), Some(10), Some(17), Some(40)]);
    }

    #[test]
    fn invalid_shapes_are_refused() {
        let refusal = |n, k| check_shape(n, k).unwrap_err().to_string();
        assert_eq!(refusal(3, 8), "--n 3 is not a multiple of 2");
        assert_eq!(refusal(2, 12), "--k 12 is not a multiple of 8");
        assert_eq!(refusal(1 << 17, 1 << 12), "2^29 weights are more than 2^28");
        assert!(check_shape(22016, 4096).is_ok());
    }
}
