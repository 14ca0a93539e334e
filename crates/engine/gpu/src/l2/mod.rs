//! Last-level cache slices.

mod access;
mod answers;
mod arrival;
mod delay;
mod direct;
mod mshr_states;
mod path;
mod prefetch;
mod prefetched;
pub mod queue;
mod replies;
mod resets;
mod set_key;
mod slice;
#[cfg(test)]
mod tests;
mod to_dram;
mod twin;
mod warp_types;

pub use slice::{Slice, SlicePorts};
pub use twin::TwinPorts;
