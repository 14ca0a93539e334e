//! What a machine is: its typed configuration, the presets, overrides and validation.

mod config;

pub use config::*;
