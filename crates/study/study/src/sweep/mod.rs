//! Sweeps: plans of runs, and the execution of those without results.
//!
//! ```text
//! plan     the content of the plan's file, without opening a trace or building a machine
//!   ▲
//! traces   the traces that it names, some of them generated
//!   ▲
//! expand   the cells that it defines, and their baselines
//!   ▲
//! execute  runs the cells without results, on several threads
//! ```

mod baseline;
mod design;
mod error;
mod execute;
mod expand;
mod gather;
mod plan;
mod planned;
mod shard;
mod traces;
mod values;

pub use baseline::Baselines;
pub use design::{Design, Factor, Levels, points};
pub use error::{ExpandError, PlanError, SweepError};
pub use execute::{Failure, Listed, Outcome, Run, Started, Sweep, Watcher, listed};
pub use expand::{Expansion, Unfit, expand};
pub use plan::{Case, Part, Plan, Repeat};
pub use planned::Planned;
pub use shard::Shard;
pub use traces::{Generate, TracesError, generated, open};
pub use values::{Interval, PolicyNames, Scalar, Scale, Values};
