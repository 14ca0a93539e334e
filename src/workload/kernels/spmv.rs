//! Sparse matrix times vector in compressed sparse rows: a thread per row (scalar: neighbouring lanes read
//! far apart, and wait for the longest row) or a warp per row (vector: rows are read coalesced).
//!
//! ```cuda
//! __global__ void spmv_csr_scalar(const int *ptr, const int *col, const float *val, const float *x,
//!                                 float *y, int rows) {
//!     int row = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (row >= rows) return;
//!     float sum = 0;
//!     for (int i = ptr[row]; i < ptr[row + 1]; i++) sum += val[i] * x[col[i]];
//!     y[row] = sum;
//! }
//! __global__ void spmv_csr_vector(…) {
//!     int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / 32, lane = thread % 32;
//!     if (row >= rows) return;
//!     float sum = 0;
//!     for (int i = ptr[row] + lane; i < ptr[row + 1]; i += 32) sum += val[i] * x[col[i]];
//!     for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0, sum, d);
//!     if (lane == 0) y[row] = sum;
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "spmv",
    summary: "sparse matrix-vector product, CSR, a thread or a warp per row",
    source: "Bell and Garland, SC 2009",
    parameters: &[
        &[Parameter::choice::<Variant>(
            "variant",
            "scalar",
            "A thread (scalar) or a warp (vector) per row",
        )],
        MATRIX,
        &[BLOCK],
    ],
    run: |gpu, arguments, random| {
        let matrix = matrix_of(arguments, random)?;
        let x = small_floats(matrix.columns, random);
        spmv(gpu, arguments.choice("variant"), &matrix, &x, arguments.count32("block")).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Scalar,
    Vector,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("scalar", Variant::Scalar), ("vector", Variant::Vector)];
}

/// A matrix and its vectors on the device.
#[derive(Clone, Copy)]
struct Product {
    ptr: Array<u32>,
    col: Array<u32>,
    val: Array<f32>,
    x: Array<f32>,
    y: Array<f32>,
    rows: u32,
}

fn spmv(
    gpu: &mut Gpu,
    variant: Variant,
    matrix: &Matrix,
    x: &[f32],
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let rows = matrix.structure.rows();
    let product = Product {
        ptr: gpu.upload(&matrix.structure.offsets),
        col: gpu.upload(&matrix.structure.columns),
        val: gpu.upload(&matrix.values),
        x: gpu.upload(x),
        y: gpu.zeros(u64::from(rows)),
        rows,
    };
    match variant {
        Variant::Scalar => {
            gpu.launch(&launch("spmv_csr_scalar", rows, block, 24), async |w| product.scalar(w))?;
        }
        Variant::Vector => {
            let threads = 32 * rows;
            gpu.launch(&launch("spmv_csr_vector", threads, block, 30), async |w| {
                product.vector(w);
            })?;
        }
    }
    Ok(product.y)
}

impl Product {
    fn scalar(&self, w: &Warp) {
        let row = w.global_x();
        w.exit_unless(row.lt(self.rows));
        let bounds = self.ptr.at(row);
        let (first, end) = (bounds.load(), bounds.offset(1).load());
        let sum = w.var(0.0);
        w.range(first, end, 1, |i| self.accumulate(&sum, i));
        self.y.store(row, &sum);
    }

    fn vector(&self, w: &Warp) {
        let thread = w.global_x();
        let (row, lane) = (thread >> 5, thread & 31);
        w.exit_unless(row.lt(self.rows));
        let bounds = self.ptr.at(row);
        let (first, end) = (bounds.load(), bounds.offset(1).load());
        let sum = w.var(0.0);
        w.range(first + lane, end, 32, |i| self.accumulate(&sum, i));
        for distance in [16, 8, 4, 2, 1] {
            sum.set(sum.get().shuffle_down(distance) + &sum);
        }
        w.exit_unless(lane.eq(0));
        self.y.store(row, &sum);
    }

    /// `sum += val[i] * x[col[i]]`
    fn accumulate(&self, sum: &Var<'_, f32>, i: Lanes<'_, u32>) {
        let column = self.col.load(i);
        let value = self.val.load(i);
        sum.set(value.mad(self.x.load(column), sum));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn product(matrix: &Matrix, x: &[f32]) -> Vec<f32> {
        let Matrix { structure, values, .. } = matrix;
        let row = |row: usize| {
            let entries = structure.offsets[row] as usize..structure.offsets[row + 1] as usize;
            entries.map(|i| values[i] * x[structure.columns[i] as usize]).sum()
        };
        (0..structure.rows() as usize).map(row).collect()
    }

    #[test]
    fn both_variants_give_the_product_on_every_matrix() {
        for &(kind_name, kind) in MatrixKind::NAMES {
            let mut random = Random::new(3);
            let matrix = matrix(kind, 300, 9, &mut random);
            let x = small_floats(300, &mut random);
            let expected = product(&matrix, &x);
            for &(variant_name, variant) in Variant::NAMES {
                let run = run(|gpu| {
                    let y = spmv(gpu, variant, &matrix, &x, 128)?;
                    Ok((gpu.download(y), y.range()))
                });
                assert_eq!(run.result.0, expected, "{variant_name} {kind_name}");
                let written = run.result.1.clone().step_by(4).collect();
                assert_eq!(run.addresses(Kind::Store), written, "{variant_name} {kind_name}");
            }
        }
    }

    #[test]
    fn a_lane_loads_as_often_as_its_row_is_long() {
        let mut random = Random::new(3);
        let matrix = matrix(MatrixKind::PowerLaw, 64, 4, &mut random);
        let run = run(|gpu| spmv(gpu, Variant::Scalar, &matrix, &[1.0; 64], 64));
        let lane_loads = run.accesses(Kind::Load).len();
        assert_eq!(lane_loads, 2 * 64 + 3 * matrix.structure.columns.len());
    }
}
