use std::io;
use std::path::PathBuf;

/// Failure to read or write a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    #[error("failed to {action} {}", path.display())]
    Io { path: PathBuf, action: &'static str, source: io::Error },

    #[error("{} is not a .wmt trace: {reason}", path.display())]
    NotATrace { path: PathBuf, reason: String },

    #[error(
        "{} has trace format version {major}.{minor}, and this program reads versions up to {}.x: \
         update warpmem, or write the trace again with this version",
        path.display(),
        crate::header::MAJOR
    )]
    NewerVersion { path: PathBuf, major: u16, minor: u16 },

    #[error("{} is truncated: {reason}", path.display())]
    Truncated { path: PathBuf, reason: String },

    /// The bytes differ from those written.
    #[error("{} is damaged at byte {offset}: {reason}", path.display())]
    Damaged { path: PathBuf, offset: u64, reason: String },

    /// The caller asked for something that the trace does not contain.
    #[error("{} has no {what}: there are {count}, counted from 0", path.display())]
    Missing { path: PathBuf, what: String, count: usize },

    /// The caller asked the writer for something that no trace can hold.
    #[error("cannot write {}: {reason}", path.display())]
    Invalid { path: PathBuf, reason: String },
}
