//! Sweeps: what a plan says is to be run, without opening a trace or building a machine.

mod design;
mod error;
mod plan;
mod shard;
mod values;

pub use design::{Design, Factor, Levels, points};
pub use error::PlanError;
pub use plan::{Case, Part, Plan};
pub use shard::Shard;
pub use values::{Interval, PolicyNames, Scalar, Scale, Values};
