//! The reasons for which a standard, or a configuration of it, is rejected.

use std::path::PathBuf;
use warpmem_params::{Invalid, did_you_mean};

/// A standard that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StandardError {
    #[error(
        "`dram.standard` = \"{name}\" is not valid: expected {valid}, or the path of a .toml file{}",
        did_you_mean(.nearest.as_deref())
    )]
    Unknown { name: String, nearest: Option<String>, valid: String },
    #[error("failed to read standard {}: {message}", .path.display())]
    Read { path: PathBuf, message: String },
    /// An error in the file itself.
    #[error("{}:{line}: {message}", .path.display())]
    File { path: PathBuf, line: usize, message: String },
    #[error(
        "unknown {what} `{name}` of standard {standard}{}; valid: {valid}",
        did_you_mean(.nearest.as_deref())
    )]
    UnknownPreset {
        what: &'static str,
        name: String,
        standard: String,
        nearest: Option<String>,
        valid: String,
    },
    /// A configuration that the standard, or every channel, rejects.
    #[error(transparent)]
    Channel(#[from] Invalid),
}
