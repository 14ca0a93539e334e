//! Parquet tables, read row by row.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};

use warpmem_support::files::input::Rereadable;

use super::Table;
use super::column::{Cell, Cells, Column};
use crate::error::{ImportError, Place};
use crate::input::bytes_of;
use crate::options::TableOptions;
use crate::progress::Progress;
use crate::summary::ImportSummary;

/// Imports a Parquet table into the trace `output`. Lists are columns of integer lists, or texts as
/// in CSV.
///
/// # Errors
/// As [`import_csv`](crate::import_csv), naming row and column.
pub fn import_parquet(
    input: &Path,
    output: &Path,
    options: &TableOptions,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let source = Rereadable::of(input).map_err(ImportError::io("read", input))?;
    let bytes_in = bytes_of(source.place())?;
    progress.total(bytes_in);
    let file = File::open(source.place()).map_err(ImportError::io("open", input))?;
    let reader = guarded(input, || SerializedFileReader::new(file))?;
    check_codecs(input, reader.metadata())?;
    let schema = reader.metadata().file_metadata().schema_descr().root_schema();
    let columns = options
        .columns(schema.get_fields().iter().map(|field| field.name()))
        .map_err(|what| ImportError::file(input, what))?;
    let mut table = Table::create(input, output, options, progress)?;
    let (mut number, mut text_bytes) = (0, 0);
    for group in 0..reader.num_row_groups() {
        let group = guarded(input, || reader.get_row_group(group))?;
        let mut rows = guarded(input, || RowIter::from_row_group(None, &*group))?;
        while let Some(row) = guarded(input, || rows.next().transpose())? {
            number += 1;
            table.row(&cells(row, &columns), Place::Row(number))?;
        }
        let size = group.metadata();
        progress.advance(u64::try_from(size.compressed_size()).unwrap_or(0));
        text_bytes += u64::try_from(size.total_byte_size()).unwrap_or(0);
    }
    table.finish(bytes_in, text_bytes)
}

fn check_codecs(path: &Path, metadata: &ParquetMetaData) -> Result<(), ImportError> {
    let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    let mut codecs = columns.map(|column| column.compression());
    let unread = codecs.find_map(|codec| match codec {
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
        _ => None,
    });
    let Some(name) = unread else { return Ok(()) };
    let what = format!("it is compressed with {name}; Snappy, gzip, LZ4 and Zstandard are read");
    Err(ImportError::file(path, what))
}

/// Calls the reader, which panics on some damaged files.
fn guarded<T>(
    path: &Path,
    read: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, ImportError> {
    let result = catch_unwind(AssertUnwindSafe(read)).map_err(|_| "it is damaged".to_owned());
    let result = result.and_then(|read| read.map_err(|error| error.to_string()));
    result.map_err(|what| ImportError::file(path, format!("failed to read it as Parquet: {what}")))
}

fn cells(row: Row, columns: &[Option<Column>]) -> Cells<'static> {
    let mut cells = Cells::default();
    for ((_, field), column) in row.into_columns().into_iter().zip(columns) {
        if let Some(column) = *column {
            cells[column as usize] = cell(field);
        }
    }
    cells
}

fn cell(field: Field) -> Cell<'static> {
    match field {
        Field::Null => Cell::Empty,
        Field::Byte(value) => Cell::integer(value.into()),
        Field::Short(value) => Cell::integer(value.into()),
        Field::Int(value) => Cell::integer(value.into()),
        Field::Long(value) => Cell::integer(value),
        Field::UByte(value) => Cell::Number(value.into()),
        Field::UShort(value) => Cell::Number(value.into()),
        Field::UInt(value) => Cell::Number(value.into()),
        Field::ULong(value) => Cell::Number(value),
        Field::Float(value) => Cell::float(value.into()),
        Field::Double(value) => Cell::float(value),
        Field::Str(text) => Cell::text(text),
        Field::Bytes(bytes) => match bytes.as_utf8() {
            Ok(text) => Cell::text(text.to_owned()),
            Err(_) => Cell::Other("bytes that are not text".to_owned()),
        },
        Field::ListInternal(list) => {
            let shown = || Cell::Other("a list that does not hold whole numbers only".to_owned());
            let numbers: Option<Vec<u64>> = list
                .elements()
                .iter()
                .map(|element| match cell(element.clone()) {
                    Cell::Number(number) => Some(number),
                    _ => None,
                })
                .collect();
            numbers.map_or_else(shown, Cell::List)
        }
        other => Cell::Other(other.to_string()),
    }
}
