//! Compressed sparse rows: one thread per row (scalar: neighbouring lanes read far apart and wait
//! for the longest row) or one warp per row (vector: rows are read coalesced).
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

use super::super::prelude::*;

/// A matrix and its vectors on the device.
#[derive(Clone, Copy)]
pub struct Product {
    pub ptr: Array<u32>,
    pub col: Array<u32>,
    pub val: Array<f32>,
    pub x: Array<f32>,
    pub y: Array<f32>,
    pub rows: u32,
}

/// Runs one thread per row.
pub fn scalar(
    gpu: &mut Gpu,
    matrix: &Matrix,
    x: &[f32],
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let product = Product::upload(gpu, matrix, x);
    let launch = launch("spmv_csr_scalar", product.rows, block, 24);
    gpu.launch(&launch, async |w| product.scalar(w))?;
    Ok(product.y)
}

/// Runs one warp per row.
pub fn vector(
    gpu: &mut Gpu,
    matrix: &Matrix,
    x: &[f32],
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let product = Product::upload(gpu, matrix, x);
    let launch = launch("spmv_csr_vector", 32 * product.rows, block, 30);
    gpu.launch(&launch, async |w| product.vector(w))?;
    Ok(product.y)
}

impl Product {
    pub fn upload(gpu: &mut Gpu, matrix: &Matrix, x: &[f32]) -> Product {
        let rows = matrix.structure.rows();
        Product {
            ptr: gpu.upload(&matrix.structure.offsets),
            col: gpu.upload(&matrix.structure.columns),
            val: gpu.upload(&matrix.values),
            x: gpu.upload(x),
            y: gpu.zeros(u64::from(rows)),
            rows,
        }
    }

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
    use super::super::super::testing::*;
    use super::*;

    #[test]
    fn a_lane_loads_once_per_entry_of_its_row() {
        let mut random = Random::new(3);
        let matrix = matrix(MatrixKind::PowerLaw, 64, 4, &mut random);
        let run = run(|gpu| scalar(gpu, &matrix, &[1.0; 64], 64));
        let lane_loads = run.accesses(Kind::Load).len();
        assert_eq!(lane_loads, 2 * 64 + 3 * matrix.structure.columns.len());
    }
}
