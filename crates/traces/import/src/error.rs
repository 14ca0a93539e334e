//! Errors of imports and exports.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use thiserror::Error;
use warpmem_trace::TraceError;

/// Failure of an import or export. Nothing remains under the output's name.
#[derive(Debug, Error)]
pub enum ImportError {
    #[error("failed to {action} {path}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("failed to inflate {path}: it is truncated or damaged ({codec})")]
    Inflate { path: PathBuf, codec: &'static str, source: io::Error },
    #[error("{path}:{line}: expected {expected}, found `{text}`")]
    Line { path: PathBuf, line: u64, expected: Cow<'static, str>, text: String },
    #[error("{path}{place}: {what}")]
    Place { path: PathBuf, place: Place, what: String },
    #[error("{path}: {what}")]
    File { path: PathBuf, what: Cow<'static, str> },
    #[error("{path}: byte {offset}: {what}")]
    Binary { path: PathBuf, offset: u64, what: Cow<'static, str> },
    #[error(
        "{list}:{line}: no kernel file for `{name}` in {directory}; neither that name nor one that differs only in `-ctx_…`, form or compression is there"
    )]
    MissingKernel { list: PathBuf, line: u64, name: String, directory: PathBuf },
    #[error("{list}:{line}: `{name}` could be any of {candidates}; name one of them exactly")]
    AmbiguousKernel { list: PathBuf, line: u64, name: String, candidates: String },
    #[error(
        "kernels {first}..={last} are not all in {path}, which holds {kernels}; valid are 1..={kernels}"
    )]
    KernelRange { path: PathBuf, first: usize, last: usize, kernels: usize },
    #[error("stopped before the end")]
    Cancelled,
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// A position in a table, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Line(u64),
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(out, ":{line}"),
            Place::Row(row) => write!(out, ": row {row}"),
        }
    }
}

impl ImportError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ImportError {
        let path = path.to_path_buf();
        move |source| ImportError::Io { action, path, source }
    }

    pub(super) fn file(path: &Path, what: impl Into<Cow<'static, str>>) -> ImportError {
        ImportError::File { path: path.to_path_buf(), what: what.into() }
    }
}

impl ImportError {
    /// Renames an error about `copy` to `original`.
    pub(super) fn of_original(mut self, copy: &Path, original: &Path) -> ImportError {
        if let Some(path) = self.path_mut().filter(|path| *path == copy) {
            original.clone_into(path);
        }
        self
    }

    fn path_mut(&mut self) -> Option<&mut PathBuf> {
        use ImportError::{
            AmbiguousKernel, Binary, Cancelled, File, Inflate, Io, KernelRange, Line,
            MissingKernel, Place, Trace,
        };
        match self {
            Io { path, .. }
            | Inflate { path, .. }
            | Line { path, .. }
            | Place { path, .. }
            | File { path, .. }
            | Binary { path, .. }
            | KernelRange { path, .. } => Some(path),
            MissingKernel { list, .. } | AmbiguousKernel { list, .. } => Some(list),
            Cancelled | Trace(_) => None,
        }
    }
}

/// The expected content of a line; becomes [`ImportError::Line`] once file and line are known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expected(pub Cow<'static, str>);

impl Expected {
    pub(super) fn at(self, path: &Path, line: u64, text: &[u8]) -> ImportError {
        ImportError::Line {
            path: path.to_path_buf(),
            line,
            expected: self.0,
            text: shortened(text),
        }
    }

    pub(super) fn in_table(self, path: &Path, place: Place) -> ImportError {
        let what = format!("expected {}", self.0);
        ImportError::Place { path: path.to_path_buf(), place, what }
    }

    /// Returns the error for text within a binary file.
    pub(super) fn within(self, path: &Path, offset: u64, place: &str, text: &[u8]) -> ImportError {
        let what = format!("{place}: expected {}, found `{}`", self.0, shortened(text)).into();
        ImportError::Binary { path: path.to_path_buf(), offset, what }
    }
}

impl From<&'static str> for Expected {
    fn from(what: &'static str) -> Expected {
        Expected(Cow::Borrowed(what))
    }
}

impl From<String> for Expected {
    fn from(what: String) -> Expected {
        Expected(Cow::Owned(what))
    }
}

/// Maximum bytes of a bad line quoted in a message.
const SHOWN: usize = 100;

pub(super) fn shortened(text: &[u8]) -> String {
    let text = text.trim_ascii_end();
    let shown = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]);
    let ellipsis = if text.len() > SHOWN { "…" } else { "" };
    format!("{}{ellipsis}", shown.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_is_named_and_shortened() {
        let text = [b'x'; 1000];
        let error = Expected::from("a mask").at(Path::new("k.traceg"), 7, &text).to_string();
        assert!(error.starts_with("k.traceg:7: expected a mask, found `xxx"), "{error}");
        assert!(error.len() < 200, "{error}");
    }

    #[test]
    fn control_bytes_of_a_bad_line_do_not_reach_the_terminal() {
        let error = Expected::from("a mask").at(Path::new("k"), 1, b"\x1b[2J").to_string();
        assert!(!error.contains('\x1b'), "{error}");
    }
}
