//! The CUDA driver, called through its own functions ("CUDA Driver API", the manual). Needs neither a toolkit
//! nor a compiler: the driver compiles PTX.
//!
//! Every handle borrows the [`Gpu`] that owns its context, so no handle outlives the context.

mod error;
mod event;
mod functions;
mod gpu;
mod module;

pub use error::DriverError;
pub use event::Event;
pub use gpu::{Allocation, Attribute, Gpu};
pub use module::{Function, Module};

/// File name of the driver's library.
pub const DEFAULT_DRIVER: &str = "libcuda.so.1";
