//! Names of columns of the runs.

/// Column of [`Study::runs`](crate::Study::runs): the policies of the varying slots, with slashes between.
pub const POLICY: &str = "policy";
/// Column of [`Study::runs`](crate::Study::runs): the machine, with its overrides if they vary; of a single machine, the overrides alone.
pub const SETTING: &str = "setting";
/// Column of [`Study::runs`](crate::Study::runs): IPC relative to the baseline.
pub const RATIO: &str = "ipc_ratio";

/// Column of [`Study::runs`](crate::Study::runs): whether a run is the baseline in the slots that the baseline names.
pub const IS_BASELINE: &str = "is the baseline";
/// Column of [`Study::runs`](crate::Study::runs): the [`POLICY`] of the baseline of a run.
pub const BESIDE: &str = "policy of the baseline";

/// Column of `runs` with the overrides of the machine's parameters.
pub const OVERRIDES: &str = "overrides";
/// Name of runs without overrides in a comparison.
pub const NO_OVERRIDE: &str = "none";
