//! Measurements on a GPU, and their comparison with a simulated machine.
//!
//! ```text
//!  registry of measurements ┐
//!                           ├▶ work: plans in PTX ─▶ loaded on the device (program) ─▶ repetitions
//!  launch files ────────────┘   and the figures       buffers, events (driver)          (session)
//!                               from their cycles                                         │
//!  rows with errors ◀─ simulated cycles of that work (compare) ◀─ the file of results ◀───┘
//! ```
//!
//! A measurement is a plan as `capture` executes it, and a function from the cycles of its launches
//! to figures. The device and the simulated machine run the same plan and use the same function, so
//! both sides differ only in the machine.
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
pub use session::{Observer, Session};
pub use work::{Cycles, Figure, Parameters, Unit, Work};
