//! Graphs and matrices from files. Readers take a text line by line and keep its entries; no memory
//! is reserved for sizes that a header only declares.

mod dimacs;
mod edge_list;
mod lines;
mod matrix_market;
mod metis;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::parameters::Choice;
use lines::{Failure, Field};
use warpmem_files::inflate::inflated;

/// Fewest and most vertices, rows or columns of a file.
const NODES: (u64, u64) = (1, super::MAX_NODES);
/// Fewest and most entries of a file.
const ENTRIES: (u64, u64) = (0, super::MAX_ENTRIES);

/// Reads `text` as each kind of file, for the fuzzer.
#[cfg(any(test, fuzzing))]
pub fn read_as_every_format(text: &[u8]) {
    for format in [Format::MatrixMarket, Format::EdgeList, Format::Dimacs, Format::Metis] {
        let _ = format.read::<u32>(text);
        let _ = format.read::<f32>(text);
    }
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    MatrixMarket,
    EdgeList,
    Dimacs,
    Metis,
}

impl Format {
    /// Ending of a file's name (without that of its compression) and the format that it indicates.
    const ENDINGS: &'static [(&'static str, Format)] = &[
        ("mtx", Format::MatrixMarket),
        ("el", Format::EdgeList),
        ("wel", Format::EdgeList),
        ("edges", Format::EdgeList),
        ("txt", Format::EdgeList),
        ("tsv", Format::EdgeList),
        ("csv", Format::EdgeList),
        ("gr", Format::Dimacs),
        ("graph", Format::Metis),
        ("metis", Format::Metis),
    ];

    /// By the ending of `path`.
    fn of(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = ["gz", "xz", "zst"].iter().find_map(|e| strip(&name, e)).unwrap_or(&name);
        Format::ENDINGS.iter().find(|(ending, _)| strip(name, ending).is_some()).map(|&(_, f)| f)
    }

    /// Reads a text of this format.
    pub fn read<V: Value>(self, text: impl BufRead) -> Result<Listing<V>, Failure> {
        match self {
            Format::MatrixMarket => matrix_market::read(text),
            Format::EdgeList => edge_list::read(text),
            Format::Dimacs => dimacs::read(text),
            Format::Metis => metis::read(text),
        }
    }
}

fn strip<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    name.strip_suffix(ending)?.strip_suffix('.')
}

/// What is to be taken for the format of a file.
#[derive(Clone, Copy, Debug)]
pub enum FormatChoice {
    ByEnding,
    Given(Format),
}

impl Choice for FormatChoice {
    const NAMES: &'static [(&'static str, FormatChoice)] = &[
        ("by-ending", FormatChoice::ByEnding),
        ("matrix-market", FormatChoice::Given(Format::MatrixMarket)),
        ("edge-list", FormatChoice::Given(Format::EdgeList)),
        ("dimacs", FormatChoice::Given(Format::Dimacs)),
        ("metis", FormatChoice::Given(Format::Metis)),
    ];
}

/// Kind of the values of a file's entries.
pub trait Value: Copy + Default {
    /// Whether fractions are values too; if not, files whose values have them are read without.
    const REAL: bool;
    /// Value of entries without one.
    const ONE: Self;
    /// Of a field that holds a whole number.
    fn whole(field: &Field) -> Result<Self, Failure>;
    fn from_real(real: f32) -> Self;
}

/// Weights of edges: nonnegative signed 32-bit integers.
impl Value for u32 {
    const REAL: bool = false;
    const ONE: u32 = 1;

    fn whole(field: &Field) -> Result<u32, Failure> {
        Ok(field.count("a weight (whole, not negative)", (0, i32::MAX as u64))? as u32)
    }

    fn from_real(_: f32) -> u32 {
        Self::ONE
    }
}

/// Entries of matrices: the nearest single-precision number.
impl Value for f32 {
    const REAL: bool = true;
    const ONE: f32 = 1.0;

    fn whole(field: &Field) -> Result<f32, Failure> {
        Ok(field.whole()? as f32)
    }

    fn from_real(real: f32) -> f32 {
        real
    }
}

/// What a file says about the other triangle of its matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// The file lists it.
    General,
    /// Equal.
    Symmetric,
    /// Of the other sign.
    Skew,
}

/// What a file lists, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing<V> {
    pub rows: u32,
    pub columns: u32,
    pub symmetry: Symmetry,
    /// Whether the file says the values of the entries; if not, all are [`Value::ONE`].
    pub valued: bool,
    pub entries: Vec<(u32, u32, V)>,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("failed to open {path}")]
    Open { path: PathBuf, source: io::Error },
    /// For compressed files also: the data are damaged or end too early.
    #[error("failed to read {path} after line {line}")]
    Read { path: PathBuf, line: u64, source: io::Error },
    #[error(
        "{path}: the ending does not say how the file is written; valid: {} (also .gz, .xz, .zst), or --file-format",
        endings()
    )]
    UnknownFormat { path: PathBuf },
    /// Lines and columns (bytes) count from 1.
    #[error("{path}:{line}:{column}: {message}")]
    Malformed { path: PathBuf, line: u64, column: usize, message: String },
    /// Valid, but not usable by the kernel.
    #[error("{path}: {message}")]
    Unfit { path: PathBuf, message: String },
}

fn endings() -> String {
    let endings: Vec<String> = Format::ENDINGS.iter().map(|(e, _)| format!(".{e}")).collect();
    endings.join(", ")
}

/// Reads the file at `path`, compressed or not.
pub fn read<V: Value>(path: &Path, format: FormatChoice) -> Result<Listing<V>, InputError> {
    const BUFFER: usize = 64 << 10;
    let named = || path.to_path_buf();
    let format = match format {
        FormatChoice::Given(format) => format,
        FormatChoice::ByEnding => {
            Format::of(path).ok_or_else(|| InputError::UnknownFormat { path: named() })?
        }
    };
    let open = |source| InputError::Open { path: named(), source };
    let file = BufReader::with_capacity(BUFFER, File::open(path).map_err(open)?);
    let (_, text) = inflated(file).map_err(open)?;
    let listing = format.read(BufReader::with_capacity(BUFFER, text));
    listing.map_err(|failure| match failure {
        Failure::Read { line, source } => InputError::Read { path: named(), line, source },
        Failure::Malformed { line, column, message } => {
            InputError::Malformed { path: named(), line, column, message }
        }
    })
}
