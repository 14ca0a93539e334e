//! The generators: one file each, and one line in [`GENERATORS`].

mod b_plus_tree;
mod backprop;
mod bfs;
mod cc;
mod computed;
mod dct;
mod decode_layer;
mod element_stream;
mod embedding;
mod flash_attention;
mod footprint_read;
mod fwt;
mod gather;
mod gaussian;
mod gemm;
mod gesummv;
mod graph;
mod gups;
mod halves;
mod hash_join;
mod heartwall;
mod histogram;
mod kmeans;
mod kv_cache;
mod l1_strides;
mod linear;
mod map_reduce;
mod merge_sort;
mod moe;
mod mri_gridding;
mod nn;
mod paged_attention;
mod pagerank;
mod pointer_chase;
mod reduction;
mod rms_norm;
mod role_mix;
mod row_share;
mod row_streams;
mod scan;
mod scatter;
mod shared_chain;
mod spmm;
mod spmv;
mod srad;
mod sssp;
mod stencil;
mod stream;
mod survey_propagation;
mod syr2k;
mod tc;
#[cfg(test)]
pub mod testing;
mod tile;
mod transpose;
mod vecadd;

use super::Generator;

/// All generators in list order.
pub const GENERATORS: &[Generator] = &[
    bfs::GENERATOR,
    sssp::GENERATOR,
    pagerank::GENERATOR,
    cc::GENERATOR,
    tc::GENERATOR,
    spmv::GENERATOR,
    spmm::GENERATOR,
    gemm::GENERATOR,
    transpose::GENERATOR,
    stencil::plane::GENERATOR,
    stencil::volume::GENERATOR,
    gesummv::GENERATOR,
    syr2k::GENERATOR,
    gaussian::GENERATOR,
    nn::GENERATOR,
    fwt::GENERATOR,
    backprop::GENERATOR,
    srad::GENERATOR,
    heartwall::GENERATOR,
    dct::GENERATOR,
    vecadd::GENERATOR,
    stream::GENERATOR,
    gather::GENERATOR,
    scatter::GENERATOR,
    gups::GENERATOR,
    pointer_chase::GENERATOR,
    histogram::GENERATOR,
    reduction::GENERATOR,
    kmeans::GENERATOR,
    hash_join::GENERATOR,
    b_plus_tree::GENERATOR,
    merge_sort::GENERATOR,
    survey_propagation::GENERATOR,
    mri_gridding::GENERATOR,
    map_reduce::page_view_count::GENERATOR,
    map_reduce::inverted_index::GENERATOR,
    embedding::GENERATOR,
    paged_attention::GENERATOR,
    flash_attention::GENERATOR,
    linear::GENERATOR,
    rms_norm::GENERATOR,
    kv_cache::GENERATOR,
    moe::GENERATOR,
    decode_layer::GENERATOR,
    shared_chain::GENERATOR,
    role_mix::GENERATOR,
    row_share::GENERATOR,
    row_streams::GENERATOR,
    element_stream::GENERATOR,
    footprint_read::GENERATOR,
    l1_strides::GENERATOR,
];

/// The imports of a generator's file.
pub mod prelude {
    pub use crate::constants::Constants;
    pub use crate::gpu::{Gpu, Launch};
    pub use crate::input::*;
    pub use crate::parameters::{Arguments, Choice, Parameter, show_count};
    pub use crate::pointer::{Pointer, Shared};
    use crate::stop;
    pub use crate::warp::Warp;
    pub use crate::warp::lanes::{Lanes, Operand, Var};
    pub use crate::warp::memory::Array;
    pub use crate::warp::predicate::Predicate;
    pub use crate::warp::word::Word;
    pub use crate::{Generator, WorkloadError};

    /// The block size of kernels that accept any.
    pub const BLOCK: Parameter =
        Parameter::count("block", 256, (1, 1024), "threads", "Threads per CTA");

    /// Refuses a number that is not a multiple of `factor`.
    pub fn check_multiple(name: &str, value: u64, factor: u64) -> Result<(), WorkloadError> {
        if value.is_multiple_of(factor) {
            return Ok(());
        }
        let message = format!("--{name} {} is not a multiple of {factor}", show_count(value));
        Err(WorkloadError::Inconsistent { message })
    }

    /// Refuses a number that is not a power of two.
    pub fn check_power_of_two(name: &str, value: u64) -> Result<(), WorkloadError> {
        if value.is_power_of_two() {
            return Ok(());
        }
        let message = format!("--{name} {} is not a power of two", show_count(value));
        Err(WorkloadError::Inconsistent { message })
    }

    /// Returns the CTA shape given by `--block-x` and `--block-y`.
    pub fn block_of(arguments: &Arguments) -> Result<[u32; 3], WorkloadError> {
        let (x, y) = (arguments.count32("block-x"), arguments.count32("block-y"));
        if x * y <= 1024 {
            return Ok([x, y, 1]);
        }
        let message =
            format!("--block-x {x} and --block-y {y} are more than 2^10 threads in a CTA");
        Err(WorkloadError::Inconsistent { message })
    }

    /// Returns a launch of at least `threads` threads without shared memory.
    pub fn launch(
        name: &'static str,
        threads: u32,
        block: u32,
        registers_per_thread: u32,
    ) -> Launch {
        grid_of(name, threads.div_ceil(block), block, registers_per_thread)
    }

    /// Returns a launch of `grid` CTAs of `block` threads without shared memory.
    pub fn grid_of(name: &'static str, grid: u32, block: u32, registers_per_thread: u32) -> Launch {
        let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
        Launch { name, grid, block, registers_per_thread, shared_bytes: 0 }
    }

    /// Generates whole numbers from 0 to 7, whose sums and products are exact in single precision
    /// in any order.
    pub fn small_floats(n: u32, random: &mut Random) -> Vec<f32> {
        let float = |_| {
            stop::check();
            random.index(8) as f32
        };
        (0..n).map(float).collect()
    }
}
