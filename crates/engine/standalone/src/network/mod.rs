//! A network without the rest of the machine: terminals send packets at random times to
//! destinations of a [`Pattern`], at several offered loads. All times are network cycles.
//!
//! Every point is measured as by Dally and Towles (Principles and Practices of Interconnection
//! Networks, sections 23.1 and 24.3): sources have infinite queues, and packets are drawn
//! independently in every cycle. Nothing is counted during the warm-up. Then all packets generated
//! in a window are followed until they have arrived, under unchanged load.

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
