//! Slices of the last-level cache.

mod access;
mod answers;
mod arrival;
mod delay;
mod direct;
mod fill;
mod fill_port;
mod merge_path;
mod mshr_states;
mod peer;
mod peer_port;
mod prefetch;
mod prefetched;
pub mod queue;
mod replies;
mod resets;
mod set_key;
mod slice;
mod spec;
mod tag_stage;
#[cfg(test)]
mod tests;
mod to_dram;
mod walk_bypass;
mod warm;
mod warp_types;

pub use crate::ports::SlicePorts;
pub use slice::Slice;
