//! Each CTA streams through memory in runs of consecutive bytes at random addresses: a stream has
//! the row locality of its runs until the network interleaves it with those of other SMs.
//!
//! ```cuda
//! __global__ void row_streams(const float *data, float *out, int steps) {
//!     int thread = blockIdx.x * blockDim.x + threadIdx.x;
//!     float sum = 0;
//!     for (int k = 0; k < steps; k++) {
//!         unsigned element = (blockIdx.x * steps + k) * blockDim.x + threadIdx.x;
//!         unsigned run = random(element / RUN);
//!         sum += data[run * RUN + element % RUN];
//!         for (int i = 1; i < COMPUTE; i++) sum += sum;
//!     }
//!     out[thread] = sum;
//! }
//! ```
//!
//! RUN is the length of a run in floats, a power of two.

use super::computed::{Computed, check_power_of_two};
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "row-streams",
    summary: "every CTA streams through runs of consecutive bytes at random addresses",
    source: "the regime of Yuan et al., MICRO 2009: streams with row locality that the network interleaves",
    parameters: &[&[
        Parameter::count("ctas", 56, (1, 1 << 12), "CTAs", "CTAs"),
        Parameter::count("warps", 16, (1, 32), "warps", "Warps per CTA"),
        Parameter::count("steps", 24, (1, 1 << 12), "loads", "Loads per warp, 128 bytes each"),
        Parameter::count("run", 1 << 12, (64, 1 << 20), "bytes", "Run length, a power of two"),
        Parameter::count(
            "compute",
            4,
            (1, 256),
            "instructions",
            "Compute instructions after a load",
        ),
        Parameter::count(
            "footprint",
            1 << 28,
            (1 << 8, 1 << 32),
            "bytes",
            "Footprint of the runs, a power of two",
        ),
    ]],
    run: |gpu, arguments, random| {
        let (run, footprint) = (arguments.count("run"), arguments.count("footprint"));
        check_power_of_two("run", run)?;
        check_power_of_two("footprint", footprint)?;
        if footprint < 2 * run {
            let [run, footprint] = [run, footprint].map(show_count);
            let message = format!("--footprint {footprint} is less than two runs of {run} bytes");
            return Err(WorkloadError::Inconsistent { message });
        }
        let shape = Shape {
            ctas: arguments.count32("ctas"),
            warps: arguments.count32("warps"),
            steps: arguments.count32("steps"),
            run: (run / FLOAT) as u32,
            compute: arguments.count("compute"),
            runs: (footprint / run) as u32,
        };
        row_streams(gpu, &shape, random)
    },
};

const FLOAT: u64 = 4;

struct Shape {
    ctas: u32,
    warps: u32,
    steps: u32,
    /// Floats per run.
    run: u32,
    compute: u64,
    /// Runs in the footprint.
    runs: u32,
}

fn row_streams(gpu: &mut Gpu, shape: &Shape, random: &mut Random) -> Result<(), WorkloadError> {
    let &Shape { ctas, warps, steps, run, compute, runs } = shape;
    let data = gpu.zeros::<f32>(u64::from(run) * u64::from(runs));
    let block = 32 * warps;
    let out = gpu.zeros::<f32>(u64::from(ctas * block));
    let places = Computed::new(random);
    gpu.launch(&grid_of("row_streams", ctas, block, 16), async |w| {
        let (cta, x) = (w.block_x(), w.thread_x());
        let (element, sum) = (w.var(cta.mad(steps * block, x)), w.var(0.0));
        w.range(0, steps, 1, |_| {
            let place = places.below(runs, element.get().quotient(run));
            let within = element.get().remainder(run);
            sum.set(data.load(place.mad(run, within)) + &sum);
            (1..compute).for_each(|_| sum.set(sum.get() + &sum));
            element.set(element.get() + block);
        });
        out.store(cta.mad(block, x), &sum);
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Returns the first addresses of the loads of a CTA's warps, in stream order.
    fn stream(shape: &Shape, cta: usize) -> Vec<u64> {
        let traced = run(|gpu| row_streams(gpu, shape, &mut Random::new(5)));
        let warps = shape.warps as usize;
        let of_warps: Vec<Vec<u64>> = (0..warps)
            .map(|warp| {
                let executed = traced.warp(cta * warps + warp);
                let loads = executed.iter().filter(|(i, _)| i.kind == Kind::Load);
                loads.map(|(_, record)| record.active_addresses()[0]).collect()
            })
            .collect();
        let steps = 0..shape.steps as usize;
        steps.flat_map(|step| of_warps.iter().map(move |loads| loads[step])).collect()
    }

    #[test]
    fn runs_are_consecutive_and_their_starts_random() {
        for run in [32, 64, 256] {
            let shape = Shape { ctas: 3, warps: 4, steps: 8, run, compute: 1, runs: 1 << 12 };
            let stream = stream(&shape, 1);
            assert_eq!(stream.len(), 32);
            let bytes = u64::from(run) * FLOAT;
            for (index, pair) in stream.windows(2).enumerate() {
                let is_in_run = !((index as u64 + 1) * 128).is_multiple_of(bytes);
                assert_eq!(pair[1] == pair[0] + 128, is_in_run, "{run} {index}");
            }
            assert!(stream.iter().step_by(run as usize / 32).all(|first| first % bytes == 0));
        }
    }

    #[test]
    fn ctas_have_streams_of_their_own() {
        let shape = Shape { ctas: 2, warps: 1, steps: 16, run: 64, compute: 3, runs: 1 << 12 };
        let [a, b] = [0, 1].map(|cta| stream(&shape, cta));
        assert!(a.iter().all(|address| !b.contains(address)));
    }
}
