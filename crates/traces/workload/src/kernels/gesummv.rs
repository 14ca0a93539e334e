//! Sum of two matrix-vector products, `y = α A x + β B x`: one thread per row, walking its rows of
//! A and B from left to right. Neighbouring lanes are a row apart.
//!
//! ```cuda
//! __global__ void gesummv_kernel(const float *a, const float *b, const float *x, float *y, float *tmp,
//!                                int n, int columns, int pitch) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;
//!     for (int j = 0; j < columns; j++) {
//!         tmp[i] += a[i * pitch + j] * x[j];
//!         y[i] += b[i * pitch + j] * x[j];
//!     }
//!     y[i] = ALPHA * tmp[i] + BETA * y[i];
//! }
//! ```
//!
//! As compiled: `y` and `tmp` may alias anything, so both sums are kept in memory and `x[j]` is
//! read again after the first store. PolyBench's matrices are square without padding; `columns` and
//! `pitch` are additions. nvcc unrolls the loop by four; here it is not unrolled.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "gesummv",
    summary: "two matrix-vector products and their sum, a thread per row",
    source: "PolyBench/GPU 1.0, GESUMMV (Grauer-Gray et al., InPar 2012)",
    parameters: &[&[
        Parameter::count("n", 1 << 12, (1, 1 << 20), "rows", "Rows of A and B"),
        Parameter::count("columns", 256, (1, 1 << 14), "columns", "Columns of A and B"),
        Parameter::count("pitch", 1 << 12, (1, 1 << 14), "elements", "Row pitch"),
        Parameter::count("block", 64, (1, 1024), "threads", "Threads per CTA"),
    ]],
    run: |gpu, arguments, random| {
        let [n, columns, pitch] = ["n", "columns", "pitch"].map(|name| arguments.count32(name));
        check_pitch(columns, pitch)?;
        check_entries("elements", n, pitch)?;
        let (a, b) = (matrix(n, columns, pitch, random), matrix(n, columns, pitch, random));
        let x = small_floats(columns, random);
        gesummv(gpu, [&a, &b], &x, pitch, arguments.count32("block")).map(drop)
    },
};

/// Weights of the two products.
const ALPHA: f32 = 2.0;
const BETA: f32 = 3.0;

fn check_pitch(columns: u32, pitch: u32) -> Result<(), WorkloadError> {
    if columns <= pitch {
        return Ok(());
    }
    let message = format!("--columns {columns} is more than --pitch {}", show_count(pitch.into()));
    Err(WorkloadError::Inconsistent { message })
}

/// Generates rows of `columns` numbers, zero-padded to `pitch`.
fn matrix(n: u32, columns: u32, pitch: u32, random: &mut Random) -> Vec<f32> {
    let mut values = vec![0.0; (n * pitch) as usize];
    for row in values.chunks_exact_mut(pitch as usize) {
        row[..columns as usize].copy_from_slice(&small_floats(columns, random));
    }
    values
}

/// Computes y, for rows that are `pitch` elements apart and as long as `x`.
fn gesummv(
    gpu: &mut Gpu,
    matrices: [&[f32]; 2],
    x: &[f32],
    pitch: u32,
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let (n, columns) = (matrices[0].len() as u32 / pitch, x.len() as u32);
    let [a, b] = matrices.map(|matrix| gpu.upload(matrix));
    let x = gpu.upload(x);
    let (y, tmp) = (gpu.zeros::<f32>(u64::from(n)), gpu.zeros::<f32>(u64::from(n)));
    gpu.launch(&launch("gesummv_kernel", n, block, 22), async |w| {
        let i = w.global_x();
        w.exit_unless(i.lt(n));
        let (y, tmp, row) = (y.at(i), tmp.at(i), i * pitch);
        let product = w.var(0.0);
        w.range(0, columns, 1, |j| {
            let (at, x) = (row + j, x.at(j));
            tmp.store(x.load().mad(a.load(at), tmp.load()));
            product.set(x.load().mad(b.load(at), y.load()));
            y.store(&product);
        });
        y.store(tmp.load().mad(ALPHA, product.get() * BETA));
    })?;
    Ok(y)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn gives_the_sum_of_products_without_reading_padding() {
        for (n, columns, pitch, block) in [(1, 1, 1, 64), (70, 33, 64, 32), (100, 40, 40, 96)] {
            let mut random = Random::new(3);
            let [a, b] = [0; 2].map(|_| matrix(n, columns, pitch, &mut random));
            let x = small_floats(columns, &mut random);
            let run = run(|gpu| {
                let y = gesummv(gpu, [&a, &b], &x, pitch, block)?;
                Ok(gpu.download(y))
            });
            let dot = |matrix: &[f32], row: u32| {
                let row = &matrix[(row * pitch) as usize..][..columns as usize];
                row.iter().zip(&x).map(|(value, x)| value * x).sum::<f32>()
            };
            let expected: Vec<f32> =
                (0..n).map(|row| ALPHA * dot(&a, row) + BETA * dot(&b, row)).collect();
            assert_eq!(run.result, expected, "{n} rows of {columns}");
            let read = (2 * n * columns + columns + 2 * n) as usize;
            assert_eq!(run.addresses(Kind::Load).len(), read, "{n} rows of {columns}");
        }
    }

    #[test]
    fn matrix_loads_touch_a_line_per_lane_and_sums_are_in_memory() {
        let run = run(|gpu| gesummv(gpu, [&[1.0; 64 * 64]; 2], &[1.0; 40], 64, 64));
        let executed = run.warp(0);
        let apart = |distance: u64| {
            let is_apart = |record: &warpmem_trace::Record| {
                record.active_addresses().windows(2).all(|pair| pair[1] - pair[0] == distance)
            };
            let loads = executed.iter().filter(|(i, _)| i.kind == Kind::Load);
            loads.filter(|(_, record)| is_apart(record)).count()
        };
        // A and B; `x` twice; `tmp` and `y`, and `tmp` again at the end.
        assert_eq!([apart(256), apart(0), apart(4)], [2 * 40, 2 * 40, 2 * 40 + 1]);
        let stores = executed.iter().filter(|(i, _)| i.kind == Kind::Store).count();
        assert_eq!(stores, 2 * 40 + 1);
    }

    #[test]
    fn rows_longer_than_their_pitch_are_refused() {
        let refusal = check_pitch(65, 64).unwrap_err().to_string();
        assert_eq!(refusal, "--columns 65 is more than --pitch 64");
        assert!(check_pitch(64, 64).is_ok());
    }
}
