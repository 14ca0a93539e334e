//! Root-mean-square normalisation of tokens, one CTA each.
//!
//! ```cuda
//! __global__ void rms_norm_kernel(half *out, const half *input, const half *weight, float epsilon, int hidden) {
//!     __shared__ float s_variance;
//!     float variance = 0;
//!     for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
//!         float x = input[blockIdx.x * hidden + i];
//!         variance += x * x;
//!     }
//!     variance = blockReduceSum(variance);
//!     if (threadIdx.x == 0) s_variance = rsqrtf(variance / hidden + epsilon);
//!     __syncthreads();
//!     for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
//!         float x = input[blockIdx.x * hidden + i];
//!         out[blockIdx.x * hidden + i] = (half)(x * s_variance) * weight[i];
//!     }
//! }
//!
//! // half8 is eight halves, read at once; its sums and products are those of __hadd2 and __hmul2.
//! __global__ void fused_add_rms_norm_kernel(half8 *input, half8 *residual, const half8 *weight, float epsilon, int hidden) {
//!     __shared__ float s_variance;
//!     float variance = 0;
//!     for (int i = threadIdx.x; i < hidden / 8; i += blockDim.x) {
//!         int id = blockIdx.x * (hidden / 8) + i;
//!         half8 x = input[id] + residual[id];
//!         variance += sum_of_squares(x);
//!         residual[id] = x;
//!     }
//!     variance = blockReduceSum(variance);
//!     if (threadIdx.x == 0) s_variance = rsqrtf(variance / hidden + epsilon);
//!     __syncthreads();
//!     for (int i = threadIdx.x; i < hidden / 8; i += blockDim.x) {
//!         int id = blockIdx.x * (hidden / 8) + i;
//!         input[id] = residual[id] * s_variance * weight[i];
//!     }
//! }
//! ```

use half::f16;

use super::halves::{Eight, activations, block_sum, float};
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "rms-norm",
    summary: "root-mean-square normalisation of tokens, one CTA each, with or without a residual",
    source: "vLLM 0.6, rms_norm and fused_add_rms_norm (Zhang and Sennrich, NeurIPS 2019)",
    parameters: &[&[
        Parameter::choice::<Variant>(
            "variant",
            "fused-add",
            "With a residual and 16 bytes per lane (fused-add), or single halves (plain)",
        ),
        Parameter::count("tokens", 1 << 9, (1, 1 << 20), "tokens", "Tokens, one CTA each"),
        HIDDEN,
    ]],
    run: |gpu, arguments, random| {
        let [tokens, hidden] = ["tokens", "hidden"].map(|name| arguments.count32(name));
        check_hidden(hidden)?;
        check_entries("elements", tokens, hidden)?;
        let input = activations(tokens * hidden, random);
        let weight = activations(hidden, random);
        match arguments.choice("variant") {
            Variant::Plain => plain_norm(gpu, tokens, &input, &weight).map(drop),
            Variant::FusedAdd => {
                let residual = activations(tokens * hidden, random);
                fused_norm(gpu, tokens, [&input, &residual], &weight).map(drop)
            }
        }
    },
};

const HIDDEN: Parameter = Parameter::count(
    "hidden",
    1 << 9,
    (32, 1 << 16),
    "elements",
    "Elements per token, a multiple of 32",
);

#[derive(Clone, Copy, Debug)]
enum Variant {
    Plain,
    FusedAdd,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("plain", Variant::Plain), ("fused-add", Variant::FusedAdd)];
}

/// Maximum threads per CTA.
const MOST_THREADS: u32 = 1024;
/// Added to the mean square, as in Llama 2.
const EPSILON: f32 = 1e-5;

/// Refuses sizes with a partial warp.
fn check_hidden(hidden: u32) -> Result<(), WorkloadError> {
    check_multiple("hidden", u64::from(hidden), 32)
}

fn plain_norm(
    gpu: &mut Gpu,
    tokens: u32,
    input: &[f16],
    weight: &[f16],
) -> Result<Array<f16>, WorkloadError> {
    let hidden = weight.len() as u32;
    let (input, weight) = (gpu.upload(input), gpu.upload(weight));
    let norm = Norm { input, weight, hidden };
    let out = gpu.zeros(u64::from(tokens * hidden));
    let launch = norm.shape("rms_norm_kernel", tokens, MOST_THREADS);
    gpu.launch(&launch, async |w| norm.plain(w, out).await)?;
    Ok(out)
}

/// Returns the results and the new residual.
fn fused_norm(
    gpu: &mut Gpu,
    tokens: u32,
    [input, residual]: [&[f16]; 2],
    weight: &[f16],
) -> Result<[Array<f16>; 2], WorkloadError> {
    let hidden = weight.len() as u32;
    let (input, residual) = (gpu.upload(input), gpu.upload(residual));
    let norm = Norm { input, weight: gpu.upload(weight), hidden };
    norm.launch_fused(gpu, tokens, residual)?;
    Ok([input, residual])
}

/// Arguments of both kernels: tokens of `hidden` elements, and a weight for each element of a
/// token.
#[derive(Clone, Copy)]
pub struct Norm {
    pub input: Array<f16>,
    pub weight: Array<f16>,
    pub hidden: u32,
}

impl Norm {
    /// Adds `input` to `residual`, and stores the normalised sums to `input`.
    pub fn launch_fused(
        &self,
        gpu: &mut Gpu,
        tokens: u32,
        residual: Array<f16>,
    ) -> Result<(), WorkloadError> {
        // vLLM uses fewer threads for many tokens, so that more CTAs fit on an SM.
        let most = if tokens < 256 { MOST_THREADS } else { 256 };
        let launch = self.shape("fused_add_rms_norm_kernel", tokens, most);
        gpu.launch(&launch, async |w| self.fused(w, residual.cast()).await)
    }

    fn shape(&self, name: &'static str, tokens: u32, most_threads: u32) -> Launch {
        Launch {
            shared_bytes: 4 * (1 + 3 + 32),
            ..grid_of(name, tokens, self.hidden.min(most_threads), 32)
        }
    }

    async fn plain(&self, w: &Warp, out: Array<f16>) {
        let (thread, row) = (w.thread_x(), w.block_x() * self.hidden);
        let variance = w.var(0.0);
        w.range(thread, self.hidden, w.block_width(), |i| {
            let x = self.input.load(row + i).to_f32();
            variance.set(x.mad(x, &variance));
        });
        let scale = self.scale(w, thread, variance).await;
        w.range(thread, self.hidden, w.block_width(), |i| {
            let place = row + i;
            let x = self.input.load(place).to_f32();
            let weight = self.weight.load(i);
            out.store(place, (x * scale).to_f16().hmul(weight));
        });
    }

    async fn fused(&self, w: &Warp, residual: Array<Eight>) {
        let (input, weight) = (self.input.cast::<Eight>(), self.weight.cast::<Eight>());
        let vectors = self.hidden / 8;
        let (thread, row) = (w.thread_x(), w.block_x() * vectors);
        let variance = w.var(0.0);
        w.range(thread, vectors, w.block_width(), |i| {
            let (input, residual) = (input.at(row + i), residual.at(row + i));
            let (new, old) = (input.load(), residual.load());
            let sums = [0, 1, 2, 3].map(|pair| new.part(pair).hadd2(old.part(pair)));
            for sum in sums {
                let [x, y] = [0, 1].map(|half| sum.part(half).to_f32());
                variance.set(x.mad(x, &variance));
                variance.set(y.mad(y, &variance));
            }
            residual.store_parts(sums);
        });
        let scale = self.scale(w, thread, variance).await;
        w.range(thread, vectors, w.block_width(), |i| {
            let sum = residual.load(row + i);
            let weight = weight.load(i);
            let scaled = [0, 1, 2, 3].map(|pair| {
                let [x, y] = [0, 1].map(|half| float(sum, 2 * pair + half) * scale);
                x.pack(y).hmul2(weight.part(pair))
            });
            input.at(row + i).store_parts(scaled);
        });
    }

    /// Returns the factor of every element, from the threads' sums of squares.
    async fn scale<'w>(
        &self,
        w: &'w Warp,
        thread: Lanes<'w, u32>,
        squares: Var<'w, f32>,
    ) -> Lanes<'w, f32> {
        let s_variance = w.shared::<f32>(1).first(w);
        let sums = w.shared::<f32>(32);
        let variance = block_sum(w, thread, squares, sums).await;
        w.when(thread.eq(0), || {
            let mean = variance.divided_by(self.hidden as f32);
            s_variance.store((mean + EPSILON).inverse_sqrt());
        });
        w.barrier().await;
        s_variance.load()
    }
}

/// Normalises the tokens' elements in double precision.
#[cfg(test)]
pub fn plain(tokens: &[f16], weight: &[f16]) -> Vec<f16> {
    let normalised = |token: &[f16]| {
        let squares: f64 = token.iter().map(|x| x.to_f64().powi(2)).sum();
        let scale = 1.0 / (squares / weight.len() as f64 + f64::from(EPSILON)).sqrt();
        let element = |(x, weight): (&f16, &f16)| {
            f16::from_f64(f16::from_f64(x.to_f64() * scale).to_f64() * weight.to_f64())
        };
        token.iter().zip(weight).map(element).collect::<Vec<_>>()
    };
    tokens.chunks_exact(weight.len()).flat_map(normalised).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn worst(found: &[f16], expected: &[f16]) -> f64 {
        assert_eq!(found.len(), expected.len());
        let error = |(a, b): (&f16, &f16)| (a.to_f64() - b.to_f64()).abs();
        found.iter().zip(expected).map(error).fold(0.0, f64::max)
    }

    /// Spacing of half precision between 2 and 4, where the largest results are.
    const TOLERANCE: f64 = 1.0 / 512.0;

    #[test]
    fn normalised_tokens_match_double_precision() {
        for (tokens, hidden) in [(1, 32), (3, 96), (2, 1024), (2, 4096), (300, 512)] {
            let mut random = Random::new(3);
            let mut drawn = || activations(tokens * hidden, &mut random);
            let (input, residual) = (drawn(), drawn());
            let weight = activations(hidden, &mut random);
            let context = format!("{tokens} {hidden}");
            let run_of_plain = run(|gpu| {
                let out = plain_norm(gpu, tokens, &input, &weight)?;
                Ok(gpu.download(out))
            });
            assert!(worst(&run_of_plain.result, &plain(&input, &weight)) <= TOLERANCE, "{context}");

            let run_of_fused = run(|gpu| {
                let arrays = fused_norm(gpu, tokens, [&input, &residual], &weight)?;
                Ok(arrays.map(|array| gpu.download(array)))
            });
            // Sums of multiples of 1/4 are exact.
            let sums: Vec<f16> = input.iter().zip(&residual).map(|(a, b)| a + b).collect();
            let [out, new_residual] = &run_of_fused.result;
            assert_eq!(*new_residual, sums, "{context}");
            assert!(worst(out, &plain(&sums, &weight)) <= TOLERANCE, "{context}");
        }
    }

    #[test]
    fn a_token_is_read_twice_by_halves_or_whole_lines() {
        let ones = vec![f16::ONE; 2048];
        let run_of_plain = run(|gpu| {
            let input = gpu.upload(&ones);
            let norm = Norm { input, weight: gpu.upload(&ones[..1024]), hidden: 1024 };
            let out = gpu.zeros(2048);
            let launch = norm.shape("test", 2, 1024);
            gpu.launch(&launch, async |w| norm.plain(w, out).await)?;
            Ok(input.range())
        });
        assert_eq!(run_of_plain.lines(Kind::Load, &run_of_plain.result), vec![1; 2 * 2 * 32]);
        let run_of_fused = run(|gpu| {
            let [input, residual] = fused_norm(gpu, 2, [&ones, &ones], &ones[..1024])?;
            Ok([input.range(), residual.range()])
        });
        let [input, residual] = &run_of_fused.result;
        // 128 vectors of a token: four of the CTA's 32 warps.
        assert_eq!(run_of_fused.lines(Kind::Load, input), vec![4; 2 * 4]);
        assert_eq!(run_of_fused.lines(Kind::Load, residual), vec![4; 2 * 2 * 4]);
        assert_eq!(run_of_fused.lines(Kind::Store, residual), vec![4; 2 * 4]);
    }
}
