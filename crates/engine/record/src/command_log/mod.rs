//! Command logs as files: text, or Parquet if the name ends in `.parquet`.
//!
//! A log contains the configuration of its channels, so that it can be checked without other files.
//! Rows of a channel are ordered by cycle; channels may be interleaved in any order.

mod binary;
mod error;
mod text;

#[cfg(test)]
mod tests;

use crate::Column;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};
use warpmem_dram::standard::Place;
use warpmem_dram::{Command, CommandSink, Dram};
use warpmem_support::files::staged::Staged;

pub use error::LogError;

/// A command and its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedCommand {
    pub channel: u16,
    pub command: Command,
}

/// The configuration in a log.
#[derive(Serialize, Deserialize)]
struct Configuration {
    dram: Dram,
}

impl Configuration {
    fn to_toml(dram: &Dram) -> String {
        let configuration = Configuration { dram: dram.clone() };
        toml::to_string(&configuration).expect("numbers, strings and tables are TOML")
    }

    fn read(path: &Path, text: &str) -> Result<Dram, LogError> {
        let read: Result<Configuration, _> = toml::from_str(text);
        read.map(|configuration| configuration.dram).map_err(|error| LogError::Configuration {
            path: path.to_owned(),
            message: error.message().to_owned(),
        })
    }
}

/// A row: a command with the position of its bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    logged: LoggedCommand,
    place: Place,
}

/// Table name of a log.
pub(crate) const TABLE: &str = "commands";

pub(crate) fn columns() -> Vec<Column<Row>> {
    binary::columns()
}

/// Returns the rows of commands of the channels of `dram`, ordered by channel.
pub(crate) fn rows(dram: &Dram, channels: &[Vec<Command>]) -> Vec<Row> {
    let of = |channel: usize, command: Command| {
        let place = Place::of(dram, command.bank).expect("a channel issues to its banks only");
        Row { logged: LoggedCommand { channel: channel as u16, command }, place }
    };
    let channels = channels.iter().enumerate();
    channels.flat_map(|(at, commands)| commands.iter().map(move |&c| of(at, c))).collect()
}

enum Sheet {
    Text(text::Writer),
    Binary(Box<binary::Writer>),
}

/// A writer of a command log. The file is renamed to its path when complete; dropping the writer
/// earlier removes it.
pub struct CommandLogWriter {
    path: PathBuf,
    staged: Staged,
    sheet: Sheet,
    dram: Dram,
    /// First error of [`CommandSink`] calls, which cannot return it.
    failure: Option<LogError>,
}

impl CommandLogWriter {
    /// Creates a log of channels of `dram` that replaces `path` when complete.
    ///
    /// # Errors
    /// If no file can be written beside `path`.
    pub fn create(path: &Path, dram: &Dram) -> Result<CommandLogWriter, LogError> {
        let staged = Staged::create(path).map_err(LogError::io(path, "create"))?;
        let configuration = Configuration::to_toml(dram);
        let (path, dram, failure) = (path.to_owned(), dram.clone(), None);
        let sheet = if is_binary(&path) {
            Sheet::Binary(Box::new(binary::Writer::create(staged.partial(), &configuration)?))
        } else {
            let file = File::create(staged.partial()).map_err(LogError::io(&path, "create"))?;
            let writer = text::Writer::create(file, &configuration);
            Sheet::Text(writer.map_err(LogError::io(&path, "write"))?)
        };
        Ok(CommandLogWriter { path, staged, sheet, dram, failure })
    }

    /// Adds commands of a channel.
    ///
    /// # Errors
    /// If they cannot be written, or the configuration has no such bank.
    pub fn write(&mut self, channel: u16, commands: &[Command]) -> Result<(), LogError> {
        for &command in commands {
            let Some(place) = Place::of(&self.dram, command.bank) else {
                let (bank, banks) = (command.bank, self.dram.banks);
                return Err(LogError::NoSuchBank { path: self.path.clone(), bank, banks });
            };
            let row = Row { logged: LoggedCommand { channel, command }, place };
            match &mut self.sheet {
                Sheet::Text(writer) => {
                    writer.write(&row).map_err(LogError::io(&self.path, "write"))?;
                }
                Sheet::Binary(writer) => writer.write(row)?,
            }
        }
        Ok(())
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// If writing failed, including earlier calls of [`CommandSink::commands`].
    pub fn finish(self) -> Result<(), LogError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        match self.sheet {
            Sheet::Text(writer) => writer.finish().map_err(LogError::io(&self.path, "write"))?,
            Sheet::Binary(writer) => writer.finish()?,
        }
        self.staged.finish().map_err(LogError::io(&self.path, "create"))
    }
}

impl CommandSink for CommandLogWriter {
    fn commands(&mut self, channel: u16, commands: &[Command]) {
        if self.failure.is_none() {
            self.failure = self.write(channel, commands).err();
        }
    }
}

type Rows = Box<dyn Iterator<Item = Result<LoggedCommand, LogError>>>;

/// A command log being read: an iterator over its rows.
pub struct CommandLogReader {
    dram: Dram,
    rows: Rows,
}

impl CommandLogReader {
    /// Opens a log and reads its configuration, which is not checked.
    ///
    /// # Errors
    /// If the file cannot be read or is no command log.
    pub fn open(path: &Path) -> Result<CommandLogReader, LogError> {
        if is_binary(path) { binary::open(path) } else { text::open(path) }
    }

    /// Returns the configuration of the channels.
    pub fn dram(&self) -> &Dram {
        &self.dram
    }
}

impl Iterator for CommandLogReader {
    type Item = Result<LoggedCommand, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.next()
    }
}

fn is_binary(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "parquet")
}
