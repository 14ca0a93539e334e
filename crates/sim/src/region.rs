//! Regions: parts of a machine that can be stepped side by side.
//!
//! A region has the ports that its SMs and slices read or write, and the requests that are in them.
//! Units of different regions meet only in the networks, which are stepped while nothing else is, and
//! pass requests from the ports of one region to those of another:
//!
//! ```text
//!   region 0                region 1
//!   channels, slices   ∥    channels, slices      each region on a thread of its own
//!   ───────────────── networks ────────────────   one thread, all regions
//!   SMs                ∥    SMs                   each region on a thread of its own
//! ```
//!
//! A request that is passed to another region is a guest there: it has a row in that region's table
//! until it comes home or leaves the machine. A machine that is stepped by one thread is one region.

use crate::{Clock, Domain, Fabric, RequestTable};

/// Low bits of the name of a port or a request, which give its index in its region.
const INDEX_BITS: u32 = 26;

/// Most regions of a machine.
pub const MAX_REGIONS: usize = 1 << (u32::BITS - INDEX_BITS);

/// The name of number `index` of a region.
#[inline]
pub(crate) fn name(region: usize, index: usize) -> u32 {
    assert!(index < 1 << INDEX_BITS, "a region has 2^{INDEX_BITS} requests and ports at most");
    (region as u32) << INDEX_BITS | index as u32
}

#[inline]
pub(crate) fn index(name: u32) -> usize {
    (name & ((1 << INDEX_BITS) - 1)) as usize
}

#[inline]
pub(crate) fn of(name: u32) -> usize {
    (name >> INDEX_BITS) as usize
}

/// The ports and requests of a region.
pub struct Region {
    pub fabric: Fabric,
    pub requests: RequestTable,
}

impl Region {
    /// Region `number` of a machine with so many `units` in each domain.
    pub fn new(
        number: usize,
        clocks: [Clock; Domain::COUNT],
        units: [usize; Domain::COUNT],
    ) -> Region {
        Region { fabric: Fabric::new(number, clocks, units), requests: RequestTable::new(number) }
    }
}

/// Frees the rows of requests that have left the machine as guests of another region.
pub fn free_left(regions: &mut [Region]) {
    for at in 0..regions.len() {
        while let Some(home) = regions[at].requests.take_left() {
            regions[home.region()].requests.remove(home);
        }
    }
}
