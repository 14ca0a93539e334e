//! Regions: parts of a machine that can be stepped concurrently.
//!
//! A region owns the ports that its SMs and slices read or write, and the requests in them. Units
//! of different regions interact only through the networks, which are stepped alone and move
//! requests between the ports of regions:
//!
//! ```text
//!   region 0                region 1
//!   channels, slices   ∥    channels, slices      each region on a thread of its own
//!   ───────────────── networks ────────────────   one thread, all regions
//!   SMs                ∥    SMs                   each region on a thread of its own
//! ```
//!
//! A request that moves to another region is a guest there: it has a row in that region's table until
//! it returns or is removed. A machine that is stepped by one thread is one region.

use crate::{Clock, Domain, Fabric, PortId, RequestId, RequestTable, Ticks};

/// The ports and requests of a region.
pub struct Region {
    pub fabric: Fabric,
    pub requests: RequestTable,
}

impl Region {
    /// Creates region `number`. `units`: number of units of the machine in each domain.
    pub fn new(
        number: usize,
        clocks: [Clock; Domain::COUNT],
        units: [usize; Domain::COUNT],
    ) -> Region {
        Region { fabric: Fabric::new(number, clocks, units), requests: RequestTable::new(number) }
    }
}

/// Pops as [`Fabric::pop`], and prefetches the request behind the new head into the host's caches: the
/// new head may be read at once.
#[inline]
pub fn pop(fabric: &mut Fabric, requests: &RequestTable, port: PortId, now: Ticks) -> RequestId {
    let taken = fabric.pop(port, now);
    if let Some(second) = fabric.second(port) {
        requests.will_be_read(second);
    }
    taken
}

/// Frees the home rows of requests that were removed as guests of another region.
pub fn free_left(regions: &mut [Region]) {
    let take = |region: &mut Region| region.requests.take_left();
    while let Some(home) = regions.iter_mut().find_map(take) {
        // The home row may be a guest itself.
        regions[home.region()].requests.remove(home);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Context, PortId, Ticks, UnitId, test_map, test_request};

    /// Two regions, with a port from SM 0 of the first to a network and one from the network to slice
    /// 0 of the second.
    fn machine() -> (Vec<Region>, PortId, PortId) {
        let clocks = [1; Domain::COUNT].map(Clock::new);
        let mut regions: Vec<Region> =
            (0..2).map(|number| Region::new(number, clocks, [1; Domain::COUNT])).collect();
        let [sm, network, slice] =
            [Domain::Core, Domain::Network, Domain::L2].map(|domain| UnitId { domain, index: 0 });
        let from = regions[0].fabric.add_port("from", 0, 1, sm, network);
        let to = regions[1].fabric.add_port("to", 0, 1, network, slice);
        (regions, from, to)
    }

    #[test]
    fn a_network_moves_requests_between_regions() {
        let (mut regions, from, to) = machine();
        let map = test_map(1, 1);
        let sent = test_request(&mut regions[0].requests, 128);
        regions[0].fabric.push(from, sent, Ticks(1));
        let ctx = &mut Context { regions: &mut regions, map: &map };
        assert_eq!(ctx.take_arrivals(0)[0], 1);
        assert_eq!(ctx.ready(from, Ticks(1)), Some(sent));
        let taken = ctx.pop(from, Ticks(1));
        ctx.push(to, taken, Ticks(2));
        let guest = regions[1].fabric.pop(to, Ticks(2));
        assert_ne!(guest, sent);
        assert_eq!(regions[1].requests.get(guest).address, 128);
        assert_eq!(regions[1].fabric.due(Domain::L2, Ticks(2)), 1, "the slice is awake");
        regions[1].requests.remove(guest);
        free_left(&mut regions);
        assert_eq!(regions[0].requests.in_flight(), 0);
    }
}
