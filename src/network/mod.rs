//! The networks between SMs and LLC slices: one for requests, one for replies.

pub mod arbiter;
mod crossbar;
#[cfg(test)]
mod tests;

use crate::engine::{Clock, Context, PortId, Request, RequestKind};
use crate::machine::Machine;
use crate::registry::{Entry, PolicyError, Registry};
use arbiter::{ARBITERS, Arbiter, ArbiterContext};

/// Which way a network carries packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Request,
    Reply,
}

/// A network of some topology.
pub trait Topology: Send {
    /// One turn at network cycle `cycle`; when the next turn is due if nothing arrives.
    fn step(&mut self, cycle: u64, ctx: &mut Context) -> Option<u64>;
}

/// What a topology is built for.
pub struct NetworkContext {
    pub direction: Direction,
    pub clock: Clock,
    pub inputs: Vec<PortId>,
    pub outputs: Vec<PortId>,
    pub packets: PacketSizes,
    pub latency: u64,
    /// Packets that an input may send in a cycle.
    pub input_speedup: u32,
    /// Name of the arbitration rule.
    pub arbiter: String,
}

impl NetworkContext {
    /// An arbiter for all outputs.
    fn arbiter(&self) -> Result<Box<dyn Arbiter>, PolicyError> {
        let context = ArbiterContext { inputs: self.inputs.len(), outputs: self.outputs.len() };
        ARBITERS.build(&self.arbiter, &context)
    }
}

/// Every topology.
pub static TOPOLOGIES: Registry<dyn Topology, NetworkContext> =
    Registry { slot: "topology", entries: &[crossbar::ENTRY] };

type TopologyEntry = Entry<dyn Topology, NetworkContext>;

/// Builds a network between `inputs` and `outputs`.
pub fn build(
    machine: &Machine,
    direction: Direction,
    clock: Clock,
    inputs: Vec<PortId>,
    outputs: Vec<PortId>,
) -> Result<Box<dyn Topology>, PolicyError> {
    let context = NetworkContext {
        direction,
        clock,
        inputs,
        outputs,
        packets: PacketSizes::new(machine),
        latency: u64::from(machine.network.latency),
        input_speedup: machine.network.input_speedup,
        arbiter: machine.policy.arbiter.clone(),
    };
    TOPOLOGIES.build(&machine.policy.topology, &context)
}

/// Flits of each kind of packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketSizes {
    header: u64,
    data: u64,
    sector_bytes: u64,
    header_bytes: u64,
    flit_bytes: u64,
}

impl PacketSizes {
    pub fn new(machine: &Machine) -> PacketSizes {
        let sector_bytes = u64::from(machine.llc.cache.sector_bytes);
        let header_bytes = u64::from(machine.network.header_bytes);
        let flit_bytes = u64::from(machine.network.flit_bytes);
        PacketSizes {
            header: header_bytes.div_ceil(flit_bytes).max(1),
            data: (header_bytes + sector_bytes).div_ceil(flit_bytes),
            sector_bytes,
            header_bytes,
            flit_bytes,
        }
    }

    /// Flits of a packet: data travel down with stores, write-backs and atomics, up with reads and atomics.
    #[inline]
    pub fn flits(&self, direction: Direction, request: &Request) -> u64 {
        match (direction, request.kind) {
            (_, RequestKind::Atomic) => self.data,
            (Direction::Request, RequestKind::Writeback) => {
                let bytes =
                    self.header_bytes + u64::from(request.sectors.count_ones()) * self.sector_bytes;
                bytes.div_ceil(self.flit_bytes)
            }
            (Direction::Request, RequestKind::Write) => self.data,
            (Direction::Request, _) | (Direction::Reply, RequestKind::Write) => self.header,
            (Direction::Reply, _) => self.data,
        }
    }
}
