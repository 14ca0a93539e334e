//! Our results beside those of Accel-Sim for the same traces: reading the reference, and what ours differ by.
//!
//! A [`Reference`] is read from a file; its runs and ours are told in the same [`Figures`], which
//! [`METRICS`] look at one by one. Nothing here runs anything.

mod accel_sim_log;
mod error;
mod figures;
mod identity;
mod metric;
mod reference;
mod results_json;
mod statistics;
mod summary;

pub use error::{NoColumn, ReferenceError};
pub use figures::{CacheFigures, Figures, KernelFigures, Range};
pub use identity::Stated;
pub use metric::{Compared, METRICS, Metric, Unit, metric};
pub use reference::{FIFO, FR_FCFS, Reference, ReferenceRun};
pub use summary::{
    Comparison, CycleSummary, FEW_ACTIVATIONS, KernelSummary, MetricSummary, Pair, Speed, Worst,
    cycle_summary, kernel_summary, metric_summary, pairs, speed,
};
