//! Energy of a whole GPU as in AccelWattch (Kandiah et al., MICRO 2021): an energy per event, a
//! static power that depends on the units in use, and a constant power.
//!
//! Energy is linear in the counts of a run, so it is computed from results after the run. The
//! energies are in `tables`, one file per table.

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
