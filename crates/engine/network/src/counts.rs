//! The results of a network. All values are integers.

use serde::Serialize;
use warpmem_sim::{Histogram, Times, Weigh, add_fields, weigh_fields};

/// Counts of the packets that a node has sent, or has received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NodeResult {
    pub packets: u64,
    pub flits: u64,
    /// Sum over packets sent of the network cycles that they waited at the node after they could
    /// have left.
    pub wait_cycles: u64,
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum LinkEnd {
    /// A sending node.
    Source(u32),
    Router(u32),
    /// A receiving node.
    Destination(u32),
}

/// A link of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinkResult {
    pub from: LinkEnd,
    pub to: LinkEnd,
    /// Flits carried.
    pub flits: u64,
    /// Capacity in flits of the buffers at its end, over all virtual channels; 0 if flits do not
    /// wait there.
    pub buffer_flits: u64,
    /// Sum over cycles of the flits in these buffers.
    pub buffer_flit_cycles: u64,
}

/// Row locality of the requests that pass a point, as if each bank kept its last row open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamResult {
    pub requests: u64,
    /// Requests to another row than the previous request to the same bank.
    pub rows: u64,
}

/// Counts of one network over the run. Cycles are network cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NetworkResult {
    pub cycles: u64,
    /// Cycles from the one in which a packet could enter the network until its receiver can take
    /// it.
    pub latency: Histogram,
    /// Parts of the sum of all latencies: waiting at the source; routers and links on the path; one
    /// cycle per flit; and waiting for other packets on the path.
    pub wait_cycles: u64,
    pub pipeline_cycles: u64,
    pub serialisation_cycles: u64,
    pub contention_cycles: u64,
    /// Sum over packets of the routers passed.
    pub hops: u64,
    pub sources: Vec<NodeResult>,
    pub destinations: Vec<NodeResult>,
    pub links: Vec<LinkResult>,
    /// Packets sent to a contended receiving node, by node: at least a quarter of the sources, four
    /// times its even share of them, and four sources had their next packet for it. Empty if
    /// packets do not meet in one switch.
    pub crowded: Vec<u64>,
    /// Requests of each SM as they enter the network, and of each channel as they leave it (Yuan
    /// 2009, Figures 1 and 6); empty for the reply network.
    pub before: Vec<StreamResult>,
    pub after: Vec<StreamResult>,
}

impl NetworkResult {
    /// Returns the flits that entered.
    pub fn flits(&self) -> u64 {
        self.sources.iter().map(|source| source.flits).sum()
    }
}

add_fields!(StreamResult { requests, rows });

weigh_fields!(NodeResult { packets, flits, wait_cycles });

impl Default for LinkResult {
    fn default() -> LinkResult {
        let (from, to) = (LinkEnd::Router(0), LinkEnd::Router(0));
        LinkResult { from, to, flits: 0, buffer_flits: 0, buffer_flit_cycles: 0 }
    }
}

/// The occupancy of buffers is valid only when all packets have left them.
impl Weigh for LinkResult {
    fn weigh(&mut self, before: &LinkResult, after: &LinkResult, times: Times) {
        (self.from, self.to) = (after.from, after.to);
        self.flits.weigh(&before.flits, &after.flits, times);
    }
}

weigh_fields!(NetworkResult {
    cycles,
    latency,
    wait_cycles,
    pipeline_cycles,
    serialisation_cycles,
    contention_cycles,
    hops,
    sources,
    destinations,
    links,
    crowded,
    before,
    after,
});
