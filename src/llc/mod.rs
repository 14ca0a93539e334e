//! Last-level cache slices.

mod access;
pub mod prefetch;
pub mod queue;
mod set_key;
mod slice;
#[cfg(test)]
mod tests;

pub use slice::{Slice, SlicePorts};
