use std::path::{Path, PathBuf};

use polars::error::PolarsError;
use warpmem_support::checksum::CheckError;

/// A failure between opening a results directory and writing a comparison.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path that does not exist or cannot be read.
    #[error("failed to read {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },

    /// Results without the requested table.
    #[error(
        "no table `{table}` in {}: neither {table}.parquet nor {table}/*.parquet exists",
        listed(directories)
    )]
    NoTable { table: String, directories: Vec<PathBuf> },

    /// A file that is not a Parquet table, or a damaged one.
    #[error("{} is not a readable Parquet file", path.display())]
    NotParquet { path: PathBuf, source: PolarsError },

    /// A file that changed after it was written.
    #[error("{} is damaged: restore it, or repeat its run", path.display())]
    Damaged { path: PathBuf, source: CheckError },

    /// Two files of one table with different types of values in a column. `elsewhere` names the
    /// other type.
    #[error("column `{column}` holds {found} in {}, but {elsewhere}", path.display())]
    SchemaMismatch { path: PathBuf, column: String, found: String, elsewhere: String },

    /// A column of a type that no table of this project uses.
    #[error(
        "column `{column}` of {table} has the unsupported type {dtype}; supported are booleans, integers of 32 and 64 bits, floats and strings"
    )]
    UnsupportedColumn { table: String, column: String, dtype: String },

    /// A missing column that a computation needs.
    #[error("{table} has no column `{column}`; it has: {}", available.join(", "))]
    MissingColumn { table: String, column: String, available: Vec<String> },

    /// A column that must hold numbers and does not.
    #[error("column `{column}` of {table} holds {dtype}, not numbers")]
    NotNumeric { table: String, column: String, dtype: String },

    /// A baseline that names no value of a varied slot.
    #[error("no run of the baseline `{baseline}`; runs vary in {}", available.join("; "))]
    UnknownBaseline { baseline: String, available: Vec<String> },

    /// A baseline part that is a value of several slots.
    #[error("`{part}` of the baseline is a value of several slots ({}); write slot={part}", slots.join(", "))]
    AmbiguousBaseline { part: String, slots: Vec<String> },

    /// A workload without a run of the baseline.
    #[error("trace `{trace}` on machine `{machine}` has no run of the baseline `{baseline}` to compare `{policy}` with; it was run with: {}; run it with the baseline too, or choose another", available.join(", "))]
    MissingBaseline {
        trace: String,
        machine: String,
        policy: String,
        baseline: String,
        available: Vec<String>,
    },

    /// Several runs where a comparison needs one.
    #[error(
        "{runs} runs of trace `{trace}` on machine `{machine}` with `{policy}`, but a comparison needs exactly one; they differ in {}",
        either(differ)
    )]
    SeveralRuns { trace: String, machine: String, policy: String, runs: usize, differ: Vec<String> },

    /// A query over a table that does not exist.
    #[error("no table `{table}`; there are: {}", available.join(", "))]
    UnknownTable { table: String, available: Vec<String> },

    /// A query over a column that none of its tables has.
    #[error("no column `{column}` in the tables of the query")]
    UnknownColumn { column: String, available: Vec<String> },

    /// A query that does not parse or cannot be evaluated.
    #[error("the query failed: {0}")]
    Query(String),

    /// Runs of different traces, machines or engines under one name.
    #[error(
        "these runs cannot be compared: {}; compare runs that agree, or allow mixed runs (`--allow-mixed` of a report), which are then marked",
        differences.join("; ")
    )]
    Mixed { differences: Vec<String> },

    /// Unreadable parameters of a run.
    #[error("failed to parse `{column}` of a run: {text}")]
    Parameters { column: String, text: String },

    /// Runs that are not a full factorial.
    #[error("no effects can be computed: {0}")]
    Factorial(String),

    /// No rows to compare.
    #[error("the `runs` table has no rows to compare")]
    NoRuns,

    /// A file that cannot be written.
    #[error("failed to write {}", path.display())]
    Write { path: PathBuf, source: std::io::Error },

    /// A value that the format cannot hold, or a failure inside the dataframe engine.
    #[error("failed to evaluate a table")]
    Frame(#[from] PolarsError),
}

impl Error {
    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Error::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: std::io::Error) -> Self {
        Error::Write { path: path.to_owned(), source }
    }
}

/// Refuses a query, with the reason.
pub(crate) fn refused(why: String) -> Error {
    Error::Query(why)
}

/// Reports a column that no table of the query has.
pub(crate) fn unknown_column(column: &str, available: impl Iterator<Item = String>) -> Error {
    let mut available: Vec<String> = available.collect();
    available.sort();
    available.dedup();
    Error::UnknownColumn { column: column.to_owned(), available }
}

fn listed(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

fn either(slots: &[String]) -> String {
    if slots.is_empty() { "no slot".to_owned() } else { slots.join(", ") }
}

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;
