//! Energy of a whole GPU in the manner of AccelWattch (Kandiah et al., MICRO 2021): an energy for
//! each event, a static power that depends on which units are in use, and a constant power.
//!
//! It is linear in the counts of a run, and so computed after the run, from its results. The
//! energies themselves are in `tables`, a file for each table.

mod activity;
mod config;
mod parts;
mod statics;
mod table;
mod tables;

#[cfg(test)]
mod tests;

pub use activity::{Accesses, Activity};
pub use config::{Energy, TableName};
pub use parts::GpuEnergy;
pub use table::{LanePicojoules, Lanes, StaticWatts, Table};
pub use tables::ACCELWATTCH_VOLTA;
