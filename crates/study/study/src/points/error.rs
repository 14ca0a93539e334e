//! Errors of points.

use crate::cells::CellError;
use crate::sweep::TracesError;
use crate::traces::OpenError;
use std::io;
use std::path::PathBuf;
use warpmem_machine::MachineError;

/// Reason why points cannot be read or run.
#[derive(Debug, thiserror::Error)]
pub enum PointsError {
    #[error("failed to read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}:{line}: {message}", path.display())]
    Line { path: PathBuf, line: usize, message: String },
    #[error("{}:{line}: column `{column}`: {message}", path.display())]
    Cell { path: PathBuf, line: usize, column: &'static str, message: String },
    #[error("{}:{line}: machine `{machine}`", path.display())]
    Machine { path: PathBuf, line: usize, machine: String, source: Box<MachineError> },
    #[error("{} has no point of {what} `{name}`{meant}; it has {known}", path.display())]
    Unknown { path: PathBuf, what: &'static str, name: String, meant: String, known: String },
    #[error("{} has no point that passes all filters", path.display())]
    NoPoint { path: PathBuf },
    #[error(transparent)]
    Traces(#[from] TracesError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Run(#[from] CellError),
    #[error("failed to write {}", path.display())]
    Store { path: PathBuf, source: io::Error },
}

impl PointsError {
    /// Returns whether the user stopped the generation of the workloads, or their runs.
    pub fn is_interruption(&self) -> bool {
        match self {
            PointsError::Traces(error) => error.is_interruption(),
            PointsError::Run(error) => error.is_interruption(),
            _ => false,
        }
    }
}
