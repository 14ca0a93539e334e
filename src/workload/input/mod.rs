//! What the kernels run on: graphs, sparse matrices, index streams. Integer arithmetic, and where that is not
//! enough IEEE's and `libm`'s, so that the same arguments give the same input on every platform.

mod csr;
mod graph;
mod indices;
mod matrix;
mod zipf;

pub use crate::random::Random;
pub use csr::Csr;
pub use graph::{GRAPH, Graph, graph_of};
#[cfg(test)]
pub use graph::{GraphKind, graph};
pub use indices::{IndexPattern, indices};
pub use matrix::{MATRIX, Matrix, matrix_of};
#[cfg(test)]
pub use matrix::{MatrixKind, matrix};
pub use zipf::{SKEW, Zipf};

use super::WorkloadError;
use super::parameters::show_count;

/// Most edges of a graph or entries of a matrix.
const MAX_ENTRIES: u64 = 1 << 28;

/// Refuses inputs that would not fit into memory.
pub fn check_entries(what: &str, rows: u32, per_row: u32) -> Result<(), WorkloadError> {
    let entries = u64::from(rows) * u64::from(per_row);
    if entries <= MAX_ENTRIES {
        return Ok(());
    }
    let (entries, most) = (show_count(entries), show_count(MAX_ENTRIES));
    Err(WorkloadError::Inconsistent { message: format!("{entries} {what} are more than {most}") })
}
