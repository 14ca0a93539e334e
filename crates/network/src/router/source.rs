//! Sources: how packets get from the ports of a node into its router, a flit in a cycle.

use super::channel::NONE;
use super::waiting::Packet;
use super::{Flit, Routers};
use crate::{Direction, VcAssignment, arbiter};
use warpmem_sim::{Context, Location, PortId, RequestId};

/// A node that sends.
pub(super) struct Source {
    ports: Vec<PortId>,
    /// Number of the first port among all writers.
    first_writer: usize,
    /// Port whose turn it is, where SMs share the node.
    turn: usize,
    /// Packet that is being sent, or [`NONE`]; its flits that have not left, and the virtual
    /// channel that it has.
    packet: u32,
    left: u32,
    channel: usize,
}

impl Source {
    pub fn new(ports: &[PortId], first_writer: usize) -> Source {
        Source { ports: ports.to_vec(), first_writer, turn: 0, packet: NONE, left: 0, channel: 0 }
    }
}

/// The packet at the head of a port.
struct Head {
    port: usize,
    request: RequestId,
    since: u64,
    flits: u32,
    /// Destination, and its port, counted over all nodes.
    destination: u16,
    exit: u16,
}

impl Routers {
    /// The turn of a source: a flit goes, if there is one and room for it. When its next packet
    /// can, if there is one but not yet.
    pub(super) fn send(&mut self, index: usize, cycle: u64, ctx: &mut Context) -> Option<u64> {
        if self.sources[index].packet == NONE {
            let head = self.head(index, cycle, ctx)?;
            if head.since > cycle || self.begin(index, &head, cycle, ctx).is_none() {
                return self.wait(index, cycle, ctx);
            }
        }
        let link = self.wires.injection(index);
        let source = &mut self.sources[index];
        let output = link * self.rules.channels + source.channel;
        let state = &mut self.outputs[output];
        if state.credits == 0 {
            return None;
        }
        state.credits -= 1;
        let flit = Flit { channel: state.downstream, packet: source.packet };
        self.injections.push_back((cycle + self.rules.router_latency, flit));
        self.passed[link] += 1;
        source.left -= 1;
        if source.left == 0 {
            source.packet = NONE;
        }
        self.source_turns.next(index);
        None
    }

    /// Nothing can go. When the next packet comes to the head of a port: where SMs share the node
    /// it may find room that one that is there does not find.
    fn wait(&mut self, index: usize, cycle: u64, ctx: &Context) -> Option<u64> {
        let ready = |&port: &PortId| Some(self.rules.clock.cycle_from(ctx.fabric.head(port)?.0));
        let heads = self.sources[index].ports.iter().filter_map(ready);
        let next = heads.filter(|&from| from > cycle).min()?;
        self.source_turns.later(index);
        Some(next)
    }

    /// Takes the packet from its port, if there is a virtual channel for it.
    fn begin(&mut self, index: usize, head: &Head, cycle: u64, ctx: &mut Context) -> Option<()> {
        let channel = self.free_channel(index, head)?;
        let source = &mut self.sources[index];
        let writer = source.first_writer + head.port;
        ctx.fabric.pop(source.ports[head.port], self.rules.clock.at(cycle));
        source.turn = (head.port + 1) % source.ports.len();
        let place = match self.rules.direction {
            Direction::Request => ctx.map.locate(ctx.requests.get(head.request).address),
            Direction::Reply => Location::default(),
        };
        self.tally.enter(writer, place);
        let bank = usize::from(place.channel) * self.rules.banks + usize::from(place.bank);
        let packet = Packet {
            request: head.request,
            source: index as u16,
            destination: head.destination,
            exit: head.exit,
            hops: 0,
            flits: head.flits,
            entered: cycle,
            place,
            seen: arbiter::Packet { since: head.since, bank: bank as u32, row: place.row },
        };
        let number = self.waiting.add(packet);
        let source = &mut self.sources[index];
        (source.packet, source.left, source.channel) = (number, head.flits, channel);
        Some(())
    }

    /// The packet that a node sends next: of its ports in turn, the first that has one, or else the
    /// one that comes first.
    fn head(&self, index: usize, cycle: u64, ctx: &Context) -> Option<Head> {
        let source = &self.sources[index];
        let turns = (source.turn..source.ports.len()).chain(0..source.turn);
        let heads = turns.filter_map(|port| {
            let (ready, request) = ctx.fabric.head(source.ports[port])?;
            Some((self.rules.clock.cycle_from(ready).max(cycle), port, ready, request))
        });
        let (_, port, ready, request) = heads.min_by_key(|&(from, ..)| from)?;
        let row = ctx.requests.get(request);
        let to = match self.rules.direction {
            Direction::Request => row.slice,
            Direction::Reply => row.sm,
        };
        Some(Head {
            port,
            request,
            since: self.rules.clock.cycle_from(ready),
            flits: self.rules.packets.flits(self.rules.direction, row) as u32,
            destination: self.destination_of_exit[usize::from(to)],
            exit: to,
        })
    }

    /// The virtual channel of a source's link that a packet takes.
    fn free_channel(&self, index: usize, head: &Head) -> Option<usize> {
        let channels = self.rules.channels;
        let first = self.wires.injection(index) * channels;
        let needed = if self.rules.cut_through { head.flits } else { 1 };
        let fits = |channel: &usize| self.outputs[first + channel].credits >= needed;
        match self.rules.assignment {
            VcAssignment::Dynamic => (0..channels).find(fits),
            VcAssignment::StaticDestination => {
                Some(usize::from(head.destination) % channels).filter(fits)
            }
        }
    }
}
