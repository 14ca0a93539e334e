//! Vector addition, one element per thread: fully coalesced, no reuse.
//!
//! ```cuda
//! __global__ void vecadd(const float *a, const float *b, float *c, int n) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i < n) c[i] = a[i] + b[i];
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "vecadd",
    summary: "vector addition, one element per thread",
    source: "CUDA samples, vectorAdd",
    parameters: &[&[
        Parameter::count("n", 1 << 20, (1, 1 << 28), "elements", "Length of each vector"),
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        let n = arguments.count32("n");
        let (a, b) = (small_floats(n, random), small_floats(n, random));
        vecadd(gpu, &a, &b, arguments.count32("block")).map(drop)
    },
};

fn vecadd(gpu: &mut Gpu, a: &[f32], b: &[f32], block: u32) -> Result<Array<f32>, WorkloadError> {
    let n = a.len() as u32;
    let (a, b, c) = (gpu.upload(a), gpu.upload(b), gpu.zeros(u64::from(n)));
    gpu.launch(&launch("vecadd", n, block, 10), async |w| {
        let i = w.global_x();
        w.exit_unless(i.lt(n));
        c.store(i, a.load(i) + b.load(i));
    })?;
    Ok(c)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn adds_every_element_and_touches_nothing_else() {
        let a: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..1000).map(|i| 3.0 * i as f32).collect();
        let run = run(|gpu| {
            let c = vecadd(gpu, &a, &b, 96)?;
            Ok((gpu.download(c), c.range()))
        });
        let (sum, range) = &run.result;
        assert!((0..1000).all(|i| sum[i] == 4.0 * i as f32));
        assert_eq!(run.addresses(Kind::Store), range.clone().step_by(4).collect());
        assert_eq!(run.addresses(Kind::Load).len(), 2000);
    }
}
