//! Kernels in PTX, executed on the host and recorded as traces.
//!
//! ```text
//!  module ─▶ image ─▶ program ─▶ grid ─▶ clusters ─▶ CTAs ─▶ warps ─▶ instructions ─▶ recorder ─▶ .wmt
//!  (ptx)    addresses  operands   order   together   barriers  paths    execute/
//! ```
//!
//! A warp executes one instruction for all lanes of its current path; where lanes diverge, they meet
//! again at the immediate post-dominator of the branch. Warps of a CTA and CTAs of a grid take
//! turns in a fixed order, so that the same launch gives the same memory and the same trace.
//!
//! Invariant: no hardware of the model is known here, and no program makes this crate panic.

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
mod memory;
mod peers;
mod prepared;
mod print;
mod program;
mod recorder;
mod registers;
mod run;
mod stack;
mod system;
mod tensor;
#[cfg(test)]
mod tests;
mod texture;
mod turns;
mod view;
mod warp;

pub use access_window::AccessWindow;
pub use bounds::{Counts, Limits, Progress};
pub use error::{Fault, LaunchError, TrapKind};
pub use image::Image;
pub use lanes::{Lanes, WARP};
pub use launch::{Launch, Params, WORKSPACE};
pub use memory::{DeviceMemory, Mapping};
pub use prepared::Programs;
pub use recorder::{NoRecorder, Operands, Recorder, TraceRecorder, WarpRecorder};
pub use registers::estimated_registers;
pub use run::Run;
pub use tensor::{
    Fill, MOST_DIMENSIONS, Swizzle, TENSOR_MAP_BYTES, TensorAxis, TensorElement, TensorMap,
    TensorMapError,
};
pub use texture::{AddressMode, Filter, ReadMode, TexelFormat, TexelKind, Texture, TextureError};
