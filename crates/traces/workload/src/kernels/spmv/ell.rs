//! ELLPACK: every row padded to the longest and stored column by column, so that the lanes of a
//! warp, one row each, read contiguous entries.
//!
//! ```cuda
//! __global__ void spmv_ell_kernel(const int *Aj, const float *Ax, const float *x, float *y,
//!                                 int rows, int width, int pitch) {
//!     int row = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (row >= rows) return;
//!     float sum = 0;
//!     for (int n = 0, offset = row; n < width; n++, offset += pitch) {
//!         int col = Aj[offset];
//!         if (col != invalid_index) sum += Ax[offset] * x[col];
//!     }
//!     y[row] = sum;
//! }
//! ```
//!
//! As compiled (nvcc 13 for sm_75), the inner condition is a predicate. nvcc unrolls the loop by
//! four; here it is not unrolled.

use super::super::prelude::*;

/// Column of a padding entry.
const INVALID: u32 = u32::MAX;
/// Alignment of the column pitch, as in CUSP.
const ALIGNMENT: u32 = 32;
/// CUSP's limits: padded matrices with more slots than this are refused if the slots exceed the
/// entries by more than the factor below.
const UNCHECKED_SLOTS: u64 = 1_000_000;
const MAX_FILL: u64 = 3;

/// A padded matrix: entry `n` of row `r` is at `n * pitch + r`.
struct Padded {
    width: u32,
    pitch: u32,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Padded {
    fn of(matrix: &Matrix) -> Result<Padded, WorkloadError> {
        let Matrix { structure, values, .. } = matrix;
        let rows = structure.rows();
        let width = (0..rows).map(|row| structure.degree(row)).max().unwrap_or(0);
        let pitch = rows.next_multiple_of(ALIGNMENT);
        check_fill(u64::from(width) * u64::from(pitch), structure.columns.len() as u64)?;
        let slots = (width * pitch) as usize;
        let mut padded =
            Padded { width, pitch, columns: vec![INVALID; slots], values: vec![0.0; slots] };
        for row in 0..rows {
            let first = structure.offsets[row as usize];
            for n in 0..structure.degree(row) {
                let (slot, entry) = ((n * pitch + row) as usize, (first + n) as usize);
                padded.columns[slot] = structure.columns[entry];
                padded.values[slot] = values[entry];
            }
        }
        Ok(padded)
    }
}

fn check_fill(slots: u64, entries: u64) -> Result<(), WorkloadError> {
    if slots <= UNCHECKED_SLOTS || slots <= MAX_FILL * entries {
        return Ok(());
    }
    let message = format!(
        "rows padded to the longest have {} slots for {} entries, more than {MAX_FILL} times as many: \
         the matrix has rows too long for --variant ell",
        show_count(slots),
        show_count(entries)
    );
    Err(WorkloadError::Inconsistent { message })
}

pub fn padded(
    gpu: &mut Gpu,
    matrix: &Matrix,
    x: &[f32],
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let rows = matrix.structure.rows();
    let Padded { width, pitch, columns, values } = Padded::of(matrix)?;
    let (aj, ax, x) = (gpu.upload(&columns), gpu.upload(&values), gpu.upload(x));
    let y = gpu.zeros(u64::from(rows));
    gpu.launch(&launch("spmv_ell_kernel", rows, block, 28), async |w| {
        let row = w.global_x();
        w.exit_unless(row.lt(rows));
        let sum = w.var(0.0);
        w.range(0, width, 1, |n| {
            let offset = n.mad(pitch, row);
            let column = aj.load(offset);
            w.predicated(column.ne(INVALID), || {
                let value = ax.load(offset);
                sum.set(value.mad(x.load(column), &sum));
            });
        });
        y.store(row, &sum);
    })?;
    Ok(y)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::*;
    use super::*;

    #[test]
    fn rows_are_interleaved_and_padded() {
        let structure = Csr { offsets: vec![0, 2, 2, 3], columns: vec![0, 4, 2] };
        let matrix = Matrix { structure, columns: 5, values: vec![1.0, 2.0, 3.0] };
        let padded = Padded::of(&matrix).unwrap();
        assert_eq!((padded.width, padded.pitch), (2, 32));
        assert_eq!(padded.columns[..4], [0, INVALID, 2, INVALID]);
        assert_eq!(padded.columns[32..36], [4, INVALID, INVALID, INVALID]);
        assert_eq!((padded.values[0], padded.values[32], padded.values[2]), (1.0, 2.0, 3.0));
    }

    #[test]
    fn one_long_row_among_many_is_refused() {
        check_fill(UNCHECKED_SLOTS, 1).unwrap();
        check_fill(3_000_000, 1_000_000).unwrap();
        assert_eq!(
            check_fill(3_000_001, 1_000_000).unwrap_err().to_string(),
            "rows padded to the longest have 3000001 slots for 1000000 entries, more than 3 times as many: \
             the matrix has rows too long for --variant ell"
        );
    }

    #[test]
    fn a_warp_reads_a_line_of_columns_and_a_line_of_values_per_round() {
        let matrix = matrix(MatrixKind::Banded, 64, 5, &mut Random::new(1));
        let run = run(|gpu| padded(gpu, &matrix, &[1.0; 64], 64));
        let copies = &run.trace().header().memcpys;
        for array in [&copies[0], &copies[1]] {
            let range = array.address..array.address + array.bytes;
            assert_eq!(run.lines(Kind::Load, &range), [1; 10]);
        }
    }
}
