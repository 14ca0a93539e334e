//! Helpers of transformer kernels: vectors of half-precision numbers, numbers of typical magnitude,
//! and sums over a CTA.

use half::f16;

use super::prelude::*;

/// Eight halves, 16 bytes: the most that a lane loads or stores in one access.
pub type Eight = [[f16; 2]; 4];

/// Returns element `index` of a vector in single precision.
pub fn float(vector: Lanes<'_, Eight>, index: usize) -> Lanes<'_, f32> {
    vector.part(index / 2).part(index % 2).to_f32()
}

/// Generates multiples of 1/4 from -2 to 2, like activations after a normalisation.
pub fn activations(len: u32, random: &mut Random) -> Vec<f16> {
    (0..len).map(|_| quarter(random)).collect()
}

/// Draws a multiple of 1/4 from -2 to 2.
pub fn quarter(random: &mut Random) -> f16 {
    f16::from_f32((random.index(17) as f32 - 8.0) / 4.0)
}

/// Generates multiples of 1/256 from -8/256 to 8/256: their standard deviation is 0.019, and models
/// are initialised with 0.02.
pub fn weights(len: u32, random: &mut Random) -> Vec<f16> {
    let values: [f16; 17] = std::array::from_fn(|step| f16::from_f32((step as f32 - 8.0) / 256.0));
    (0..len).map(|_| values[random.index(17) as usize]).collect()
}

/// Iterates over `first`, half of it, and so on down to 1.
pub fn halvings(first: u32) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(first as usize), |&n| Some(n / 2)).take_while(|&n| n > 0)
}

/// Sums a CTA's values into the first thread: over each warp by shuffles, then over the warps
/// through `sums`, 32 floats in shared memory. All warps of the CTA must be full (vLLM 0.2,
/// `blockReduceSum`).
pub async fn block_sum<'w>(
    w: &'w Warp,
    thread: Lanes<'w, u32>,
    value: Var<'w, f32>,
    sums: Shared<f32>,
) -> Lanes<'w, f32> {
    let (lane, warp) = (thread & 31, thread >> 5);
    let fold = |mask| value.set(value.get() + value.get().shuffle_xor(mask));
    halvings(16).for_each(fold);
    w.when(lane.eq(0), || sums.at(warp).store(&value));
    w.barrier().await;
    value.set(0.0);
    w.predicated(thread.lt(w.block_width() / 32), || value.set(sums.at(lane).load()));
    halvings(16).for_each(fold);
    value.get()
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn block_sum_returns_the_total_to_thread_0() {
        for block in [32, 96, 512, 1024] {
            let run = run(|gpu| {
                let out = gpu.zeros::<f32>(1);
                let launch = Launch { shared_bytes: 128, ..grid_of("test", 1, block, 8) };
                gpu.launch(&launch, async |w| {
                    let sums = w.shared::<f32>(32);
                    let thread = w.thread_x();
                    let value = w.var(thread.to_f32());
                    let sum = block_sum(w, thread, value, sums).await;
                    w.when(thread.eq(0), || out.first(w).store(sum));
                })?;
                Ok(gpu.download(out))
            });
            assert_eq!(run.result, [(block * (block - 1) / 2) as f32], "{block}");
        }
    }

    #[test]
    fn weights_are_small_and_centred() {
        let weights = weights(10_000, &mut Random::new(1));
        let mean = |of: fn(f32) -> f32| {
            weights.iter().map(|weight| of(weight.to_f32())).sum::<f32>() / 10_000.0
        };
        assert!(mean(|x| x).abs() < 0.001);
        assert!((mean(|x| x * x).sqrt() - 0.019).abs() < 0.001);
    }
}
