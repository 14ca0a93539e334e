//! A network without a machine around it: terminals send packets at random times to where a [`Pattern`] has them go, at
//! several offered loads. All times are network cycles.
//!
//! Every point is measured as Dally and Towles do (Principles and Practices of Interconnection Networks, sections 23.1
//! and 24.3):
//! sources with queues that never fill, packets drawn independently in every cycle, a warm-up that counts nothing, and
//! then all packets generated in a window followed until they have arrived, under unchanged load.

mod error;
mod flow;
mod pattern;
mod point;
mod report;
mod rig;
mod setup;
mod source;
#[cfg(test)]
mod tests;

pub use error::StandaloneError;
pub use pattern::{PATTERNS, Pattern, PatternContext};
pub use point::{Curve, Point, Progress};
pub use report::{Summary, columns, summary};
pub use setup::{Setup, Window};
