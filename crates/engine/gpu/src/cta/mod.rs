//! CTA dispatch: the dispatcher launches kernels and their CTAs, CTA schedulers choose the SM of
//! each CTA, and residency rules bound the CTAs of an SM. Nothing here touches warps or memory.

mod clusters;
mod dispatcher;
mod residency;
pub mod scheduler;
mod sms;
mod start_rate;
#[cfg(test)]
mod tests;

pub use clusters::Release;
pub use dispatcher::{DispatchError, Dispatcher, KernelSource, Launch};
pub(crate) use dispatcher::{Gap, Place};
pub use residency::{ClusterError, CtaNeeds, ResidencyError};
