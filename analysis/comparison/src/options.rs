//! Options of a comparison.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::inputs::INPUTS;
use crate::keys::{Keys, OVERRIDES, RUN_ID, SLOTS};
use crate::load;
use crate::metric::{COMPARED, relative};
use crate::sampling::Launches;

/// Options of a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// Policy that the others are compared with.
    ///
    /// It names a value of one varied slot (`fr-fcfs`), or values of several slots separated by
    /// slashes (`fr-fcfs/gto`); `slot=value` selects the slot explicitly. Varied slots that the
    /// baseline does not name are held equal: with the baseline `fr-fcfs`, a run with `gto` is
    /// compared with the run of `fr-fcfs` with `gto`. Overrides are held equal too, unless the
    /// baseline names some, spelled as in their column (`dram.read_queue=32`; `none` for no
    /// override).
    pub baseline: String,
    /// Columns in which the runs of a workload differ. If empty: the columns of [`SLOTS`] with more
    /// than one value, or `overrides` if only these vary.
    pub slots: Vec<String>,
    /// Units of metrics missing from [`METRICS`](crate::METRICS), by column. Text output shows
    /// them; a `fraction` is shown in percent.
    pub units: BTreeMap<String, String>,
    /// Metric columns to show and average in addition to the IPC: columns of `runs`, `COLUMN_ratio`
    /// for a value relative to the baseline's, and `COLUMN_reduction` for the fraction by which a
    /// value is below the baseline's.
    pub metrics: Vec<String>,
    /// Compare runs even if traces of the same name differ in content, machines of the same name
    /// and overrides differ in parameters other than policies, or engine versions differ. Rows that
    /// differ from their baseline in this way are marked.
    pub allow_mixed: bool,
    /// Launches that sampled runs simulated: the same ones in two runs show the error of their ratio.
    pub launches: Launches,
    /// Compare runs even if the baseline did not run on some of their workloads; their ratios are
    /// null.
    pub allow_unmatched: bool,
}

impl CompareOptions {
    /// Compares against `baseline`, in the slots that vary, with the metrics of [`COMPARED`].
    pub fn new(baseline: impl Into<String>) -> Self {
        let metrics = COMPARED.map(str::to_owned).to_vec();
        let (slots, units) = Default::default();
        CompareOptions {
            baseline: baseline.into(),
            slots,
            units,
            metrics,
            launches: Launches::default(),
            allow_mixed: false,
            allow_unmatched: false,
        }
    }

    /// Returns the columns that [`compare`](crate::compare) reads from a table with the columns
    /// `present`.
    ///
    /// # Errors
    /// If the table lacks a column.
    pub fn columns_read(&self, present: &[&str]) -> Result<ColumnsRead> {
        let (keys, numbers) = (self.keys(present), self.numbers(present));
        for name in keys.names().iter().chain(&numbers) {
            if !present.contains(&name.as_str()) {
                return Err(Error::MissingColumn {
                    table: RUNS.to_owned(),
                    column: name.clone(),
                    available: present.iter().map(|name| (*name).to_owned()).collect(),
                });
            }
        }
        let is_present = |name: &&str| present.contains(name);
        let inputs = [RUN_ID, WORKLOAD, BOUND].into_iter().chain(INPUTS).filter(is_present);
        let texts = inputs.map(str::to_owned).chain(keys.names().iter().cloned()).collect();
        let more = OF_REPEATS.into_iter().chain(load::columns()).filter(is_present);
        let more = more.filter(|name| !numbers.iter().any(|known| known == name));
        let more: Vec<String> = more.map(str::to_owned).collect();
        Ok(ColumnsRead { texts, numbers: [numbers, more].concat() })
    }

    /// Returns the key columns of a table with the columns `present`.
    pub(crate) fn keys(&self, present: &[&str]) -> Keys {
        let own = [OVERRIDES].into_iter().chain(SLOTS).filter(|slot| present.contains(slot));
        Keys::new(own.chain(self.slots.iter().map(String::as_str)))
    }

    /// Returns the columns of numbers: the IPC, then those that metrics are computed from.
    pub(crate) fn numbers(&self, present: &[&str]) -> Vec<String> {
        let mut numbers = vec![IPC.to_owned()];
        for metric in &self.metrics {
            let column = source(metric, present);
            if !numbers.iter().any(|known| known == column) {
                numbers.push(column.to_owned());
            }
        }
        numbers
    }
}

/// The columns of `runs` that a comparison reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnsRead {
    /// Columns read as text.
    pub texts: Vec<String>,
    /// Columns read as floats.
    pub numbers: Vec<String>,
}

/// Name of the table in messages.
pub(crate) const RUNS: &str = "the `runs` table";
/// Column of the name that repeats of a workload share.
pub(crate) const WORKLOAD: &str = "workload";
/// Column of the ideal mode under which the workload ran once more.
pub(crate) const BOUND: &str = "bound";
/// Columns that describe a run as a repeat: seed, variant, half of the interval of its cycles, IPC under
/// the ideal mode, and the launches of the trace and those simulated.
pub(crate) const OF_REPEATS: [&str; 8] = [
    "seed",
    "variant",
    "cycles_interval",
    "bound_ipc_thread",
    "kernels",
    "simulated_kernels",
    "ctas",
    "simulated_ctas",
];
/// Column of the metric that every comparison shows.
pub(crate) const IPC: &str = "ipc_thread";

/// Returns the column that a metric is computed from.
fn source<'a>(metric: &'a str, present: &[&str]) -> &'a str {
    match relative(metric) {
        Some((column, _)) if !present.contains(&metric) => column,
        _ => metric,
    }
}
