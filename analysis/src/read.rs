//! Reading the tables that runs leave: one Parquet file a table, or a folder of files that
//! together are one table.

use std::any::Any;
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::*;
use polars_io::prelude::{ParquetReader, SerReader};

use crate::error::{Error, Result};

/// Names of the tables that a run leaves.
pub const TABLES: [&str; 11] = [
    "runs",
    "kernels",
    "sms",
    "slices",
    "channels",
    "banks",
    "networks",
    "network_nodes",
    "network_links",
    "policy_counters",
    "loads",
];

/// Columns that name the policy of each slot of the machine.
pub const SLOTS: [&str; 8] = [
    "dram_scheduler",
    "warp_scheduler",
    "cta_scheduler",
    "llc_queue",
    "topology",
    "arbiter",
    "prefetcher",
    "ideal",
];

/// A directory of tables.
#[derive(Clone, Debug)]
pub struct Results {
    directory: PathBuf,
}

impl Results {
    /// Opens the results under `directory`. No table is read yet.
    ///
    /// # Errors
    /// If `directory` is not a directory that can be read.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Results> {
        let directory = directory.into();
        fs::read_dir(&directory).map_err(|source| Error::read(&directory, source))?;
        Ok(Results { directory })
    }

    /// The table `name` (one of [`TABLES`] or any other), from `name.parquet` or, if there is no
    /// such file, all of `name/*.parquet` in the order of their names.
    ///
    /// # Errors
    /// If there is no such table, or [`read_table`] fails.
    pub fn table(&self, name: &str) -> Result<LazyFrame> {
        let file = self.directory.join(format!("{name}.parquet"));
        if file.is_file() {
            return read_table(&file);
        }
        let folder = self.directory.join(name);
        if folder.is_dir() {
            return read_table(&folder);
        }
        Err(Error::NoTable { table: name.to_owned(), directory: self.directory.clone() })
    }

    /// One row per run: configuration, policies, trace, all scalar metrics.
    ///
    /// # Errors
    /// As [`Results::table`].
    pub fn runs(&self) -> Result<LazyFrame> {
        self.table("runs")
    }

    /// One row per load warp instruction.
    ///
    /// # Errors
    /// As [`Results::table`].
    pub fn loads(&self) -> Result<LazyFrame> {
        self.table("loads")
    }
}

/// The table at `path`: a Parquet file, or a folder whose `*.parquet` files have the same columns.
///
/// Only the footers are read now; collecting the frame reads the columns that it uses.
///
/// # Errors
/// If a file is missing, is not Parquet, holds a column of a type that is not supported, or if the
/// files of a folder differ in their columns.
pub fn read_table(path: impl AsRef<Path>) -> Result<LazyFrame> {
    let path = path.as_ref();
    let files = if path.is_dir() { parquet_files(path)? } else { vec![path.to_owned()] };
    let scans = files.into_iter().map(TableFile::open).collect::<Result<Vec<_>>>()?;
    if let Some((first, others)) = scans.split_first() {
        others.iter().try_for_each(|other| first.check_same_columns(other))?;
    }
    let frames = scans.into_iter().map(TableFile::scan_lazily).collect::<Result<Vec<_>>>()?;
    Ok(concat(frames, UnionArgs::default())?)
}

fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = |source| Error::read(folder, source);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|extension| extension == "parquet") {
            files.push(path);
        }
    }
    if files.is_empty() {
        let nothing = std::io::Error::new(std::io::ErrorKind::NotFound, "no *.parquet file there");
        return Err(read(nothing));
    }
    files.sort();
    Ok(files)
}

/// One Parquet file, read when a query needs it and only in the columns that it needs.
struct TableFile {
    path: PathBuf,
    schema: SchemaRef,
}

impl TableFile {
    fn open(path: PathBuf) -> Result<TableFile> {
        let file = File::open(&path).map_err(|source| Error::read(&path, source))?;
        let schema = match guarded(|| ParquetReader::new(file).schema()) {
            Ok(schema) => schema,
            Err(source) => return Err(Error::NotParquet { path, source }),
        };
        for field in schema.iter_values() {
            if !is_supported(&field.dtype) {
                return Err(Error::UnsupportedColumn {
                    table: path.display().to_string(),
                    column: field.name.to_string(),
                    dtype: format!("{:?}", field.dtype),
                });
            }
        }
        let schema = Arc::new(Schema::from_arrow_schema(&schema));
        Ok(TableFile { path, schema })
    }

    fn check_same_columns(&self, other: &TableFile) -> Result<()> {
        let mut pairs = self.schema.iter().zip(other.schema.iter());
        let difference = match pairs.find(|(mine, its)| mine != its) {
            Some(((name, dtype), (its_name, its_dtype))) => {
                format!("{its_name} ({its_dtype}) stands where {name} ({dtype}) is expected")
            }
            None if self.schema.len() != other.schema.len() => {
                format!("{} columns instead of {}", other.schema.len(), self.schema.len())
            }
            None => return Ok(()),
        };
        Err(Error::SchemaMismatch {
            path: other.path.clone(),
            first: self.path.clone(),
            difference,
        })
    }

    fn scan_lazily(self) -> Result<LazyFrame> {
        let args = ScanArgsAnonymous {
            schema: Some(self.schema.clone()),
            name: "PARQUET TABLE",
            ..Default::default()
        };
        Ok(LazyFrame::anonymous_scan(Arc::new(self), args)?)
    }
}

impl AnonymousScan for TableFile {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn allows_projection_pushdown(&self) -> bool {
        true
    }

    fn scan(&self, scan: AnonymousScanArgs) -> PolarsResult<DataFrame> {
        let columns = scan.with_columns.map(|names| names.iter().map(|n| n.to_string()).collect());
        let in_file = |error: PolarsError| error.context(self.path.display().to_string().into());
        let file = File::open(&self.path).map_err(|error| in_file(error.into()))?;
        let reader = ParquetReader::new(file)
            .with_columns(columns)
            .with_slice(scan.n_rows.map(|rows| (0, rows)));
        guarded(|| reader.finish()).map_err(in_file)
    }
}

/// Turns a panic of the Parquet reader, which damaged content can cause, into an error.
fn guarded<T>(read: impl FnOnce() -> PolarsResult<T>) -> PolarsResult<T> {
    let damaged = |_| Err(polars_err!(ComputeError: "the content is damaged"));
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(damaged)
}

/// The types that the tables of this project use; the dataframe engine is built with no others.
fn is_supported(dtype: &ArrowDataType) -> bool {
    use ArrowDataType as T;
    matches!(
        dtype,
        T::Boolean
            | T::Int32
            | T::Int64
            | T::UInt32
            | T::UInt64
            | T::Float32
            | T::Float64
            | T::Utf8
            | T::LargeUtf8
            | T::Utf8View
    )
}
