//! CTA residency and CTA schedulers.

mod alike;
mod clusters;
mod dispatcher;
mod residency;
pub mod scheduler;
#[cfg(test)]
mod tests;

pub use alike::{LaunchShare, Launches};
pub use clusters::Release;
pub use dispatcher::{DispatchError, Dispatcher, KernelSource, Launch};
pub use residency::{ClusterError, CtaNeeds, ResidencyError, SmRoom};
