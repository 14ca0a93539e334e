//! Networks of routers, flit by flit: a packet that is first in its input's virtual channel gets a virtual channel of
//! the next link (VC allocation), then its flits cross one by one as the switch is allocated and the buffer at the end
//! of the link has room, which credits tell (Dally and Towles, Principles and Practices of Interconnection Networks,
//! chapter 16).
//!
//! A flit that has arrived at a router is served `router_latency` - 1 cycles later at the earliest; what is served leaves
//! at the end of the cycle, takes `link_latency` cycles and has arrived; a credit takes as long back. So a hop costs
//! `router_latency` + `link_latency` cycles, and a packet that is alone all its hops and one cycle for each flit.
//!
//! Only routers that something has arrived at, or that have something left to serve, have a turn.

mod channel;
pub(super) mod layout;
mod source;
mod switch;
mod virtual_channels;
mod waiting;
mod wires;

use super::allocator::{ALLOCATORS, Allocator, AllocatorContext};
use super::arbiter::{ARBITERS, Arbiter, ArbiterContext, Inputs};
use super::tally::Tally;
use super::{Direction, NetworkContext, PacketSizes, Topology};
use crate::engine::{Clock, Context, PortId, Wheel};
use crate::machine::{Switching, VcAssignment};
use crate::record::{LinkEnd, LinkResult, NetworkResult};
use crate::registry::{PolicyError, PolicyInfo};
use channel::{NONE, OutputChannel};
use layout::Layout;
use source::Source;
use std::collections::VecDeque;
use switch::Match;
use waiting::Waiting;
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
}

struct Routers {
    rules: Rules,
    wires: Wires,
    arbiter: Box<dyn Arbiter>,
    allocator: Box<dyn Allocator>,
    /// Turns of the routers, and behind them of the sources.
    wheel: Wheel,
    links: Due<Flit>,
    injections: Due<Flit>,
    /// Output virtual channels to which a credit comes back.
    credits: Due<u32>,
    waiting: Waiting,
    outputs: Vec<OutputChannel>,
    /// By pool of output virtual channels, the inputs of the router with a packet that wants one; by router, the
    /// pools that are wanted.
    wanting: Vec<Inputs>,
    wanted: Vec<Vec<u64>>,
    /// By input, the virtual channels with a flit that could go; by router, the inputs with some.
    ready: Vec<u64>,
    ready_inputs: Vec<Inputs>,
    switch: Match,
    sources: Vec<Source>,
    /// Source of each port of the network, by the number of its writer.
    source_of_writer: Vec<u16>,
    exits: Vec<Exit>,
    destination_of_exit: Vec<u16>,
    /// Routers with a packet whose port had no room.
    blocked: Vec<u32>,
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
        info.require(widest <= MOST_INPUTS, "a router has at most 256 inputs")?;
        let most_outputs = layout.outputs.iter().map(Vec::len).max().unwrap_or(0);
        let (inputs, outputs) = (wires.inputs(), wires.outputs());
        let links = wires.downstream.len();
        let arbiter = ArbiterContext {
            direction: context.direction,
            routers: wires.routers,
            outputs: outputs * rules.channels,
            banks: context.channels * context.banks,
        };
        let choosers = outputs * rules.channels + inputs + outputs;
        let allocator = AllocatorContext { choosers, seed: context.direction as u64 };
        let credits = |output: usize| match wires.downstream[output] {
            Sink::Input(_) => context.network.vc_buffer,
            Sink::Node(_) => u32::MAX,
        };
        let channels = (0..links).flat_map(|output| {
            std::iter::repeat_n(OutputChannel::new(credits(output)), rules.channels)
        });
        let pools = |router: usize| {
            (wires.first_output[router + 1] - wires.first_output[router]) * rules.pools
        };
        let exits = context.outputs.iter().flatten().map(|&port| Exit { port, reserved: 0 });
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
            arbiter: ARBITERS.build(&context.arbiter, &arbiter)?,
            allocator: ALLOCATORS.build(&context.network.allocator, &allocator)?,
            wheel: Wheel::new(wires.routers + context.inputs.len()),
            links: Due::new(),
            injections: Due::new(),
            credits: Due::new(),
            waiting: Waiting::new(inputs, rules.channels),
            outputs: channels.collect(),
            wanting: vec![Inputs::default(); outputs * rules.pools],
            wanted: (0..wires.routers).map(|r| vec![0; pools(r).div_ceil(64)]).collect(),
            ready: vec![0; inputs],
            ready_inputs: vec![Inputs::default(); wires.routers],
            switch: Match::new(widest, most_outputs),
            sources: sources.collect(),
            source_of_writer: nodes_of_ports(&context.inputs),
            exits: exits.collect(),
            destination_of_exit: nodes_of_ports(&context.outputs),
            blocked: Vec::new(),
            passed: vec![0; links],
            waited: vec![0; inputs],
            tally: Tally::new(context),
            rules,
            wires,
        })
    }

    /// What has arrived by `cycle`.
    fn receive(&mut self, cycle: u64) {
        while let Some(&(at, flit)) = self.injections.front().filter(|(at, _)| *at <= cycle) {
            self.injections.pop_front();
            self.arrive(flit, at);
        }
        while let Some(&(at, flit)) = self.links.front().filter(|(at, _)| *at <= cycle) {
            self.links.pop_front();
            self.arrive(flit, at);
        }
        while let Some(&(at, output)) = self.credits.front().filter(|(at, _)| *at <= cycle) {
            self.credits.pop_front();
            self.credit(output as usize, at);
        }
    }

    /// A flit can be served from `cycle` on.
    fn arrive(&mut self, flit: Flit, cycle: u64) {
        let channel = flit.channel as usize;
        let input = channel / self.rules.channels;
        // It arrived before it went through the router's stages.
        let arrived = cycle - (self.rules.router_latency - 1);
        self.waited[input] = self.waited[input].wrapping_sub(arrived);
        if self.waiting.inputs[channel].arrive(flit.packet) {
            self.want(channel);
        } else {
            self.update_ready(channel);
        }
        self.wheel.wake(self.wires.router_of[input] as usize, cycle);
    }

    /// There is room for one more flit behind an output virtual channel.
    fn credit(&mut self, output: usize, cycle: u64) {
        let channel = &mut self.outputs[output];
        channel.credits += 1;
        let holder = channel.holder;
        if holder != NONE && output < self.first_injection() {
            self.update_ready(holder as usize);
        }
        self.wheel.wake(self.wires.unit_of[output / self.rules.channels] as usize, cycle);
    }

    /// First virtual channel of the sources' links.
    fn first_injection(&self) -> usize {
        self.wires.outputs() * self.rules.channels
    }

    /// Puts an input virtual channel among those with a flit that could go, or takes it out.
    #[inline]
    fn update_ready(&mut self, channel: usize) {
        let state = &self.waiting.inputs[channel];
        let ready = state.output != NONE
            && state.has_flit()
            && self.outputs[state.output as usize].credits > 0;
        let (input, bit) = (channel / self.rules.channels, 1 << (channel % self.rules.channels));
        let mask = &mut self.ready[input];
        *mask = if ready { *mask | bit } else { *mask & !bit };
        let router = self.wires.router_of[input] as usize;
        let local = input - self.wires.first_input[router];
        let (word, bit) = (&mut self.ready_inputs[router][local / 64], 1 << (local % 64));
        *word = if *mask != 0 { *word | bit } else { *word & !bit };
    }

    /// The turn of a router.
    fn serve(&mut self, router: usize, cycle: u64, ctx: &mut Context) {
        self.allocate_channels(router, cycle, ctx);
        let freed = self.cross_switch(router, cycle, ctx);
        let wanted = self.wanted[router].iter().any(|&word| word != 0);
        if self.ready_inputs[router] != Inputs::default() || freed && wanted {
            self.wheel.wake(router, cycle + 1);
        }
    }

    /// Wakes the sources that have something new, and the routers whose packets had no room at their ports.
    fn look_around(&mut self, cycle: u64, ctx: &mut Context) {
        let news = ctx.fabric.take_arrivals(self.rules.direction as usize);
        for (word, mut bits) in news.into_iter().enumerate() {
            while bits != 0 {
                let writer = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let source = usize::from(self.source_of_writer[writer]);
                self.wheel.wake(self.wires.routers + source, cycle);
            }
        }
        while let Some(router) = self.blocked.pop() {
            self.wheel.wake(router as usize, cycle);
        }
    }

    /// What each link carried and held.
    fn link_results(&self) -> Vec<LinkResult> {
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
                    let router = wires.router_of[input as usize];
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

    /// No packet is left, no virtual channel taken, and every credit is back.
    fn is_conserved(&self) -> bool {
        let full = |output: usize| match self.wires.downstream[output / self.rules.channels] {
            Sink::Input(_) => self.rules.depth,
            Sink::Node(_) => u32::MAX,
        };
        let mut outputs = self.outputs.iter().enumerate();
        self.waiting.is_empty()
            && self.exits.iter().all(|exit| exit.reserved == 0)
            && outputs.all(|(output, state)| state.holder == NONE && state.credits == full(output))
    }
}

impl Topology for Routers {
    fn step(&mut self, cycle: u64, ctx: &mut Context) -> Option<u64> {
        self.look_around(cycle, ctx);
        self.wheel.begin(cycle);
        self.receive(cycle);
        while let Some(unit) = self.wheel.take() {
            match unit.checked_sub(self.wires.routers) {
                None => self.serve(unit, cycle, ctx),
                Some(source) => self.send(source, cycle, ctx),
            }
        }
        self.wheel.end();
        self.wheel.next_cycle()
    }

    fn finish(&mut self, cycles: u64) -> NetworkResult {
        // Credits of the last flits may still be on their way.
        self.receive(u64::MAX);
        assert!(self.is_conserved(), "packets or credits are lost: {:?}", self.describe());
        let links = self.link_results();
        NetworkResult { links, ..self.tally.finish(cycles) }
    }

    fn describe(&self) -> Vec<String> {
        let channels = self.rules.channels;
        let waiting =
            self.waiting.inputs.iter().enumerate().filter(|(_, state)| !state.parts.is_empty());
        let waiting = waiting.map(|(channel, state)| {
            let (input, vc) = (channel / channels, channel % channels);
            let router = self.wires.router_of[input] as usize;
            let flits: u32 = state.parts.iter().map(|part| part.flits).sum();
            format!(
                "{:?} network, router {router}, input {}, virtual channel {vc}: {} packets, {flits} flits, first to node {}, {}",
                self.rules.direction,
                input - self.wires.first_input[router],
                state.parts.len(),
                self.waiting.first(channel).destination,
                if state.output == NONE { "wants a virtual channel" } else { "has one" },
            )
        });
        waiting.collect()
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
        let shares =
            format!("`network.virtual_channels` is a multiple of {classes}, now {channels}");
        info.require(channels.is_multiple_of(classes), &shares)?;
        let (buffer, largest) = (network.vc_buffer, context.packets.largest(context.direction));
        let cut_through = network.switching == Switching::CutThrough;
        let holds =
            format!("`network.vc_buffer` holds the largest packet, {largest} flits, now {buffer}");
        info.require(!cut_through || u64::from(buffer) >= largest, &holds)?;
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
