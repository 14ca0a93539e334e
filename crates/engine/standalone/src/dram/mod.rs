//! DRAM channels without the rest of the machine, driven by a stream of requests: generated
//! ([`Pattern`]) or read from a file ([`AccessFile`]). All times are cycles of the DRAM command
//! clock.

mod device;
mod drive;
mod error;
mod feed;
mod file;
mod map;
mod outcome;
mod pattern;
mod rate;
mod report;
mod stream;

#[cfg(test)]
mod tests;

pub use device::Device;
pub use drive::{Progress, run, run_with_log};
pub use error::StandaloneError;
pub use file::{Access, AccessFile, Levels, Target};
pub use outcome::{ChannelOutcome, Outcome};
pub use pattern::Pattern;
pub use rate::{Period, Rate, RateText};
pub use report::{Row, columns, rows};
pub use stream::{Mix, Origin, Sources, Stream};
