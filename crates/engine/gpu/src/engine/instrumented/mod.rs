//! Measurements of the engine itself: how evenly its steps fall on the regions of a machine, and how
//! many of them change nothing. Only tests and builds with the feature `instrumented` can run them.

mod balance;
mod idle_steps;

pub use balance::WorkBalance;
pub(super) use idle_steps::State;
pub use idle_steps::StepCounts;
#[cfg(any(test, feature = "instrumented"))]
pub use idle_steps::Steps;
