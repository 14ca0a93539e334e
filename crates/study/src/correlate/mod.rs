//! Comparison of our results with those of Accel-Sim for the same traces.
//!
//! A [`Reference`] is read from a file. Its runs and ours become the same [`Figures`], which
//! [`METRICS`] compare one by one. Nothing is simulated here.

mod accel_sim_log;
mod error;
mod figures;
mod identity;
mod metric;
mod reference;
mod reference_run;
mod results_json;
mod statistics;
mod summary;

pub use error::{NoColumn, ReferenceError};
pub use figures::{CacheFigures, Figures, KernelFigures, Range};
pub use metric::{Compared, METRICS, Metric, Unit, metric};
pub use reference::Reference;
pub use reference_run::{FIFO, FR_FCFS, ReferenceRun, Stated};
pub use summary::{
    Comparison, CycleSummary, FEW_ACTIVATIONS, KernelSummary, MetricSummary, Pair, Speed, Worst,
    cycle_summary, kernel_summary, metric_summary, pairs, speed,
};
