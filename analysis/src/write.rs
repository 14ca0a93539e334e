//! Writes frames as CSV, JSON, Parquet and Arrow IPC. A file appears under its name only once
//! complete.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use polars::prelude::{CompatLevel, DataFrame};
use polars_io::prelude::{IpcWriter, ParquetWriter, SerWriter};
use warpmem_comparison::{rows_to_csv, rows_to_json};

use crate::cell::rows;
use crate::error::{Error, Result};
use crate::frame::names;

/// Formats a frame as CSV: a heading with the column names, empty fields for null. Text that a
/// spreadsheet would read as a formula (leading `=`, `+`, `-`, `@`) is prefixed with an apostrophe.
///
/// # Errors
/// If a column is of a type that tables do not hold.
pub fn table_to_csv(frame: &DataFrame) -> Result<String> {
    rows_to_csv(&names(frame).collect::<Vec<_>>(), rows(frame))
}

/// Formats a frame as a JSON array with one object per row, keys in the order of the columns.
///
/// # Errors
/// If a column is of a type that tables do not hold.
pub fn table_to_json(frame: &DataFrame) -> Result<String> {
    rows_to_json(&names(frame).collect::<Vec<_>>(), rows(frame))
}

/// Writes a frame as CSV.
///
/// # Errors
/// As [`table_to_csv`], or if the file cannot be written.
pub fn write_csv(frame: &DataFrame, path: impl AsRef<Path>) -> Result<()> {
    let text = table_to_csv(frame)?;
    write_whole(path.as_ref(), |file| file.write_all(text.as_bytes()))
}

/// Writes a frame as a JSON array of row objects.
///
/// # Errors
/// As [`table_to_json`], or if the file cannot be written.
pub fn write_json(frame: &DataFrame, path: impl AsRef<Path>) -> Result<()> {
    let text = table_to_json(frame)?;
    write_whole(path.as_ref(), |file| file.write_all(text.as_bytes()))
}

/// Writes a frame as Parquet, compressed with zstd.
///
/// # Errors
/// If the file cannot be written.
pub fn write_parquet(frame: &DataFrame, path: impl AsRef<Path>) -> Result<()> {
    let mut frame = frame.clone();
    write_whole(path.as_ref(), |file| {
        ParquetWriter::new(file).finish(&mut frame).map_err(std::io::Error::other)?;
        Ok(())
    })
}

/// Writes a frame as an uncompressed Arrow IPC file, also called Feather version 2.
///
/// # Errors
/// If the file cannot be written.
pub fn write_ipc(frame: &DataFrame, path: impl AsRef<Path>) -> Result<()> {
    let mut frame = frame.clone();
    write_whole(path.as_ref(), |file| {
        // Older readers do not support string views.
        let mut writer = IpcWriter::new(file).with_compat_level(CompatLevel::oldest());
        writer.finish(&mut frame).map_err(std::io::Error::other)
    })
}

/// Writes a temporary file beside `path` with `write`, then renames it to `path`.
fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let partial = Partial(partial_path(path));
    let fill = || {
        let mut file = BufWriter::new(File::create(&partial.0)?);
        write(&mut file)?;
        file.into_inner().map_err(|error| error.into_error())?.sync_all()?;
        fs::rename(&partial.0, path)
    };
    fill().map_err(|source| Error::write(path, source))
}

/// Returns `name.partial-PID`, so that two processes do not write the same file.
fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    name.into()
}

/// A temporary file, removed when dropped if it is still there.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        // After a successful rename nothing is left to remove.
        let _ = fs::remove_file(&self.0);
    }
}
