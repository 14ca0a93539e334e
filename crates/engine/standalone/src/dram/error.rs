//! The reasons for which a standalone run of channels cannot be set up or continue.

use std::io;
use std::path::{Path, PathBuf};
use warpmem_machine::MachineError;
use warpmem_params::PolicyError;

/// An error with its place and the valid values.
#[derive(Debug, thiserror::Error)]
pub enum StandaloneError {
    #[error("failed to {action} {path}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{path}:{line}: expected {expected}, found `{found}`")]
    Line { path: PathBuf, line: u64, expected: String, found: String },
    #[error(
        "{path}:{line}: address {address:#x} is out of range; the address map holds {capacity:#x} bytes"
    )]
    Address { path: PathBuf, line: u64, address: u64, capacity: u64 },
    #[error("{path}: no accesses")]
    Empty { path: PathBuf },
    #[error("`{option}` = {value} is not valid; valid: {valid}")]
    Option { option: &'static str, value: String, valid: String },
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(
        "channel {channel} is stuck at cycle {cycle}: {pending} requests wait and no event \
         happen; this is a bug in the scheduler or the channel, please report it"
    )]
    Stuck { channel: u32, cycle: u64, pending: usize },
    #[error("stopped before the end")]
    Interrupted,
}

impl StandaloneError {
    pub(super) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> StandaloneError {
        let path = path.to_path_buf();
        move |source| StandaloneError::Io { action, path, source }
    }

    pub(super) fn option(
        option: &'static str,
        value: &impl ToString,
        valid: impl Into<String>,
    ) -> StandaloneError {
        StandaloneError::Option { option, value: value.to_string(), valid: valid.into() }
    }
}
