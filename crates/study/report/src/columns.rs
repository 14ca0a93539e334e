//! Names of columns of the runs.

/// Column of [`Study::runs`](crate::Study::runs): policies of the varying slots, separated by
/// slashes.
pub const POLICY: &str = "policy";
/// Column of [`Study::runs`](crate::Study::runs): machine, with its overrides if they vary; for a
/// single machine, only the overrides.
pub const SETTING: &str = "setting";
/// Column of [`Study::runs`](crate::Study::runs): IPC relative to the baseline.
pub const RATIO: &str = "ipc_ratio";

/// Columns of [`Study::means`](crate::Study::means) and
/// [`Study::workloads`](crate::Study::workloads): the ends of the 95 % interval of [`RATIO`], null
/// where the noise is not known.
pub const LOW: &str = "ipc_ratio_low";
pub const HIGH: &str = "ipc_ratio_high";

/// Column of [`Study::runs`](crate::Study::runs): whether a run is the baseline in the slots named
/// by the baseline.
pub const IS_BASELINE: &str = "is the baseline";
/// Column of [`Study::runs`](crate::Study::runs): [`POLICY`] of the run's baseline.
pub const BESIDE: &str = "policy of the baseline";

/// Column of [`Study::pairs`](crate::Study::pairs): `equal`, `above` or `below`, null where the noise is not
/// known.
pub const VERDICT: &str = "verdict";
/// Column of `runs`: number of the irrelevant variant of the machine, 0 for the machine itself.
pub const VARIANT: &str = "variant";
/// Column of `runs` with the overrides of machine parameters.
pub const OVERRIDES: &str = "overrides";
/// Name of runs without overrides in a comparison.
pub const NO_OVERRIDE: &str = "none";
