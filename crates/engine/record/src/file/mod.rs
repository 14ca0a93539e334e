//! Tables as Parquet files. Equal rows give equal bytes: files contain no timestamps, and writer
//! settings are fixed. Each file carries a [checksum](warpmem_support::checksum).

mod concatenate;
mod read;
mod stream;

use crate::column::{Column, Getter};
use crate::{ENGINE_VERSION, ResultsError};
use bytes::Bytes;
use concatenate::Values;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::{
    ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer_mut,
};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::FileReader;
use parquet::file::writer::{
    SerializedFileWriter, SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite,
};
use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type};
use std::borrow::Borrow;
use std::fs::File;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpmem_support::checksum::{self as checksum, CheckError, WITNESS, WITNESS_VALUE};

pub(crate) use concatenate::{ColumnRewrite, concatenate};
pub use read::read_table;
pub(crate) use stream::{Stream, StreamedRow};

/// Rows of a full row group.
pub(crate) const GROUP_ROWS: usize = 1 << 16;

type Output = checksum::Writer<File>;

/// A Parquet file being written.
pub(crate) struct TableFile {
    path: PathBuf,
    writer: SerializedFileWriter<Output>,
}

/// Name, type and nullability of a column, independent of the type of its rows.
#[derive(PartialEq)]
pub(crate) struct Field {
    name: String,
    physical: Physical,
    nullable: bool,
}

impl Field {
    pub(crate) fn all<R>(columns: &[Column<R>]) -> Vec<Field> {
        columns
            .iter()
            .map(|column| Field {
                name: column.name.clone(),
                physical: match column.value {
                    Getter::Text(_) => Physical::BYTE_ARRAY,
                    Getter::Count(_) | Getter::MaybeCount(_) => Physical::INT64,
                    Getter::Ratio(_) => Physical::DOUBLE,
                },
                nullable: column.nullable(),
            })
            .collect()
    }

    /// Returns the columns of an existing file.
    fn of_file(reader: &impl FileReader) -> Vec<Field> {
        let columns = reader.metadata().file_metadata().schema_descr().columns();
        let field = |column: &Arc<ColumnDescriptor>| Field {
            name: column.name().to_owned(),
            physical: column.physical_type(),
            nullable: column.max_def_level() > 0,
        };
        columns.iter().map(field).collect()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn physical(&self) -> Physical {
        self.physical
    }

    fn is_nullable(&self) -> bool {
        self.nullable
    }
}

impl TableFile {
    /// Creates the file and writes its header.
    pub(crate) fn create(
        path: &Path,
        table: &str,
        fields: &[Field],
    ) -> Result<TableFile, ResultsError> {
        let file = File::create(path).map_err(|source| ResultsError::Io {
            path: path.to_owned(),
            action: "create",
            source,
        })?;
        let file = checksum::Writer::new(file);
        let begun = || {
            let schema = schema(table, fields)?;
            let mut writer = SerializedFileWriter::new(file, schema, properties(fields))?;
            writer.write_all(&checksum::placeholder())?;
            Ok(writer)
        };
        let writer = begun().map_err(|source| failed(path, source))?;
        let mut file = TableFile { path: path.to_owned(), writer };
        file.note(WITNESS, WITNESS_VALUE);
        Ok(file)
    }

    /// Adds a key and its value to the metadata of the file.
    pub(crate) fn note(&mut self, key: &str, value: &str) {
        let pair = KeyValue::new(key.to_owned(), value.to_owned());
        self.writer.append_key_value_metadata(pair);
    }

    /// Writes one row group.
    pub(crate) fn write<R, B: Borrow<R>>(
        &mut self,
        columns: &[Column<R>],
        rows: &[B],
    ) -> Result<(), ResultsError> {
        self.group(|group| write_columns(group, columns, rows))
    }

    /// Writes one row group whose first columns are already encoded, one chunk each.
    fn write_after<R>(
        &mut self,
        head: &[Chunk],
        columns: &[Column<R>],
        rows: &[R],
    ) -> Result<(), ResultsError> {
        self.group(|group| {
            for chunk in head {
                group.append_column(&chunk.bytes, chunk.close.clone())?;
            }
            write_columns(group, columns, rows)
        })
    }

    /// Writes one row group of these columns.
    fn write_values(&mut self, columns: impl Iterator<Item = Values>) -> Result<(), ResultsError> {
        self.group(|group| {
            for column in columns {
                let mut writer = group.next_column()?.expect("the schema has this column");
                column.put(writer.untyped())?;
                writer.close()?;
            }
            Ok(())
        })
    }

    fn group(
        &mut self,
        write: impl FnOnce(&mut SerializedRowGroupWriter<'_, Output>) -> Result<(), ParquetError>,
    ) -> Result<(), ResultsError> {
        let TableFile { path, writer } = self;
        let whole = || {
            let mut group = writer.next_row_group()?;
            write(&mut group)?;
            group.close()
        };
        whole().map(drop).map_err(|source| failed(path, source))
    }

    /// Encodes `columns`, the first of the file, for `rows` rows equal to `row`. Encoding a constant
    /// for every row costs more than all other columns of a load, so the chunk is encoded once and
    /// reused.
    fn constant<R>(
        &self,
        columns: &[Column<R>],
        row: &R,
        rows: usize,
    ) -> Result<Vec<Chunk>, ResultsError> {
        let encode = |(index, column): (usize, &Column<R>)| {
            let mut bytes = TrackedWrite::new(Vec::new());
            let mut writer = get_column_writer(
                self.writer.schema_descr().column(index),
                Arc::clone(self.writer.properties()),
                Box::new(SerializedPageWriter::new(&mut bytes)),
            );
            put(&mut writer, column, iter::repeat_n(row, rows))?;
            let close = writer.close()?;
            Ok(Chunk { bytes: bytes.into_inner()?.into(), close })
        };
        let chunks: Result<_, ParquetError> = columns.iter().enumerate().map(encode).collect();
        chunks.map_err(|source| failed(&self.path, source))
    }

    /// Writes the footer and the checksum, and syncs the file to disk.
    pub(crate) fn close(self) -> Result<(), ResultsError> {
        let TableFile { path, writer } = self;
        let file = writer.into_inner().map_err(|source| failed(&path, source))?;
        let synced = file.finish().and_then(|file| file.sync_all());
        synced.map_err(|source| ResultsError::Io { path, action: "write", source })
    }
}

/// Opens a file after verifying its checksum.
pub(crate) fn open_checked(path: &Path) -> Result<File, ResultsError> {
    let read = |source| ResultsError::Io { path: path.to_owned(), action: "read", source };
    let mut file = File::open(path).map_err(read)?;
    match checksum::check(&mut file) {
        Ok(_) => Ok(file),
        Err(CheckError::Io(source)) => Err(read(source)),
        Err(source) => Err(ResultsError::Damaged { path: path.to_owned(), source }),
    }
}

/// An encoded column of one row group.
struct Chunk {
    bytes: Bytes,
    close: ColumnCloseResult,
}

fn failed(path: &Path, source: ParquetError) -> ResultsError {
    ResultsError::Parquet { path: path.to_owned(), source }
}

fn schema(table: &str, fields: &[Field]) -> Result<Arc<Type>, ParquetError> {
    let leaf = |field: &Field| {
        let text = field.physical == Physical::BYTE_ARRAY;
        Type::primitive_type_builder(&field.name, field.physical)
            .with_repetition(if field.nullable {
                Repetition::OPTIONAL
            } else {
                Repetition::REQUIRED
            })
            .with_logical_type(text.then_some(LogicalType::String))
            .build()
            .map(Arc::new)
    };
    let fields = fields.iter().map(leaf).collect::<Result<_, _>>()?;
    Type::group_type_builder(table).with_fields(fields).build().map(Arc::new)
}

/// Chooses the encoding: a dictionary for text, which repeats, and delta packing for integers, which
/// is smaller and faster to write than compression.
fn properties(fields: &[Field]) -> Arc<WriterProperties> {
    let settings = WriterProperties::builder()
        .set_created_by(format!("warpmem {ENGINE_VERSION}"))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false);
    let settings = fields.iter().fold(settings, |settings, field| {
        let column = ColumnPath::from(field.name.as_str());
        match field.physical {
            Physical::BYTE_ARRAY => settings.set_column_dictionary_enabled(column, true),
            Physical::INT64 => settings
                .set_column_encoding(column.clone(), Encoding::DELTA_BINARY_PACKED)
                .set_column_compression(column, Compression::UNCOMPRESSED),
            _ => settings,
        }
    });
    settings.build().into()
}

fn write_columns<R, B: Borrow<R>>(
    group: &mut SerializedRowGroupWriter<'_, Output>,
    columns: &[Column<R>],
    rows: &[B],
) -> Result<(), ParquetError> {
    for column in columns {
        let mut writer = group.next_column()?.expect("the schema is made from the columns");
        put(writer.untyped(), column, rows.iter().map(B::borrow))?;
        writer.close()?;
    }
    Ok(())
}

fn put<'r, R: 'r>(
    writer: &mut ColumnWriter<'_>,
    column: &Column<R>,
    rows: impl Iterator<Item = &'r R>,
) -> Result<(), ParquetError> {
    match &column.value {
        Getter::Text(of) => {
            // Names repeat between rows: consecutive equal names share one byte array.
            let mut last = ByteArray::from("");
            let values: Vec<ByteArray> = rows
                .map(|row| {
                    let text = of(row);
                    if last.data() != text.as_bytes() {
                        last = ByteArray::from(text);
                    }
                    last.clone()
                })
                .collect();
            put_all::<ByteArrayType>(writer, &values)
        }
        Getter::Count(of) => put_all::<Int64Type>(writer, &rows.map(of).collect::<Vec<_>>()),
        Getter::MaybeCount(of) => put_some::<Int64Type>(writer, rows.map(of)),
        Getter::Ratio(of) => put_some::<DoubleType>(writer, rows.map(of)),
    }
}

fn put_all<T: DataType>(
    writer: &mut ColumnWriter<'_>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    get_typed_column_writer_mut::<T>(writer).write_batch(values, None, None).map(drop)
}

/// Returns the definition levels, which mark the rows with a value.
fn put_some<T: DataType>(
    writer: &mut ColumnWriter<'_>,
    rows: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut values = Vec::new();
    let levels: Vec<i16> = rows
        .map(|value| {
            let level = i16::from(value.is_some());
            values.extend(value);
            level
        })
        .collect();
    get_typed_column_writer_mut::<T>(writer).write_batch(&values, Some(&levels), None).map(drop)
}
