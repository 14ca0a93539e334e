//! Results of runs: the metrics derived from raw counts of the units, and their tables. This crate
//! simulates nothing.
//!
//! ```text
//! column   name, unit, definition and value of one column
//!   ▲
//! metrics  every metric, defined once from the counts
//!   ▲
//! tables   which metrics make up which table ─▶ file   a table as a Parquet file
//!   ▲
//! store    directories of results: written at once, or cell by cell to survive a kill
//! ```
//!
//! `command_log` and `timeline` write the events of a run instead of its counts.

mod column;
pub mod command_log;
mod error;
mod file;
mod key;
mod memory;
pub mod metrics;
mod outputs;
mod run;
mod store;
mod tables;
#[cfg(test)]
mod tests;
pub mod timeline;

pub use column::{Column, Values, count, maybe_count, ratio, text};
pub use error::ResultsError;
pub use file::read_table;
pub use key::{Bound, ENGINE_VERSION, RunKey};
pub use memory::{MemoryRecorder, MemoryTable, tables_of};
pub use metrics::{energy, key as key_columns, request_convoy};
pub use outputs::RunOutputs;
pub use run::FinishedRun;
pub use store::{
    CellStore, FinishedCells, Recorded, ResultsWriter, RunRecorder, cell_names, is_part_of_results,
};
pub use tables::{
    ColumnInfo, NcuMetric, Table, kernel_rows_json, ncu_metrics, ncu_rows_json, run_columns,
    run_row_json, schema,
};
