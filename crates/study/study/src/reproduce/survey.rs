//! Surveys: every policy of several slots against the machine's own.

use serde::Deserialize;

/// Selection of the surveyed policies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survey {
    /// Scheme with the machine's own policies.
    pub plain: String,
    pub slots: Vec<String>,
    /// Excluded policies.
    #[serde(default)]
    pub except: Vec<String>,
    /// Classes of workloads with a column each.
    pub classes: Vec<String>,
}

/// A surveyed policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surveyed {
    pub slot: &'static str,
    pub policy: &'static str,
}

impl Surveyed {
    /// Returns the name of its scheme: `dram_scheduler: warped-mc`.
    pub fn scheme(&self) -> String {
        format!("{}: {}", self.slot, self.policy)
    }

    /// Returns the override of a machine that selects it.
    pub(super) fn setting(&self) -> String {
        format!("policy.{}={}", self.slot, self.policy)
    }
}
