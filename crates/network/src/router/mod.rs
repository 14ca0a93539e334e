//! Networks of routers, flit by flit: a packet that is first in its input's virtual channel gets a
//! virtual channel of the next link (VC allocation), then its flits cross one by one as the switch
//! is allocated and the buffer at the end of the link has room, which credits tell (Dally and
//! Towles, Principles and Practices of Interconnection Networks, chapter 16).
//!
//! A flit that has arrived at a router is served `router_latency` - 1 cycles later at the earliest;
//! what is served leaves at the end of the cycle, takes `link_latency` cycles and has arrived; a
//! credit takes as long back. So a hop costs `router_latency` + `link_latency` cycles, and a packet
//! that is alone all its hops and one cycle for each flit.
//!
//! Only routers that something has arrived at, or that have something left to serve, have a turn.

mod channel;
pub(super) mod layout;
mod source;
mod switch;
#[cfg(test)]
mod tests;
mod turns;
mod virtual_channels;
mod waiting;
mod wires;

use super::allocator::{ALLOCATORS, Allocator, AllocatorContext};
use super::arbiter::{self, Arbiter, ArbiterContext, Inputs};
use super::tally::Tally;
use super::{Direction, NetworkContext, PacketSizes, Ports, Topology};
use crate::{LinkEnd, LinkResult, NetworkResult, Switching, VcAssignment};
use channel::{NONE, OutputChannel};
use layout::Layout;
use source::Source;
use std::collections::VecDeque;
use switch::Match;
use turns::Turns;
use virtual_channels::is_empty;
use waiting::Waiting;
use warpmem_params::{PolicyError, PolicyInfo};
use warpmem_sim::{Clock, Context, PortId};
use wires::{Sink, Wires};

/// Inputs of a router: as many as a set of them holds.
const MOST_INPUTS: usize = size_of::<Inputs>() * 8;

/// A network of the routers of `layout`, for the topology of `info`.
pub(super) fn build(
    layout: &Layout,
    context: &NetworkContext,
    info: &PolicyInfo,
) -> Result<Box<dyn Topology>, PolicyError> {
    Ok(Box::new(Routers::new(layout, context, info)?))
}

/// Something that is on a link until a cycle.
type Due<T> = VecDeque<(u64, T)>;

/// A flit on its way to an input virtual channel.
#[derive(Clone, Copy)]
struct Flit {
    channel: u32,
    packet: u32,
}

/// What a network can be given that does not change.
struct Rules {
    direction: Direction,
    clock: Clock,
    packets: PacketSizes,
    router_latency: u64,
    link_latency: u64,
    /// Virtual channels of a link, and those of one class of routes.
    channels: usize,
    class_channels: usize,
    /// Sets of virtual channels of a link whose members are alike to a packet.
    pools: usize,
    assignment: VcAssignment,
    cut_through: bool,
    /// Flits that an input holds for each virtual channel.
    depth: u32,
    /// Banks of a DRAM channel.
    banks: usize,
}

/// A port at which packets leave the network.
struct Exit {
    port: PortId,
    /// Packets that are on their way to it through the last router.
    reserved: usize,
    /// A packet waits for room in it.
    awaited: bool,
}

impl Exit {
    /// Whether the port has room for one more packet than are on their way to it.
    #[inline]
    fn has_room(&self, ctx: &Context) -> bool {
        ctx.fabric.room(self.port) > self.reserved
    }
}

/// Takes the next thing that has arrived by `cycle`.
#[inline]
fn due<T: Copy>(queue: &mut Due<T>, cycle: u64) -> Option<T> {
    let &(at, thing) = queue.front()?;
    if at > cycle {
        return None;
    }
    queue.pop_front();
    Some(thing)
}

struct Routers {
    rules: Rules,
    wires: Wires,
    rule: Option<Box<dyn Arbiter>>,
    allocator: Box<dyn Allocator>,
    turns: Turns,
    source_turns: Turns,
    links: Due<Flit>,
    injections: Due<Flit>,
    /// Output virtual channels to which a credit comes back.
    credits: Due<u32>,
    waiting: Waiting,
    outputs: Vec<OutputChannel>,
    /// By pool of output virtual channels, the inputs of the router with a packet that wants one;
    /// by router, the pools that are wanted.
    wanting: Vec<Inputs>,
    wanted: Vec<u64>,
    /// First word of each router in `wanted`; one more at the end.
    first_wanted: Vec<usize>,
    /// By router, whether a packet has come to want a virtual channel, or one may be given away
    /// that could not before.
    allocates: Vec<bool>,
    /// By input, the virtual channels with a flit that could go; by router, the inputs with some.
    ready: Vec<u64>,
    ready_inputs: Vec<Inputs>,
    switch: Match,
    sources: Vec<Source>,
    /// Source of each port of the network, by the number of its writer.
    source_of_writer: Vec<u16>,
    exits: Vec<Exit>,
    destination_of_exit: Vec<u16>,
    /// Ports that had no room for a packet, each with the router that the packet waits in.
    full: Vec<(u32, u16)>,
    /// By output, the flits that passed.
    passed: Vec<u64>,
    /// By input, cycles that flits waited in its buffers.
    waited: Vec<u64>,
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
        let widest = layout.inputs().into_iter().max().unwrap_or(0);
        debug_assert!(widest <= MOST_INPUTS, "no machine has more nodes");
        let most_outputs = layout.outputs.iter().map(Vec::len).max().unwrap_or(0);
        let (inputs, outputs) = (wires.inputs.len(), wires.outputs());
        let links = wires.downstream.len();
        let output_channels = ArbiterContext {
            direction: context.direction,
            routers: wires.routers,
            outputs: outputs * rules.channels,
            banks: context.channels * context.banks,
        };
        let choosers = outputs * rules.channels + inputs + outputs;
        let allocator = AllocatorContext { choosers, seed: context.direction as u64 };
        let words: Vec<usize> =
            layout.outputs.iter().map(|o| (o.len() * rules.pools).div_ceil(64)).collect();
        let first_wanted = wires::running_sum(&words);
        let exits = context.outputs.iter().flatten().map(|&port| Exit {
            port,
            reserved: 0,
            awaited: false,
        });
        let nodes_of_ports = |nodes: &[Vec<PortId>]| -> Vec<u16> {
            let nodes = (0..).zip(nodes);
            nodes.flat_map(|(node, ports)| std::iter::repeat_n(node, ports.len())).collect()
        };
        let mut writers = 0;
        let sources = context.inputs.iter().map(|ports| {
            writers += ports.len();
            Source::new(ports, writers - ports.len())
        });
        Ok(Routers {
            rule: arbiter::build(&context.arbiter, &output_channels)?,
            allocator: ALLOCATORS.build(&context.network.allocator, &allocator)?,
            turns: Turns::new(wires.routers),
            source_turns: Turns::new(context.inputs.len()),
            links: Due::new(),
            injections: Due::new(),
            credits: Due::new(),
            waiting: Waiting::new(wires.input_channels(rules.channels), rules.channels),
            outputs: wires.output_channels(rules.channels, rules.depth),
            wanting: vec![Inputs::default(); outputs * rules.pools],
            wanted: vec![0; first_wanted[wires.routers]],
            first_wanted,
            allocates: vec![false; wires.routers],
            ready: vec![0; inputs],
            ready_inputs: vec![Inputs::default(); wires.routers],
            switch: Match::new(widest, most_outputs),
            sources: sources.collect(),
            source_of_writer: nodes_of_ports(&context.inputs),
            exits: exits.collect(),
            destination_of_exit: nodes_of_ports(&context.outputs),
            full: Vec::new(),
            passed: vec![0; links],
            waited: vec![0; inputs],
            tally: Tally::new(context),
            rules,
            wires,
        })
    }

    /// What has arrived by `cycle`.
    fn receive(&mut self, cycle: u64) {
        while let Some(flit) = due(&mut self.injections, cycle) {
            self.arrive(flit, cycle);
        }
        while let Some(flit) = due(&mut self.links, cycle) {
            self.arrive(flit, cycle);
        }
        while let Some(output) = due(&mut self.credits, cycle) {
            self.credit(output as usize);
        }
    }

    /// A flit can be served from `cycle` on.
    fn arrive(&mut self, flit: Flit, cycle: u64) {
        let channel = flit.channel as usize;
        let state = &mut self.waiting.inputs[channel];
        // It arrived before it went through the router's stages.
        let arrived = cycle - (self.rules.router_latency - 1);
        let waited = &mut self.waited[state.input as usize];
        *waited = waited.wrapping_sub(arrived);
        if state.arrive(flit.packet) != Some(1) {
            return;
        }
        self.turns.now(state.router.into());
        let output = state.output;
        if output == NONE {
            self.want(channel);
        } else if self.outputs[output as usize].credits > 0 {
            self.set_ready(channel);
        }
    }

    /// There is room for one more flit behind an output virtual channel.
    fn credit(&mut self, output: usize) {
        let state = &mut self.outputs[output];
        state.credits += 1;
        let (first, holder, unit) = (state.credits == 1, state.holder, state.unit as usize);
        if unit >= self.wires.routers {
            if first || self.rules.cut_through {
                self.source_turns.now(unit - self.wires.routers);
            }
        } else if holder != NONE && first {
            if self.waiting.inputs[holder as usize].first.flits > 0 {
                self.set_ready(holder as usize);
                self.turns.now(unit);
            }
        } else if state.blocked {
            self.allocates[unit] = true;
            self.turns.now(unit);
        }
    }

    /// First virtual channel of the sources' links; those of the routers' links come before.
    fn first_injection(&self) -> usize {
        self.wires.outputs() * self.rules.channels
    }

    /// A flit of an input virtual channel could go.
    #[inline]
    fn set_ready(&mut self, channel: usize) {
        let state = &self.waiting.inputs[channel];
        self.ready[state.input as usize] |= 1 << state.index;
        let inputs = &mut self.ready_inputs[usize::from(state.router)];
        inputs[usize::from(state.local / 64)] |= 1 << (state.local % 64);
    }

    /// No flit of an input virtual channel could go.
    #[inline]
    fn clear_ready(&mut self, channel: usize) {
        let state = &self.waiting.inputs[channel];
        let ready = &mut self.ready[state.input as usize];
        *ready &= !(1 << state.index);
        if *ready == 0 {
            let inputs = &mut self.ready_inputs[usize::from(state.router)];
            inputs[usize::from(state.local / 64)] &= !(1 << (state.local % 64));
        }
    }

    /// The turn of a router.
    fn serve(&mut self, router: usize, cycle: u64, ctx: &mut Context) {
        if std::mem::take(&mut self.allocates[router]) {
            self.allocate_channels(router, cycle, ctx);
        }
        self.cross_switch(router, cycle, ctx);
        if self.allocates[router] || !is_empty(&self.ready_inputs[router]) {
            self.turns.next(router);
        }
    }

    /// Gives turns to the sources that have something new, and to routers whose packets have room
    /// at their ports again.
    fn look_around(&mut self, ctx: &mut Context) {
        let news = ctx.fabric.take_arrivals(self.rules.direction as usize);
        for (word, mut bits) in news.into_iter().enumerate() {
            while bits != 0 {
                let writer = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.source_turns.now(self.source_of_writer[writer].into());
            }
        }
        self.full.retain(|&(router, exit)| {
            let exit = &mut self.exits[usize::from(exit)];
            let has_room = exit.has_room(ctx);
            if has_room {
                exit.awaited = false;
                self.allocates[router as usize] = true;
                self.turns.now(router as usize);
            }
            !has_room
        });
    }

    /// When something next arrives.
    fn next_arrival(&self) -> u64 {
        let flits = [&self.injections, &self.links].map(|flits| flits.front().map(|&(at, _)| at));
        let credits = self.credits.front().map(|&(at, _)| at);
        flits.into_iter().chain([credits]).flatten().min().unwrap_or(u64::MAX)
    }

    /// No packet is left, no virtual channel taken, and every credit is back.
    fn is_conserved(&self) -> bool {
        let full = |downstream| if downstream == NONE { u32::MAX } else { self.rules.depth };
        self.waiting.is_empty()
            && self.exits.iter().all(|exit| exit.reserved == 0)
            && self.outputs.iter().all(|o| o.holder == NONE && o.credits == full(o.downstream))
    }
}

impl Topology for Routers {
    fn step(&mut self, cycle: u64, ctx: &mut Context) -> Option<u64> {
        self.look_around(ctx);
        self.receive(cycle);
        let mut word = 0;
        while let Some((found, router)) = self.turns.take(word) {
            word = found;
            self.serve(router, cycle, ctx);
        }
        let (mut word, mut heads) = (0, u64::MAX);
        while let Some((found, source)) = self.source_turns.take(word) {
            word = found;
            heads = heads.min(self.send(source, cycle, ctx).unwrap_or(u64::MAX));
        }
        let busy = self.turns.advance() | self.source_turns.advance();
        let next = if busy { cycle + 1 } else { self.next_arrival().min(heads) };
        (next < u64::MAX).then_some(next)
    }

    fn finish(&mut self, cycles: u64) -> NetworkResult {
        // Credits of the last flits may still be on their way.
        while let Some(output) = due(&mut self.credits, u64::MAX) {
            self.credit(output as usize);
        }
        assert!(self.is_conserved(), "packets or credits are lost: {:?}", self.describe());
        let links = self.links();
        NetworkResult { links, ..self.tally.finish(cycles) }
    }

    fn links(&self) -> Vec<LinkResult> {
        let wires = &self.wires;
        let links = wires.downstream.iter().zip(&wires.unit_of).zip(&self.passed);
        let result = |((sink, &unit), &flits): ((&Sink, &u32), &u64)| {
            let from = match unit.checked_sub(wires.routers as u32) {
                None => LinkEnd::Router(unit),
                Some(source) => LinkEnd::Source(source),
            };
            let (to, buffer_flits, buffer_flit_cycles) = match *sink {
                Sink::Node(node) => (LinkEnd::Destination(node), 0, 0),
                Sink::Input(input) => {
                    let router = wires.inputs[input as usize].router;
                    (
                        LinkEnd::Router(router),
                        u64::from(self.rules.depth) * self.rules.channels as u64,
                        self.waited[input as usize],
                    )
                }
            };
            LinkResult { from, to, flits, buffer_flits, buffer_flit_cycles }
        };
        links.map(result).collect()
    }

    fn describe(&self) -> Vec<String> {
        let waiting =
            self.waiting.inputs.iter().enumerate().filter(|(_, state)| state.first.packet != NONE);
        let waiting = waiting.map(|(channel, state)| {
            let parts = || state.behind.iter().chain([&state.first]);
            let flits: u32 = parts().map(|part| part.flits).sum();
            format!(
                "{:?} network, router {}, input {}, virtual channel {}: {} packets, {flits} flits, first to node {}, {}",
                self.rules.direction,
                state.router,
                state.local,
                state.index,
                parts().count(),
                self.waiting.first(channel).destination,
                if state.output == NONE { "wants a virtual channel" } else { "has one" },
            )
        });
        waiting.collect()
    }

    fn hops(&self, source: usize, destination: usize) -> u64 {
        self.wires.hops(source, destination)
    }

    fn routers(&self) -> Vec<Ports> {
        let wires = &self.wires;
        let count = |first: &[usize], router: usize| first[router + 1] - first[router];
        let ports = |router| Ports {
            inputs: count(&wires.first_input, router),
            outputs: count(&wires.first_output, router),
        };
        (0..wires.routers).map(ports).collect()
    }
}

impl Rules {
    fn new(
        layout: &Layout,
        context: &NetworkContext,
        info: &PolicyInfo,
    ) -> Result<Rules, PolicyError> {
        let network = &context.network;
        let (channels, classes) = (network.virtual_channels, u32::from(layout.classes));
        let shares = || format!("a multiple of {classes}");
        let whole = channels.is_multiple_of(classes);
        info.fits(whole, "network.virtual_channels", channels, shares)?;
        let (buffer, largest) = (network.vc_buffer, context.packets.largest(context.direction));
        let cut_through = network.switching == Switching::CutThrough;
        let holds = || {
            format!(
                "at least {largest} flits, the largest packet, with `network.switching` = \"cut-through\""
            )
        };
        info.fits(
            !cut_through || u64::from(buffer) >= largest,
            "network.vc_buffer",
            buffer,
            holds,
        )?;
        Ok(Rules {
            direction: context.direction,
            clock: context.clock,
            packets: context.packets,
            router_latency: network.router_latency.into(),
            link_latency: network.link_latency.into(),
            channels: channels as usize,
            class_channels: (channels / classes) as usize,
            pools: match network.vc_assignment {
                VcAssignment::Dynamic => classes,
                VcAssignment::StaticDestination => channels,
            } as usize,
            assignment: network.vc_assignment,
            cut_through,
            depth: buffer,
            banks: context.banks,
        })
    }
}
