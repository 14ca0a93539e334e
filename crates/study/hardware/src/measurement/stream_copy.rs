//! Bandwidth of STREAM's copy.

use super::bandwidth_dram::{parameters, stream};
use super::{Measurement, WorkSource};

const NAME: &str = "dram-copy";

pub const MEASUREMENT: Measurement = Measurement {
    name: NAME,
    summary: "bandwidth of STREAM's copy, a = b",
    parameters,
    parts: WorkSource::Sized(|parameters| stream(NAME, "copy", &["from", "to"], parameters)),
};
