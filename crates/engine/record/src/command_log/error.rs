//! Errors of command logs.

use crate::ResultsError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a command log could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    #[error("failed to {action} {}", path.display())]
    Io { path: PathBuf, action: &'static str, source: io::Error },
    #[error("failed to read {}", path.display())]
    Parquet { path: PathBuf, source: parquet::errors::ParquetError },
    #[error(transparent)]
    Table(#[from] ResultsError),
    #[error("{}: not a command log: expected {expected}", path.display())]
    NotALog { path: PathBuf, expected: String },
    #[error("{}: not a valid configuration in the log: {message}", path.display())]
    Configuration { path: PathBuf, message: String },
    /// Lines of text and rows of Parquet count from 1.
    #[error("{}:{line}: {problem}", path.display())]
    Row { path: PathBuf, line: u64, problem: String },
    #[error("failed to write {}: bank {bank} of a channel of {banks}", path.display())]
    NoSuchBank { path: PathBuf, bank: u16, banks: u32 },
}

impl LogError {
    pub(super) fn io(path: &Path, action: &'static str) -> impl Fn(io::Error) -> LogError {
        let path = path.to_owned();
        move |source| LogError::Io { path: path.clone(), action, source }
    }
}
