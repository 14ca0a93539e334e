//! Concatenation of tables with the same columns into one file.

use super::{Field, GROUP_ROWS, TableFile, open_checked};
use crate::ResultsError;
use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, get_typed_column_writer_mut};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use std::fs::File;
use std::iter::repeat;
use std::path::{Path, PathBuf};

/// A text column to replace, with one text per source.
pub(crate) struct ColumnRewrite<'a> {
    pub column: &'static str,
    /// One text per source.
    pub texts: Vec<&'a str>,
}

/// Writes the rows of `sources`, which have the same columns, as the table `name` into `target`:
/// the same bytes as if all rows had been written at once, except for the column that `rewrite`
/// replaces. At most a few row groups are in memory. Without sources there is no file.
pub(crate) fn concatenate(
    sources: &[PathBuf],
    target: &Path,
    name: &str,
    rewrite: Option<&ColumnRewrite<'_>>,
) -> Result<(), ResultsError> {
    let Some(first) = sources.first() else {
        return Ok(());
    };
    let fields = Field::of_file(&open(first)?);
    let mut file = TableFile::create(target, name, &fields)?;
    let mut waiting: Vec<Values> = fields.iter().map(Values::new).collect();
    let mut rows = 0;
    let is_rewritten =
        |field: &Field| rewrite.is_some_and(|rewrite| field.name() == rewrite.column);
    let place = fields.iter().position(is_rewritten);
    let texts = rewrite
        .iter()
        .flat_map(|rewrite| rewrite.texts.iter().copied().map(Some))
        .chain(repeat(None));
    for (path, text) in sources.iter().zip(texts) {
        let reader = open(path)?;
        if Field::of_file(&reader) != fields {
            return Err(ResultsError::OtherColumns { path: path.clone() });
        }
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(unreadable(path))?;
            let added = append(&mut waiting, group.as_ref()).map_err(unreadable(path))?;
            if let (Some(place), Some(text)) = (place, text) {
                waiting[place].rewrite(added, text);
            }
            rows += added;
            while rows >= GROUP_ROWS {
                file.write_values(waiting.iter_mut().map(|column| column.take(GROUP_ROWS)))?;
                rows -= GROUP_ROWS;
            }
        }
    }
    if rows > 0 {
        file.write_values(waiting.iter_mut().map(|column| column.take(rows)))?;
    }
    file.close()
}

pub(super) fn open(path: &Path) -> Result<SerializedFileReader<File>, ResultsError> {
    SerializedFileReader::new(open_checked(path)?).map_err(unreadable(path))
}

pub(super) fn unreadable(path: &Path) -> impl FnOnce(ParquetError) -> ResultsError {
    let path = path.to_owned();
    move |source| ResultsError::Unreadable { path, source }
}

/// Appends the rows of a group to the columns and returns their number.
pub(super) fn append(
    columns: &mut [Values],
    group: &dyn RowGroupReader,
) -> Result<usize, ParquetError> {
    let rows = group.metadata().num_rows() as usize;
    for (index, column) in columns.iter_mut().enumerate() {
        column.read(group.get_column_reader(index)?, rows)?;
    }
    Ok(rows)
}

/// Values of some rows of one column, as in a file.
pub(super) enum Values {
    Text(Typed<ByteArray>),
    Count(Typed<i64>),
    Ratio(Typed<f64>),
}

pub(super) struct Typed<T> {
    values: Vec<T>,
    /// For nullable columns: whether each row has a value.
    levels: Option<Vec<i16>>,
}

impl Values {
    pub(super) fn new(field: &Field) -> Values {
        let nullable = field.is_nullable();
        match field.physical() {
            Physical::BYTE_ARRAY => Values::Text(Typed::new(nullable)),
            Physical::INT64 => Values::Count(Typed::new(nullable)),
            _ => Values::Ratio(Typed::new(nullable)),
        }
    }

    fn read(&mut self, reader: ColumnReader, rows: usize) -> Result<(), ParquetError> {
        match (self, reader) {
            (Values::Text(column), ColumnReader::ByteArrayColumnReader(r)) => column.read(r, rows),
            (Values::Count(column), ColumnReader::Int64ColumnReader(r)) => column.read(r, rows),
            (Values::Ratio(column), ColumnReader::DoubleColumnReader(r)) => column.read(r, rows),
            _ => Err(ParquetError::General("a column has another type than before".to_owned())),
        }
    }

    pub(super) fn put(&self, writer: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Values::Text(column) => column.put::<ByteArrayType>(writer),
            Values::Count(column) => column.put::<Int64Type>(writer),
            Values::Ratio(column) => column.put::<DoubleType>(writer),
        }
    }

    /// Replaces the values of the last `rows` rows, none of them null, by a text.
    fn rewrite(&mut self, rows: usize, text: &str) {
        if let Values::Text(column) = self {
            let old = column.values.len().saturating_sub(rows);
            column.values[old..].fill(ByteArray::from(text));
        }
    }

    fn take(&mut self, rows: usize) -> Values {
        match self {
            Values::Text(column) => Values::Text(column.take(rows)),
            Values::Count(column) => Values::Count(column.take(rows)),
            Values::Ratio(column) => Values::Ratio(column.take(rows)),
        }
    }
}

impl<T> Typed<T> {
    fn new(nullable: bool) -> Typed<T> {
        Typed { values: Vec::new(), levels: nullable.then(Vec::new) }
    }

    fn read<D: DataType<T = T>>(
        &mut self,
        mut reader: ColumnReaderImpl<D>,
        rows: usize,
    ) -> Result<(), ParquetError> {
        let mut left = rows;
        while left > 0 {
            let (read, ..) =
                reader.read_records(left, self.levels.as_mut(), None, &mut self.values)?;
            if read == 0 {
                return Err(ParquetError::EOF(format!("{left} of {rows} rows are missing")));
            }
            left -= read;
        }
        Ok(())
    }

    /// Returns a value or null for each row.
    pub(super) fn each<V>(self, value: impl Fn(T) -> V) -> Vec<Option<V>> {
        let mut values = self.values.into_iter().map(value);
        match self.levels {
            None => values.map(Some).collect(),
            Some(levels) => levels
                .into_iter()
                .map(|level| if level > 0 { values.next() } else { None })
                .collect(),
        }
    }

    fn put<D: DataType<T = T>>(&self, writer: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        let writer = get_typed_column_writer_mut::<D>(writer);
        writer.write_batch(&self.values, self.levels.as_deref(), None).map(drop)
    }

    /// Removes and returns the first rows.
    fn take(&mut self, rows: usize) -> Typed<T> {
        let levels = self.levels.as_mut().map(|levels| levels.drain(..rows).collect::<Vec<i16>>());
        let with_value = |levels: &Vec<i16>| levels.iter().filter(|&&level| level > 0).count();
        let values = levels.as_ref().map_or(rows, with_value);
        Typed { values: self.values.drain(..values).collect(), levels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{Column, count, maybe_count, ratio, text};
    use parquet::record::RowAccessor;
    use std::fs;
    use std::ops::Range;

    fn columns() -> Vec<Column<u64>> {
        vec![
            text("name", "A name.", |row: &u64| if row.is_multiple_of(3) { "fizz" } else { "" }),
            count("number", "", "A count.", |row: &u64| *row),
            maybe_count("sometimes", "", "A count.", |row: &u64| {
                (!row.is_multiple_of(5)).then_some(*row)
            }),
            ratio("share", "fraction", "A ratio.", |row: &u64| {
                (!row.is_multiple_of(7)).then_some(0.5)
            }),
        ]
    }

    fn write(path: &Path, rows: Range<u64>) {
        let columns = columns();
        let mut file = TableFile::create(path, "numbers", &Field::all(&columns)).unwrap();
        let rows: Vec<u64> = rows.collect();
        rows.chunks(GROUP_ROWS).for_each(|rows| file.write(&columns, rows).unwrap());
        file.close().unwrap();
    }

    #[test]
    fn concatenated_parts_have_the_bytes_of_the_whole() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let group = GROUP_ROWS as u64;
        let ends = [0, 1, 1, 40_000, group - 1, group, 3 * group + 5];
        let parts: Vec<PathBuf> = (1..ends.len()).map(|part| at(&part.to_string())).collect();
        for (path, ends) in parts.iter().zip(ends.windows(2)) {
            write(path, ends[0]..ends[1]);
        }
        write(&at("whole"), 0..ends[ends.len() - 1]);
        concatenate(&parts, &at("joined"), "numbers", None).unwrap();
        assert!(fs::read(at("joined")).unwrap() == fs::read(at("whole")).unwrap());
    }

    #[test]
    fn a_column_is_rewritten_source_by_source() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        write(&at("a"), 1..3);
        write(&at("b"), 4..6);
        let sources = [at("a"), at("b")];
        let rewrite = |texts| ColumnRewrite { column: "name", texts };
        concatenate(&sources, &at("empty"), "numbers", Some(&rewrite(vec!["", ""]))).unwrap();
        concatenate(&sources, &at("as it was"), "numbers", None).unwrap();
        assert!(fs::read(at("empty")).unwrap() == fs::read(at("as it was")).unwrap());
        concatenate(&sources, &at("other"), "numbers", Some(&rewrite(vec!["x", "y"]))).unwrap();
        let file = open(&at("other")).unwrap();
        let rows = file.get_row_iter(None).unwrap();
        let names = rows.map(|row| row.unwrap().get_string(0).unwrap().clone());
        assert_eq!(names.collect::<Vec<_>>(), ["x", "x", "y", "y"]);
    }

    #[test]
    fn mismatched_columns_and_damaged_files_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        write(&at("good"), 0..9);
        let others = &columns()[1..];
        let other = TableFile::create(&at("other"), "numbers", &Field::all(others)).unwrap();
        other.close().unwrap();
        fs::write(at("bad"), "not Parquet").unwrap();
        for name in ["other", "bad"] {
            let joined = concatenate(&[at("good"), at(name)], &at("joined"), "numbers", None);
            assert!(joined.unwrap_err().to_string().contains(name));
        }
        concatenate(&[], &at("none"), "numbers", None).unwrap();
        assert!(!at("none").exists());
    }
}
