//! Bandwidth of STREAM's triad.

use super::bandwidth_dram::{parameters, stream};
use super::{Measurement, WorkSource};

const NAME: &str = "dram-triad";

pub const MEASUREMENT: Measurement = Measurement {
    name: NAME,
    summary: "bandwidth of STREAM's triad, a = b + s c",
    parameters,
    parts: WorkSource::Sized(|parameters| stream(NAME, "triad", &["b", "c", "to"], parameters)),
};
