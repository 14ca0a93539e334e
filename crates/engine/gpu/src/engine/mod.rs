//! The engine: connects the units of a machine, steps those that are due, and moves information
//! between them that does not travel through ports. It knows no policy.

#[cfg(test)]
mod bench;
mod extrapolated;
mod feeder;
mod instrumented;
#[cfg(any(test, feature = "instrumented"))]
mod instrumented_runs;
mod intervals;
mod periods;
mod phase;
mod region_units;
mod run;
mod split;
mod system;
mod team;
#[cfg(test)]
mod tests;
mod warming;
mod weights;
mod wiring;

#[cfg(test)]
pub use bench::{Bench, Rows};
#[cfg(any(test, feature = "instrumented"))]
pub use instrumented::{StepCounts, Steps, WorkBalance};
pub use run::{Progress, ProgressReport, RunError, Simulation};
pub use system::BuildError;
