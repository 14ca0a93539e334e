//! Comparison of our results with those of Accel-Sim for the same traces.
//!
//! A [`Reference`] is read from a file. Its runs and ours are converted to the same [`Figures`],
//! which [`METRICS`] compare one by one. [`choose`] selects our machines for its runs, and [`run`]
//! runs its traces on them.

mod accel_sim_log;
mod error;
mod figures;
mod identity;
mod metric;
mod ours;
mod past;
mod plan;
pub mod profile;
mod reference;
mod reference_run;
mod results_json;
mod rows;
mod statistics;
mod summary;

pub use error::{NoColumn, ReferenceError, RunFilterError};
pub use figures::{CacheFigures, Figures, KernelFigures, Range};
pub use metric::{Compared, METRICS, Metric, Unit, metric};
pub use ours::{OursError, kernels_of, over_orders, run};
pub use past::Past;
pub use plan::{Note, Planned, RunFilter, Skipped, WITHOUT_LAUNCHES, choose, trace_name};
pub use reference::Reference;
pub use reference_run::{FIFO, FR_FCFS, ReferenceRun, Stated};
pub use rows::{groups, object, rows};
pub use summary::{
    Comparison, CycleSummary, FEW_ACTIVATIONS, KernelSummary, MetricSummary, Pair, Speed, Worst,
    cycle_summary, kernel_summary, metric_summary, pairs, speed,
};
