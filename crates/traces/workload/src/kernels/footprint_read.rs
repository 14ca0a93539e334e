//! Many CTAs read one footprint again and again: bandwidth of the cache that holds it.
//!
//! ```cuda
//! __global__ void footprint_read(double *out, const double *data, int chunks) {
//!     double sum = 0;
//!     #pragma unroll 4                                  // the loads of four steps come first
//!     for (int i = 0; i < LOADS / 2; i++) {
//!         int at = (chunks * i + blockIdx.x % chunks) * 2 * blockDim.x + threadIdx.x;
//!         sum += data[at] * data[at + blockDim.x];
//!     }
//!     if (sum == 23.0) out[threadIdx.x] = sum;
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "footprint-read",
    summary: "CTAs read the same footprint again and again: bandwidth of L2",
    source: "gpu-benches: gpu-l2-cache",
    parameters: &[&[
        Parameter::count(
            "footprint",
            4 << 20,
            (1 << 8, 1 << 32),
            "bytes",
            "Footprint, a multiple of the bytes that a CTA reads: block × loads × 8",
        ),
        Parameter::count("ctas", 1 << 10, (1, 1 << 20), "CTAs", "CTAs"),
        Parameter::count("block", 1 << 10, (32, 1 << 10), "threads", "Threads per CTA"),
        Parameter::count("loads", 64, (8, 1 << 12), "loads", "Loads per thread, a multiple of 8"),
    ]],
    run: |gpu, arguments, _| {
        let (block, loads) = (arguments.count32("block"), arguments.count32("loads"));
        check_multiple("loads", loads.into(), PER_STEP.into())?;
        let (footprint, chunk) = (arguments.count("footprint"), u64::from(block * loads) * DOUBLE);
        check_multiple("footprint", footprint, chunk)?;
        let chunks = (footprint / chunk) as u32;
        read(gpu, &Shape { chunks, ctas: arguments.count32("ctas"), block, loads }).map(drop)
    },
};

/// Bytes of a double.
const DOUBLE: u64 = 8;
/// Loads before the first use: four steps of two.
const PER_STEP: u32 = 8;

struct Shape {
    /// Parts of the footprint; a CTA reads one.
    chunks: u32,
    ctas: u32,
    block: u32,
    loads: u32,
}

fn read(
    gpu: &mut Gpu,
    &Shape { chunks, ctas, block, loads }: &Shape,
) -> Result<Array<f64>, WorkloadError> {
    let data = gpu.zeros::<f64>(u64::from(chunks) * u64::from(block * loads));
    let out = gpu.zeros::<f64>(block.into());
    gpu.launch(&grid_of("footprint_read", ctas, block, 32), async |w| {
        let x = w.thread_x();
        let at = w.var(w.block_x().remainder(chunks).mad(2 * block, x));
        let sum = w.var(0.0);
        w.range(0, loads, PER_STEP, |_| {
            let pairs = [(); PER_STEP as usize / 2].map(|()| {
                let p = data.at(at.get());
                at.set(at.get() + 2 * block * chunks);
                [p.load(), p.offset(block).load()]
            });
            for [left, right] in pairs {
                sum.set(left.mad(right, &sum));
            }
        });
        w.predicated(sum.get().eq(23.0), || out.store(x, &sum));
    })?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn a_cta_reads_its_chunk_once_and_the_chunks_are_the_footprint() {
        let shape = Shape { chunks: 3, ctas: 7, block: 64, loads: 16 };
        let run = run(|gpu| Ok(read(gpu, &shape)?.range()));
        let footprint = run.result.end - run.result.start;
        assert_eq!(footprint, 3 * 64 * 16 * DOUBLE);
        let addresses = run.addresses(Kind::Load);
        assert_eq!(addresses.len() as u64, footprint / DOUBLE);
        assert!(addresses.iter().all(|address| run.result.contains(address)));
        let of_cta = |cta: usize| {
            let executed = run.warp(2 * cta);
            let loads = executed.iter().filter(|(i, _)| i.kind == Kind::Load);
            loads.map(|(_, record)| record.active_addresses()[0]).collect::<Vec<_>>()
        };
        assert_eq!(of_cta(0).len(), 16);
        assert_eq!(of_cta(1), of_cta(4), "CTAs three apart");
        assert!(of_cta(0).iter().all(|address| !of_cta(1).contains(address)));
    }

    #[test]
    fn eight_loads_are_in_flight_before_the_first_use() {
        let run = run(|gpu| read(gpu, &Shape { chunks: 1, ctas: 1, block: 32, loads: 16 }));
        let executed = run.warp(0);
        let loads: Vec<_> = executed.iter().filter(|(i, _)| i.kind == Kind::Load).collect();
        let first_uses: Vec<_> = loads[..8].iter().map(|(load, _)| load.use_distance).collect();
        assert!(first_uses.iter().all(|distance| distance.is_some_and(|d| d >= 1)));
        assert!(first_uses[0].is_some_and(|distance| distance >= 8), "{first_uses:?}");
    }
}
