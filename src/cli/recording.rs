//! What is recorded of runs beside their counts.

use std::num::NonZeroU64;
use warpmem::gpu::results::RequestSample;
use warpmem::record::Recorded;

/// Streams that a results directory gets only where they are asked for.
#[derive(clap::Args, Debug)]
pub struct RecordingOptions {
    /// Record the whole machine every N core cycles, as a time series in `intervals/` of the directory
    #[arg(long, value_name = "N", requires = "output")]
    intervals: Option<NonZeroU64>,
    /// Record requests with the times of their way in `requests/` of the directory: all of them, or about one in N
    #[arg(long, value_name = "all|1/N", requires = "output")]
    requests: Option<RequestSample>,
}

impl RecordingOptions {
    /// What goes into a results directory: every load, and what was asked for.
    pub fn recorded(&self) -> Recorded {
        Recorded { loads: true, intervals: self.intervals, requests: self.requests }
    }
}
