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

    /// A query over a table that does not exist.
    #[error("no table `{table}`; there are: {}", available.join(", "))]
    UnknownTable { table: String, available: Vec<String> },

    /// A query over a column that none of its tables has.
    #[error("no column `{column}` in the tables of the query")]
    UnknownColumn { column: String, available: Vec<String> },

    /// A query that does not parse or cannot be evaluated.
    #[error("the query failed: {0}")]
    Query(String),

    /// Runs that cannot be compared, or columns that a computation cannot use.
    #[error(transparent)]
    Runs(#[from] warpmem_comparison::Error),

    /// Runs that are not a full factorial.
    #[error("no effects can be computed: {0}")]
    Factorial(String),

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

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;
