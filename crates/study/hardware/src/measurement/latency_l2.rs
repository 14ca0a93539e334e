//! L2 latency: a list of 2 MB, which fits every L2 and is eight times the largest L1. After repeated walks a
//! random-replacement L1 retains a share of e^-8 of it, and an LRU L1 nothing. Both lengths include the cold
//! first pass.

use crate::measurement::chase::chase;

use super::{Measurement, WorkSource, sizes};

const NAME: &str = "l2-latency";

pub const MEASUREMENT: Measurement = Measurement {
    name: NAME,
    summary: "cycles of a load that hits L2: a random list of 2 MB",
    parameters: |_| {
        sizes([("bytes", 2 << 20), ("spacing", 128), ("fewer", 1 << 14), ("more", 3 << 14)])
    },
    parts: WorkSource::Sized(|parameters| chase(NAME, "chase", parameters)),
};
