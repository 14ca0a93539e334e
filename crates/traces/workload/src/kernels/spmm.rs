//! Sparse matrix (CSR) times dense matrix: a warp per row and 32 columns takes 32 entries at a
//! time, broadcasts them by shuffles, and reads a line of the dense matrix for each.
//!
//! ```cuda
//! __global__ void spmmRowKernel(const int *ptr, const int *colind, const float *value, const float *B, float *C,
//!                               int rows, int columns) {
//!     int thread = blockDim.x * blockIdx.x + threadIdx.x, row = thread >> 5, lane = thread & 31;
//!     const float *offset = B + lane + (blockIdx.y << 5);
//!     if (row < rows) {
//!         int start = ptr[row], end = ptr[row + 1], col, jj = start + lane;
//!         float val, sum = 0, vals[32];
//!         for (int s = start; s < end; s += 32) {
//!             if (jj < end) { col = colind[jj] * columns; val = value[jj]; } else { col = 0; val = 0; }
//!             jj += 32;
//!             #pragma unroll
//!             for (int i = 0; i < 32; i++) vals[i] = __shfl_sync(~0, val, i) * __ldg(offset + __shfl_sync(~0, col, i));
//!             #pragma unroll
//!             for (int i = 0; i < 32; i++) sum += vals[i];
//!         }
//!         C[row * columns + lane + (blockIdx.y << 5)] = sum;
//!     }
//! }
//! ```
//!
//! As compiled (nvcc 13 for sm_75): the 32 loads precede the first use; `jj < end` is a predicate.
//! If the columns are not a multiple of 32, each load and the store are inside a guard `lane +
//! (blockIdx.y << 5) < columns`, and the loads are issued one by one.

use warpmem_trace::CacheOp;

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "spmm",
    summary: "sparse matrix times dense matrix, CSR, one warp per row and 32 columns",
    source: "Yang, Buluc and Owens, Euro-Par 2018 (row-split)",
    parameters: &[
        MATRIX,
        &[
            Parameter::count("columns", 64, (1, 1 << 12), "columns", "Columns of the dense matrix"),
            BLOCK,
        ],
    ],
    run: |gpu, arguments, random| {
        let matrix = matrix_of(arguments, random)?;
        let (columns, block) = (arguments.count32("columns"), arguments.count32("block"));
        check_multiple("block", u64::from(block), 32)?;
        check_size(&matrix, columns)?;
        let dense = small_floats(matrix.columns * columns, random);
        spmm(gpu, &matrix, &dense, columns, block).map(drop)
    },
};

/// Refuses dense matrices that exceed memory.
fn check_size(matrix: &Matrix, columns: u32) -> Result<(), WorkloadError> {
    let largest = matrix.structure.rows().max(matrix.columns);
    check_entries("elements of a dense matrix", largest, columns)
}

/// The matrices on the device: `c` = sparse × `b`, row-major.
#[derive(Clone, Copy)]
struct Product {
    ptr: Array<u32>,
    colind: Array<u32>,
    value: Array<f32>,
    b: Array<f32>,
    c: Array<f32>,
    rows: u32,
    columns: u32,
}

fn spmm(
    gpu: &mut Gpu,
    matrix: &Matrix,
    dense: &[f32],
    columns: u32,
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let rows = matrix.structure.rows();
    let product = Product {
        ptr: gpu.upload(&matrix.structure.offsets),
        colind: gpu.upload(&matrix.structure.columns),
        value: gpu.upload(&matrix.values),
        b: gpu.upload(dense),
        c: gpu.zeros(u64::from(rows * columns)),
        rows,
        columns,
    };
    let mut launch = launch("spmmRowKernel", 32 * rows, block, 88);
    launch.grid[1] = columns.div_ceil(32);
    gpu.launch(&launch, async |w| product.row(w))?;
    Ok(product.c)
}

impl Product {
    fn row(&self, w: &Warp) {
        let thread = w.global_x();
        let (row, lane) = (thread >> 5, thread & 31);
        let column = (w.block_y() << 5) + lane;
        w.exit_unless(row.lt(self.rows));
        let guard = (!self.columns.is_multiple_of(32)).then(|| column.lt(self.columns));
        let bounds = self.ptr.at(row);
        let (start, end) = (bounds.load(), bounds.offset(1).load());
        let (sum, jj) = (w.var(0.0), w.var(start + lane));
        w.range(start, end, 32, |_| {
            let (first, value) = (w.var(0), w.var(0.0));
            w.predicated(jj.get().lt(end), || {
                first.set(read(self.colind.at(jj.get())) * self.columns);
                value.set(read(self.value.at(jj.get())));
            });
            jj.set(jj.get() + 32);
            let element = |i| self.b.at(first.get().shuffle(i) + column);
            match guard {
                None => {
                    let elements: [_; 32] = std::array::from_fn(|i| read(element(i as u32)));
                    for (i, element) in (0..32).zip(elements) {
                        sum.set(value.get().shuffle(i).mad(element, &sum));
                    }
                }
                Some(exists) => {
                    for i in 0..32 {
                        let (element, value) = (element(i), value.get().shuffle(i));
                        w.when(exists, || sum.set(read(element).mad(value, &sum)));
                    }
                }
            }
        });
        if let Some(exists) = guard {
            w.exit_unless(exists);
        }
        self.c.store(row.mad(self.columns, column), &sum);
    }
}

/// `__ldg(p)`
fn read<T: Word>(pointer: Pointer<'_, T>) -> Lanes<'_, T> {
    pointer.load_as(CacheOp::ReadOnly)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn plain_product(matrix: &Matrix, dense: &[f32], columns: u32) -> Vec<f32> {
        let Matrix { structure, values, .. } = matrix;
        let mut product = vec![0.0; (structure.rows() * columns) as usize];
        for row in 0..structure.rows() as usize {
            let entries = structure.offsets[row] as usize..structure.offsets[row + 1] as usize;
            let of_row = structure.columns[entries.clone()].iter().zip(&values[entries]);
            for (&from, value) in of_row {
                for column in 0..columns as usize {
                    let element = dense[(from * columns) as usize + column];
                    product[row * columns as usize + column] += value * element;
                }
            }
        }
        product
    }

    #[test]
    fn gives_the_product_on_every_matrix_and_any_number_of_columns() {
        for &(name, kind) in MatrixKind::NAMES {
            let mut random = Random::new(3);
            let matrix = matrix(kind, 70, 20, &mut random);
            for columns in [1, 32, 40, 64] {
                let dense = small_floats(70 * columns, &mut random);
                let run = run(|gpu| {
                    let c = spmm(gpu, &matrix, &dense, columns, 64)?;
                    Ok((gpu.download(c), c.range()))
                });
                let context = format!("{name} {columns}");
                assert_eq!(run.result.0, plain_product(&matrix, &dense, columns), "{context}");
                let written = run.result.1.clone().step_by(4).collect();
                assert_eq!(run.addresses(Kind::Store), written, "{context}");
            }
        }
    }

    #[test]
    fn matrices_need_be_neither_square_nor_full() {
        let structure = Csr { offsets: vec![0, 0, 2, 2], columns: vec![1, 3] };
        let matrix = Matrix { structure, columns: 4, values: vec![2.0, 0.5] };
        let dense: Vec<f32> = (0..8).map(|i| i as f32).collect();
        let run = run(|gpu| {
            let c = spmm(gpu, &matrix, &dense, 2, 32)?;
            Ok(gpu.download(c))
        });
        assert_eq!(run.result, [0.0, 0.0, 2.0 * 2.0 + 0.5 * 6.0, 2.0 * 3.0 + 0.5 * 7.0, 0.0, 0.0]);
    }

    #[test]
    fn dense_matrices_beyond_memory_are_refused() {
        let structure = Csr { offsets: vec![0, 0], columns: vec![] };
        let wide = Matrix { structure, columns: 1 << 24, values: vec![] };
        check_size(&wide, 16).unwrap();
        assert_eq!(
            check_size(&wide, 32).unwrap_err().to_string(),
            "2^29 elements of a dense matrix are more than 2^28"
        );
    }

    #[test]
    fn thirty_two_lines_are_read_before_the_first_is_used() {
        let matrix = matrix(MatrixKind::Uniform, 512, 32, &mut Random::new(1));
        let run = run(|gpu| spmm(gpu, &matrix, &vec![1.0; 512 * 32], 32, 32));
        let executed = run.warp(0);
        let loads: Vec<_> = executed.iter().filter(|(i, _)| i.kind == Kind::Load).collect();
        // Two bounds, columns and values, and a line for each of the 32 entries, some of which the
        // row may lack.
        assert_eq!(loads.len(), 4 + 32);
        for (instruction, record) in &loads[4..] {
            let lines: std::collections::BTreeSet<_> =
                record.active_addresses().iter().map(|address| address / 128).collect();
            assert_eq!(lines.len(), 1);
            let used = instruction.compute.iter().any(|c| c.class == warpmem_trace::OpClass::Fp32);
            assert!(!used);
        }
    }
}
