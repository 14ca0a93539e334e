//! CSV with a header line.

use std::io::{self, Read};
use std::path::Path;

use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};

use super::Table;
use super::column::{Cell, Cells};
use crate::error::{Expected, ImportError, Place};
use crate::input::{Input, bytes_of};
use crate::options::TableOptions;
use crate::progress::Progress;
use crate::summary::ImportSummary;

/// Imports a CSV table, compressed or not, into the trace `output`. Lines that begin with `#` are
/// comments.
///
/// # Errors
/// When the table cannot be read, a cell has unexpected content, naming line and column, or the
/// trace cannot be written; when `progress` stops it. No output remains then.
pub fn import_csv(
    input: &Path,
    output: &Path,
    options: &TableOptions,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let bytes_in = bytes_of(input)?;
    progress.total(bytes_in);
    let bounded = Bounded { inner: Input::open(input, progress)?, left: MAX_RECORD, read: 0 };
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(bounded);
    let mut table = Table::create(input, output, options, progress)?;
    let mut record = StringRecord::new();
    if !read(&mut reader, &mut record, input)? {
        return Err(ImportError::file(input, "the file is empty; expected a table"));
    }
    let columns = options.columns(record.iter()).map_err(|what| {
        let line = record.position().map_or(1, csv::Position::line);
        ImportError::Place { path: input.to_path_buf(), place: Place::Line(line), what }
    })?;
    while read(&mut reader, &mut record, input)? {
        let mut cells = Cells::default();
        for (text, column) in record.iter().zip(&columns) {
            if let Some(column) = *column {
                cells[column as usize] = Cell::text(text);
            }
        }
        let line = record.position().map_or(0, csv::Position::line);
        table.row(&cells, Place::Line(line))?;
    }
    table.finish(bytes_in, reader.get_ref().read)
}

/// Reads the next record; false at the end.
fn read(
    reader: &mut csv::Reader<Bounded<'_>>,
    record: &mut StringRecord,
    path: &Path,
) -> Result<bool, ImportError> {
    let more = reader.read_record(record);
    reader.get_mut().left = MAX_RECORD;
    more.map_err(|error| failure(error, reader.get_ref(), path))
}

fn failure(error: csv::Error, reader: &Bounded<'_>, path: &Path) -> ImportError {
    let line = error.position().map_or(0, csv::Position::line);
    match error.into_kind() {
        ErrorKind::Io(error) => reader.inner.failed(error),
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let expected = format!("{expected_len} cells, as in the header");
            Expected::from(expected).at(path, line, format!("{len} cells").as_bytes())
        }
        kind => {
            let what = match kind {
                ErrorKind::Utf8 { err, .. } => err.to_string(),
                kind => format!("{kind:?}"),
            };
            ImportError::Place { path: path.to_path_buf(), place: Place::Line(line), what }
        }
    }
}

/// Maximum bytes of a record: many times 32 addresses.
const MAX_RECORD: u64 = 2 << 20;

/// A text that fails if one record reads too much of it.
struct Bounded<'a> {
    inner: Input<'a>,
    /// Bytes left for this record.
    left: u64,
    /// Bytes read in all.
    read: u64,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            let what = "a row of more than 2 MiB; it is no table of this kind";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        let bytes = self.inner.read(buffer)?;
        self.left = self.left.saturating_sub(bytes as u64);
        self.read += bytes as u64;
        Ok(bytes)
    }
}
