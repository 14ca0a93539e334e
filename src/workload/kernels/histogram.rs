//! Histogram in global memory: every element is one atomic, and CTAs meet on the counters.
//!
//! ```cuda
//! __global__ void histogram(const unsigned *data, unsigned *bins, int n, int shift) {
//!     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
//!         atomicAdd(&bins[data[i]], 1);
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "histogram",
    summary: "counts in global memory, one atomic per element",
    source: "CUDA samples, histogram (global-memory variant)",
    parameters: &[&[
        Parameter::count("n", 1 << 18, (1, 1 << 28), "elements", "Elements to count"),
        Parameter::count("bins", 1 << 12, (1, 1 << 24), "counters", "Counters"),
        Parameter::choice::<IndexPattern>(
            "pattern",
            "uniform",
            "How the elements fall on the counters",
        ),
        Parameter::count("grid", 64, (1, 1 << 20), "CTAs", "Size of the grid"),
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        let bins = arguments.count32("bins");
        let data = indices(arguments.choice("pattern"), arguments.count32("n"), bins, random);
        let shape = (arguments.count32("grid"), arguments.count32("block"));
        histogram(gpu, &data, bins, shape).map(drop)
    },
};

fn histogram(
    gpu: &mut Gpu,
    data: &[u32],
    bins: u32,
    (grid, block): (u32, u32),
) -> Result<Array<u32>, WorkloadError> {
    let n = data.len() as u32;
    let (data, bins) = (gpu.upload(data), gpu.zeros(u64::from(bins)));
    gpu.launch(&grid_of("histogram", grid, block, 20), async |w| {
        w.range(w.global_x(), n, w.grid_width() * w.block_width(), |i| {
            bins.at(data.load(i)).add(1);
        });
    })?;
    Ok(bins)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn counts_every_element_once() {
        let data = indices(IndexPattern::Hot, 5000, 64, &mut Random::new(6));
        let run = run(|gpu| {
            let bins = histogram(gpu, &data, 64, (4, 96))?;
            Ok(gpu.download(bins))
        });
        for (bin, &count) in run.result.iter().enumerate() {
            assert_eq!(count as usize, data.iter().filter(|&&d| d as usize == bin).count());
        }
        assert_eq!(run.accesses(Kind::Reduction).len(), 5000);
    }
}
