//! What the kernels run on: graphs, sparse matrices, index streams. Integer arithmetic only, so that the
//! same arguments give the same input on every platform.

mod csr;
mod graph;
mod indices;
mod matrix;

pub use crate::random::Random;
pub use csr::Csr;
pub use graph::{GraphKind, graph};
pub use indices::{IndexPattern, indices};
pub use matrix::{Matrix, MatrixKind, matrix};
