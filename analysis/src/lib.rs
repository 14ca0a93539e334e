//! Dataframes over the tables that Warpmem runs leave.
//!
//! A run leaves Parquet tables ([`TABLES`]); [`Results`] and [`read_table`] open them as lazy
//! frames of [`polars`]. [`compare`] sets the runs of several policies beside those of a baseline,
//! with means over workloads; [`load_distribution`] describes the loads of each run. A frame goes
//! out as aligned text, CSV, JSON or Parquet. The crate knows nothing of the engine that made the
//! tables.
//!
//! ```no_run
//! use warpmem_analysis::{CompareOptions, Results, compare};
//!
//! let runs = Results::open("results")?.runs()?;
//! let comparison = compare(runs, &CompareOptions::new("fr-fcfs"))?;
//! println!("{}", comparison.to_text(120)?);
//! # Ok::<(), warpmem_analysis::Error>(())
//! ```
//!
//! Units stand with each metric in [`METRICS`]. A value that does not exist is null everywhere,
//! never "not a number".

mod baseline;
mod cell;
mod compare;
mod error;
mod frame;
mod grid;
mod loads;
mod means;
mod metric;
mod read;
mod text;
mod write;

pub use polars;

pub use compare::{CompareOptions, Comparison, compare};
pub use error::{Error, Result};
pub use loads::{LOAD_TIME_PERCENTILES, load_distribution};
pub use means::MEANS;
pub use metric::{COMPARED, Digits, METRICS, Metric, Relation, metric, relative};
pub use read::{Results, SLOTS, TABLES, read_table};
pub use text::{record_to_string, table_to_string};
pub use write::{table_to_csv, table_to_json, write_csv, write_json, write_parquet};
