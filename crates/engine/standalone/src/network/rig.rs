//! A network between ports.

use super::{Setup, StandaloneError};
use warpmem_network::{
    Direction, NetworkContext, NetworkPolicies, PacketSizes, Placement, Topology,
};
use warpmem_sim::{
    Bench, Context, Domain, Location, NetworkCycle, PortId, Request, RequestId, RequestKind,
    SliceId, SmId, Ticks, UnitId,
};

/// The terminals. A source is stepped when the network has taken a packet from it.
pub(super) trait Terminals {
    /// Called when the network has taken a packet from the port of a source, which now holds
    /// `held`.
    fn taken(&mut self, source: usize, held: usize, cycle: u64, entrance: &mut Entrance);

    /// Called when a packet has arrived at its destination.
    fn arrived(&mut self, packet: RequestId, cycle: u64);
}

/// Access of a source to the network.
pub(super) struct Entrance<'a, 'b> {
    port: PortId,
    direction: Direction,
    ctx: &'a mut Context<'b>,
}

impl Entrance<'_, '_> {
    /// Returns whether there is room for a packet.
    pub fn has_room(&self) -> bool {
        self.ctx.regions[0].fabric.room(self.port) > 0
    }

    /// Adds a packet that can enter from `cycle` on.
    pub fn push(
        &mut self,
        source: usize,
        destination: usize,
        address: u64,
        cycle: u64,
    ) -> RequestId {
        let (sm, slice) = match self.direction {
            Direction::Request => (source, destination),
            Direction::Reply => (destination, source),
        };
        let place = Location { slice: SliceId::new(slice), ..self.ctx.map.locate(address) };
        let request = Request::of_slice(address, RequestKind::Read, place);
        let request = Request { sm: SmId::new(sm), ..request };
        let packet = self.ctx.regions[0].requests.add(request, Ticks(cycle));
        self.ctx.regions[0].fabric.push(self.port, packet, Ticks(cycle));
        packet
    }
}

/// A network, its input and output ports, and the schedule of their steps. Its cycles are ticks.
pub(super) struct Rig {
    bench: Bench,
    network: Box<dyn Topology>,
    direction: Direction,
    inputs: Vec<PortId>,
    outputs: Vec<PortId>,
    /// Capacity of an input port, packets.
    room: usize,
    /// Cycle of the last step.
    now: u64,
}

fn unit(domain: Domain, index: usize) -> UnitId {
    UnitId { domain, index: index as u32 }
}

impl Rig {
    /// Builds the network of a setup.
    ///
    /// # Errors
    /// Returns an error if the topology or the arbiter is unknown or does not fit.
    pub fn new(setup: &Setup) -> Result<Rig, StandaloneError> {
        let Setup { machine, pattern, .. } = setup;
        let (sources, destinations) = (pattern.sources, pattern.destinations);
        let map = machine.address_map()?;
        let spec = machine.network_spec();
        let policies = NetworkPolicies::choose(&spec)?;
        let mut bench = Bench::new(machine.clocks.by_domain(), [0, destinations, 2, sources], map);
        let fabric = &mut bench.region.fabric;
        let direction = pattern.direction;
        let network = unit(Domain::Network, direction as usize);
        // Enough for the packets that may leave in a cycle: a source refills its port after the
        // network's step.
        let room = machine.network.input_speedup as usize;
        let input = |n| fabric.add_port("source", n, room, unit(Domain::Core, n), network);
        let inputs: Vec<PortId> = (0..sources).map(input).collect();
        let entries = machine.network.output_buffer as usize;
        let output = |n| fabric.add_port("destination", n, entries, network, unit(Domain::L2, n));
        let outputs: Vec<PortId> = (0..destinations).map(output).collect();
        let clock = fabric.clock_of();
        let (ins, outs) = (inputs.clone(), outputs.clone());
        let mut context = NetworkContext::new(&spec, &policies, direction, clock, ins, outs);
        context.packets = PacketSizes::fixed(setup.packet_flits);
        if let Some(nodes) = pattern.nodes {
            context.placement = Placement::all_to_all(nodes);
        }
        let network = context.connect()?;
        Ok(Rig { bench, network, direction, inputs, outputs, room, now: 0 })
    }

    /// Returns the limit of the addresses of packets, bytes.
    pub fn address_space(&self) -> u64 {
        self.bench.map.capacity()
    }

    /// Returns the time of the last event.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns the time of the next event.
    pub fn next(&self) -> Option<u64> {
        self.bench.next().map(|at| at.0)
    }

    /// Adds a packet that can enter the network from `cycle` on.
    pub fn push(&mut self, source: usize, destination: usize, cycle: u64) {
        let (port, direction) = (self.inputs[source], self.direction);
        let mut entrance = Entrance { port, direction, ctx: &mut self.bench.context() };
        entrance.push(source, destination, 0, cycle);
    }

    /// Lets every source fill its port before the first step.
    pub fn start(&mut self, terminals: &mut impl Terminals) {
        for source in 0..self.inputs.len() {
            let (port, direction) = (self.inputs[source], self.direction);
            refill(source, port, self.room, direction, 0, &mut self.bench.context(), terminals);
        }
    }

    /// Processes the next event.
    pub fn step(&mut self, terminals: &mut impl Terminals) {
        self.now = self.next().unwrap_or(self.now);
        let Rig { bench, network, direction, inputs, outputs, room, .. } = self;
        bench.step(|bench, unit, cycle| {
            let ctx = &mut bench.context();
            let index = unit.index as usize;
            match unit.domain {
                Domain::Core => {
                    refill(index, inputs[index], *room, *direction, cycle, ctx, terminals);
                }
                Domain::Network => {
                    let cycle = NetworkCycle::new(cycle);
                    if let Some(next) = network.step(cycle, ctx) {
                        ctx.regions[0].fabric.wake_at(unit.index, next.max(cycle + 1));
                    }
                }
                Domain::L2 => empty(unit, outputs[index], cycle, ctx, terminals),
                Domain::Dram => {}
            }
        });
    }

    /// Returns the flits that have passed each link.
    pub fn passed(&self) -> Vec<u64> {
        self.network.links().iter().map(|link| link.flits).collect()
    }

    /// Describes the packets in flight, for messages.
    pub fn describe(&self) -> Vec<String> {
        self.network.describe().into_iter().chain(self.bench.region.fabric.occupied()).collect()
    }
}

fn refill(
    source: usize,
    port: PortId,
    room: usize,
    direction: Direction,
    cycle: u64,
    ctx: &mut Context,
    terminals: &mut impl Terminals,
) {
    let held = room - ctx.regions[0].fabric.room(port);
    terminals.taken(source, held, cycle, &mut Entrance { port, direction, ctx });
    ctx.regions[0].fabric.wake_writer(port);
}

/// Removes the packets that have arrived.
fn empty(
    unit: UnitId,
    port: PortId,
    cycle: u64,
    ctx: &mut Context,
    terminals: &mut impl Terminals,
) {
    while ctx.regions[0].fabric.ready(port, Ticks(cycle)).is_some() {
        let packet = ctx.regions[0].fabric.pop(port, Ticks(cycle));
        terminals.arrived(packet, cycle);
        ctx.regions[0].requests.remove(packet);
    }
    if let Some((ready, _)) = ctx.regions[0].fabric.head(port) {
        ctx.regions[0].fabric.wake(unit, ready);
    }
}
