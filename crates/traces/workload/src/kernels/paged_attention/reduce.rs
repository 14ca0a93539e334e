//! Combines the parts of a split context.
//!
//! ```cuda
//! // vLLM 0.2, paged_attention_v2_reduce. Grid: (heads, sequences).
//! int parts = (context_len + PARTITION - 1) / PARTITION;
//! if (parts == 1) {
//!     for (int i = thread; i < HEAD_SIZE; i += THREADS) out_ptr[i] = tmp_out_ptr[i];
//!     return;
//! }
//! float max_logit = -FLT_MAX;
//! for (int i = thread; i < parts; i += THREADS) max_logit = fmaxf(max_logit, shared_max_logits[i] = max_logits_ptr[i]);
//! __syncthreads();
//! max_logit = block_max(max_logit);
//! float global_exp_sum = 0;
//! for (int i = thread; i < parts; i += THREADS)
//!     global_exp_sum += shared_exp_sums[i] = exp_sums_ptr[i] * expf(shared_max_logits[i] - max_logit);
//! __syncthreads();
//! global_exp_sum = block_sum(global_exp_sum);
//! float inv_global_exp_sum = __fdividef(1, global_exp_sum + 1e-6f);
//! for (int i = thread; i < HEAD_SIZE; i += THREADS) {
//!     float acc = 0;
//!     for (int j = 0; j < parts; ++j)
//!         acc += __half2float(tmp_out_ptr[j * HEAD_SIZE + i]) * shared_exp_sums[j] * inv_global_exp_sum;
//!     out_ptr[i] = __float2half(acc);
//! }
//! ```

use half::f16;

use super::super::prelude::*;
use super::fold::{Cta, THREADS, WARPS};
use super::kernel::Split;

/// Arguments of the kernel.
pub struct Reduce {
    pub split: Split,
    /// Results of the parts.
    pub partial: Array<f16>,
    pub context_lens: Array<u32>,
    pub out: Array<f16>,
    pub heads: u32,
    pub head_size: u32,
}

impl Reduce {
    /// Launches a CTA for each head of each of `sequences`.
    pub fn launch(&self, gpu: &mut Gpu, sequences: u32) -> Result<(), WorkloadError> {
        let launch = Launch {
            grid: [self.heads, sequences, 1],
            shared_bytes: 2 * (4 * self.split.parts).next_multiple_of(16) + 4 * 2 * WARPS,
            ..grid_of("paged_attention_v2_reduce", 0, THREADS, 32)
        };
        gpu.launch(&launch, async |w| self.reduce(w).await)
    }

    async fn reduce(&self, w: &Warp) {
        let (thread, head_size) = (w.thread_x(), self.head_size);
        let max_logits = w.shared::<f32>(self.split.parts);
        let exp_sums = w.shared::<f32>(self.split.parts);
        let red_smem = w.shared::<f32>(2 * WARPS);
        let result = w.block_y().mad(self.heads, w.block_x());
        let first = result * self.split.parts;
        let context_len = self.context_lens.load(w.block_y());
        let parts = (context_len + (self.split.tokens - 1)).quotient(self.split.tokens);
        let is_one = parts.eq(1);
        w.when(is_one, || {
            w.range(thread, head_size, THREADS, |i| {
                let value = self.partial.load(first.mad(head_size, i));
                self.out.store(result.mad(head_size, i), value);
            });
        });
        w.exit_unless(parts.ne(1));
        let cta = Cta::new(w, thread);
        let max_logit = w.var(f32::MIN);
        w.range(thread, parts, THREADS, |i| {
            let max = self.split.max_logits.load(first + i);
            max_logits.at(i).store(max);
            max_logit.set(max_logit.get().max(max));
        });
        w.barrier().await;
        let max_logit = cta.fold(max_logit, 1, (red_smem, 0), Lanes::max).await;
        let sum = w.var(0.0);
        w.range(thread, parts, THREADS, |i| {
            let scale = (max_logits.at(i).load() - max_logit).exp();
            let scaled = self.split.exp_sums.load(first + i) * scale;
            exp_sums.at(i).store(scaled);
            sum.set(sum.get() + scaled);
        });
        w.barrier().await;
        let sum = cta.fold(sum, 1, (red_smem, WARPS), |a, b| a + b).await;
        let inv_sum = (sum + 1e-6).reciprocal();
        w.range(thread, head_size, THREADS, |i| {
            let acc = w.var(0.0);
            w.range(0, parts, 1, |j| {
                let value = self.partial.load((first + j).mad(head_size, i)).to_f32();
                acc.set(value.mad(exp_sums.at(j).load() * inv_sum, acc.get()));
            });
            self.out.store(result.mad(head_size, i), acc.get().to_f16());
        });
    }
}
