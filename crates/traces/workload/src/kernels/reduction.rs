//! Sum of an array: each CTA adds two elements per thread and folds them in shared memory with a
//! barrier after every fold; relaunched on the partial sums until one is left.
//!
//! ```cuda
//! __global__ void reduce(const int *in, int *out, int n) {
//!     extern __shared__ int sdata[];
//!     int tid = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
//!     int sum = i < n ? in[i] : 0;
//!     if (i + blockDim.x < n) sum += in[i + blockDim.x];
//!     sdata[tid] = sum;
//!     __syncthreads();
//!     for (int s = blockDim.x / 2; s > 0; s >>= 1) {
//!         if (tid < s) sdata[tid] = sum = sum + sdata[tid + s];
//!         __syncthreads();
//!     }
//!     if (tid == 0) out[blockIdx.x] = sum;
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "reduction",
    summary: "sum of an array: folds in shared memory with barriers, relaunched until one element is left",
    source: "CUDA samples, reduction (reduce3)",
    parameters: &[&[
        Parameter::count("n", 1 << 18, (1, 1 << 28), "elements", "Elements to sum"),
        Parameter::count("block", 256, (2, 1024), "threads", "Threads per CTA, a power of two"),
    ]],
    run: |gpu, arguments, random| {
        let block = arguments.count32("block");
        check_power_of_two("block", block.into())?;
        let data: Vec<u32> = (0..arguments.count32("n")).map(|_| random.index(1000)).collect();
        reduction(gpu, &data, block).map(drop)
    },
};

/// Returns an array of one element, the sum.
fn reduction(gpu: &mut Gpu, data: &[u32], block: u32) -> Result<Array<u32>, WorkloadError> {
    let mut input = gpu.upload(data);
    loop {
        let n = input.len() as u32;
        let grid = n.div_ceil(2 * block);
        let output = gpu.zeros(u64::from(grid));
        let launch = Launch { shared_bytes: 4 * block, ..grid_of("reduce", grid, block, 14) };
        gpu.launch(&launch, async |w| reduce(w, input, output, n).await)?;
        if grid == 1 {
            return Ok(output);
        }
        input = output;
    }
}

async fn reduce(w: &Warp, input: Array<u32>, output: Array<u32>, n: u32) {
    let sdata = w.shared::<u32>(w.block_width());
    let (tid, cta) = (w.thread_x(), w.block_x());
    let i = cta.mad(2 * w.block_width(), tid);
    let sum = w.var(0);
    w.when(i.lt(n), || sum.set(input.load(i)));
    let other = i + w.block_width();
    w.when(other.lt(n), || sum.set(input.load(other) + &sum));
    let own = sdata.at(tid);
    own.store(&sum);
    w.barrier().await;
    let s = w.var(w.block_width() / 2);
    w.do_while_in_step(async || {
        w.when(tid.lt(&s), || {
            sum.set(sdata.at(tid + &s).load() + &sum);
            own.store(&sum);
        });
        w.barrier().await;
        s.set(s.get() >> 1);
        s.get().ne(0)
    })
    .await;
    w.exit_unless(tid.eq(0));
    output.store(cta, &sum);
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn the_sum_is_exact() {
        for (n, block) in [(1, 2), (5, 32), (1000, 64), (5000, 128), (4096, 1024)] {
            let data: Vec<u32> = (0..n).map(|i| i * 7 % 13).collect();
            let run = run(|gpu| {
                let sum = reduction(gpu, &data, block)?;
                Ok(gpu.download(sum))
            });
            assert_eq!(run.result, [data.iter().sum::<u32>()], "{n} elements, {block} threads");
        }
    }

    #[test]
    fn every_warp_arrives_at_every_barrier() {
        let run = run(|gpu| reduction(gpu, &[1; 500], 256));
        for warp in 0..8 {
            let executed = run.warp(warp);
            let barriers = executed.iter().filter(|(i, _)| i.kind == Kind::Barrier).count();
            assert_eq!(barriers, 1 + 8);
        }
    }
}
