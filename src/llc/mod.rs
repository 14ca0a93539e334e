//! Last-level cache slices.

mod access;
mod delay;
mod direct;
mod path;
pub mod prefetch;
pub mod queue;
mod set_key;
mod slice;
#[cfg(test)]
mod tests;

mod warp_types;

pub use slice::{Slice, SlicePorts};
