//! A run beside its baseline.

use crate::load::Load;
use crate::metric::Relation;
use crate::repeats::Repeat;

/// Column of the IPC divided by the baseline's.
pub(crate) const IPC_RATIO: &str = "ipc_ratio";
/// Index of the IPC ratio among the values of a row; the metrics follow.
pub(crate) const RATIO: usize = 1;

/// A run beside its baseline.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Values of the key columns.
    pub(crate) keys: Vec<String>,
    /// How the run differs from its baseline apart from policies.
    pub(crate) mixed: Option<String>,
    /// IPC, its ratio, and metrics.
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) repeat: Repeat,
    pub(crate) load: Load,
    /// Name of an ideal mode of the compared slot, and the IPC under it.
    pub(crate) bound: Option<(String, f64)>,
}

impl Row {
    pub(crate) fn ipc(&self) -> Option<f64> {
        self.values[0]
    }

    /// Returns the IPC under the ideal mode over that of the run.
    pub(crate) fn bound_ratio(&self) -> Option<f64> {
        let (_, ideal) = self.bound.as_ref()?;
        related(*ideal, self.ipc()?, Relation::Ratio)
    }

    /// Returns the name of the ideal mode.
    pub(crate) fn bound_ideal(&self) -> Option<String> {
        self.bound.as_ref().map(|(name, _)| name.clone())
    }
}

/// Relates a value to the baseline's; null if that is not positive.
pub(crate) fn related(value: f64, base: f64, relation: Relation) -> Option<f64> {
    let ratio = (base > 0.0).then(|| value / base)?;
    Some(match relation {
        Relation::Ratio => ratio,
        Relation::Reduction => 1.0 - ratio,
    })
}
