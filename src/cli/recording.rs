//! Options that record loads, requests and intervals besides the counts of a run.

use crate::gpu::results::RequestSample;
use crate::record::Recorded;
use std::num::NonZeroU64;

/// Records that a results directory contains only if they are asked for.
#[derive(clap::Args, Debug)]
pub struct RecordingOptions {
    /// Record the whole machine every N core cycles, as a time series in `intervals/` of the
    /// directory
    #[arg(long, value_name = "N", requires = "output")]
    intervals: Option<NonZeroU64>,
    /// Record the timestamps of requests, in `requests/` of the directory: of all requests, or of
    /// about one in N
    #[arg(long, value_name = "all|1/N", requires = "output")]
    requests: Option<RequestSample>,
}

impl RecordingOptions {
    /// Returns the recorded contents of a results directory: every load, and the requested
    /// recordings.
    pub fn recorded(&self) -> Recorded {
        Recorded { loads: true, intervals: self.intervals, requests: self.requests }
    }
}
