//! Errors of loading a machine.

use std::fmt;
use std::path::PathBuf;
use warpmem_params::{Invalid, did_you_mean};

use warpmem_dram::standard::StandardError;

/// Why a machine could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    #[error(
        "unknown machine `{name}`{}; valid: {valid}, or the path of a TOML file",
        did_you_mean(.nearest.as_deref())
    )]
    UnknownMachine { name: String, nearest: Option<&'static str>, valid: String },
    #[error("failed to read machine file {}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}:{line}:{column}: not valid TOML: {message}", .path.display())]
    Syntax { path: PathBuf, line: usize, column: usize, message: String },
    #[error("{origin}: unknown key `{key}`{}", did_you_mean(.nearest.as_deref()))]
    UnknownKey { key: String, origin: Origin, nearest: Option<String> },
    #[error("{origin}: `{key}` = {value}: expected {expected}")]
    WrongType { key: String, value: String, origin: Origin, expected: String },
    #[error("{origin}: {option} = {value}: expected {expected}")]
    Option { origin: Origin, option: String, value: String, expected: String },
    #[error(
        "{}: missing {}; give every key without a default, or start from a preset: `base = \"li2015\"`",
        .path.display(), list_keys(.keys)
    )]
    MissingKeys { path: PathBuf, keys: Vec<String> },
    #[error("malformed override `{text}`: expected key=value, as in `dram.read_queue=128`")]
    MalformedOverride { text: String },
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("{origin}: {invalid}")]
    InvalidAt { origin: Origin, invalid: Invalid },
    #[error(transparent)]
    Standard(#[from] StandardError),
}

impl MachineError {
    /// Returns the refused value if its origin is unknown.
    pub(super) fn invalid(&self) -> Option<&Invalid> {
        match self {
            MachineError::Invalid(invalid)
            | MachineError::Standard(StandardError::Channel(invalid)) => Some(invalid),
            _ => None,
        }
    }

    /// Adds the origin of a refused value if a file gave it.
    pub(super) fn at(self, origin: &Origin) -> MachineError {
        match (self.invalid(), origin) {
            (Some(invalid), Origin::File { .. }) => {
                MachineError::InvalidAt { origin: origin.clone(), invalid: invalid.clone() }
            }
            _ => self,
        }
    }

    /// Whether a value is of the right type, but not possible on this machine.
    pub fn is_invalid_value(&self) -> bool {
        use MachineError::{Invalid, InvalidAt, Standard};
        matches!(self, Invalid(_) | InvalidAt { .. } | Standard(StandardError::Channel(_)))
    }
}

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    File { path: PathBuf, line: usize },
    Override(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Override(text) => write!(f, "override `{text}`"),
        }
    }
}

/// Lists the first of `keys` and counts the others.
fn list_keys(keys: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = keys.iter().take(SHOWN).map(|k| format!("`{k}`")).collect();
    match keys.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
