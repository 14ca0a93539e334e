//! Compares the runs of policies with those of a baseline policy, workload by workload.
//!
//! [`compare`] takes the table `runs` as a [`Table`] of named columns and returns a [`Comparison`]:
//! rows, means over workloads, and both as aligned text. Tables are printed as CSV or JSON, value by
//! value as a [`Cell`] spells it. The crate knows neither the engine that wrote the runs nor a
//! dataframe library.
//!
//! [`METRICS`] states the unit of each metric. A value that does not exist is null everywhere,
//! never "not a number".

mod averages;
mod baseline;
mod cell;
mod compare;
mod error;
mod findings;
mod grid;
mod inputs;
mod interval;
mod keys;
mod leverage;
mod load;
mod means;
mod metric;
mod mixed;
mod options;
mod repeats;
mod row;
mod runs;
mod sampling;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod text;
mod workload;

pub use cell::{Cell, rows_to_csv, rows_to_json};
pub use compare::{Comparison, compare};
pub use error::{Error, Result};
pub use grid::{Align, Grid, Heading, Row};
pub use keys::{NONE, OVERRIDES, RUN_ID, SLOTS};
pub use means::{MEANS, Mean};
pub use metric::{COMPARED, Digits, METRICS, Metric, Relation, digits, metric, relative};
pub use options::{ColumnsRead, CompareOptions};
pub use sampling::Launches;
pub use table::{Table, Values};
