//! Measurements on a GPU, and what of a machine of ours they are comparable with.
//!
//! ```text
//!  registry of measurements ┐
//!                           ├▶ work: plans in PTX ─▶ loaded on the device (program) ─▶ repetitions
//!  launch files ────────────┘   and what their      buffers, events (driver)          (session)
//!                               times come to                                              │
//!  rows with errors ◀─ our cycles of the same work (compare) ◀─ the file of results ◀──────┘
//! ```
//!
//! A measurement is a plan as `capture` carries it out, and a function from the cycles of its launches
//! to its figures. On the device and on a machine of ours the same plan is run and the same function
//! used, so that both sides differ in nothing but what ran it.
//!
//! Invariant: only `driver` has unsafe code.

mod compare;
mod device;
mod driver;
mod error;
mod identity;
mod instruments;
mod measurement;
mod memory;
mod program;
mod results;
mod session;
mod statistics;
#[cfg(test)]
mod tests;
mod work;

pub use compare::{Row, Summary, rows, summary};
pub use device::DeviceInfo;
pub use driver::{DEFAULT_DRIVER, DriverError, Gpu};
pub use error::HardwareError;
pub use identity::{Difference, differences, preset_of};
pub use measurement::{MEASUREMENTS, Measurement, measurement};
pub use results::{Measured, MeasuredFigure, ResultsFile, Samples};
pub use session::{Session, Watch};
pub use work::{Cycles, Figure, Parameters, Unit, Work};
