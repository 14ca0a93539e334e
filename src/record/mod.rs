//! What a run leaves: raw counts from the units, the metrics derived from them, and the tables.

mod histogram;
mod results;

pub use histogram::Histogram;
pub use results::*;
