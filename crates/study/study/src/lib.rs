//! Studies of traces and runs: profiles of traces, suites of workloads, sweeps, samples, classes,
//! comparison with other simulators and with measured points, calibration, and the experiments of papers.

pub mod bound;
pub mod calibrate;
pub mod cells;
pub mod classify;
pub mod correlate;
pub mod index;
pub mod kernel_name;
pub mod points;
pub mod profile;
pub mod reproduce;
pub mod sample;
pub mod suite;
pub mod sweep;
#[cfg(test)]
mod testing;
pub mod traces;
pub mod variants;
