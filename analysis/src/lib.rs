//! Dataframes over the tables of Warpmem runs.
//!
//! A run writes Parquet tables ([`TABLES`]); [`Results`] and [`read_table`] open them as lazy
//! frames of [`polars`]. [`compare`] compares the runs of several policies with those of a
//! baseline, with means over workloads; [`divergence`], [`load_time`], [`tail`] and others
//! summarize runs and their loads. Frames are written as aligned text, LaTeX, Markdown, CSV, JSON,
//! Parquet or Arrow IPC. The crate does not depend on the engine that wrote the tables.
//!
//! ```no_run
//! use warpmem_analysis::{CompareOptions, Results, compare};
//!
//! let runs = Results::open("results")?.runs()?;
//! let comparison = compare(runs, &CompareOptions::new("fr-fcfs"))?;
//! println!("{}", comparison.to_text(120));
//! # Ok::<(), warpmem_analysis::Error>(())
//! ```
//!
//! [`METRICS`] states the unit of each metric. A value that does not exist is null everywhere,
//! never "not a number".

mod cell;
mod compare;
mod counts;
mod effects;
mod error;
mod former;
mod frame;
mod loads;
mod markup;
mod means;
mod parameters;
mod read;
mod results;
mod runs;
mod sql;
mod tail;
mod text;
mod write;

pub use polars;

pub use compare::{Comparison, compare, launches};
pub use effects::{WORKLOADS, effects};
pub use error::{Error, Result};
pub use loads::{DIVERGENCE_PERCENTILES, LOAD_TIME_PERCENTILES, divergence, load_time};
pub use markup::{
    MarkupColumn, escaped_markdown, latex, markdown, table_to_latex, table_to_markdown,
};
pub use means::means;
pub use parameters::parameters;
pub use read::read_table;
pub use results::{Results, TABLES};
pub use runs::{STAGES, bank_map, interval_series, latency_breakdown, row_locality_vs_blp};
pub use sql::with_expression;
pub use tail::tail;
pub use text::{column_to_strings, record_to_string, table_to_string};
pub use warpmem_comparison::{
    COMPARED, CompareOptions, Digits, Error as RunsError, Launches, MEANS, METRICS, Mean, Metric,
    Relation, SLOTS, digits, metric, relative,
};
pub use write::{table_to_csv, table_to_json, write_csv, write_ipc, write_json, write_parquet};
