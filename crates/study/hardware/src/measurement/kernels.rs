//! Kernels of the project that exist in PTX: CUDA originals of the generators and the captured samples.
//! Measures the cycles of each launch.

use super::{Measurement, WorkSource};
use crate::work::Parameters;

macro_rules! kernel {
    ($constant:ident, $name:literal, $summary:literal, $launches:literal, $ptx:literal) => {
        pub const $constant: Measurement = Measurement {
            name: $name,
            summary: $summary,
            parameters: |_| Parameters::new(),
            parts: WorkSource::Kernel {
                launch_file: include_str!(concat!("../../", $launches, "/", $name, ".toml")),
                ptx: include_str!(concat!("../../", $ptx, "/", $name, ".ptx")),
            },
        };
    };
    (generator: $constant:ident, $name:literal, $summary:literal) => {
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

kernel!(generator: GATHER, "gather", "elements of a table at random indices");
kernel!(generator: GEMM, "gemm", "a matrix product, tiled in shared memory");
kernel!(generator: GESUMMV, "gesummv", "two matrices times a vector, one thread per row");
kernel!(sample: HASH_TABLE, "hash_table", "insertions into a hash table, and look-ups");
kernel!(generator: HISTOGRAM, "histogram", "atomic counters in global and in shared memory");
kernel!(sample: LAYER_NORM, "layer_norm", "layer normalisation of rows");
kernel!(generator: REDUCTION, "reduction", "sums in shared memory");
kernel!(generator: SPMV, "spmv", "a sparse matrix, by threads and by warps");
kernel!(generator: STENCIL2D, "stencil2d", "a stencil of five points");
kernel!(generator: TRANSPOSE, "transpose", "a matrix transpose, direct and tiled");
