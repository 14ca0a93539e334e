//! Last-level cache slices.

pub mod prefetch;
pub mod queue;
mod slice;

pub use slice::{Slice, SlicePorts};
