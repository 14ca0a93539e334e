//! Kernels of the project that exist in PTX: the CUDA twins of the generators, and the captured
//! samples. The cycles of each launch are measured.

use super::{Measurement, Parts};
use crate::work::Parameters;

macro_rules! kernel {
    ($constant:ident, $name:literal, $summary:literal, $launches:literal, $ptx:literal) => {
        pub const $constant: Measurement = Measurement {
            name: $name,
            summary: $summary,
            parameters: |_| Parameters::new(),
            parts: Parts::Kernel {
                launch_file: include_str!(concat!("../../", $launches, "/", $name, ".toml")),
                ptx: include_str!(concat!("../../", $ptx, "/", $name, ".ptx")),
            },
        };
    };
    (twin: $constant:ident, $name:literal, $summary:literal) => {
        kernel!($constant, $name, $summary, "kernels", "../../traces/workload/cuda");
    };
    (sample: $constant:ident, $name:literal, $summary:literal) => {
        kernel!(
            $constant,
            $name,
            $summary,
            "../../../sample-traces/captured",
            "../../../sample-traces/captured"
        );
    };
}

kernel!(twin: GATHER, "gather", "elements of a table at random indices");
kernel!(twin: GEMM, "gemm", "a product of matrices, by tiles in shared memory");
kernel!(twin: GESUMMV, "gesummv", "two matrices and a vector, a thread for each row");
kernel!(sample: HASH_TABLE, "hash_table", "inserting into a hash table, and looking up");
kernel!(twin: HISTOGRAM, "histogram", "atomic counters in global and in shared memory");
kernel!(sample: LAYER_NORM, "layer_norm", "layer normalisation of rows");
kernel!(twin: REDUCTION, "reduction", "sums in shared memory");
kernel!(twin: SPMV, "spmv", "a sparse matrix, by threads and by warps");
kernel!(twin: STENCIL2D, "stencil2d", "a stencil of five points");
kernel!(twin: TRANSPOSE, "transpose", "a matrix transposed, straight and by tiles");
