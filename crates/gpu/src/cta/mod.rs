//! CTA residency and CTA schedulers.

mod dispatcher;
mod residency;
pub mod scheduler;
#[cfg(test)]
mod tests;

pub use dispatcher::{DispatchError, Dispatcher, KernelSource, Launch};
pub use residency::{CtaNeeds, ResidencyError, SmRoom};
