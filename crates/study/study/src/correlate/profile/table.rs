//! The table within the output of a profiler. Messages around it are skipped, and lines that the
//! profiled program printed.

use super::error::ProfileError;
use csv::{ReaderBuilder, StringRecord};
use std::path::Path;

/// Separators of fields, the usual one first; spreadsheets write the others.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// A table with named columns.
pub(super) struct Table<'a> {
    pub path: &'a Path,
    header: StringRecord,
    pub rows: Vec<Row>,
}

pub(super) struct Row {
    pub line: u64,
    /// Number of further headers before the row: outputs of several runs may be concatenated.
    pub section: usize,
    fields: StringRecord,
}

impl Row {
    pub fn field(&self, column: usize) -> &str {
        self.fields.get(column).unwrap_or_default().trim()
    }
}

impl<'a> Table<'a> {
    /// Reads the first table with a header that `is_header` accepts.
    ///
    /// # Errors
    /// If there is none, or a row has another number of fields.
    pub fn read(
        path: &'a Path,
        text: &str,
        is_header: impl Fn(&StringRecord) -> bool,
    ) -> Result<Table<'a>, ProfileError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (mut at, mut before) = (0, 0);
        for line in text.split_inclusive('\n') {
            let found = DELIMITERS.into_iter().find_map(|delimiter| {
                let header = record(line, delimiter).filter(&is_header)?;
                Some((header, delimiter))
            });
            if let Some((header, delimiter)) = found {
                let mut table = Table { path, header, rows: Vec::new() };
                table.read_rows(&text[at + line.len()..], delimiter, before + 1)?;
                return Ok(table);
            }
            at += line.len();
            before += 1;
        }
        Err(ProfileError::NoTable { path: path.to_owned() })
    }

    /// Reads the rows of `text`, which follows the header and `before` lines.
    fn read_rows(&mut self, text: &str, delimiter: u8, before: u64) -> Result<(), ProfileError> {
        let mut section = 0;
        for fields in reader(delimiter).from_reader(text.as_bytes()).into_records() {
            let fields = fields.map_err(|source| {
                let path = self.path.to_owned();
                ProfileError::Csv { path, source }
            })?;
            let line = before + fields.position().map_or(0, csv::Position::line);
            if trimmed(fields.clone()) == self.header {
                section += 1;
                continue;
            }
            if self.is_output(&fields) {
                continue;
            }
            if fields.len() != self.header.len() {
                let path = self.path.to_owned();
                let (found, expected) = (fields.len(), self.header.len());
                return Err(ProfileError::Fields { path, line, found, expected });
            }
            self.rows.push(Row { line, section, fields });
        }
        Ok(())
    }

    /// Whether a line was printed by the next profiled program, before its own table.
    fn is_output(&self, fields: &StringRecord) -> bool {
        let is_number = |field: &str| field.trim().parse::<u64>().is_ok();
        fields.len() != self.header.len()
            && self.header.get(0) == Some("ID")
            && !fields.get(0).is_some_and(is_number)
    }

    /// Returns the position of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }

    /// Returns the position of a required column.
    pub fn required(&self, name: &'static str) -> Result<usize, ProfileError> {
        self.column(name).ok_or_else(|| ProfileError::NoColumn { path: self.path.to_owned(), name })
    }

    /// Iterates over the columns with their names.
    pub fn columns(&self) -> impl Iterator<Item = (usize, &str)> {
        self.header.iter().enumerate()
    }
}

/// Parses a single line; none if it is a message of a profiler.
fn record(line: &str, delimiter: u8) -> Option<StringRecord> {
    let mut records = reader(delimiter).from_reader(line.as_bytes()).into_records();
    Some(trimmed(records.next()?.ok()?))
}

fn trimmed(mut record: StringRecord) -> StringRecord {
    record.trim();
    record
}

/// Messages of Nsight Compute begin with `==PROF==`, of nvprof with `==PID==`.
fn reader(delimiter: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).has_headers(false).flexible(true).comment(Some(b'='));
    builder
}
