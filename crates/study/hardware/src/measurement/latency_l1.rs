//! L1 latency: a list of 64 lines, which fits every L1.

use crate::measurement::chase::chase;

use super::{Measurement, WorkSource, sizes};

const NAME: &str = "l1-latency";

pub const MEASUREMENT: Measurement = Measurement {
    name: NAME,
    summary: "cycles of a load that hits L1: a random list of 64 lines",
    parameters: |_| {
        sizes([("bytes", 64 << 7), ("spacing", 128), ("fewer", 1 << 11), ("more", 3 << 11)])
    },
    parts: WorkSource::Sized(|parameters| chase(NAME, "chase", parameters)),
};
