//! Captures: launches the kernels of a PTX module on generated or loaded arrays, and records a
//! trace.
//!
//! ```text
//!  command line ┐
//!               ├▶ plan ─▶ arrays in device memory ─▶ launch after launch ─▶ .wmt
//!  launch file ─┘          (buffer, fill, array_file)  (argument, session)    outputs, checks
//! ```
//!
//! Invariant: the same plan gives the same trace, byte for byte.

mod argument;
mod array_file;
mod arrays;
mod buffer;
mod element;
mod error;
mod expectation;
mod fill;
mod host_memory;
mod launch_file;
mod module;
mod number;
mod plan;
mod program;
mod ptxas;
pub mod relay;
mod selection;
mod session;
#[cfg(test)]
mod tests;
mod texture;

pub use argument::Argument;
pub use arrays::{Arrays, FirstValues, Memory};
pub use buffer::BufferSpec;
pub use element::Element;
pub use error::CaptureError;
pub use expectation::{Expectation, Mismatch};
pub use fill::Fill;
pub use module::{KernelSummary, PtxModule};
pub use plan::{Dimensions, Plan, PlannedBuffer, PlannedLaunch};
pub use program::{
    Device, KernelTally, Program, ProgramCapture, ProgramOptions, ProgramStatus, Settings,
    capture_program,
};
pub use selection::Selection;
pub use session::{Captured, Launched, Observer, Options, Registers, capture, capture_module};
pub use texture::{Addressing, Filtering, TextureSpec};
