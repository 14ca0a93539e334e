//! The latency of L2: a list of 2 MB, which every L2 holds and eight times what the largest L1 does. Of
//! lists that are walked again and again, an L1 that replaces at random keeps e^-8 then, and one that
//! replaces the least recently used nothing. The first pass is in both lengths.

use crate::measurement::chase::chase;

use super::{Measurement, Parts, sizes};

const NAME: &str = "l2-latency";

pub const MEASUREMENT: Measurement = Measurement {
    name: NAME,
    summary: "cycles of a load that hits L2: a random list of 2 MB",
    parameters: |_| {
        sizes([("bytes", 2 << 20), ("spacing", 128), ("fewer", 1 << 14), ("more", 3 << 14)])
    },
    parts: Parts::Sized(|parameters| chase(NAME, "chase", parameters)),
};
