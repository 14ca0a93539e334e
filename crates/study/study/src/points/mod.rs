//! Points: measured figures of GPUs, each beside the same figure of a simulated run.
//!
//! A [`PointsFile`] names a machine and a workload for every figure. [`place`] loads the machines,
//! [`generate`] makes the distinct workloads, a [`Batch`] runs what its [`Store`] does not hold yet, and
//! [`summaries`] states the errors by class and GPU. This module prints nothing.

mod batch;
mod error;
mod file;
mod outcome;
mod place;
mod store;
mod unit;
mod workload;

pub use batch::{Batch, Setup};
pub use error::PointsError;
pub use file::{Filter, Point, PointsFile};
pub use outcome::{Outcome, Summary, log_error, summaries};
pub use place::{Placed, place};
pub use store::{RUNS, Store};
pub use unit::Unit;
pub use workload::{Traces, Workload, generate};
