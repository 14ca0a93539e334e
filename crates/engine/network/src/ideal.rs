//! Networks without contention: the topology `ideal`, and any topology with links of infinite
//! bandwidth.

use super::ids::{DestinationId, EntranceId, ExitId, SourceId};
use super::tally::{Journey, Tally};
use super::{Direction, NetworkContext, PacketSizes, Topology, TopologyEntry};
use crate::{LinkResult, NetworkResult};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use warpmem_params::PolicyInfo;
use warpmem_sim::{Context, NetworkClock, NetworkCycle, PortId, RequestId, Table, bits};

const INFO: PolicyInfo = PolicyInfo {
    name: "ideal",
    summary: "every packet takes the latency of a router, a link and its flits; packets never wait for each other",
    source: "reference without contention",
    params: Vec::new,
};

pub(super) const ENTRY: TopologyEntry = TopologyEntry {
    info: INFO,
    build: |context, _| {
        Ok(Box::new(Ideal::new(context, false, |_, _| Path { hops: 1, crossing: 0 })) as _)
    },
};

/// Builds the network of `context` with links of infinite bandwidth and unlimited buffers: a packet
/// takes the latency of the routers and links on its path in `topology`, plus one cycle.
pub(super) fn unlimited(context: &NetworkContext, topology: &dyn Topology) -> Box<dyn Topology> {
    Box::new(Ideal::new(context, true, |source, destination| Path {
        hops: topology.hops(source, destination),
        crossing: topology.crossing(source, destination),
    }))
}

/// The path between two nodes: its routers, and the network cycles in addition to those of the
/// routers and the links after them.
#[derive(Clone, Copy)]
struct Path {
    hops: u64,
    crossing: u64,
}

/// A port and its node.
#[derive(Clone, Copy)]
struct Port<N> {
    id: PortId,
    node: N,
}

struct Output {
    port: Port<DestinationId>,
    /// Packets in flight to this output. With limits, each has reserved an entry of the port.
    in_flight: usize,
    /// Arrived packets that do not fit into the port yet, in order of arrival. Unbounded without
    /// limits.
    landed: VecDeque<Packet>,
    /// Inputs whose head packet found the port full, in the order of their attempts.
    waiting: VecDeque<EntranceId>,
}

impl Output {
    /// Takes the packet that arrived first, if the port has room for it.
    fn take_landed(&mut self, ctx: &mut Context) -> Option<Packet> {
        self.landed.front()?;
        if ctx.room_or_wake(self.port.id) { self.landed.pop_front() } else { None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    request: u32,
    source: SourceId,
    /// Network cycle of its departure from the source.
    departed: NetworkCycle,
    /// Network cycles that it waited there.
    wait: u64,
}

/// A packet in flight: network cycle of its arrival, number of packets that entered before it (to
/// order arrivals of the same cycle), output.
type Flight = (NetworkCycle, u64, ExitId, Packet);

struct Ideal {
    direction: Direction,
    clock: NetworkClock,
    packets: PacketSizes,
    /// Network cycles of one router and one link.
    latency: u64,
    /// Paths from each sending node to each receiving node.
    paths: Table<SourceId, Table<DestinationId, Path>>,
    /// Whether links and ports have infinite bandwidth and capacity.
    unlimited: bool,
    inputs: Table<EntranceId, Port<SourceId>>,
    outputs: Table<ExitId, Output>,
    /// Inputs whose head packet is not ready yet. A set, not a list: the order in which two heads
    /// are seen depends on the cycles in which the network happens to be stepped.
    early: [u64; 4],
    flights: BinaryHeap<Reverse<Flight>>,
    /// Packets that have entered so far.
    entered: u64,
    tally: Tally,
}

impl Ideal {
    fn new(
        context: &NetworkContext,
        unlimited: bool,
        path: impl Fn(SourceId, DestinationId) -> Path,
    ) -> Ideal {
        let network = &context.network;
        let output =
            |port| Output { port, in_flight: 0, landed: VecDeque::new(), waiting: VecDeque::new() };
        let from = |source| Table::from_fn(context.outputs.len(), |to| path(source, to));
        Ideal {
            direction: context.direction,
            clock: context.clock,
            packets: if unlimited { PacketSizes::fixed(1) } else { context.packets },
            latency: u64::from(network.router_latency) + u64::from(network.link_latency),
            paths: Table::from_fn(context.inputs.len(), from),
            unlimited,
            inputs: ports(&context.inputs, SourceId::new).collect(),
            outputs: ports(&context.outputs, DestinationId::new).map(output).collect(),
            early: [0; 4],
            flights: BinaryHeap::new(),
            entered: 0,
            tally: Tally::new(context),
        }
    }

    /// Sends packets of the inputs that wait for an output, as far as there is room.
    fn serve_waiting(&mut self, cycle: NetworkCycle, ctx: &mut Context) {
        for output in self.outputs.ids() {
            while !self.outputs[output].waiting.is_empty() && self.has_room(output, ctx) {
                let input = self.outputs[output].waiting.pop_front().expect("an input waits");
                self.pass(input, output, cycle, ctx);
                self.send(input, cycle, ctx);
            }
        }
    }

    /// Sends packets of the inputs that have received some, and of those whose head may have become
    /// ready, in the order of their numbers.
    fn serve_heads(&mut self, cycle: NetworkCycle, ctx: &mut Context) {
        let arrivals = ctx.take_arrivals(self.direction as usize);
        let early = std::mem::take(&mut self.early);
        let heads = std::array::from_fn::<_, 4, _>(|word| early[word] | arrivals[word]);
        for input in bits::members(&heads).map(EntranceId::new) {
            self.send(input, cycle, ctx);
        }
    }

    /// Sends all packets of an input that can leave.
    fn send(&mut self, input: EntranceId, cycle: NetworkCycle, ctx: &mut Context) {
        while let Some((ready, request)) = ctx.head(self.inputs[input].id) {
            if ready > self.clock.at(cycle) {
                return bits::insert(&mut self.early, input.index());
            }
            let output = self.direction.exit(ctx.request(request));
            if !self.outputs[output].waiting.is_empty() || !self.has_room(output, ctx) {
                return self.outputs[output].waiting.push_back(input);
            }
            self.pass(input, output, cycle, ctx);
        }
    }

    /// Returns whether the port has room for one more packet than are in flight to it; if not, the
    /// reader's next pop wakes the network.
    fn has_room(&self, output: ExitId, ctx: &mut Context) -> bool {
        if self.unlimited {
            return true;
        }
        let output = &self.outputs[output];
        let room = ctx.room(output.port.id) > output.in_flight;
        if !room {
            ctx.wake_writer(output.port.id);
        }
        room
    }

    /// Sends the head packet of `input` to `output`.
    fn pass(&mut self, input: EntranceId, output: ExitId, cycle: NetworkCycle, ctx: &mut Context) {
        let source = self.inputs[input];
        let since = self.clock.cycle_from(ctx.head_ready(source.id));
        let request = ctx.pop(source.id, self.clock.at(cycle));
        let row = ctx.request(request);
        if self.direction == Direction::Request {
            self.tally.enter(input, row.place);
        }
        let flits = self.packets.flits(self.direction, row);
        let transit = flits + self.pipeline(source.node, output);
        let packet = Packet {
            request: request.0,
            source: source.node,
            departed: cycle,
            wait: cycle.since(since),
        };
        self.flights.push(Reverse((cycle + transit, self.entered, output, packet)));
        self.entered += 1;
        self.outputs[output].in_flight += 1;
    }

    fn path(&self, source: SourceId, output: ExitId) -> Path {
        self.paths[source][self.outputs[output].port.node]
    }

    /// Returns the network cycles of the routers and links on the path, without flits.
    fn pipeline(&self, source: SourceId, output: ExitId) -> u64 {
        let Path { hops, crossing } = self.path(source, output);
        hops * self.latency + crossing
    }

    /// Takes the packets that arrive in the next cycle. Every packet takes at least a cycle, so all
    /// of them are already in flight, and a reader that is stepped at the time of arrival sees
    /// them.
    fn land(&mut self, cycle: NetworkCycle) {
        while let Some(&Reverse((arrival, _, output, packet))) = self.flights.peek() {
            if arrival > cycle + 1 {
                return;
            }
            self.flights.pop();
            self.outputs[output].in_flight -= 1;
            self.outputs[output].landed.push_back(packet);
        }
    }

    /// Pushes the arrived packets into the ports, as far as there is room.
    fn hand_over(&mut self, cycle: NetworkCycle, ctx: &mut Context) {
        for output in self.outputs.ids() {
            while let Some(packet) = self.outputs[output].take_landed(ctx) {
                self.count(output, packet, cycle + 1, ctx);
                let port = self.outputs[output].port.id;
                ctx.push(port, RequestId(packet.request), self.clock.at(cycle + 1));
            }
        }
    }

    /// Counts a packet that its reader can take from `cycle` on.
    fn count(&mut self, output: ExitId, packet: Packet, cycle: NetworkCycle, ctx: &Context) {
        let row = ctx.request(RequestId(packet.request));
        if self.direction == Direction::Request {
            self.tally.leave(row.place);
        }
        let source = packet.source;
        self.tally.pass(&Journey {
            source,
            destination: self.outputs[output].port.node,
            flits: self.packets.flits(self.direction, row),
            wait: packet.wait,
            transit: cycle.since(packet.departed),
            hops: self.path(source, output).hops,
            pipeline: self.pipeline(source, output),
        });
    }

    /// Returns the next cycle that must be simulated, unless an input receives a packet or an
    /// output's reader takes one earlier.
    fn next(&self, ctx: &Context) -> Option<NetworkCycle> {
        let ready = |input| ctx.head_ready(self.inputs[EntranceId::new(input)].id);
        let heads = bits::members(&self.early).map(|input| self.clock.cycle_from(ready(input)));
        let landing = self.flights.peek().map(|&Reverse((arrival, ..))| arrival - 1);
        heads.chain(landing).min()
    }
}

impl Topology for Ideal {
    fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        self.serve_waiting(cycle, ctx);
        self.serve_heads(cycle, ctx);
        self.land(cycle);
        self.hand_over(cycle, ctx);
        self.next(ctx)
    }

    fn so_far(&self, cycles: u64) -> NetworkResult {
        self.tally.so_far(cycles)
    }

    /// Packets share no links.
    fn links(&self) -> Vec<LinkResult> {
        Vec::new()
    }

    fn describe(&self) -> Vec<String> {
        let flight = |&Reverse((arrival, _, output, packet)): &Reverse<Flight>| {
            let node = self.outputs[output].port.node;
            format!("request {} reaches node {node} in network cycle {arrival}", packet.request)
        };
        let landed = |output: &Output| {
            let (count, node) = (output.landed.len(), output.port.node);
            (count > 0).then(|| format!("{count} requests have reached node {node}"))
        };
        self.flights.iter().map(flight).chain(self.outputs.iter().filter_map(landed)).collect()
    }
}

fn ports<N: Copy>(
    nodes: &[Vec<PortId>],
    node_id: impl Fn(usize) -> N,
) -> impl Iterator<Item = Port<N>> {
    let nodes = nodes.iter().enumerate().map(move |(node, ports)| (node_id(node), ports));
    nodes.flat_map(|(node, ports)| ports.iter().map(move |&id| Port { id, node }))
}
