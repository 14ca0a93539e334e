//! What a run leaves: raw counts from the units, the metrics derived from them, and the tables.

mod cells;
mod column;
pub mod command_log;
mod concatenate;
mod dram;
mod energy;
mod error;
pub mod file;
#[cfg(test)]
mod fixture;
mod histograms;
mod intervals;
mod key;
mod llc;
mod loads;
mod metrics;
mod network;
mod recorder;
mod requests;
mod rows;
mod schema;
mod staging;
mod stream;
mod tables;
pub mod timeline;
mod writer;

#[cfg(test)]
mod cells_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod writer_tests;

pub use cells::{CellStore, FinishedCells};
pub use column::{Column, count, maybe_count, ratio, text};
pub use energy::energy;
pub use error::ResultsError;
pub use key::{ENGINE_VERSION, RunKey};
pub use metrics::key as key_columns;
pub use recorder::{Recorded, RunRecorder};
pub use rows::FinishedRun;
pub use schema::{ColumnInfo, Table, schema};
pub use tables::{run_columns, run_row_json};
pub use writer::ResultsWriter;
