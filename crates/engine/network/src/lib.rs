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

use allocator::{ALLOCATORS, Allocator, AllocatorContext};
use arbiter::{ARBITERS, Arbiter, ArbiterContext};
pub use config::{Network, NetworkSpec, Switching, VcAssignment};
pub use counts::{LinkEnd, LinkResult, NetworkResult, NodeResult, StreamResult};
use ids::{DestinationId, ExitId, SourceId};
pub use packet::PacketSizes;
pub use peer_links::{LinkTimes, PeerLinks};
pub use placement::Placement;
pub use sm_links::{SmLinkTimes, SmLinks};
use warpmem_params::{Chosen, Entry, PolicyError, Registry};
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
    pub policies: NetworkPolicies,
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

/// The policies of a network.
#[derive(Clone)]
pub struct NetworkPolicies {
    pub topology: Chosen<dyn Topology, NetworkContext>,
    pub arbiter: Chosen<dyn Arbiter, ArbiterContext>,
    /// Chosen even if the topology uses none, so that an unknown name is rejected.
    pub allocator: Chosen<dyn Allocator, AllocatorContext>,
}

impl NetworkPolicies {
    /// Chooses the policies that `spec` names.
    ///
    /// # Errors
    /// Returns [`PolicyError`] if there is no such policy or parameter.
    pub fn choose(spec: &NetworkSpec) -> Result<NetworkPolicies, PolicyError> {
        Ok(NetworkPolicies {
            topology: TOPOLOGIES.choose(&spec.topology)?,
            arbiter: ARBITERS.choose(&spec.arbiter)?,
            allocator: ALLOCATORS.choose(&spec.network.allocator)?,
        })
    }
}

/// Builds a network of `spec` between the ports of the sending units, `inputs`, and those of the
/// receiving units, `outputs`, each in the order of the units' numbers.
pub fn build(
    spec: &NetworkSpec,
    policies: &NetworkPolicies,
    direction: Direction,
    clock: NetworkClock,
    inputs: Vec<PortId>,
    outputs: Vec<PortId>,
) -> Result<Box<dyn Topology>, PolicyError> {
    NetworkContext::new(spec, policies, direction, clock, inputs, outputs).connect()
}

/// Builds the network as [`build`] does, but with links of infinite bandwidth, so that no packet
/// waits for another.
///
/// # Errors
/// Returns [`PolicyError`] if [`build`] rejects the machine.
pub fn build_unlimited(
    spec: &NetworkSpec,
    policies: &NetworkPolicies,
    direction: Direction,
    clock: NetworkClock,
    inputs: Vec<PortId>,
    outputs: Vec<PortId>,
) -> Result<Box<dyn Topology>, PolicyError> {
    let context = NetworkContext::new(spec, policies, direction, clock, inputs, outputs);
    let limited = context.connect()?;
    Ok(ideal::unlimited(&context, &*limited))
}

/// Returns the routers of the request network of `spec`.
///
/// # Errors
/// Returns [`PolicyError`] if the policies do not fit the machine.
pub fn routers(spec: &NetworkSpec, policies: &NetworkPolicies) -> Result<Vec<Ports>, PolicyError> {
    let unconnected = |ports: u32| vec![PortId::NONE; ports as usize];
    let (inputs, outputs) = (unconnected(spec.sms), unconnected(spec.slices));
    let network = build(spec, policies, Direction::Request, Clock::new(1), inputs, outputs)?;
    Ok(network.routers())
}

impl NetworkContext {
    /// Builds the context of a network of `spec`; the ports are in the order of the sending and of
    /// the receiving units.
    pub fn new(
        spec: &NetworkSpec,
        policies: &NetworkPolicies,
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
            policies: policies.clone(),
            channels: spec.channels as usize,
            banks: spec.banks as usize,
        }
    }

    /// Builds the network between its nodes.
    ///
    /// # Errors
    /// Returns [`PolicyError`] if its policies do not fit the machine.
    pub fn connect(&self) -> Result<Box<dyn Topology>, PolicyError> {
        self.policies.topology.build(self)
    }
}
