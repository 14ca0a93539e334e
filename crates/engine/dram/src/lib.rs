//! DRAM channels at command level.
//!
//! A [`Channel`] accepts requests for its banks, chooses among them with a
//! [`scheduler::Scheduler`], and issues their commands in cycles that the timing table allows. All
//! times are cycles of the DRAM command clock. The channel is event driven: [`Channel::step`]
//! returns the next cycle with work.
//!
//! Data are not modelled, so no request waits for another to the same address: a read after a write
//! that is still in the write queue is served as if the cache above had forwarded the data.

mod agenda;
mod bench;
mod by_bank;
mod channel;
pub mod checker;
mod command_sink;
mod config;
mod constraint;
mod counts;
mod durations;
mod energy;
mod given_times;
pub mod page;
pub mod prefetch;
mod queue;
mod request;
mod row_sharing;
pub mod scheduler;
mod sets;
pub mod standard;
mod timing;

#[cfg(test)]
mod tests;

pub use bench::order_of_service;
pub use channel::Channel;
pub use command_sink::CommandSink;
pub use config::{DoneWith, Dram, Power, QueueOrganisation, Timing};
pub use constraint::{Constraint, Scope};
pub use counts::{BankResult, Breaker, ChannelResult, SharedRows};
pub use energy::{Activity, Energy};
pub use given_times::{GivenTime, GivenTimes};
pub use request::{Command, CommandKind, Completion, DramRequest, RowOutcome};
pub use row_sharing::RowSharing;
pub use timing::constraints;

/// Most banks of one channel: the channel keeps them in 64-bit masks.
pub const MAX_BANKS: u32 = 64;
