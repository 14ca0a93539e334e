//! The networks between SMs and L2 slices: one for requests, one for replies. A network moves
//! packets between ports in order and with latency; it never changes a request.

pub mod allocator;
pub mod arbiter;
mod butterfly;
mod config;
mod counts;
mod crossbar;
mod direct;
mod ideal;
pub mod ids;
mod locality;
mod mesh;
mod packet;
mod partitioned;
mod peer_links;
mod placement;
mod ring;
mod router;
mod sm_links;
mod tally;
#[cfg(test)]
mod tests;

use allocator::{ALLOCATORS, AllocatorContext};
pub use config::{Network, NetworkSpec, Switching, VcAssignment};
pub use counts::{LinkEnd, LinkResult, NetworkResult, NodeResult, StreamResult};
use ids::{DestinationId, ExitId, SourceId};
pub use packet::PacketSizes;
pub use peer_links::{LinkTimes, PeerLinks};
pub use placement::Placement;
pub use sm_links::{SmLinkTimes, SmLinks};
use warpmem_params::{Entry, PolicyError, Registry};
use warpmem_sim::{Clock, Context, NetworkClock, NetworkCycle, PortId, Request};

/// The direction in which a network carries packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Request,
    Reply,
}

impl Direction {
    /// Returns the port at which a request leaves the network of this direction.
    #[inline]
    fn exit(self, request: &Request) -> ExitId {
        match self {
            Direction::Request => ExitId(request.place.slice.0),
            Direction::Reply => ExitId(request.sm.0),
        }
    }
}

/// Number of inputs and outputs of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    pub inputs: usize,
    pub outputs: usize,
}

/// A network of some topology. Cycles are network cycles.
pub trait Topology: Send {
    /// Simulates network cycle `cycle`; returns the next cycle that must be simulated without an
    /// earlier arrival.
    fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle>;

    /// Returns the counts over the first `cycles` network cycles. The occupancy of buffers is valid
    /// only when all packets have left them.
    fn so_far(&self, cycles: u64) -> NetworkResult;

    /// Returns the counts over `cycles` network cycles, after all packets have left.
    fn finish(&mut self, cycles: u64) -> NetworkResult {
        self.so_far(cycles)
    }

    /// Returns the flits that each link has carried so far. The occupancy of its buffers is valid
    /// only when all packets have left them.
    fn links(&self) -> Vec<LinkResult>;

    /// Describes the packets in the network, for the deadlock report; empty after all packets have
    /// left.
    fn describe(&self) -> Vec<String>;

    /// Returns the routers that a packet passes from a sending node to a receiving node.
    fn hops(&self, _source: SourceId, _destination: DestinationId) -> u64 {
        1
    }

    /// Returns the cycles of a path from a sending node to a receiving node in addition to those of
    /// its routers and the links after them.
    fn crossing(&self, _source: SourceId, _destination: DestinationId) -> u64 {
        0
    }

    /// Returns its routers, if it consists of routers.
    fn routers(&self) -> Vec<Ports> {
        Vec::new()
    }
}

/// The properties of the machine that a topology is built from.
pub struct NetworkContext {
    pub direction: Direction,
    pub clock: NetworkClock,
    /// Ports of each sending node. Over all nodes in order, their writers are units 0, 1, … of
    /// their domain.
    pub inputs: Vec<Vec<PortId>>,
    /// Ports of each receiving node, in the order of its SMs or slices.
    pub outputs: Vec<Vec<PortId>>,
    pub placement: Placement,
    pub packets: PacketSizes,
    pub network: Network,
    /// Name of the arbitration rule.
    pub arbiter: String,
    /// Number of DRAM channels, and of banks per channel.
    pub channels: usize,
    pub banks: usize,
}

/// All topologies.
pub static TOPOLOGIES: Registry<dyn Topology, NetworkContext> = Registry::new(
    "topology",
    &[
        crossbar::ENTRY,
        partitioned::ENTRY,
        ideal::ENTRY,
        mesh::ENTRY,
        ring::ENTRY,
        butterfly::ENTRY,
    ],
);

type TopologyEntry = Entry<dyn Topology, NetworkContext>;

/// Builds a network of `spec` between the ports of the sending units, `inputs`, and those of the
/// receiving units, `outputs`, each in the order of the units' numbers.
pub fn build(
    spec: &NetworkSpec,
    direction: Direction,
    clock: NetworkClock,
    inputs: Vec<PortId>,
    outputs: Vec<PortId>,
) -> Result<Box<dyn Topology>, PolicyError> {
    connect(spec, &NetworkContext::new(spec, direction, clock, inputs, outputs))
}

/// Builds the network as [`build`] does, but with links of infinite bandwidth, so that no packet
/// waits for another.
///
/// # Errors
/// Returns [`PolicyError`] if [`build`] rejects the machine.
pub fn build_unlimited(
    spec: &NetworkSpec,
    direction: Direction,
    clock: NetworkClock,
    inputs: Vec<PortId>,
    outputs: Vec<PortId>,
) -> Result<Box<dyn Topology>, PolicyError> {
    let context = NetworkContext::new(spec, direction, clock, inputs, outputs);
    let limited = connect(spec, &context)?;
    Ok(ideal::unlimited(&context, &*limited))
}

/// Builds the network of `spec` between the nodes of `context`.
pub fn connect(
    spec: &NetworkSpec,
    context: &NetworkContext,
) -> Result<Box<dyn Topology>, PolicyError> {
    // An unknown allocator is rejected even if the topology uses none.
    let allocator = AllocatorContext { choosers: 0, seed: 0 };
    ALLOCATORS.build(&spec.network.allocator, &allocator)?;
    TOPOLOGIES.build(&spec.topology, context)
}

/// Returns the routers of the request network of `spec`.
///
/// # Errors
/// Returns [`PolicyError`] if there is no such topology, or not for this machine.
pub fn routers(spec: &NetworkSpec) -> Result<Vec<Ports>, PolicyError> {
    let unconnected = |ports: u32| vec![PortId::NONE; ports as usize];
    let (inputs, outputs) = (unconnected(spec.sms), unconnected(spec.slices));
    let network = build(spec, Direction::Request, Clock::new(1), inputs, outputs)?;
    Ok(network.routers())
}

impl NetworkContext {
    /// Builds the context of a network of `spec`; the ports are in the order of the sending and of
    /// the receiving units.
    pub fn new(
        spec: &NetworkSpec,
        direction: Direction,
        clock: NetworkClock,
        inputs: Vec<PortId>,
        outputs: Vec<PortId>,
    ) -> NetworkContext {
        let per_node = spec.network.sms_per_node as usize;
        let nodes = |ports: Vec<PortId>, per_node: usize| -> Vec<Vec<PortId>> {
            ports.chunks(per_node).map(<[PortId]>::to_vec).collect()
        };
        let (inputs, outputs) = match direction {
            Direction::Request => (nodes(inputs, per_node), nodes(outputs, 1)),
            Direction::Reply => (nodes(inputs, 1), nodes(outputs, per_node)),
        };
        NetworkContext {
            direction,
            clock,
            inputs,
            outputs,
            placement: Placement::of(spec, direction),
            packets: PacketSizes::new(spec),
            network: spec.network.clone(),
            arbiter: spec.arbiter.clone(),
            channels: spec.channels as usize,
            banks: spec.banks as usize,
        }
    }
}
