//! Streams of accesses from text files: CSV, and the formats of Ramulator, DRAMsim3 and DRAMSys.

mod line;

use super::StandaloneError;
use line::{Format, Problem};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use warpmem_sim::DramCycle;
use warpmem_support::files::inflate::inflated;
use warpmem_support::files::input::Rereadable;

/// One access of a file; fields that the file omits are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    pub write: bool,
    pub target: Target,
    /// Command clock cycle before which it does not arrive.
    pub cycle: Option<DramCycle>,
    pub bytes: Option<u32>,
    pub sm: Option<u16>,
    pub warp: Option<u32>,
    pub load: Option<u32>,
    pub pc: Option<u32>,
}

/// The target of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Byte address.
    Address(u64),
    Levels(Levels),
}

impl Default for Target {
    fn default() -> Target {
        Target::Address(0)
    }
}

/// Indices in the levels of a DRAM, from the channel down to row and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    indices: [u32; Levels::MOST],
    count: usize,
}

impl Levels {
    /// Fewest and most levels of a file.
    pub const FEWEST: usize = 4;
    pub const MOST: usize = 6;

    pub fn indices(&self) -> &[u32] {
        &self.indices[..self.count]
    }
}

/// Longest line, bytes.
const MAX_LINE: u64 = 4096;

/// The accesses of a file in order, read on demand. The first line determines the format.
pub struct AccessFile {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    text: Vec<u8>,
    /// Number of the line in `text`, from 1.
    line: u64,
    format: Option<Format>,
    /// Second access of the last line, if it has two.
    second: Option<Access>,
    last_cycle: DramCycle,
    /// Whether an access has been read.
    any: bool,
}

impl AccessFile {
    /// Opens a text file or a pipe, compressed or not.
    ///
    /// # Errors
    /// Returns [`StandaloneError::Io`].
    pub fn open(path: &Path) -> Result<AccessFile, StandaloneError> {
        AccessFile::of(&Rereadable::of(path).map_err(StandaloneError::io("read", path))?)
    }

    /// Opens, as [`AccessFile::open`], a file that is read several times.
    ///
    /// # Errors
    /// Returns [`StandaloneError::Io`].
    pub fn of(input: &Rereadable) -> Result<AccessFile, StandaloneError> {
        let path = input.given();
        let file = File::open(input.place()).map_err(StandaloneError::io("open", path))?;
        let file = BufReader::with_capacity(64 << 10, file);
        let (_, text) = inflated(file).map_err(StandaloneError::io("read", path))?;
        Ok(AccessFile {
            path: path.to_path_buf(),
            reader: Box::new(BufReader::with_capacity(64 << 10, text)),
            text: Vec::new(),
            line: 0,
            format: None,
            second: None,
            last_cycle: DramCycle::ZERO,
            any: false,
        })
    }

    /// Returns the next access; none at the end.
    ///
    /// # Errors
    /// Returns [`StandaloneError::Line`] for a line that is not in the format, or whose cycle is
    /// before that of the previous line; [`StandaloneError::Empty`] at the end of a file without
    /// accesses; [`StandaloneError::Io`].
    pub fn read(&mut self) -> Result<Option<Access>, StandaloneError> {
        if let Some(second) = self.second.take() {
            return Ok(Some(second));
        }
        while self.read_line()? {
            let text = self.text.trim_ascii();
            if text.is_empty() || text[0] == b'#' {
                continue;
            }
            let accesses = match &self.format {
                Some(format) => format.read(text).map(Some),
                None => Format::of(text).map(|(format, accesses)| {
                    self.format = Some(format);
                    accesses
                }),
            };
            let Some(accesses) = accesses.map_err(|problem| self.at(problem))? else { continue };
            self.second = accesses.second;
            return self.in_time(accesses.first).map(Some);
        }
        if self.any { Ok(None) } else { Err(StandaloneError::Empty { path: self.path.clone() }) }
    }

    /// Returns the interpretation of the file where its lines leave it open.
    pub fn note(&self) -> Option<&'static str> {
        self.format.as_ref().and_then(Format::note)
    }

    /// Returns the error of an address in the last line that lies beyond the map.
    pub(super) fn out_of_range(&self, address: u64, capacity: u64) -> StandaloneError {
        StandaloneError::Address { path: self.path.clone(), line: self.line, address, capacity }
    }

    /// Returns the error of a value in the last line.
    pub(super) fn wrong(&self, value: &impl ToString, expected: String) -> StandaloneError {
        self.at(Problem { expected, found: value.to_string() })
    }

    fn read_line(&mut self) -> Result<bool, StandaloneError> {
        self.text.clear();
        self.line += 1;
        let mut limited = (&mut self.reader).take(MAX_LINE);
        let read = limited.read_until(b'\n', &mut self.text);
        let read = read.map_err(StandaloneError::io("read", &self.path))?;
        if read as u64 == MAX_LINE && self.text.last() != Some(&b'\n') {
            let expected = format!("a line of less than {MAX_LINE} bytes");
            return Err(self.at(Problem::new(expected, &self.text)));
        }
        Ok(read > 0)
    }

    fn in_time(&mut self, access: Access) -> Result<Access, StandaloneError> {
        self.any = true;
        let Some(cycle) = access.cycle else { return Ok(access) };
        if cycle < self.last_cycle {
            let expected =
                format!("a cycle of at least {}, that of the line above", self.last_cycle);
            return Err(self.at(Problem { expected, found: cycle.to_string() }));
        }
        self.last_cycle = cycle;
        Ok(access)
    }

    fn at(&self, problem: Problem) -> StandaloneError {
        StandaloneError::Line {
            path: self.path.clone(),
            line: self.line,
            expected: problem.expected,
            found: problem.found,
        }
    }
}
