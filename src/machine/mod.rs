//! What a machine is: its typed configuration, the presets, overrides and validation.

mod address;
mod clocks;
mod config;
mod derived;
mod error;
mod hash;
mod limits;
mod load;
mod orders;
mod presets;
mod validate;

pub use address::{BitGroup, Field, Layout};
pub use clocks::Periods;
pub use config::*;
pub use error::{MachineError, Origin};
pub use hash::Hash;
pub(crate) use load::position;
pub use load::{flatten, keys, load, load_channels};
pub use presets::{preset_names, preset_text};
pub(crate) use validate::check_organisation;

#[cfg(test)]
mod tests;
