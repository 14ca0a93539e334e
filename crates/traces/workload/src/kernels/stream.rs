//! McCalpin's STREAM on four floats per thread and step, in a grid-stride loop: pure bandwidth.
//!
//! ```cuda
//! __global__ void stream_triad(float4 *a, const float4 *b, const float4 *c, float s, int n) {
//!     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
//!         a[i] = b[i] + s * c[i];                 // copy: b[i]; scale: s * b[i]; add: b[i] + c[i]
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "stream",
    summary: "STREAM copy, scale, add or triad, 16 bytes per thread in a grid-stride loop",
    source: "McCalpin, STREAM (1995)",
    parameters: &[&[
        Parameter::choice::<Operation>("op", "triad", "Operation"),
        Parameter::count(
            "n",
            1 << 20,
            (4, 1 << 28),
            "elements",
            "Length of each vector, a multiple of 4",
        ),
        Parameter::count("grid", 128, (1, 1 << 20), "CTAs", "CTAs of the grid"),
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        check_multiple("n", arguments.count("n"), 4)?;
        let n = arguments.count32("n") / 4;
        let (b, c) = (small_vectors(n, random), small_vectors(n, random));
        let shape = (arguments.count32("grid"), arguments.count32("block"));
        stream(gpu, arguments.choice("op"), &b, &c, shape).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Copy,
    Scale,
    Add,
    Triad,
}

impl Choice for Operation {
    const NAMES: &'static [(&'static str, Operation)] = &[
        ("copy", Operation::Copy),
        ("scale", Operation::Scale),
        ("add", Operation::Add),
        ("triad", Operation::Triad),
    ];
}

impl Operation {
    fn kernel(self) -> &'static str {
        match self {
            Operation::Copy => "stream_copy",
            Operation::Scale => "stream_scale",
            Operation::Add => "stream_add",
            Operation::Triad => "stream_triad",
        }
    }
}

/// Factor of scale and triad.
const SCALAR: f32 = 3.0;

fn small_vectors(n: u32, random: &mut Random) -> Vec<[f32; 4]> {
    small_floats(4 * n, random).as_chunks().0.to_vec()
}

fn stream(
    gpu: &mut Gpu,
    operation: Operation,
    b: &[[f32; 4]],
    c: &[[f32; 4]],
    (grid, block): (u32, u32),
) -> Result<Array<[f32; 4]>, WorkloadError> {
    let n = b.len() as u32;
    let (a, b, c) = (gpu.zeros(u64::from(n)), gpu.upload(b), gpu.upload(c));
    gpu.launch(&grid_of(operation.kernel(), grid, block, 24), async |w| {
        w.range(w.global_x(), n, w.grid_width() * w.block_width(), |i| match operation {
            Operation::Copy => a.store(i, b.load(i)),
            Operation::Scale => {
                let from = b.load(i);
                a.at(i).store_parts([0, 1, 2, 3].map(|k| from.part(k) * SCALAR));
            }
            Operation::Add => {
                let (left, right) = (b.load(i), c.load(i));
                a.at(i).store_parts([0, 1, 2, 3].map(|k| left.part(k) + right.part(k)));
            }
            Operation::Triad => {
                let (base, scaled) = (b.load(i), c.load(i));
                let sum = |k| scaled.part(k).mad(SCALAR, base.part(k));
                a.at(i).store_parts([0, 1, 2, 3].map(sum));
            }
        });
    })?;
    Ok(a)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn every_operation_computes_what_stream_defines() {
        let n = 1000;
        let b: Vec<[f32; 4]> = (0..n).map(|i| [i as f32, 1.0, 2.0, 3.0]).collect();
        let c: Vec<[f32; 4]> = (0..n).map(|i| [5.0, i as f32, 7.0, 8.0]).collect();
        let expected: [fn(f32, f32) -> f32; 4] =
            [|b, _| b, |b, _| SCALAR * b, |b, c| b + c, |b, c| b + SCALAR * c];
        for (&(name, operation), expected) in Operation::NAMES.iter().zip(expected) {
            let run = run(|gpu| {
                let a = stream(gpu, operation, &b, &c, (3, 96))?;
                Ok(gpu.download(a))
            });
            for i in 0..n {
                for k in 0..4 {
                    assert_eq!(run.result[i][k], expected(b[i][k], c[i][k]), "{name} {i} {k}");
                }
            }
            let reads_c = matches!(operation, Operation::Add | Operation::Triad);
            assert_eq!(run.addresses(Kind::Load).len(), if reads_c { 2 * n } else { n }, "{name}");
        }
    }
}
