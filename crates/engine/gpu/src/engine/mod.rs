//! The engine: how the units of a machine are connected and stepped, and what crosses their levels.

#[cfg(test)]
mod bench;
mod feeder;
mod instrumented;
mod intervals;
mod part;
mod periods;
mod run;
mod split;
mod system;
mod team;
#[cfg(test)]
mod tests;
mod weights;
mod wiring;

#[cfg(test)]
pub use bench::{Bench, Rows};
#[cfg(any(test, feature = "instrumented"))]
pub use instrumented::{StepCounts, Steps, WorkBalance};
pub use run::{Progress, ProgressReport, RunError, Simulation};
pub use system::BuildError;
