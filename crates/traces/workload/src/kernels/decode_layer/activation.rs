//! The gate of a feed-forward layer, one CTA per token (vLLM 0.2, `silu_and_mul_kernel`).
//!
//! ```cuda
//! // Rows of `d` gates and `d` values.
//! __global__ void silu_and_mul_kernel(half *out, const half *input, int d) {
//!     for (int i = threadIdx.x; i < d; i += blockDim.x) {
//!         half gate = input[blockIdx.x * 2 * d + i], up = input[blockIdx.x * 2 * d + d + i];
//!         out[blockIdx.x * d + i] = (half)((float)gate / (1 + __expf(-(float)gate))) * up;
//!     }
//! }
//! ```

use half::f16;

use super::super::prelude::*;

/// Arguments of the kernel.
#[derive(Clone, Copy)]
pub struct SiluAndMul {
    pub input: Array<f16>,
    pub out: Array<f16>,
    pub d: u32,
}

impl SiluAndMul {
    pub fn launch(&self, gpu: &mut Gpu, tokens: u32) -> Result<(), WorkloadError> {
        let launch = grid_of("silu_and_mul_kernel", tokens, self.d.min(1024), 24);
        gpu.launch(&launch, async |w| self.gate(w))
    }

    fn gate(&self, w: &Warp) {
        let (thread, token) = (w.thread_x(), w.block_x());
        let (input, out) = (token * (2 * self.d), token * self.d);
        w.range(thread, self.d, w.block_width(), |i| {
            let pair = self.input.at(input + i);
            let (gate, up) = (pair.load().to_f32(), pair.offset(self.d).load());
            let sigmoid = ((-gate).exp() + 1.0).reciprocal();
            self.out.store(out + i, (gate * sigmoid).to_f16().hmul(up));
        });
    }
}

/// Computes the results of a row in double precision.
#[cfg(test)]
pub fn plain(row: &[f16]) -> Vec<f16> {
    let (gates, ups) = row.split_at(row.len() / 2);
    let element = |(gate, up): (&f16, &f16)| {
        let gate = gate.to_f64();
        f16::from_f64(f16::from_f64(gate / (1.0 + (-gate).exp())).to_f64() * up.to_f64())
    };
    gates.iter().zip(ups).map(element).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::halves::activations;
    use super::super::super::testing::*;
    use super::*;

    #[test]
    fn gates_are_applied_to_their_values() {
        for d in [1, 70, 1500] {
            let rows = activations(2 * 2 * d, &mut Random::new(2));
            let run = run(|gpu| {
                let gate =
                    SiluAndMul { input: gpu.upload(&rows), out: gpu.zeros(u64::from(2 * d)), d };
                gate.launch(gpu, 2)?;
                Ok(gpu.download(gate.out))
            });
            let expected: Vec<f16> = rows.chunks(2 * d as usize).flat_map(plain).collect();
            let near = |(a, b): (&f16, &f16)| (a.to_f64() - b.to_f64()).abs() < 0.005;
            assert!(run.result.iter().zip(&expected).all(near), "{d}");
        }
    }
}
