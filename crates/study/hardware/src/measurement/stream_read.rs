//! Bandwidth of reading from DRAM.

use super::bandwidth_dram::{SINK, parameters, stream};
use super::{Measurement, WorkSource};

const NAME: &str = "dram-read";

pub const MEASUREMENT: Measurement = Measurement {
    name: NAME,
    summary: "bandwidth of reading a vector larger than L2",
    parameters,
    parts: WorkSource::Sized(|parameters| stream(NAME, "read", &["from", SINK], parameters)),
};
