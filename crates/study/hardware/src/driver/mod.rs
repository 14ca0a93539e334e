//! The CUDA driver, through its own functions alone ("CUDA Driver API", the manual): no toolkit and no
//! compiler is needed, as the driver compiles PTX.
//!
//! Everything here holds a reference to the [`Gpu`] whose context it is of, so that nothing outlives it.

mod error;
mod event;
mod functions;
mod gpu;
mod module;

pub use error::DriverError;
pub use event::Event;
pub use gpu::{Allocation, Attribute, Gpu};
pub use module::{Function, Module};

/// The driver's library, as every installation names it.
pub const DEFAULT_DRIVER: &str = "libcuda.so.1";
