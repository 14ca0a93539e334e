//! The generators: one file each, and one line in [`GENERATORS`].

mod bfs;
mod cc;
mod computed;
mod embedding;
mod gather;
mod gemm;
mod graph;
mod gups;
mod hash_join;
mod histogram;
mod kmeans;
mod paged_attention;
mod pagerank;
mod pointer_chase;
mod reduction;
mod role_mix;
mod row_share;
mod row_streams;
mod scatter;
mod shared_chain;
mod spmm;
mod spmv;
mod sssp;
mod stencil;
mod stream;
mod tc;
#[cfg(test)]
pub mod testing;
mod transpose;
mod vecadd;

use super::Generator;

/// All generators, in the order in which they are listed.
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
    embedding::GENERATOR,
    paged_attention::GENERATOR,
    shared_chain::GENERATOR,
    role_mix::GENERATOR,
    row_share::GENERATOR,
    row_streams::GENERATOR,
];

/// What a generator's file needs.
pub mod prelude {
    pub use crate::constants::Constants;
    pub use crate::gpu::{Gpu, Launch};
    pub use crate::input::*;
    pub use crate::parameters::{Choice, Parameter, show_count};
    pub use crate::pointer::{Pointer, Shared};
    pub use crate::warp::Warp;
    pub use crate::warp::lanes::{Lanes, Operand, Var};
    pub use crate::warp::memory::{Array, Word};
    pub use crate::warp::predicate::Predicate;
    pub use crate::{Generator, WorkloadError};

    /// The block size of kernels that work with any.
    pub const BLOCK: Parameter =
        Parameter::count("block", 256, (1, 1024), "threads", "Threads in a CTA");

    /// Refuses a number that is not a multiple of `factor`.
    pub fn check_multiple(name: &str, value: u64, factor: u64) -> Result<(), WorkloadError> {
        if value.is_multiple_of(factor) {
            return Ok(());
        }
        let message = format!("--{name} {} is not a multiple of {factor}", show_count(value));
        Err(WorkloadError::Inconsistent { message })
    }

    /// A launch of at least `threads` threads without shared memory.
    pub fn launch(
        name: &'static str,
        threads: u32,
        block: u32,
        registers_per_thread: u32,
    ) -> Launch {
        grid_of(name, threads.div_ceil(block), block, registers_per_thread)
    }

    /// A launch of `grid` CTAs of `block` threads without shared memory.
    pub fn grid_of(name: &'static str, grid: u32, block: u32, registers_per_thread: u32) -> Launch {
        let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
        Launch { name, grid, block, registers_per_thread, shared_bytes: 0 }
    }

    /// Whole numbers from 0 to 7: their sums and products are exact in single precision, in any order.
    pub fn small_floats(n: u32, random: &mut Random) -> Vec<f32> {
        (0..n).map(|_| random.index(8) as f32).collect()
    }
}
