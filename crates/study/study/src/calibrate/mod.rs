//! Calibration: values of a machine's free keys, chosen so that its figures agree with measured points.
//!
//! [`Free`] is a key and its candidates. [`descend`] is the search, which knows neither machines nor
//! points. [`Calibration`] evaluates its candidates: a batch of runs for each step, kept in a store, so
//! that a repeated search continues where it stopped. [`calibrated_text`] writes the machine file.

mod evaluate;
mod free;
mod machine_file;
mod search;
#[cfg(test)]
mod tests;

pub use evaluate::{CalibrateError, Calibration, RunBatch, overrides};
pub use free::{Free, FreeError, Values};
pub use machine_file::{MachineFileError, calibrated_text};
pub use search::{Best, Objectives, Step, descend};
