//! PTX kernels, executed on the host and recorded as traces.
//!
//! ```text
//!  module ─▶ image ─▶ program ─▶ grid ─▶ clusters ─▶ CTAs ─▶ warps ─▶ instructions ─▶ recorder ─▶ .wmt
//!  (ptx)    addresses  operands   order   together   barriers  paths    execute/
//! ```
//!
//! A warp executes one instruction for all lanes of its current path; divergent lanes reconverge at
//! the immediate post-dominator of the branch. Warps of a CTA and CTAs of a grid are scheduled
//! in a fixed order, so the same launch gives the same memory and the same trace.
//!
//! Invariant: this crate knows nothing of the simulated hardware, and no program makes it panic.

mod access_window;
mod bounds;
mod cluster;
mod cluster_shape;
mod copies;
mod cta;
mod error;
mod execute;
mod global;
mod grid;
mod image;
mod independent;
mod lanes;
mod launch;
mod machine;
mod memory;
mod peers;
mod prepared;
mod print;
mod program;
mod recorder;
mod registers;
mod round_robin;
mod run;
mod stack;
mod system;
mod tensor;
#[cfg(test)]
mod tests;
mod texture;
mod view;
mod warp;

pub use access_window::AccessWindow;
pub use bounds::{Counts, Limits, Progress};
pub use error::{Fault, LaunchError, TrapKind};
pub use image::Image;
pub use lanes::{Lanes, WARP};
pub use launch::{Launch, Params, WORKSPACE};
pub use machine::Generation;
pub use memory::{DeviceMemory, Mapping};
pub use prepared::Programs;
pub use recorder::TraceRecorder;
pub use registers::estimated_registers;
pub use run::Run;
pub use tensor::{
    Fill, MAX_DIMENSIONS, Swizzle, TENSOR_MAP_BYTES, TensorAxis, TensorElement, TensorMap,
    TensorMapError,
};
pub use texture::{AddressMode, Filter, ReadMode, TexelFormat, TexelKind, Texture, TextureError};
