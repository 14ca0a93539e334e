//! Reads Parquet files; a table is one file, or several together.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polars::prelude::*;
use polars_io::prelude::{ParquetReader, SerReader};
use warpmem_support::checksum::{CheckError, Checksum, check};

use crate::error::{Error, Result};
use crate::former::present;

/// Opens the table at `path`: a Parquet file, or all `*.parquet` files of a folder. A column that
/// only some files have is null in the others.
///
/// A file with a [checksum](warpmem_support::checksum) is read whole now and verified; of other
/// files only the footer is read. Collecting the frame reads the columns that it uses.
///
/// # Errors
/// If a file is missing, is damaged, is not Parquet, holds a column of an unsupported type, or if a
/// column is numeric in one file and not in another.
pub fn read_table(path: impl AsRef<Path>) -> Result<LazyFrame> {
    let path = path.as_ref();
    let files = if path.is_dir() { parquet_files(path)? } else { vec![path.to_owned()] };
    if files.is_empty() {
        let nothing = std::io::Error::new(std::io::ErrorKind::NotFound, "no *.parquet file there");
        return Err(Error::read(path, nothing));
    }
    let checked = Checked::default();
    let scan = |path| {
        let file = TableFile::open(path, &checked)?;
        Ok((file.clone(), file.scan_lazily()?))
    };
    together(files.into_iter().map(scan).collect::<Result<_>>()?)
}

/// Concatenates the files of one table.
pub(crate) fn together(scans: Vec<(TableFile, LazyFrame)>) -> Result<LazyFrame> {
    let mut first: HashMap<&str, &TableFile> = HashMap::new();
    for (file, _) in &scans {
        for name in file.schema.iter_names() {
            first.entry(name).or_insert(file).check_same_kind(file, name)?;
        }
    }
    let frames: Vec<LazyFrame> = scans.into_iter().map(|(_, frame)| frame).collect();
    let by_name = UnionArgs { diagonal: true, to_supertypes: true, ..Default::default() };
    Ok(countable(concat(frames, by_name)?))
}

/// Keeps polars from counting the rows of several frames with a 128-bit sum, which needs a costly
/// feature.
pub(crate) fn countable(frames: LazyFrame) -> LazyFrame {
    frames.map(Ok, AllowedOptimizations::default(), None, Some("FILES OF A TABLE"))
}

/// Returns the `*.parquet` files of a folder, sorted by name.
pub(crate) fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = |source| Error::read(folder, source);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|extension| extension == "parquet") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The files verified against their checksums, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked(Arc<Mutex<BTreeMap<PathBuf, Checksum>>>);

impl Checked {
    fn check(&self, path: &Path, file: &mut File) -> Result<()> {
        if self.files().contains_key(path) {
            return Ok(());
        }
        let checksum = check(file).map_err(|error| match error {
            CheckError::Io(source) => Error::read(path, source),
            source => Error::Damaged { path: path.to_owned(), source },
        })?;
        self.files().insert(path.to_owned(), checksum);
        Ok(())
    }

    /// Returns the files without a checksum.
    pub(crate) fn without_checksum(&self) -> Vec<PathBuf> {
        let files = self.files();
        let absent = files.iter().filter(|&(_, &checksum)| checksum == Checksum::Absent);
        absent.map(|(path, _)| path.clone()).collect()
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Checksum>> {
        // Files are added one by one, so a panic elsewhere leaves the map consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One Parquet file, read when a query needs it and only in the columns that it needs.
#[derive(Clone)]
pub(crate) struct TableFile {
    path: PathBuf,
    /// Names of the columns in the file, in the order of `schema`.
    stored: Vec<PlSmallStr>,
    /// Columns under their present names.
    schema: SchemaRef,
}

impl TableFile {
    /// Opens a file, verified as far as its checksum allows.
    pub(crate) fn open(path: PathBuf, checked: &Checked) -> Result<TableFile> {
        let mut file = File::open(&path).map_err(|source| Error::read(&path, source))?;
        checked.check(&path, &mut file)?;
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
        let schema = Schema::from_arrow_schema(&schema);
        let stored: Vec<PlSmallStr> = schema.iter_names_cloned().collect();
        let schema = schema.into_iter().map(|(name, dtype)| (present(&name).into(), dtype));
        Ok(TableFile { path, stored, schema: Arc::new(schema.collect()) })
    }

    /// Refuses a column that is text here and a number in the `other` file, or vice versa.
    fn check_same_kind(&self, other: &TableFile, column: &str) -> Result<()> {
        let types = [self, other].map(|file| file.schema.get(column));
        let is_number =
            |dtype: Option<&DataType>| dtype.is_some_and(DataType::is_primitive_numeric);
        if types[0] == types[1] || types.into_iter().all(is_number) {
            return Ok(());
        }
        let [expected, found] = types.map(|dtype| dtype.map_or(String::new(), DataType::to_string));
        Err(Error::SchemaMismatch {
            path: other.path.clone(),
            column: column.to_owned(),
            found,
            elsewhere: format!("{expected} in {}", self.path.display()),
        })
    }

    /// Returns the single text value of the column in all rows, if the footer states it; none for a
    /// file without rows.
    pub(crate) fn only_text(&self, column: &str) -> Result<Option<String>> {
        let file = File::open(&self.path).map_err(|source| Error::read(&self.path, source))?;
        let find = || -> PolarsResult<Option<String>> {
            let mut reader = ParquetReader::new(file);
            let footer = reader.get_metadata()?;
            let mut texts = footer.row_groups.iter().map(|group| {
                let chunk = group.columns_under_root_iter(column)?.next()?;
                let statistics = chunk.statistics(&footer.footer_buf)?.ok()?;
                let texts = statistics.as_binary()?;
                let (least, greatest) = (texts.min_value.as_ref()?, texts.max_value.as_ref()?);
                let is_one = least == greatest && texts.null_count == Some(0);
                is_one.then(|| String::from_utf8(least.clone()).ok()).flatten()
            });
            let only = texts.next().flatten();
            Ok(only.filter(|only| texts.all(|text| text.as_ref() == Some(only))))
        };
        guarded(find).map_err(|source| Error::NotParquet { path: self.path.clone(), source })
    }

    /// Returns a column's name in the file.
    fn stored(&self, name: &str) -> String {
        self.schema.index_of(name).map_or(name, |at| &self.stored[at]).to_owned()
    }

    pub(crate) fn scan_lazily(self) -> Result<LazyFrame> {
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
        let columns =
            scan.with_columns.map(|names| names.iter().map(|name| self.stored(name)).collect());
        let in_file = |error: PolarsError| error.context(self.path.display().to_string().into());
        let file = File::open(&self.path).map_err(|error| in_file(error.into()))?;
        let reader = ParquetReader::new(file)
            .with_columns(columns)
            .with_slice(scan.n_rows.map(|rows| (0, rows)));
        let mut rows = guarded(|| reader.finish()).map_err(in_file)?;
        let names: Vec<PlSmallStr> = rows.get_column_names_owned();
        rows.set_column_names(&names.iter().map(|name| present(name)).collect::<Vec<_>>())?;
        Ok(rows)
    }
}

/// Turns a panic of the Parquet reader, which damaged content can cause, into an error.
fn guarded<T>(read: impl FnOnce() -> PolarsResult<T>) -> PolarsResult<T> {
    let damaged = |_| Err(polars_err!(ComputeError: "the content is damaged"));
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(damaged)
}

/// Returns whether the tables of this project use the type; the dataframe engine is built with no
/// others.
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
