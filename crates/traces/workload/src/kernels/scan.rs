//! Exclusive prefix sums: each CTA scans its part in shared memory and stores its total, the totals
//! are scanned recursively and added to the parts.
//!
//! ```cuda
//! __global__ void scanParts(const unsigned *in, unsigned *out, unsigned *sums, unsigned n) {
//!     __shared__ unsigned part[BLOCK];
//!     unsigned thread = threadIdx.x, i = blockIdx.x * BLOCK + thread;
//!     unsigned own = i < n ? in[i] : 0, sum = own;
//!     part[thread] = sum;
//!     for (unsigned distance = 1; distance < BLOCK; distance <<= 1) {        // Hillis and Steele 1986
//!         __syncthreads();
//!         unsigned before = thread >= distance ? part[thread - distance] : 0;
//!         __syncthreads();
//!         part[thread] = sum += before;
//!     }
//!     if (i < n) out[i] = sum - own;
//!     if (thread == BLOCK - 1) sums[blockIdx.x] = sum;
//! }
//! __global__ void addSums(unsigned *out, const unsigned *sums, unsigned n) {
//!     unsigned i = blockIdx.x * BLOCK + threadIdx.x;
//!     if (i < n) out[i] += sums[blockIdx.x];
//! }
//! ```

use super::prelude::*;

/// Threads per CTA.
const BLOCK: u32 = 256;

/// Stores the exclusive prefix sums of `input` in `output`, which may be longer by one. Returns the
/// total of `input`.
pub fn exclusive_scan(
    gpu: &mut Gpu,
    input: Array<u32>,
    output: Array<u32>,
) -> Result<u32, WorkloadError> {
    let n = output.len() as u32;
    let parts = n.div_ceil(BLOCK);
    let sums = gpu.zeros(parts.into());
    let launch = Launch { shared_bytes: 4 * BLOCK, ..grid_of("scanParts", parts, BLOCK, 12) };
    gpu.launch(&launch, async |w| scan_parts(w, input, output, sums).await)?;
    if parts == 1 {
        return Ok(gpu.download(sums)[0]);
    }
    let offsets = gpu.zeros(parts.into());
    let total = exclusive_scan(gpu, sums, offsets)?;
    gpu.launch(&grid_of("addSums", parts, BLOCK, 10), async |w| {
        let i = w.global_x();
        w.exit_unless(i.lt(n));
        let place = output.at(i);
        place.store(place.load() + offsets.load(w.block_x()));
    })?;
    Ok(total)
}

async fn scan_parts(w: &Warp, input: Array<u32>, output: Array<u32>, sums: Array<u32>) {
    let part = w.shared::<u32>(BLOCK);
    let (thread, cta) = (w.thread_x(), w.block_x());
    let i = cta.mad(BLOCK, thread);
    let own = w.var(0);
    w.when(i.lt(input.len() as u32), || own.set(input.load(i)));
    let sum = w.var(0);
    sum.set(&own);
    let place = part.at(thread);
    place.store(&sum);
    let distance = w.var(1);
    w.do_while_in_step(async || {
        w.barrier().await;
        let before = w.var(0);
        w.when(thread.ge(&distance), || before.set(part.at(thread - &distance).load()));
        w.barrier().await;
        sum.set(sum.get() + &before);
        place.store(&sum);
        distance.set(distance.get() << 1);
        distance.get().lt(BLOCK)
    })
    .await;
    w.when(i.lt(output.len() as u32), || output.store(i, sum.get() - &own));
    w.when(thread.eq(BLOCK - 1), || sums.store(cta, &sum));
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn scan_gives_exclusive_prefix_sums() {
        for (n, more) in [(1u32, 0), (5, 1), (256, 0), (256, 1), (1000, 1), (70_000, 0)] {
            let mut random = Random::new(2);
            let elements: Vec<u32> = (0..n).map(|_| random.index(100)).collect();
            let run = run(|gpu| {
                let (input, output) = (gpu.upload(&elements), gpu.zeros((n + more).into()));
                let total = exclusive_scan(gpu, input, output)?;
                Ok((gpu.download(output), total))
            });
            let sums = elements.iter().scan(0, |sum, element| {
                *sum += element;
                Some(*sum)
            });
            let sums: Vec<u32> = std::iter::once(0).chain(sums).collect();
            assert_eq!(run.result.0, sums[..(n + more) as usize], "{n} elements");
            assert_eq!(run.result.1, sums[n as usize], "{n} elements");
        }
    }

    /// 70,000 elements are 274 parts, whose sums are two parts, whose sums are one.
    #[test]
    fn part_sums_are_scanned_recursively() {
        let run = run(|gpu| {
            let (input, output) = (gpu.upload(&vec![1; 70_000]), gpu.zeros(70_000));
            exclusive_scan(gpu, input, output)
        });
        let kernels = run.trace().kernels().iter();
        let kernels: Vec<_> = kernels.map(|k| (k.info.name.as_str(), k.ctas)).collect();
        let parts = [("scanParts", 274), ("scanParts", 2), ("scanParts", 1)];
        assert_eq!(kernels, [parts.as_slice(), &[("addSums", 2), ("addSums", 274)]].concat());
    }
}
