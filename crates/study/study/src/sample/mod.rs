//! Representative samples of long traces, and their errors.
//!
//! A [`Selection`] names kernels and CTAs and yields a [`Part`] of a trace, which [`write()`]
//! writes as a separate trace. A [`Plan`] defines how a part is sampled: it cuts each kernel into
//! *runs* of neighbouring CTAs and groups the runs into *strata*, first by launch order and then by
//! size. A [`Draw`] selects some runs of every stratum at random.
//!
//! ```text
//! launch order ─────────────────────────────────────────▶
//! CTAs    0 1 2 3 4 5 6 7 8 9 ...
//! runs    │ a │ b │ c │ d │ e │ f │ g │ h │ i │ j │ ...   neighbouring CTAs, drawn together
//! blocks  └────────── 0 ──────────┘└────────── 1 ─ ...    by launch order
//! strata  block 0, light runs: { a c d }   draw: a d      by size; at least 2 runs drawn of each
//!         block 0, heavy runs: { b e f }   draw: e b
//! ```
//! [`estimates`] returns totals and ratios of the part, estimated from the sample, with their standard
//! errors.
//!
//! `docs/sampling.md` explains the method.
//!
//! Source: Cochran, Sampling Techniques, 3rd edition, 1977.

mod census;
mod estimate;
mod interval;
mod part;
mod plan;
mod taken;
#[cfg(test)]
mod tests;
mod write;

pub use census::{Census, Measures};
pub use estimate::{QUANTITIES, Quantity, QuantityEstimate, estimates};
pub use interval::Estimate;
pub use part::{KernelPart, Part, Selection};
pub use plan::{Design, Draw, KernelPlan, Plan, Size, Stratum};
pub use taken::{Taken, provenance};
pub use write::write;

use std::ops::ControlFlow;
use warpmem_trace::{BeyondEnd, TraceError};

/// Reason why a sample could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
    #[error("no kernel's name contains `{name}`; the kernels are {kernels}")]
    NoSuchKernel { name: String, kernels: String },
    #[error("no CTA is selected: {reason}")]
    Empty { reason: String },
    #[error(
        "CTAs {first} to {last} of kernel {kernel} form a cluster and are only partly selected; valid: all or none"
    )]
    DividedCluster { kernel: usize, first: u32, last: u32 },
    #[error("the part of a trace cannot overwrite the trace; valid: another name")]
    OverItself,
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// Progress of a pass over a trace, in CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: u64,
    pub all: u64,
}

/// Callback after each CTA; may stop the pass.
pub type ProgressCallback<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Counts the CTAs of a pass.
struct PartProgress<'a, 'b> {
    progress: Progress,
    callback: &'a mut ProgressCallback<'b>,
}

impl<'a, 'b> PartProgress<'a, 'b> {
    fn new(part: &Part, callback: &'a mut ProgressCallback<'b>) -> PartProgress<'a, 'b> {
        PartProgress { progress: Progress { done: 0, all: part.ctas() }, callback }
    }

    /// Counts another CTA.
    fn done(&mut self) -> Result<(), SampleError> {
        self.progress.done += 1;
        match (self.callback)(self.progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(SampleError::Interrupted),
        }
    }
}
