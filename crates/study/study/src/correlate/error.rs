//! Errors about references.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use warpmem_machine::MachineError;

/// Reason why a reference could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReferenceError {
    #[error("failed to read {}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    /// An invalid value; `field` is its path, as in `runs[3].totals.dram_reads`.
    #[error("{}: `{field}`: {source}", .path.display())]
    Json { path: PathBuf, field: String, source: serde_json::Error },
    #[error("{}: `{field}` {problem}", .path.display())]
    Field { path: PathBuf, field: String, problem: String },
    #[error("{}:{line}: expected {expected} after `{key}`, found `{found}`", .path.display())]
    Value { path: PathBuf, line: u64, key: String, expected: &'static str, found: String },
    #[error("{}: {what}", .path.display())]
    Log { path: PathBuf, what: String },
}

/// Reason why runs of a reference cannot be selected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunFilterError {
    #[error(
        "{} is a log: give its trace and machine with --trace and --machine",
        .path.display()
    )]
    Log { path: PathBuf },
    #[error("no run of the reference passes --only, --exclude, --machines and --dram-schedulers")]
    NoRun,
    #[error("the reference has no {what} `{name}`{meant}; it has {known}")]
    Unknown { what: &'static str, name: String, meant: String, known: String },
    #[error("{label}: {machine} is not the machine of the log: {contradiction}")]
    OtherMachine { label: String, machine: String, contradiction: String },
    #[error(transparent)]
    Machine(#[from] MachineError),
}

/// A row of a table lacks a column, possibly because another version wrote it.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("column `{0}` of the results is missing or has another type: another version wrote them")]
pub struct NoColumn(pub &'static str);
