//! The ends of the switches of all partitions: the ports of their nodes, and the links between
//! partitions. It owns the packets on those links.

use super::shape::{LinkId, Partition, Shape};
use crate::arbiter::{Inputs, PacketView};
use crate::crossbar::{self, Ends};
use crate::ids::{DestinationId, EntranceId, ExitId, SourceId};
use crate::tally::{Journey, Tally};
use crate::{Direction, LinkEnd, LinkResult, NetworkContext, NodeResult, PacketSizes};
use std::collections::VecDeque;
use warpmem_sim::{Context, NetworkClock, NetworkCycle, PortId, RequestId, Table, Ticks, bits};

/// A packet that has left its source.
#[derive(Clone, Copy)]
struct Carried {
    request: RequestId,
    source: SourceId,
    /// Network cycle of its departure from the source, and the cycles that it waited there.
    departed: NetworkCycle,
    wait: u64,
    flits: u64,
    seen: PacketView,
    /// Network cycle from which the switch at the end of the link can send it on. Only its first
    /// flit has arrived by then; the others follow without a gap.
    ready: NetworkCycle,
}

/// A link to another partition.
struct Link {
    to: usize,
    /// Input of the switch there.
    input: EntranceId,
    /// Packets in flight and at its end.
    packets: VecDeque<Carried>,
    /// Cycle in which packets last left its end, and their number: their entries are free from the
    /// next cycle on, whichever switch is stepped first.
    left: NetworkCycle,
    leaving: usize,
    flits: u64,
    /// Sum over flits of the cycles that they have waited at its end.
    waited: u64,
}

impl Link {
    /// Returns the entries that packets occupy in `cycle`.
    fn taken(&self, cycle: NetworkCycle) -> usize {
        self.packets.len() + if self.left == cycle { self.leaving } else { 0 }
    }

    /// Takes the packet at its end.
    fn take(&mut self, cycle: NetworkCycle) -> Carried {
        let packet = self.packets.pop_front().expect("a packet is at the end of the link");
        self.leaving = if self.left == cycle { self.leaving + 1 } else { 1 };
        self.left = cycle;
        self.waited += packet.flits * cycle.since(packet.ready);
        packet
    }
}

/// The ports and links of all partitions.
pub(super) struct Fabric {
    direction: Direction,
    clock: NetworkClock,
    packets: PacketSizes,
    /// Network cycles of a switch and the link after it, and of a link between partitions.
    latency: u64,
    link_latency: u64,
    banks: usize,
    /// Capacity of a link, packets.
    entries: usize,
    pub shape: Shape,
    inputs: Table<EntranceId, PortId>,
    outputs: Table<ExitId, PortId>,
    links: Table<LinkId, Link>,
    /// Inputs that have received packets from a link while they had none, by partition.
    arrivals: Vec<Inputs>,
    /// Next cycle in which a packet can be taken from a link or put onto one.
    next: NetworkCycle,
    pub tally: Tally,
}

impl Fabric {
    pub fn new(shape: Shape, context: &NetworkContext, link_latency: u64) -> Fabric {
        let network = &context.network;
        let link = |id: LinkId| {
            let to = &shape.partitions[shape.links[id][1]];
            let place = to.incoming.iter().position(|&link| link == id);
            let place = place.expect("a link leads to its partition");
            Link {
                to: shape.links[id][1],
                input: EntranceId::new(to.senders.len() + place),
                packets: VecDeque::new(),
                left: NetworkCycle::ZERO,
                leaving: 0,
                flits: 0,
                waited: 0,
            }
        };
        Fabric {
            direction: context.direction,
            clock: context.clock,
            packets: context.packets,
            latency: u64::from(network.router_latency) + u64::from(network.link_latency),
            link_latency,
            banks: context.banks,
            entries: network.output_buffer as usize,
            inputs: context.inputs.iter().map(|ports| ports[0]).collect(),
            outputs: context.outputs.iter().map(|ports| ports[0]).collect(),
            links: Table::from_fn(shape.links.len(), link),
            arrivals: vec![Inputs::default(); shape.partitions.len()],
            next: NetworkCycle::NEVER,
            tally: Tally::new(context),
            shape,
        }
    }

    /// Adds the inputs whose ports have received packets to those with packets from a link.
    pub fn note_arrivals(&mut self, ctx: &mut Context) {
        let arrived = ctx.take_arrivals(self.direction as usize);
        for sender in bits::members(&arrived).map(EntranceId::new) {
            let (partition, input) = self.shape.senders[sender];
            bits::insert(&mut self.arrivals[partition], input.index());
        }
    }

    /// Takes the inputs of a partition that have received packets while they had none.
    pub fn take_arrivals(&mut self, partition: usize) -> Inputs {
        std::mem::take(&mut self.arrivals[partition])
    }

    /// Takes the next cycle in which a packet can be taken from a link or put onto one.
    pub fn take_next(&mut self) -> NetworkCycle {
        std::mem::replace(&mut self.next, NetworkCycle::NEVER)
    }

    /// Returns the network cycles of links between partitions on the path between two nodes.
    pub fn crossing(&self, source: SourceId, destination: DestinationId) -> u64 {
        if self.is_near(source, destination) { 0 } else { self.link_latency }
    }

    /// Returns whether two nodes are in one partition.
    pub fn is_near(&self, source: SourceId, destination: DestinationId) -> bool {
        let to = self.shape.receivers[ExitId(destination.0)];
        self.shape.senders[EntranceId(source.0)].0 == to
    }

    /// Returns the ends of the switch of a partition.
    pub fn side(&mut self, partition: usize) -> Side<'_> {
        Side { fabric: self, partition }
    }

    /// Returns the counts of all links, including those of the nodes.
    pub fn results(&self) -> Vec<LinkResult> {
        let result = self.tally.counts();
        let router = |partition: usize| LinkEnd::Router(partition as u32);
        let nodes = |counts: &[NodeResult]| (0..).zip(counts.to_vec());
        let ins = nodes(&result.sources).map(|(n, node): (u32, _)| {
            let (partition, _) = self.shape.senders[EntranceId::new(n as usize)];
            crossbar::link(LinkEnd::Source(n), router(partition), &node)
        });
        let outs = nodes(&result.destinations).map(|(n, node): (u32, _)| {
            let partition = self.shape.receivers[ExitId::new(n as usize)];
            crossbar::link(router(partition), LinkEnd::Destination(n), &node)
        });
        let between = self.links.ids().map(|id| LinkResult {
            from: router(self.shape.links[id][0]),
            to: router(self.shape.links[id][1]),
            flits: self.links[id].flits,
            buffer_flits: self.entries as u64 * self.packets.largest(self.direction),
            buffer_flit_cycles: self.links[id].waited,
        });
        ins.chain(between).chain(outs).collect()
    }

    /// Describes the packets on links.
    pub fn describe(&self) -> Vec<String> {
        let of_link = |id: LinkId| {
            let [from, to] = self.shape.links[id];
            self.links[id].packets.iter().map(move |packet| {
                let (request, ready) = (packet.request.0, packet.ready);
                format!(
                    "request {request} is on link {id} from partition {from} to {to}, ready in \
                     network cycle {ready}"
                )
            })
        };
        self.links.ids().flat_map(of_link).collect()
    }

    /// Takes the head packet of a source's port.
    fn leave(&mut self, sender: EntranceId, cycle: NetworkCycle, ctx: &mut Context) -> Carried {
        let (port, now) = (self.inputs[sender], self.clock.at(cycle));
        let wait = self.clock.cycles_in(now.since(ctx.head_ready(port)));
        let seen = crossbar::packet(port, self.clock, self.banks, ctx);
        let request = ctx.pop(port, now);
        let row = ctx.request(request);
        if self.direction == Direction::Request {
            self.tally.enter(sender, row.place);
        }
        let flits = self.packets.flits(self.direction, row);
        let source = SourceId(sender.0);
        Carried { request, source, departed: cycle, wait, flits, seen, ready: cycle }
    }

    /// Takes the packet at the end of a link.
    fn take(&mut self, link: LinkId, cycle: NetworkCycle) -> Carried {
        if self.links[link].taken(cycle) >= self.entries {
            self.next = self.next.min(cycle + 1);
        }
        self.links[link].take(cycle)
    }

    /// Puts a packet onto a link.
    fn put(&mut self, link: LinkId, packet: Carried, cycle: NetworkCycle) {
        let ready = cycle + self.latency + self.link_latency;
        let link = &mut self.links[link];
        if link.packets.is_empty() {
            bits::insert(&mut self.arrivals[link.to], link.input.index());
            self.next = self.next.min(ready);
        }
        link.flits += packet.flits;
        link.packets.push_back(Carried { ready, ..packet });
    }

    /// Hands a packet to its reader.
    fn deliver(&mut self, exit: ExitId, packet: Carried, cycle: NetworkCycle, ctx: &mut Context) {
        if self.direction == Direction::Request {
            self.tally.leave(ctx.request(packet.request).place);
        }
        let (source, destination) = (packet.source, DestinationId(exit.0));
        let hops = if self.is_near(source, destination) { 1 } else { 2 };
        let arrival = cycle + packet.flits + self.latency;
        ctx.push(self.outputs[exit], packet.request, self.clock.at(arrival));
        self.tally.pass(&Journey {
            source,
            destination,
            flits: packet.flits,
            wait: packet.wait,
            transit: arrival.since(packet.departed),
            hops,
            pipeline: hops * self.latency + self.crossing(source, destination),
        });
    }
}

/// The inputs and outputs of the switch of a partition.
pub(super) struct Side<'a> {
    fabric: &'a mut Fabric,
    partition: usize,
}

/// The end of an input or output: a port of a node, or a link.
enum End<N> {
    Node(N),
    Link(LinkId),
}

impl Side<'_> {
    #[inline]
    fn partition(&self) -> &Partition {
        &self.fabric.shape.partitions[self.partition]
    }

    #[inline]
    fn input(&self, input: EntranceId) -> End<EntranceId> {
        let Partition { senders, incoming, .. } = self.partition();
        match input.index().checked_sub(senders.len()) {
            None => End::Node(senders[input.index()]),
            Some(place) => End::Link(incoming[place]),
        }
    }

    #[inline]
    fn output(&self, output: ExitId) -> End<ExitId> {
        let Partition { receivers, outgoing, .. } = self.partition();
        match output.index().checked_sub(receivers.len()) {
            None => End::Node(receivers[output.index()]),
            Some(place) => End::Link(LinkId::new(outgoing.index() + place)),
        }
    }

    /// Returns the packet at the end of a link, if any.
    #[inline]
    fn at_end(&self, link: LinkId) -> Option<&Carried> {
        self.fabric.links[link].packets.front()
    }
}

impl Ends for Side<'_> {
    fn head_ready(&self, input: EntranceId, ctx: &Context) -> Ticks {
        match self.input(input) {
            End::Node(sender) => ctx.head_ready(self.fabric.inputs[sender]),
            End::Link(link) => {
                self.at_end(link).map_or(Ticks::NEVER, |packet| self.fabric.clock.at(packet.ready))
            }
        }
    }

    fn wanted(&self, input: EntranceId, now: Ticks, ctx: &Context) -> Option<ExitId> {
        let request = match self.input(input) {
            End::Node(sender) => ctx.ready(self.fabric.inputs[sender], now)?,
            End::Link(link) => {
                let has_come = |packet: &&Carried| self.fabric.clock.at(packet.ready) <= now;
                self.at_end(link).filter(has_come)?.request
            }
        };
        let exit = self.fabric.direction.exit(ctx.request(request));
        Some(self.partition().routes[exit])
    }

    fn seen(&self, input: EntranceId, ctx: &Context) -> PacketView {
        let fabric = &self.fabric;
        match self.input(input) {
            End::Node(sender) => {
                crossbar::packet(fabric.inputs[sender], fabric.clock, fabric.banks, ctx)
            }
            End::Link(link) => self.at_end(link).expect("the input has a wanted output").seen,
        }
    }

    fn room_or_wake(&mut self, output: ExitId, cycle: NetworkCycle, ctx: &mut Context) -> bool {
        match self.output(output) {
            End::Node(exit) => ctx.room_or_wake(self.fabric.outputs[exit]),
            // A full link requests a step when a packet leaves its end.
            End::Link(link) => self.fabric.links[link].taken(cycle) < self.fabric.entries,
        }
    }

    fn pass(
        &mut self,
        input: EntranceId,
        output: ExitId,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) -> u64 {
        let packet = match self.input(input) {
            End::Node(sender) => self.fabric.leave(sender, cycle, ctx),
            End::Link(link) => self.fabric.take(link, cycle),
        };
        match self.output(output) {
            End::Node(exit) => self.fabric.deliver(exit, packet, cycle, ctx),
            End::Link(link) => self.fabric.put(link, packet, cycle),
        }
        packet.flits
    }
}
