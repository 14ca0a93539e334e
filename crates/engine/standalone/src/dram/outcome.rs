//! The outcome of a run, for all channels and for each.

use super::Device;
use warpmem_dram::ChannelResult;
use warpmem_params::Counter;
use warpmem_sim::Histogram;

/// A finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub device: Device,
    /// The stream with all its parameters.
    pub stream: String,
    pub scheduler: String,
    /// Interpretation of the stream's file where its lines leave it open.
    pub note: Option<&'static str>,
    pub channels: Vec<ChannelOutcome>,
}

/// The results of one channel.
#[derive(Clone, Debug)]
pub struct ChannelOutcome {
    /// Counts up to the end of its last data.
    pub counts: ChannelResult,
    /// Cycles from entering the channel's queue to the last datum.
    pub read_latency: Histogram,
    pub write_latency: Histogram,
    /// Delay from the cycle of a request until the queue accepts it, for requests with a cycle.
    pub delay: Histogram,
    /// The scheduler's own counts.
    pub counters: Vec<Counter>,
}
