//! The engine: how the units of a machine are connected and stepped, and what crosses their levels.

#[cfg(test)]
mod bench;
mod feeder;
mod idle_steps;
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
mod windows;
mod wiring;

#[cfg(test)]
pub use bench::{Bench, Rows};
pub use idle_steps::{StepCounts, Steps};
pub use run::{
    NoProgress, Progress, ProgressReport, RunError, simulate, simulate_every_cycle,
    simulate_in_windows, simulate_watching_steps, simulate_with_commands, simulate_with_schedulers,
    simulate_with_threads,
};
pub use system::BuildError;
pub use windows::Windows;
