//! DRAM latency: a list of 128 MB in which no line is read twice, so that none hits L2.

use crate::measurement::chase::chase;

use super::{Measurement, WorkSource, sizes};

const NAME: &str = "dram-latency";

pub const MEASUREMENT: Measurement = Measurement {
    name: NAME,
    summary: "cycles of a load from DRAM: a random list of 128 MB, no line read twice",
    parameters: |_| {
        sizes([("bytes", 128 << 20), ("spacing", 128), ("fewer", 1 << 15), ("more", 1 << 16)])
    },
    parts: WorkSource::Sized(|parameters| chase(NAME, "chase", parameters)),
};
