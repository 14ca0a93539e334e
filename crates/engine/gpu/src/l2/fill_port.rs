//! State of the port from the DRAM channel.

use warpmem_sim::{L2Cycle, PortId};

/// The port from the DRAM channel.
pub(super) struct FillPort {
    pub port: PortId,
    /// First free cycle of the port, shared by fills from DRAM and from the peer slice.
    pub free: L2Cycle,
    /// The fill at its head waits for an entry of the queue to DRAM.
    pub blocked: bool,
}

impl FillPort {
    pub fn new(port: PortId) -> FillPort {
        FillPort { port, free: L2Cycle::ZERO, blocked: false }
    }
}
