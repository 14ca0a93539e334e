//! Last-level cache slices.

pub mod prefetch;
pub mod queue;
mod slice;
#[cfg(test)]
mod tests;

pub use slice::{Slice, SlicePorts};
