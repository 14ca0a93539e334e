//! Inputs of kernels: graphs, sparse matrices and index streams, generated or read from files.
//! Integer arithmetic, and otherwise IEEE and `libm`, make the same arguments give the same input
//! on every platform.

mod csr;
mod file;
mod graph;
mod indices;
mod matrix;
mod order;
#[cfg(test)]
mod testing;
mod zipf;

pub use csr::Csr;
pub use file::InputError;
#[cfg(fuzzing)]
pub use file::read_as_every_format;
pub use graph::{DIRECTED, Directions, GRAPH, Graph, graph_of};
#[cfg(test)]
pub use graph::{GraphKind, graph};
pub use indices::{IndexPattern, indices};
pub use matrix::{MATRIX, Matrix, matrix_of};
#[cfg(test)]
pub use matrix::{MatrixKind, matrix};
pub use warpmem_support::random::Random;
pub use zipf::{SKEW, Zipf};

use super::WorkloadError;
use super::parameters::{Parameter, show_count};
use file::FormatChoice;
use order::Ordering;

/// Maximum vertices of a graph, or rows or columns of a matrix.
const MAX_NODES: u64 = 1 << 24;
/// Maximum vertices, rows or columns of a file.
const MAX_FILE_NODES: u64 = 1 << 26;
/// Maximum entries of a matrix; an edge of a graph is two.
const MAX_ENTRIES: u64 = 1 << 28;

const FILE: Parameter = Parameter::path("file", "Input file instead of a generated input");
const FILE_FORMAT: Parameter =
    Parameter::choice::<FormatChoice>("file-format", "by-ending", "Format of the file")
        .only_given("file");
const ORDER: Parameter =
    Parameter::choice::<Ordering>("order", "as-is", "Numbering of vertices or rows");

/// Refuses inputs that exceed memory.
pub fn check_entries(what: &str, rows: u32, per_row: u32) -> Result<(), WorkloadError> {
    let entries = u64::from(rows) * u64::from(per_row);
    if entries <= MAX_ENTRIES {
        return Ok(());
    }
    let (entries, most) = (show_count(entries), show_count(MAX_ENTRIES));
    Err(WorkloadError::Inconsistent { message: format!("{entries} {what} are more than {most}") })
}

/// Returns the largest `side` with `side`^`dimensions` at most `n`.
fn largest_side(n: u32, dimensions: u32) -> u32 {
    let fits = |side: u64| side.pow(dimensions) <= u64::from(n);
    (1..).take_while(|&side| fits(side)).last().unwrap_or(1) as u32
}
