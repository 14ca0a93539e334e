//! Networks of routers, simulated flit by flit (Dally and Towles, Principles and Practices of
//! Interconnection Networks, chapter 16).
//!
//! ```text
//!          flits            flits            flits
//!  source ───────▶ router ───────▶ router ───────▶ exit: port of the reader
//!         ◀───────        ◀───────
//!          credits          credits
//!
//!  in a router:
//!  input VC buffers ──▶ VC allocation ──▶ switch allocation ──▶ links
//!                       per packet        per flit
//! ```
//!
//! The first packet of an input virtual channel acquires a virtual channel of the next link (VC
//! allocation). Then its flits cross the router one by one (switch allocation), while the buffer at
//! the end of the link has room, which the sender tracks by credits.
//!
//! A flit that has arrived at a router is served at least `router_latency` - 1 cycles later. It
//! leaves at the end of the cycle of service and takes `link_latency` cycles on the link; a credit
//! takes the same time back. A hop therefore costs `router_latency` + `link_latency` cycles, and an
//! uncontended packet takes its hops and one cycle per flit.
//!
//! A router is stepped only in cycles with an arrival or with flits left to serve.

mod agenda;
mod buffers;
mod channel;
mod choosers;
mod exits;
mod ids;
pub(super) mod layout;
mod links;
mod rules;
mod source;
mod switch_allocation;
#[cfg(test)]
mod tests;
mod vc_allocation;
mod wires;

use super::arbiter::Inputs;
use super::ids::{DestinationId, EntranceId, SourceId};
use super::tally::{Journey, Tally};
use super::{NetworkContext, Ports, Topology};
use crate::{LinkEnd, LinkResult, NetworkResult};
use agenda::Agenda;
use buffers::Buffers;
use channel::OutputChannel;
use choosers::Choosers;
use exits::Exits;
use ids::{InputVc, LinkId, OutputVc, PacketId, RouterId, Sender};
use layout::Layout;
use links::{Flit, Links};
use rules::Rules;
use source::Sources;
use switch_allocation::{SwitchAllocator, SwitchView};
use vc_allocation::VcAllocator;
use warpmem_params::{PolicyError, PolicyInfo};
use warpmem_sim::{Context, NetworkCycle, Table, bits};
use wires::{Sink, Wires};

/// Most inputs of a router: the size of a set of inputs.
const MOST_INPUTS: usize = size_of::<Inputs>() * 8;

/// Builds a network of the routers of `layout`, for the topology of `info`.
pub(super) fn build(
    layout: &Layout,
    context: &NetworkContext,
    info: &PolicyInfo,
) -> Result<Box<dyn Topology>, PolicyError> {
    Ok(Box::new(Routers::new(layout, context, info)?))
}

struct Routers {
    // Constants of the network.
    rules: Rules,
    wires: Wires,
    /// Routers and sources to step.
    agenda: Agenda,
    // Positions of flits, from source to exit: sources, links, buffers, exits.
    sources: Sources,
    links: Links,
    buffers: Buffers,
    exits: Exits,
    // Who may use what.
    /// The virtual channels of all links: holders and credits.
    outputs: Table<OutputVc, OutputChannel>,
    vcs: VcAllocator,
    switch: SwitchAllocator,
    choosers: Choosers,
    /// Counts of the network.
    tally: Tally,
}

impl Routers {
    fn new(
        layout: &Layout,
        context: &NetworkContext,
        info: &PolicyInfo,
    ) -> Result<Routers, PolicyError> {
        let rules = Rules::new(layout, context, info)?;
        let wires = Wires::new(layout);
        debug_assert!(
            layout.inputs().iter().all(|&inputs| inputs <= MOST_INPUTS),
            "no machine has more nodes"
        );
        let channels = rules.channels;
        Ok(Routers {
            agenda: Agenda::new(wires.routers.len(), context.inputs.len()),
            sources: Sources::new(context),
            links: Links::new(wires.downstream.len()),
            buffers: Buffers::new(wires.input_channels(channels), channels),
            exits: Exits::new(context),
            outputs: wires.output_channels(channels, rules.depth),
            vcs: VcAllocator::new(context, &wires, channels, rules.pools)?,
            switch: SwitchAllocator::new(layout),
            choosers: Choosers::new(context, &wires, channels)?,
            tally: Tally::new(context),
            rules,
            wires,
        })
    }

    /// Collects the sources that have received packets, and the routers whose packets have room at
    /// their exits again.
    fn collect_wakeups(&mut self, ctx: &mut Context) {
        let arrivals = ctx.take_arrivals(self.rules.direction as usize);
        for entrance in bits::members(&arrivals).map(EntranceId::new) {
            self.agenda.sources.now(self.sources.node_of(entrance));
        }
        let (vcs, agenda) = (&mut self.vcs, &mut self.agenda);
        self.exits.collect_freed(ctx, |router| {
            vcs.make_due(router);
            agenda.routers.now(router);
        });
    }

    /// Takes the flits and credits that have arrived by `cycle`.
    fn receive(&mut self, cycle: NetworkCycle) {
        while let Some(flit) = self.links.take_flit(cycle) {
            self.receive_flit(flit, cycle);
        }
        while let Some(output) = self.links.take_credit(cycle) {
            self.receive_credit(output);
        }
    }

    /// Receives a flit that can be served from `cycle` on.
    fn receive_flit(&mut self, flit: Flit, cycle: NetworkCycle) {
        let Flit { channel, packet } = flit;
        let arrival = self.rules.arrival_before(cycle);
        let Some(state) = self.buffers.arrive(channel, packet, arrival) else { return };
        self.agenda.routers.now(state.router);
        if state.output == OutputVc::NONE {
            self.request(channel);
        } else if self.outputs[state.output].credits > 0 {
            self.switch.set_ready(state);
        }
    }

    /// Receives a credit: one more free entry at the end of an output virtual channel.
    fn receive_credit(&mut self, output: OutputVc) {
        let state = &mut self.outputs[output];
        state.credits += 1;
        let (is_first, holder) = (state.credits == 1, state.holder);
        match state.sender {
            Sender::Source(source) if is_first || self.rules.cut_through => {
                self.agenda.sources.now(source);
            }
            Sender::Router(router) if is_first && holder != InputVc::NONE => {
                let holder = self.buffers.channel(holder);
                if holder.first.flits > 0 {
                    self.switch.set_ready(holder);
                    self.agenda.routers.now(router);
                }
            }
            Sender::Router(router) if state.blocked => {
                self.vcs.make_due(router);
                self.agenda.routers.now(router);
            }
            Sender::Source(_) | Sender::Router(_) => {}
        }
    }

    /// Steps the routers of this cycle.
    fn serve_routers(&mut self, cycle: NetworkCycle, ctx: &mut Context) {
        let mut word = 0;
        while let Some((found, router)) = self.agenda.routers.take(word) {
            word = found;
            self.serve(router, cycle, ctx);
        }
    }

    fn serve(&mut self, router: RouterId, cycle: NetworkCycle, ctx: &mut Context) {
        if self.vcs.take_due(router) {
            self.allocate_channels(router, cycle, ctx);
        }
        self.cross_switch(router, cycle, ctx);
        if self.vcs.is_due(router) || !self.switch.is_idle(router) {
            self.agenda.routers.next(router);
        }
    }

    /// Steps the sources of this cycle; returns the next cycle in which a waiting one can send, or
    /// [`NetworkCycle::NEVER`].
    fn serve_sources(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> NetworkCycle {
        let (mut word, mut next) = (0, NetworkCycle::NEVER);
        while let Some((found, source)) = self.agenda.sources.take(word) {
            word = found;
            next = next.min(self.send(source, cycle, ctx).unwrap_or(NetworkCycle::NEVER));
        }
        next
    }

    /// Sends flits across a router, at most one from each input and to each output.
    fn cross_switch(&mut self, router: RouterId, cycle: NetworkCycle, ctx: &mut Context) {
        let view = SwitchView {
            ports: self.wires.routers[router],
            buffers: &self.buffers,
            outputs: &self.outputs,
        };
        let matched = self.switch.allocate(router, &view, &mut self.choosers);
        for &channel in &matched {
            self.cross(channel, cycle, ctx);
        }
        self.switch.recycle(matched);
    }

    /// Sends a flit from an input virtual channel to the output virtual channel that its packet
    /// holds.
    fn cross(&mut self, channel: InputVc, cycle: NetworkCycle, ctx: &mut Context) {
        let flit = self.buffers.send_flit(channel, cycle + 1);
        self.links.return_credit(flit.upstream, self.rules.link_end(cycle));
        let output = &mut self.outputs[flit.output];
        self.links.count(output.link);
        let is_exit = output.is_exit();
        if !is_exit {
            output.credits -= 1;
            let sent = Flit { channel: output.downstream, packet: flit.packet };
            self.links.send(sent, self.rules.served_after_hop(cycle));
        }
        if flit.is_last {
            output.release(cycle + 1);
            self.vcs.make_due(flit.router);
        }
        if !flit.more_flits || output.credits == 0 {
            self.switch.clear_ready(self.buffers.channel(channel));
        }
        if flit.next_packet {
            self.request(channel);
        }
        if flit.is_last && is_exit {
            self.deliver(flit.packet, self.rules.link_end(cycle), ctx);
        }
    }

    /// Hands a packet to its reader, which can take it from `cycle` on.
    fn deliver(&mut self, number: PacketId, cycle: NetworkCycle, ctx: &mut Context) {
        let packet = self.buffers.remove(number);
        self.exits.deliver(packet.exit, packet.request, self.rules.clock.at(cycle), ctx);
        self.tally.leave(packet.place);
        let hops = u64::from(packet.hops);
        self.tally.pass(&Journey {
            source: packet.source,
            destination: packet.destination,
            flits: packet.flits.into(),
            wait: packet.entered.since(packet.seen.since),
            transit: cycle.since(packet.entered),
            hops,
            pipeline: hops * self.rules.hop_cycles(),
        });
    }

    /// Returns whether no packet is left, no virtual channel held, and every credit back.
    fn is_conserved(&self) -> bool {
        let full = |output: &OutputChannel| match output.is_exit() {
            true => u32::MAX,
            false => self.rules.depth,
        };
        self.buffers.is_empty()
            && self.exits.are_idle()
            && self.outputs.iter().all(|o| o.holder == InputVc::NONE && o.credits == full(o))
    }

    /// Returns the ends of a link, and the capacity and occupancy of its buffers.
    fn link_result(&self, link: LinkId) -> LinkResult {
        let from = match self.wires.senders[link] {
            Sender::Router(router) => LinkEnd::Router(router.0.into()),
            Sender::Source(source) => LinkEnd::Source(source.0.into()),
        };
        let (to, buffer_flits, buffer_flit_cycles) = match self.wires.downstream[link] {
            Sink::Node(node) => (LinkEnd::Destination(node.0.into()), 0, 0),
            Sink::Input(input) => {
                let router = self.wires.inputs[input].router;
                let capacity = u64::from(self.rules.depth) * self.rules.channels as u64;
                (LinkEnd::Router(router.0.into()), capacity, self.buffers.waited(input))
            }
        };
        let flits = self.links.carried(link);
        LinkResult { from, to, flits, buffer_flits, buffer_flit_cycles }
    }

    fn describe_channel(&self, channel: InputVc) -> String {
        let state = self.buffers.channel(channel);
        let parts = || state.behind.iter().chain([&state.first]);
        let flits: u32 = parts().map(|part| part.flits).sum();
        format!(
            "{:?} network, router {}, input {}, virtual channel {}: {} packets, {flits} flits, first to node {}, {}",
            self.rules.direction,
            state.router,
            state.local,
            state.index,
            parts().count(),
            self.buffers.first(channel).destination,
            if state.output == OutputVc::NONE { "wants a virtual channel" } else { "has one" },
        )
    }
}

impl Topology for Routers {
    fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        self.collect_wakeups(ctx);
        self.receive(cycle);
        self.serve_routers(cycle, ctx);
        let next_head = self.serve_sources(cycle, ctx);
        let is_busy = self.agenda.advance();
        let next = if is_busy { cycle + 1 } else { self.links.next_arrival().min(next_head) };
        (next < NetworkCycle::NEVER).then_some(next)
    }

    fn so_far(&self, cycles: u64) -> NetworkResult {
        let links = self.links();
        NetworkResult { links, ..self.tally.so_far(cycles) }
    }

    fn finish(&mut self, cycles: u64) -> NetworkResult {
        // Credits of the last flits may still be in flight.
        while let Some(output) = self.links.take_credit(NetworkCycle::NEVER) {
            self.receive_credit(output);
        }
        assert!(self.is_conserved(), "packets or credits are lost: {:?}", self.describe());
        self.so_far(cycles)
    }

    fn links(&self) -> Vec<LinkResult> {
        self.wires.downstream.ids().map(|link| self.link_result(link)).collect()
    }

    fn describe(&self) -> Vec<String> {
        self.buffers.occupied().map(|channel| self.describe_channel(channel)).collect()
    }

    fn hops(&self, source: SourceId, destination: DestinationId) -> u64 {
        self.wires.hops(source, destination)
    }

    fn routers(&self) -> Vec<Ports> {
        self.wires.routers.iter().map(|ports| ports.count).collect()
    }
}
