//! Graphs and matrices from files, one module per format. Readers take a text line by line, or a
//! binary file number by number, and keep its entries; they never reserve memory for sizes that a
//! header only declares.

mod bytes;
mod detect;
mod dimacs;
mod edge_list;
mod galois;
mod gapbs;
mod ids;
mod konect;
mod lines;
mod matrix_market;
mod metis;
mod rodinia;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::parameters::Choice;
use detect::{ENDINGS, HEAD, format_of};
use lines::{Failure, Field, Place};
use warpmem_support::files::inflate::inflated;

/// Range of the vertices, rows or columns of a file.
const NODES: (u64, u64) = (1, super::MAX_FILE_NODES);
/// Range of the entries of a file.
const ENTRIES: (u64, u64) = (0, super::MAX_ENTRIES);

/// Reads `content` in every format and in the detected one, for the fuzzer.
#[cfg(any(test, fuzzing))]
pub fn read_as_every_format(content: &[u8]) {
    let given = FormatChoice::NAMES.iter().filter_map(|&(_, choice)| match choice {
        FormatChoice::ByEnding => format_of(Path::new("any"), content),
        FormatChoice::Given(format) => Some(format),
    });
    for format in given {
        let _ = format.read::<u32>(content);
        let _ = format.read::<f32>(content);
    }
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    MatrixMarket,
    EdgeList,
    Konect,
    Dimacs,
    Metis,
    Rodinia,
    Galois,
    Gapbs,
    WeightedGapbs,
}

impl Format {
    /// Reads a file of this format.
    pub fn read<V: Value>(self, file: impl BufRead) -> Result<Listing<V>, Failure> {
        match self {
            Format::MatrixMarket => matrix_market::read(file),
            Format::EdgeList => edge_list::read(file),
            Format::Konect => konect::read(file),
            Format::Dimacs => dimacs::read(file),
            Format::Metis => metis::read(file),
            Format::Rodinia => rodinia::read(file),
            Format::Galois => galois::read(file),
            Format::Gapbs => gapbs::read(file, false),
            Format::WeightedGapbs => gapbs::read(file, true),
        }
    }
}

/// The format to assume for a file.
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
        ("konect", FormatChoice::Given(Format::Konect)),
        ("dimacs", FormatChoice::Given(Format::Dimacs)),
        ("metis", FormatChoice::Given(Format::Metis)),
        ("rodinia", FormatChoice::Given(Format::Rodinia)),
        ("galois", FormatChoice::Given(Format::Galois)),
        ("gapbs", FormatChoice::Given(Format::Gapbs)),
        ("gapbs-weighted", FormatChoice::Given(Format::WeightedGapbs)),
    ];
}

/// The value type of a file's entries.
pub trait Value: Copy + Default {
    /// Whether fractions are valid; if not, fractional values of a file are ignored.
    const REAL: bool;
    /// Value of entries without one.
    const ONE: Self;
    /// The counts that [`Value::of_count`] takes.
    const COUNTS: (u64, u64);
    /// Parses a field that holds a whole number.
    fn whole(field: &Field) -> Result<Self, Failure>;
    fn from_real(real: f32) -> Self;
    fn of_count(count: u64) -> Self;
}

/// Edge weights: nonnegative signed 32-bit integers.
impl Value for u32 {
    const REAL: bool = false;
    const ONE: u32 = 1;
    const COUNTS: (u64, u64) = (0, i32::MAX as u64);

    fn whole(field: &Field) -> Result<u32, Failure> {
        Ok(field.count("a weight (whole, not negative)", Self::COUNTS)? as u32)
    }

    fn from_real(_: f32) -> u32 {
        Self::ONE
    }

    fn of_count(count: u64) -> u32 {
        count as u32
    }
}

/// Matrix entries: the nearest single-precision number.
impl Value for f32 {
    const REAL: bool = true;
    const ONE: f32 = 1.0;
    const COUNTS: (u64, u64) = (0, u64::MAX);

    fn whole(field: &Field) -> Result<f32, Failure> {
        Ok(field.whole()? as f32)
    }

    fn from_real(real: f32) -> f32 {
        real
    }

    fn of_count(count: u64) -> f32 {
        count as f32
    }
}

/// The relation of a matrix to its other triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// The file lists both.
    General,
    /// Equal.
    Symmetric,
    /// Opposite sign.
    Skew,
}

/// The content of a file, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing<V> {
    pub rows: u32,
    pub columns: u32,
    pub symmetry: Symmetry,
    /// Whether rows and columns number the two sides of a bipartite graph.
    pub bipartite: bool,
    /// Whether the file has values; if not, all are [`Value::ONE`].
    pub valued: bool,
    pub entries: Vec<(u32, u32, V)>,
    /// Notes for users on deviations from the file.
    pub notes: Vec<String>,
}

impl<V> Listing<V> {
    /// Numbers the two sides of a bipartite graph consecutively.
    pub fn with_one_kind_of_vertices(mut self) -> Listing<V> {
        if self.bipartite {
            let rows = self.rows;
            self.entries.iter_mut().for_each(|(_, column, _)| *column += rows);
            self.rows += self.columns;
            (self.columns, self.bipartite) = (self.rows, false);
        }
        self
    }

    /// Returns the listing of a graph that is not bipartite.
    fn of_graph(
        nodes: u32,
        symmetry: Symmetry,
        valued: bool,
        entries: Vec<(u32, u32, V)>,
    ) -> Listing<V> {
        let (rows, columns, bipartite, notes) = (nodes, nodes, false, Vec::new());
        Listing { rows, columns, symmetry, bipartite, valued, entries, notes }
    }
}

/// Failure to read an input file.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("failed to open {path}")]
    Open { path: PathBuf, source: io::Error },
    /// Includes damaged or truncated compressed data.
    #[error("failed to read {path} after {}", after.unit())]
    Read { path: PathBuf, after: Place, source: io::Error },
    #[error(
        "{path}: neither the ending nor the first bytes say how the file is written; valid: {} (also .gz, .xz, \
         .zst), or --file-format",
        endings()
    )]
    UnknownFormat { path: PathBuf },
    #[error("{path}{at}: {message}")]
    Malformed { path: PathBuf, at: Place, message: String },
    /// Valid, but not usable by the kernel.
    #[error("{path}: {message}")]
    Unfit { path: PathBuf, message: String },
}

fn endings() -> String {
    let endings: Vec<String> = ENDINGS.iter().map(|(e, _)| format!(".{e}")).collect();
    endings.join(", ")
}

/// Reads the file at `path`, compressed or not.
pub fn read<V: Value>(path: &Path, format: FormatChoice) -> Result<Listing<V>, InputError> {
    const BUFFER: usize = 64 << 10;
    let named = || path.to_path_buf();
    let open = |source| InputError::Open { path: named(), source };
    let file = BufReader::with_capacity(BUFFER, File::open(path).map_err(open)?);
    let (_, mut content) = inflated(file).map_err(open)?;
    let mut head = Vec::new();
    let begun = content.by_ref().take(HEAD).read_to_end(&mut head);
    begun.map_err(|source| InputError::Read { path: named(), after: Place::Byte(0), source })?;
    let format = match format {
        FormatChoice::Given(format) => Some(format),
        FormatChoice::ByEnding => format_of(path, &head),
    };
    let format = format.ok_or_else(|| InputError::UnknownFormat { path: named() })?;
    let listing =
        format.read(BufReader::with_capacity(BUFFER, io::Cursor::new(head).chain(content)));
    listing.map_err(|failure| match failure {
        Failure::Read { after, source } => InputError::Read { path: named(), after, source },
        Failure::Malformed { at, message } => InputError::Malformed { path: named(), at, message },
    })
}
