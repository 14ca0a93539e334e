//! What a run leaves: raw counts from the units, the metrics derived from them, and the tables.

mod cells;
mod column;
mod concatenate;
mod dram;
mod energy;
mod error;
pub(crate) mod file;
#[cfg(test)]
mod fixture;
mod fnv;
mod histogram;
mod histograms;
mod intervals;
mod key;
mod llc;
mod loads;
mod metrics;
mod network;
mod recorder;
mod requests;
mod results;
mod rows;
mod sample;
mod schema;
mod sink;
mod staging;
mod stream;
mod tables;
mod totals;
mod writer;

#[cfg(test)]
mod cells_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod writer_tests;

pub use cells::{CellStore, FinishedCells};
pub use column::Column;
pub(crate) use column::{count, maybe_count, ratio, text};
pub(crate) use energy::energy;
pub use error::ResultsError;
pub use histogram::Histogram;
pub use key::{ENGINE_VERSION, RunKey};
pub(crate) use metrics::key as key_columns;
pub use recorder::{Recorded, RunRecorder};
pub use results::*;
pub use rows::FinishedRun;
pub use sample::{ParseSampleError, RequestSample};
pub use schema::{ColumnInfo, Table, schema};
pub use sink::*;
pub use tables::{run_columns, run_row_json};
pub(crate) use totals::{Since, Total};
pub use writer::ResultsWriter;
