//! The engine: how the units of a machine are connected and stepped, and what crosses their levels.

#[cfg(test)]
mod bench;
mod feeder;
mod intervals;
mod periods;
mod run;
mod system;
#[cfg(test)]
mod tests;
mod wiring;

#[cfg(test)]
pub use bench::Bench;
pub use run::{
    NoProgress, Progress, ProgressReport, RunError, simulate, simulate_every_cycle,
    simulate_with_commands, simulate_with_schedulers,
};
pub use system::BuildError;
