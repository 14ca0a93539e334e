//! Ports that several kinds of unit have alike.

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
