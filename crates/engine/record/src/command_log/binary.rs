//! The Parquet form: the same columns as the text form, and the configuration in the metadata.

use super::text::{channel_number, command_kind};
use super::{CommandLogReader, Configuration, LogError, LoggedCommand, Row, TABLE};
use crate::file::{Field, GROUP_ROWS, TableFile, open_checked};
use crate::{Column, count, maybe_count, text};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field as Value, Row as Record};
use std::path::{Path, PathBuf};
use warpmem_dram::standard::Place;
use warpmem_dram::{Command, Dram};

/// Key of the configuration in the metadata.
const METADATA: &str = "warpmem.command_log.1";

pub(super) struct Writer {
    file: TableFile,
    columns: Vec<Column<Row>>,
    rows: Vec<Row>,
}

impl Writer {
    pub fn create(path: &Path, configuration: &str) -> Result<Writer, LogError> {
        let columns = columns();
        let mut file = TableFile::create(path, TABLE, &Field::all(&columns))?;
        file.note(METADATA, configuration);
        Ok(Writer { file, columns, rows: Vec::with_capacity(GROUP_ROWS) })
    }

    pub fn write(&mut self, row: Row) -> Result<(), LogError> {
        self.rows.push(row);
        if self.rows.len() == GROUP_ROWS { self.flush() } else { Ok(()) }
    }

    pub fn finish(mut self) -> Result<(), LogError> {
        if !self.rows.is_empty() {
            self.flush()?;
        }
        Ok(self.file.close()?)
    }

    fn flush(&mut self) -> Result<(), LogError> {
        self.file.write(&self.columns, &self.rows)?;
        self.rows.clear();
        Ok(())
    }
}

pub(super) fn columns() -> Vec<Column<Row>> {
    let place = |name, doc, of: fn(&Place) -> u16| {
        count(name, "", doc, move |row: &Row| of(&row.place).into())
    };
    vec![
        count("cycle", "command cycles", "First cycle on the bus.", |row: &Row| {
            row.logged.command.cycle
        }),
        text("command", "Kind of command.", |row: &Row| row.logged.command.kind.name()),
        count("channel", "", "Channel.", |row: &Row| row.logged.channel.into()),
        place("pseudo_channel", "Pseudo channel of the channel.", |place| place.pseudo_channel),
        place("stack", "Stack of the pseudo channel.", |place| place.stack),
        place("group", "Bank group of the stack.", |place| place.group),
        place("bank", "Bank of the group.", |place| place.bank),
        count("row", "", "Row opened, closed or accessed.", |row: &Row| {
            row.logged.command.row.into()
        }),
        count("burst", "", "Which burst of its request a column command is.", |row: &Row| {
            row.logged.command.burst.into()
        }),
        maybe_count("request", "", "The request that it serves.", |row: &Row| {
            row.logged.command.request.map(u64::from)
        }),
    ]
}

pub(super) fn open(path: &Path) -> Result<CommandLogReader, LogError> {
    let failed = |source: ParquetError| LogError::Parquet { path: path.to_owned(), source };
    let reader = SerializedFileReader::new(open_checked(path)?).map_err(failed)?;
    let metadata = reader.metadata().file_metadata();
    let names = |name: &str| LogError::NotALog { path: path.to_owned(), expected: name.to_owned() };
    let configuration = metadata
        .key_value_metadata()
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == METADATA))
        .and_then(|pair| pair.value.as_deref())
        .ok_or_else(|| names(&format!("the metadata `{METADATA}`")))?;
    let dram = Configuration::read(path, configuration)?;
    let fields = metadata.schema_descr().root_schema().get_fields();
    let found: Vec<&str> = fields.iter().map(|field| field.name()).collect();
    let columns = columns();
    let wanted: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    if found != wanted {
        return Err(names(&format!("the columns {}", wanted.join(", "))));
    }
    let records = RowIter::from_file_into(Box::new(reader));
    let rows = Box::new(Rows { path: path.to_owned(), records, number: 0, dram: dram.clone() });
    Ok(CommandLogReader { dram, rows })
}

struct Rows {
    path: PathBuf,
    records: RowIter<'static>,
    number: u64,
    dram: Dram,
}

impl Iterator for Rows {
    type Item = Result<LoggedCommand, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.records.next()?;
        self.number += 1;
        let failed = |source| LogError::Parquet { path: self.path.clone(), source };
        Some(record.map_err(failed).and_then(|record| {
            parse(&record, &self.dram).map_err(|problem| LogError::Row {
                path: self.path.clone(),
                line: self.number,
                problem,
            })
        }))
    }
}

fn parse(record: &Record, dram: &Dram) -> Result<LoggedCommand, String> {
    let fields: Vec<&Value> = record.get_column_iter().map(|(_, value)| value).collect();
    let [cycle, kind, channel, pseudo_channel, stack, group, bank, row, burst, request] =
        fields.as_slice()
    else {
        return Err(format!("{} fields", fields.len()));
    };
    let place = Place {
        pseudo_channel: number("pseudo_channel", pseudo_channel)?,
        stack: number("stack", stack)?,
        group: number("group", group)?,
        bank: number("bank", bank)?,
    };
    let command = Command {
        cycle: number("cycle", cycle)?,
        kind: match kind {
            Value::Str(name) => command_kind(name)?,
            other => return Err(format!("`command` = {other}: expected text")),
        },
        bank: place.number(dram)?,
        row: number("row", row)?,
        burst: number("burst", burst)?,
        request: match request {
            Value::Null => None,
            given => Some(number("request", given)?),
        },
    };
    Ok(LoggedCommand { channel: channel_number(number("channel", channel)?, dram)?, command })
}

fn number<T: TryFrom<i64>>(name: &str, value: &Value) -> Result<T, String> {
    let number = match value {
        Value::Long(number) => T::try_from(*number).ok(),
        _ => None,
    };
    let bits = 8 * size_of::<T>();
    number.ok_or_else(|| format!("`{name}` = {value}: expected a whole number of {bits} bits"))
}
