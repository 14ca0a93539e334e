//! The text form: comments with the configuration, a heading, and one line per command.

use super::{CommandLogReader, Configuration, LogError, LoggedCommand, Row};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use warpmem_dram::standard::Place;
use warpmem_dram::{Command, CommandKind, Dram};
use warpmem_support::files::input::{self, Unmarked};
use warpmem_support::files::text;

const TITLE: &str = "# warpmem command log, version 1";
/// Longest line, bytes.
const MAX_LINE: u64 = 64 << 10;
const HEADING: &str = "cycle,command,channel,pseudo_channel,stack,group,bank,row,burst,request";

pub(super) struct Writer {
    file: BufWriter<File>,
}

impl Writer {
    pub fn create(file: File, configuration: &str) -> io::Result<Writer> {
        let mut file = BufWriter::new(file);
        writeln!(file, "{TITLE}")?;
        for line in configuration.lines() {
            writeln!(file, "# {line}")?;
        }
        writeln!(file, "{HEADING}")?;
        Ok(Writer { file })
    }

    pub fn write(&mut self, row: &Row) -> io::Result<()> {
        let Row { logged: LoggedCommand { channel, command }, place } = row;
        write!(
            self.file,
            "{},{},{channel},{},{},{},{},{},{},",
            command.cycle,
            command.kind.name(),
            place.pseudo_channel,
            place.stack,
            place.group,
            place.bank,
            command.row,
            command.burst
        )?;
        match command.request {
            Some(request) => writeln!(self.file, "{request}"),
            None => writeln!(self.file),
        }
    }

    pub fn finish(self) -> io::Result<()> {
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

pub(super) fn open(path: &Path) -> Result<CommandLogReader, LogError> {
    let file = input::open(path).map_err(LogError::io(path, "open"))?;
    let mut lines = Lines { path: path.to_owned(), file, number: 0 };
    if lines.next()?.as_deref() != Some(TITLE) {
        return Err(lines.not_a_log(TITLE));
    }
    let mut configuration = String::new();
    let heading = loop {
        match lines.next()? {
            Some(line) if line.starts_with('#') => {
                configuration.push_str(line[1..].trim_start());
                configuration.push('\n');
            }
            other => break other,
        }
    };
    if heading.as_deref() != Some(HEADING) {
        return Err(lines.not_a_log(HEADING));
    }
    let dram = Configuration::read(path, &configuration)?;
    let rows = Box::new(Rows { lines, dram: dram.clone() });
    Ok(CommandLogReader { dram, rows })
}

struct Lines {
    path: PathBuf,
    file: BufReader<Unmarked<File>>,
    /// Number of the line last read.
    number: u64,
}

impl Lines {
    /// Returns the next line without its line end; none at the end of the file.
    fn next(&mut self) -> Result<Option<String>, LogError> {
        let mut line = Vec::new();
        let bytes = text::read_line(&mut self.file, &mut line, MAX_LINE);
        let bytes = bytes.map_err(LogError::io(&self.path, "read"))?;
        self.number += 1;
        line.truncate(line.trim_ascii_end().len());
        let line = String::from_utf8(line).map_err(|_| {
            let invalid = io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
            LogError::io(&self.path, "read")(invalid)
        })?;
        Ok((bytes > 0).then_some(line))
    }

    fn not_a_log(&self, expected: &str) -> LogError {
        let expected = format!("line {} to be `{expected}`", self.number);
        LogError::NotALog { path: self.path.clone(), expected }
    }
}

struct Rows {
    lines: Lines,
    dram: Dram,
}

impl Iterator for Rows {
    type Item = Result<LoggedCommand, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.lines.next() {
                Ok(Some(line)) if line.is_empty() || line.starts_with('#') => {}
                Ok(Some(line)) => {
                    let (path, number) = (self.lines.path.clone(), self.lines.number);
                    return Some(parse(&line, &self.dram).map_err(|problem| LogError::Row {
                        path,
                        line: number,
                        problem,
                    }));
                }
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

fn parse(line: &str, dram: &Dram) -> Result<LoggedCommand, String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [cycle, kind, channel, pseudo_channel, stack, group, bank, row, burst, request] =
        fields.as_slice()
    else {
        return Err(format!("{} fields: expected {HEADING}", fields.len()));
    };
    let place = Place {
        pseudo_channel: number("pseudo_channel", pseudo_channel)?,
        stack: number("stack", stack)?,
        group: number("group", group)?,
        bank: number("bank", bank)?,
    };
    let command = Command {
        cycle: cycle_number(cycle)?,
        kind: command_kind(kind)?,
        bank: place.number(dram)?,
        row: number("row", row)?,
        burst: number("burst", burst)?,
        request: match *request {
            "" => None,
            given => Some(number("request", given)?),
        },
    };
    Ok(LoggedCommand { channel: channel_number(number("channel", channel)?, dram)?, command })
}

/// The latest cycle of a log; Parquet has it signed. Durations can be added to it without overflow.
const LATEST_CYCLE: u64 = i64::MAX as u64;

fn cycle_number(text: &str) -> Result<u64, String> {
    match number("cycle", text)? {
        cycle @ ..=LATEST_CYCLE => Ok(cycle),
        cycle => Err(format!("`cycle` = {cycle}: expected at most {LATEST_CYCLE}")),
    }
}

fn number<T: FromStr>(name: &str, text: &str) -> Result<T, String> {
    let bits = 8 * size_of::<T>();
    text.parse().map_err(|_| format!("`{name}` = {text}: expected a whole number of {bits} bits"))
}

pub(super) fn command_kind(name: &str) -> Result<CommandKind, String> {
    CommandKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let valid = CommandKind::ALL.map(CommandKind::name).join(", ");
        format!("`command` = {name}: expected one of {valid}")
    })
}

pub(super) fn channel_number(channel: u16, dram: &Dram) -> Result<u16, String> {
    if u32::from(channel) < dram.channels {
        return Ok(channel);
    }
    Err(format!("`channel` = {channel}: expected below `dram.channels` = {}", dram.channels))
}
