//! Reasons why a profile cannot be read.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error("failed to read {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{}: no table of a profile; expected the CSV of Nsight Compute (`ncu --csv`, with or without \
         `--page raw`) or of nvprof (`nvprof --print-gpu-trace --csv` or `nvprof --metrics … --csv`)",
        path.display()
    )]
    NoTable { path: PathBuf },
    #[error("failed to read {} as CSV", path.display())]
    Csv { path: PathBuf, source: csv::Error },
    #[error("{}: line {line} has {found} fields, its header has {expected}", path.display())]
    Fields { path: PathBuf, line: u64, found: usize, expected: usize },
    #[error("{}: the table has no column `{name}`", path.display())]
    NoColumn { path: PathBuf, name: &'static str },
    #[error("{}: line {line}: `{metric}` is `{found}`; expected {expected}", path.display())]
    Value { path: PathBuf, line: u64, metric: String, found: String, expected: &'static str },
    #[error(
        "{}: line {line}: `{metric}` has the unit `{found}`; expected {expected}",
        path.display()
    )]
    Unit { path: PathBuf, line: u64, metric: String, found: String, expected: String },
    #[error(
        "{}: lines {line} and {other} have different decimal marks (`{found}` and `{before}`); \
         expected one in the whole file",
        path.display()
    )]
    DecimalMarks { path: PathBuf, line: u64, found: String, other: u64, before: String },
    #[error("{}: the table has no launch of a kernel with a metric that can be compared", path.display())]
    NoLaunch { path: PathBuf },
}
