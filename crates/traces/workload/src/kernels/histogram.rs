//! Histogram: one atomic per element, on counters in global memory shared by all CTAs (`global`),
//! or on private counters in shared memory that are summed at the end (`shared`).
//!
//! ```cuda
//! __global__ void histogram(const unsigned *data, unsigned *bins, int n) {
//!     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
//!         atomicAdd(&bins[data[i]], 1);
//! }
//! __global__ void histogram_shared(const unsigned *data, unsigned *bins, int n, int count) {
//!     extern __shared__ unsigned own[];
//!     for (int bin = threadIdx.x; bin < count; bin += blockDim.x) own[bin] = 0;
//!     __syncthreads();
//!     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
//!         atomicAdd(&own[data[i]], 1);
//!     __syncthreads();
//!     for (int bin = threadIdx.x; bin < count; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "histogram",
    summary: "counts with one atomic per element, in global memory or first in shared memory",
    source: "Sanders and Kandrot, CUDA by Example (2010), section 9.4",
    parameters: &[&[
        Parameter::choice::<Variant>("variant", "global", "Memory of the counters"),
        Parameter::count("n", 1 << 18, (1, 1 << 28), "elements", "Elements to count"),
        Parameter::count(
            "bins",
            1 << 12,
            (1, 1 << 24),
            "counters",
            "Counters; at most 12288 for `shared`",
        ),
        Parameter::choice::<IndexPattern>(
            "pattern",
            "uniform",
            "Distribution of the elements over the counters",
        ),
        Parameter::count("grid", 64, (1, 1 << 20), "CTAs", "CTAs of the grid"),
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        let (variant, bins) = (arguments.choice("variant"), arguments.count32("bins"));
        if variant == Variant::Shared && bins > SHARED_BYTES / 4 {
            let message =
                format!("--bins {bins} do not fit into {SHARED_BYTES} bytes of shared memory");
            return Err(WorkloadError::Inconsistent { message });
        }
        let data = indices(arguments.choice("pattern"), arguments.count32("n"), bins, random);
        let shape = (arguments.count32("grid"), arguments.count32("block"));
        histogram(gpu, variant, &data, bins, shape).map(drop)
    },
};

/// Shared memory of a CTA without opt-in, bytes.
const SHARED_BYTES: u32 = 48 << 10;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Global,
    Shared,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("global", Variant::Global), ("shared", Variant::Shared)];
}

fn histogram(
    gpu: &mut Gpu,
    variant: Variant,
    data: &[u32],
    bins: u32,
    (grid, block): (u32, u32),
) -> Result<Array<u32>, WorkloadError> {
    let n = data.len() as u32;
    let (data, bins) = (gpu.upload(data), gpu.zeros(u64::from(bins)));
    match variant {
        Variant::Global => gpu.launch(&grid_of("histogram", grid, block, 20), async |w| {
            w.range(w.global_x(), n, w.grid_width() * w.block_width(), |i| {
                bins.at(data.load(i)).add(1);
            });
        })?,
        Variant::Shared => {
            let shared_bytes = 4 * bins.len() as u32;
            let launch = Launch { shared_bytes, ..grid_of("histogram_shared", grid, block, 18) };
            gpu.launch(&launch, async |w| in_shared(w, data, bins, n).await)?;
        }
    }
    Ok(bins)
}

async fn in_shared(w: &Warp, data: Array<u32>, bins: Array<u32>, n: u32) {
    let count = bins.len() as u32;
    let own = w.shared::<u32>(count);
    let thread = w.thread_x();
    w.range(thread, count, w.block_width(), |bin| own.at(bin).store(0));
    w.barrier().await;
    w.range(w.global_x(), n, w.grid_width() * w.block_width(), |i| {
        own.at(data.load(i)).add(1);
    });
    w.barrier().await;
    w.range(thread, count, w.block_width(), |bin| {
        let counted = own.at(bin).load();
        bins.at(bin).add(counted);
    });
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn every_variant_counts_every_element_once() {
        let data = indices(IndexPattern::Hot, 5000, 64, &mut Random::new(6));
        for (variant, in_global) in [(Variant::Global, 5000), (Variant::Shared, 4 * 64)] {
            let run = run(|gpu| {
                let bins = histogram(gpu, variant, &data, 64, (4, 96))?;
                Ok(gpu.download(bins))
            });
            for (bin, &count) in run.result.iter().enumerate() {
                assert_eq!(count as usize, data.iter().filter(|&&d| d as usize == bin).count());
            }
            assert_eq!(run.accesses(Kind::Reduction).len(), in_global, "{variant:?}");
        }
    }

    #[test]
    fn shared_counters_may_differ_in_number_from_threads() {
        for (n, bins, shape) in [(1, 1, (1, 32)), (700, 33, (3, 64)), (100, 200, (2, 32))] {
            let data = indices(IndexPattern::Uniform, n, bins, &mut Random::new(6));
            let run = run(|gpu| {
                let bins = histogram(gpu, Variant::Shared, &data, bins, shape)?;
                Ok(gpu.download(bins))
            });
            let mut counted = vec![0; bins as usize];
            data.iter().for_each(|&bin| counted[bin as usize] += 1);
            assert_eq!(run.result, counted, "{n} elements, {bins} counters");
        }
    }

    #[test]
    fn lanes_of_one_bin_go_to_one_counter_in_shared_memory() {
        let run = run(|gpu| histogram(gpu, Variant::Shared, &[3; 64], 8, (1, 64)));
        let executed = run.warp(1);
        let counted = executed
            .iter()
            .find(|(i, _)| i.kind == Kind::Reduction && i.space == Space::Shared)
            .map(|(_, record)| record.active_addresses());
        assert_eq!(counted, Some([12; 32].as_slice()));
        assert_eq!(executed.iter().filter(|(i, _)| i.kind == Kind::Barrier).count(), 2);
    }
}
