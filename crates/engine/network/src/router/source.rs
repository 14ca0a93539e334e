//! Sources: the injection of packets from the ports of a node into its router, one flit per cycle.

use super::buffers::Packet;
use super::ids::PacketId;
use super::links::Flit;
use super::rules::Rules;
use super::{NetworkContext, Routers};
use crate::ids::{DestinationId, EntranceId, ExitId, SourceId};
use crate::{Direction, VcAssignment, arbiter};
use warpmem_sim::{Context, Location, NetworkClock, NetworkCycle, PortId, RequestId, Table, Ticks};

/// The sending nodes of a network.
pub(super) struct Sources {
    nodes: Table<SourceId, Source>,
    /// Node of each port.
    node_of: Table<EntranceId, SourceId>,
}

impl Sources {
    pub fn new(context: &NetworkContext) -> Sources {
        let mut node_of = Vec::new();
        let nodes =
            SourceId::all(context.inputs.len()).zip(&context.inputs).map(|(node, ports)| {
                let first = EntranceId::new(node_of.len());
                node_of.extend(std::iter::repeat_n(node, ports.len()));
                Source::new(ports, first)
            });
        Sources { nodes: nodes.collect(), node_of: node_of.into() }
    }

    #[cfg(test)]
    pub fn ids(&self) -> impl Iterator<Item = SourceId> + use<> {
        self.nodes.ids()
    }

    /// Returns the node of a port.
    #[inline]
    pub fn node_of(&self, entrance: EntranceId) -> SourceId {
        self.node_of[entrance]
    }
}

/// A sending node.
struct Source {
    ports: Vec<PortId>,
    /// Its first port, among those of all nodes.
    first: EntranceId,
    /// Round-robin pointer over the ports, for SMs that share the node.
    next_port: usize,
    /// Packet being sent, or none.
    packet: PacketId,
    /// Flits of it that have not left.
    left: u32,
    /// Virtual channel of the node's link that it uses.
    channel: usize,
}

/// The head packet of a port.
struct Head {
    port: usize,
    request: RequestId,
    /// First cycle in which it can be sent.
    since: NetworkCycle,
    flits: u32,
    destination: DestinationId,
    /// Port of the destination.
    exit: ExitId,
}

impl Source {
    fn new(ports: &[PortId], first: EntranceId) -> Source {
        let (ports, next_port) = (ports.to_vec(), 0);
        Source { ports, first, next_port, packet: PacketId::NONE, left: 0, channel: 0 }
    }

    /// Returns the port whose packet is sent next, with its ready time and request: in round-robin
    /// order, the first with a ready packet, or else the one whose packet becomes ready first.
    fn next_head(
        &self,
        cycle: NetworkCycle,
        clock: NetworkClock,
        ctx: &Context,
    ) -> Option<(usize, Ticks, RequestId)> {
        let ports = (self.next_port..self.ports.len()).chain(0..self.next_port);
        let heads = ports.filter_map(|port| {
            let (ready, request) = ctx.head(self.ports[port])?;
            Some((port, ready, request))
        });
        heads.min_by_key(|&(_, ready, _)| clock.cycle_from(ready).max(cycle))
    }

    /// Returns the cycle after `cycle` in which the next head of a port becomes ready.
    fn next_ready(
        &self,
        cycle: NetworkCycle,
        clock: NetworkClock,
        ctx: &Context,
    ) -> Option<NetworkCycle> {
        let ready = |&port: &PortId| Some(clock.cycle_from(ctx.head(port)?.0));
        self.ports.iter().filter_map(ready).filter(|&from| from > cycle).min()
    }

    /// Takes the head packet of a port.
    fn take(&mut self, port: usize, now: Ticks, ctx: &mut Context) {
        ctx.pop(self.ports[port], now);
        self.next_port = (port + 1) % self.ports.len();
    }

    /// Starts to send a packet of `flits` on a virtual channel.
    fn begin(&mut self, packet: PacketId, flits: u32, channel: usize) {
        (self.packet, self.left, self.channel) = (packet, flits, channel);
    }

    /// Sends a flit; returns its packet.
    #[inline]
    fn send_flit(&mut self) -> PacketId {
        let packet = self.packet;
        self.left -= 1;
        if self.left == 0 {
            self.packet = PacketId::NONE;
        }
        packet
    }
}

impl Routers {
    /// Steps a source: sends a flit if there is one and room for it. Returns the next cycle in
    /// which a packet can be sent, if none can be now.
    pub(super) fn send(
        &mut self,
        index: SourceId,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) -> Option<NetworkCycle> {
        if self.sources.nodes[index].packet == PacketId::NONE {
            let head = self.head(index, cycle, ctx)?;
            if head.since > cycle || self.begin(index, &head, cycle, ctx).is_none() {
                return self.wait(index, cycle, ctx);
            }
        }
        let link = self.wires.injection(index);
        let source = &mut self.sources.nodes[index];
        let output = &mut self.outputs[self.rules.vc(link, source.channel)];
        if output.credits == 0 {
            return None;
        }
        output.credits -= 1;
        let flit = Flit { channel: output.downstream, packet: source.send_flit() };
        self.links.count(link);
        self.links.inject(flit, self.rules.served_after_injection(cycle));
        self.agenda.sources.next(index);
        None
    }

    /// Waits, as no packet can be sent in `cycle`. Returns the cycle in which the next packet
    /// becomes ready at the head of a port: if SMs share the node, it may find room when the
    /// present one does not.
    fn wait(
        &mut self,
        index: SourceId,
        cycle: NetworkCycle,
        ctx: &Context,
    ) -> Option<NetworkCycle> {
        let next = self.sources.nodes[index].next_ready(cycle, self.rules.clock, ctx)?;
        self.agenda.sources.later(index);
        Some(next)
    }

    /// Takes the packet from its port, if there is a virtual channel for it.
    fn begin(
        &mut self,
        index: SourceId,
        head: &Head,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) -> Option<()> {
        let channel = self.free_channel(index, head)?;
        let source = &mut self.sources.nodes[index];
        source.take(head.port, self.rules.clock.at(cycle), ctx);
        let place = match self.rules.direction {
            Direction::Request => ctx.request(head.request).place,
            Direction::Reply => Location::default(),
        };
        self.tally.enter(EntranceId::new(source.first.index() + head.port), place);
        let packet = self.buffers.add(packet(&self.rules, index, head, cycle, place));
        source.begin(packet, head.flits, channel);
        Some(())
    }

    /// Returns the packet that a node sends next.
    fn head(&self, index: SourceId, cycle: NetworkCycle, ctx: &Context) -> Option<Head> {
        let clock = self.rules.clock;
        let (port, ready, request) = self.sources.nodes[index].next_head(cycle, clock, ctx)?;
        let row = ctx.request(request);
        let exit = self.rules.direction.exit(row);
        Some(Head {
            port,
            request,
            since: clock.cycle_from(ready),
            flits: self.rules.packets.flits(self.rules.direction, row) as u32,
            destination: self.exits.node(exit),
            exit,
        })
    }

    /// Returns the virtual channel of a source's link that a packet can use, if any.
    fn free_channel(&self, index: SourceId, head: &Head) -> Option<usize> {
        let channels = self.rules.channels;
        let link = self.wires.injection(index);
        let needed = if self.rules.cut_through { head.flits } else { 1 };
        let fits = |&channel: &usize| self.outputs[self.rules.vc(link, channel)].credits >= needed;
        match self.rules.assignment {
            VcAssignment::Dynamic => (0..channels).find(fits),
            VcAssignment::StaticDestination => {
                Some(head.destination.index() % channels).filter(fits)
            }
        }
    }
}

/// Returns the packet of `head`, which leaves `source` in `cycle`.
fn packet(
    rules: &Rules,
    source: SourceId,
    head: &Head,
    cycle: NetworkCycle,
    place: Location,
) -> Packet {
    let bank = place.channel.index() * rules.banks + place.bank.index();
    Packet {
        request: head.request,
        source,
        destination: head.destination,
        exit: head.exit,
        hops: 0,
        flits: head.flits,
        entered: cycle,
        place,
        seen: arbiter::PacketView { since: head.since, bank: bank as u32, row: place.row },
    }
}
