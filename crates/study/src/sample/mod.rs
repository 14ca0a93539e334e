//! Parts of long traces that stand for the whole, and how wrong they are.
//!
//! A [`Selection`] names kernels and CTAs and becomes a [`Part`] of a trace, which [`write()`] writes as a trace of its own.
//! A [`Plan`] says how a part is sampled: runs of neighbouring CTAs, in strata of launch order and size. Each
//! [`Draw`] from it is a smaller part, and [`estimates`] tells what the sample says about the part and how far that may
//! be off. [`extrapolated`] and [`Estimate::of_replicates`] do so for simulated samples. `docs/sampling.md` has the reasons.
//!
//! Source: Cochran, Sampling Techniques, 3rd edition, 1977.

mod census;
mod estimate;
mod extrapolate;
mod filling;
mod interval;
mod part;
mod plan;
#[cfg(test)]
mod tests;
mod write;

pub use census::{Census, Measures};
pub use estimate::{QUANTITIES, Quantity, QuantityEstimate, estimates};
pub use extrapolate::{
    METRICS, Metric, Ratio, Ratios, Replicate, WholeKernel, extrapolated, measured,
};
pub use filling::Unfilled;
pub use interval::Estimate;
pub use part::{KernelPart, Part, Selection};
pub use plan::{Design, Draw, KernelPlan, Plan, Size, Stratum};
pub use write::write;

use std::ops::ControlFlow;
use warpmem_trace::{BeyondEnd, TraceError};

/// Why no sample was taken.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
    #[error("no kernel's name has `{name}` in it; the kernels are {kernels}")]
    NoSuchKernel { name: String, kernels: String },
    #[error("no CTA is selected: {reason}")]
    Empty { reason: String },
    #[error("the part of a trace cannot take its place; valid: another name")]
    OverItself,
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// How far a pass over a trace is, in CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: u64,
    pub all: u64,
}

/// Told of each CTA; breaks the work off.
pub type ProgressCallback<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Counts the CTAs of a pass.
struct Watch<'a, 'b> {
    progress: Progress,
    callback: &'a mut ProgressCallback<'b>,
}

impl<'a, 'b> Watch<'a, 'b> {
    fn new(part: &Part, callback: &'a mut ProgressCallback<'b>) -> Watch<'a, 'b> {
        Watch { progress: Progress { done: 0, all: part.ctas() }, callback }
    }

    /// One more.
    fn done(&mut self) -> Result<(), SampleError> {
        self.progress.done += 1;
        match (self.callback)(self.progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(SampleError::Interrupted),
        }
    }
}
