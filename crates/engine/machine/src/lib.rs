//! Machines: the typed configuration, presets, files and overrides, and validation. This crate runs
//! nothing; it knows policies only by their names.

mod clocks;
mod config;
mod derived;
mod error;
mod former;
mod gpgpusim;
mod listing;
mod load;
mod orders;
mod part;
mod presets;
mod times;
mod validate;

pub use clocks::Periods;
pub use config::*;
pub use error::{MachineError, Origin};
pub use former::current_key;
pub use gpgpusim::Conversion;
pub use listing::preset_listing;
pub use load::{flatten, load, load_channels, load_with_conversion};
pub use presets::{DEFAULT_MACHINE, preset_names, preset_text};
pub use times::clock_warnings;
pub use warpmem_cache::{Cache, ReadAllocate, Replacement, WriteAllocate, WritePolicy};
pub use warpmem_dram::{Dram, Power, QueueOrganisation, Timing};
pub use warpmem_energy::{Energy, TableName as EnergyTable};
pub use warpmem_network::{Network, Switching, VcAssignment};
pub use warpmem_sim::{Address, IndexHash};

#[cfg(test)]
mod tests;
