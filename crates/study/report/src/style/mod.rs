//! Style files: the appearance of a report for a paper, and its selection of policies and workloads.

mod apply;
mod file;

pub use apply::{Naming, Selection};
pub use file::{StyleFile, Table};
