//! A list of entries in row order: a warp takes an interval of them, independent of the rows, and
//! reduces it by segments in shared memory. A second kernel adds the sums that cross the end of an
//! interval, and a third the entries after the last full 32.
//!
//! ```cuda
//! __global__ void spmv_coo_flat_kernel(int num_nonzeros, int interval_size, const int *I, const int *J, const float *V,
//!                                      const float *x, float *y, int *temp_rows, float *temp_vals) {
//!     __shared__ volatile int rows[48 * (BLOCK_SIZE / 32)];
//!     __shared__ volatile float vals[BLOCK_SIZE];
//!     int thread_id = BLOCK_SIZE * blockIdx.x + threadIdx.x, thread_lane = threadIdx.x & 31, warp_id = thread_id / 32;
//!     int interval_begin = warp_id * interval_size, interval_end = min(interval_begin + interval_size, num_nonzeros);
//!     int idx = 16 * (threadIdx.x / 32 + 1) + threadIdx.x;
//!     rows[idx - 16] = -1;
//!     if (interval_begin >= interval_end) return;
//!     if (thread_lane == 31) { rows[idx] = I[interval_begin]; vals[threadIdx.x] = 0; }
//!     for (int n = interval_begin + thread_lane; n < interval_end; n += 32) {
//!         int row = I[n];
//!         float val = V[n] * x[J[n]];
//!         if (thread_lane == 0) {
//!             if (row == rows[idx + 31]) val += vals[threadIdx.x + 31];
//!             else y[rows[idx + 31]] += vals[threadIdx.x + 31];
//!         }
//!         rows[idx] = row;
//!         vals[threadIdx.x] = val;
//!         if (row == rows[idx - 1]) { vals[threadIdx.x] = val = val + vals[threadIdx.x - 1]; }
//!         …  // - 2, - 4, - 8
//!         if (row == rows[idx - 16]) { vals[threadIdx.x] = val = val + vals[threadIdx.x - 16]; }
//!         if (thread_lane < 31 && row != rows[idx + 1]) y[row] += vals[threadIdx.x];
//!     }
//!     if (thread_lane == 31) { temp_rows[warp_id] = rows[idx]; temp_vals[warp_id] = vals[threadIdx.x]; }
//! }
//! __global__ void spmv_coo_reduce_update_kernel(int num_warps, const int *temp_rows, const float *temp_vals, float *y) {
//!     __shared__ int rows[BLOCK_SIZE + 1];
//!     __shared__ float vals[BLOCK_SIZE + 1];
//!     if (threadIdx.x == 0) { rows[BLOCK_SIZE] = -1; vals[BLOCK_SIZE] = 0; }
//!     __syncthreads();
//!     for (int first = 0; first < num_warps; first += BLOCK_SIZE) {  // CUSP: the last, partial round apart
//!         int i = first + threadIdx.x;
//!         rows[threadIdx.x] = i < num_warps ? temp_rows[i] : -1;
//!         vals[threadIdx.x] = i < num_warps ? temp_vals[i] : 0;
//!         __syncthreads();
//!         for (int d = 1; d < BLOCK_SIZE; d *= 2) {  // unrolled
//!             float left = 0;
//!             if (threadIdx.x >= d && rows[threadIdx.x] == rows[threadIdx.x - d]) left = vals[threadIdx.x - d];
//!             __syncthreads();
//!             vals[threadIdx.x] = vals[threadIdx.x] + left;
//!             __syncthreads();
//!         }
//!         if (i < num_warps && rows[threadIdx.x] != rows[threadIdx.x + 1]) y[rows[threadIdx.x]] += vals[threadIdx.x];
//!         __syncthreads();
//!     }
//! }
//! __global__ void spmv_coo_serial_kernel(int num_nonzeros, const int *I, const int *J, const float *V, const float *x, float *y) {
//!     for (int n = 0; n < num_nonzeros; n++) y[I[n]] += V[n] * x[J[n]];
//! }
//! ```

use super::super::prelude::*;

/// Marks the absence of a row.
const NO_ROW: u32 = u32::MAX;
/// Empty rows before those of each warp, so that lanes stay within their warp's part.
const PADDING: u32 = 16;

/// The entries, the vectors and the carries between intervals, on the device.
#[derive(Clone, Copy)]
struct Product {
    i: Array<u32>,
    j: Array<u32>,
    v: Array<f32>,
    x: Array<f32>,
    y: Array<f32>,
    temp_rows: Array<u32>,
    temp_vals: Array<f32>,
}

/// The division of entries among warps.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Intervals {
    /// Entries processed by full warps: the largest multiple of 32.
    flat: u32,
    /// Entries per warp.
    size: u32,
    ctas: u32,
    /// Warps with entries.
    warps: u32,
}

impl Intervals {
    /// Applies CUSP's rule for at most `grid` CTAs of `block` threads; needs at least 32 entries.
    fn of(entries: u32, grid: u32, block: u32) -> Intervals {
        let units = entries / 32;
        let warps = u64::from(units).min(u64::from(grid) * u64::from(block / 32)) as u32;
        let size = 32 * units.div_ceil(warps);
        let flat = 32 * units;
        Intervals { flat, size, ctas: warps.div_ceil(block / 32), warps: flat.div_ceil(size) }
    }
}

pub fn by_entries(
    gpu: &mut Gpu,
    matrix: &Matrix,
    x: &[f32],
    grid: u32,
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let structure = &matrix.structure;
    let entries = structure.columns.len() as u32;
    let rows: Vec<u32> = (0..structure.rows())
        .flat_map(|row| std::iter::repeat_n(row, structure.degree(row) as usize))
        .collect();
    let intervals = (entries >= 32).then(|| Intervals::of(entries, grid, block));
    let carries = intervals.map_or(0, |intervals| u64::from(intervals.warps));
    let product = Product {
        i: gpu.upload(&rows),
        j: gpu.upload(&structure.columns),
        v: gpu.upload(&matrix.values),
        x: gpu.upload(x),
        y: gpu.zeros(u64::from(structure.rows())),
        temp_rows: gpu.zeros(carries),
        temp_vals: gpu.zeros(carries),
    };
    if let Some(intervals) = intervals {
        let flat = Launch {
            shared_bytes: (48 * 4 + 32 * 4) * (block / 32),
            ..grid_of("spmv_coo_flat_kernel", intervals.ctas, block, 24)
        };
        gpu.launch(&flat, async |w| product.flat(w, &intervals))?;
        let reduce = Launch {
            shared_bytes: (4 * (block + 1)).next_multiple_of(16) + 4 * (block + 1),
            ..grid_of("spmv_coo_reduce_update_kernel", 1, block, 18)
        };
        gpu.launch(&reduce, async |w| product.reduce_update(w, intervals.warps).await)?;
    }
    let first = intervals.map_or(0, |intervals| intervals.flat);
    let serial = grid_of("spmv_coo_serial_kernel", 1, 1, 20);
    gpu.launch(&serial, async |w| {
        w.range(first, entries, 1, |n| product.add(product.i.load(n), product.term(n)));
    })?;
    Ok(product.y)
}

impl Product {
    /// `V[n] * x[J[n]]`
    fn term<'w>(&self, n: Lanes<'w, u32>) -> Lanes<'w, f32> {
        let column = self.j.load(n);
        self.v.load(n) * self.x.load(column)
    }

    /// `y[row] += value`
    fn add(&self, row: Lanes<u32>, value: Lanes<f32>) {
        let element = self.y.at(row);
        element.store(element.load() + value);
    }

    fn flat(&self, w: &Warp, intervals: &Intervals) {
        let warps = w.block_width() / 32;
        let rows = w.shared::<u32>((32 + PADDING) * warps);
        let vals = w.shared::<f32>(32 * warps);
        let thread = w.thread_x();
        let (lane, warp) = (thread & 31, w.block_x().mad(w.block_width(), thread) >> 5);
        let begin = warp * intervals.size;
        let end = (begin + intervals.size).min(intervals.flat);
        let padding = rows.at((thread >> 5).mad(PADDING, thread));
        let (own_row, own_val) = (padding.offset(PADDING), vals.at(thread));
        padding.store(NO_ROW);
        w.exit_unless(begin.lt(end));
        w.when(lane.eq(31), || {
            own_row.store(self.i.load(begin));
            own_val.store(0.0);
        });
        w.range(begin + lane, end, 32, |n| {
            let row = self.i.load(n);
            let val = w.var(self.term(n));
            w.when(lane.eq(0), || {
                let carried = row.eq(own_row.offset(31).load());
                w.when_else(
                    carried,
                    || val.set(val.get() + own_val.offset(31).load()),
                    || self.add(own_row.offset(31).load(), own_val.offset(31).load()),
                );
            });
            own_row.store(row);
            own_val.store(&val);
            for distance in [1, 2, 4, 8, 16] {
                w.when(row.eq(own_row.before(distance).load()), || {
                    val.set(val.get() + own_val.before(distance).load());
                    own_val.store(&val);
                });
            }
            w.when(lane.lt(31), || {
                let ends = row.ne(own_row.offset(1).load());
                w.when(ends, || self.add(row, own_val.load()));
            });
        });
        w.exit_unless(lane.eq(31));
        self.temp_rows.store(warp, own_row.load());
        self.temp_vals.store(warp, own_val.load());
    }

    async fn reduce_update(&self, w: &Warp, carries: u32) {
        let block = w.block_width();
        let (rows, vals) = (w.shared::<u32>(block + 1), w.shared::<f32>(block + 1));
        let thread = w.thread_x();
        let (own_row, own_val) = (rows.at(thread), vals.at(thread));
        w.when(thread.eq(0), || {
            own_row.offset(block).store(NO_ROW);
            own_val.offset(block).store(0.0);
        });
        w.barrier().await;
        w.range_in_step(0, carries, block, async |first| {
            let i = first + thread;
            let exists = i.lt(carries);
            let (row, val) = (w.var(NO_ROW), w.var(0.0));
            w.predicated(exists, || {
                row.set(self.temp_rows.load(i));
                val.set(self.temp_vals.load(i));
            });
            own_row.store(&row);
            own_val.store(&val);
            w.barrier().await;
            for distance in (0..).map(|bit| 1 << bit).take_while(|&distance| distance < block) {
                let left = w.var(0.0);
                w.when(thread.ge(distance), || {
                    let same = own_row.load().eq(own_row.before(distance).load());
                    w.when(same, || left.set(own_val.before(distance).load()));
                });
                w.barrier().await;
                own_val.store(own_val.load() + &left);
                w.barrier().await;
            }
            w.when(exists, || {
                let row = own_row.load();
                w.when(row.ne(own_row.offset(1).load()), || self.add(row, own_val.load()));
            });
            w.barrier().await;
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::*;
    use super::*;

    #[test]
    fn entries_are_spread_in_whole_rounds_of_32() {
        let few = Intervals { flat: 64, size: 32, ctas: 1, warps: 2 };
        assert_eq!(Intervals::of(70, 128, 256), few);
        // 31 rounds on 4 warps: 8 rounds each, 7 for the last.
        let many = Intervals { flat: 992, size: 256, ctas: 2, warps: 4 };
        assert_eq!(Intervals::of(1000, 2, 64), many);
    }

    #[test]
    fn warps_have_equal_work_for_any_rows() {
        let matrix = matrix(MatrixKind::PowerLaw, 256, 8, &mut Random::new(2));
        let entries = matrix.structure.columns.len() as u32;
        let intervals = Intervals::of(entries, 2, 128);
        let run = run(|gpu| by_entries(gpu, &matrix, &[1.0; 256], 2, 128));
        let rounds = |warp| {
            let executed = run.warp(warp);
            let columns = &run.trace().header().memcpys[1];
            let range = columns.address..columns.address + columns.bytes;
            executed
                .iter()
                .filter(|(i, r)| i.kind == Kind::Load && range.contains(&r.active_addresses()[0]))
                .map(|(_, r)| assert_eq!(r.mask, u32::MAX))
                .count()
        };
        for warp in 0..7 {
            assert_eq!(rounds(warp), intervals.size as usize / 32, "warp {warp}");
        }
    }
}
