//! Ports that several units or parts of a unit use alike.

use warpmem_sim::PortId;

/// The ports between a unit and its peers of the same kind: requests and replies, in both directions.
#[derive(Clone, Copy, Debug)]
pub struct DuplexPorts {
    /// To the peers: requests of this unit.
    pub requests_out: PortId,
    /// From the peers: requests to this unit.
    pub requests_in: PortId,
    /// To the peers: replies of this unit.
    pub replies_out: PortId,
    /// From the peers: replies to this unit.
    pub replies_in: PortId,
}

/// The ports of a slice.
#[derive(Clone, Copy, Debug)]
pub struct SlicePorts {
    /// From the request network.
    pub requests: PortId,
    /// To the reply network.
    pub replies: PortId,
    /// To the DRAM channel.
    pub misses: PortId,
    /// From the DRAM channel.
    pub fills: PortId,
    /// From and to the page walkers; none on a machine whose walks do not use the L2.
    pub walks: Option<warpmem_translation::SlicePorts>,
}
