//! Errors of writing results.

use std::io;
use std::path::PathBuf;
use warpmem_support::checksum::CheckError;

/// Why results could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    #[error("failed to {action} {}", path.display())]
    Io { path: PathBuf, action: &'static str, source: io::Error },

    #[error("failed to write {}", path.display())]
    Parquet { path: PathBuf, source: parquet::errors::ParquetError },

    #[error(
        "{} already holds results (`{found}`): name another directory, or remove them first",
        dir.display()
    )]
    AlreadyHoldsResults { dir: PathBuf, found: String },

    #[error(
        "run {run_id} of trace `{trace}` is already among these results: traces with equal content \
         and equal machines and policies are one run"
    )]
    DuplicateRun { run_id: String, trace: String },

    #[error(
        "{} is being written by another process: wait for it, or name another directory",
        dir.display()
    )]
    InUse { dir: PathBuf },

    #[error(
        "{} was removed or replaced while results were being written to it: run the command again",
        dir.display()
    )]
    Gone { dir: PathBuf },

    #[error("failed to read {}; remove its directory, and its run will be made again", path.display())]
    Unreadable { path: PathBuf, source: parquet::errors::ParquetError },

    #[error("{} is damaged: its run has to be made again", path.display())]
    Damaged { path: PathBuf, source: CheckError },

    #[error(
        "{} has other columns than the cells before it; remove its directory, and its run will be made again",
        path.display()
    )]
    OtherColumns { path: PathBuf },
}
