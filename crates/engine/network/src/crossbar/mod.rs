//! A crossbar: every input reaches every output, one packet at a time on each.

mod switch;

use super::arbiter::{self, ArbiterContext, PacketView};
use super::ids::{DestinationId, EntranceId, ExitId, SourceId};
use super::router;
use super::router::layout::Layout;
use super::tally::{Journey, Tally};
use super::{Direction, NetworkContext, PacketSizes, Ports, Topology, TopologyEntry};
use crate::{LinkEnd, LinkResult, NetworkResult, NodeResult};
pub(super) use switch::{Ends, Rule, Switch};
use warpmem_params::{PolicyError, PolicyInfo, choice, params};
use warpmem_sim::{Context, NetworkClock, NetworkCycle, PortId, Table, Ticks};

const INFO: PolicyInfo = PolicyInfo {
    name: "crossbar",
    summary: "one router connects every node with every other",
    source: "local crossbar of GPGPU-Sim 4; Yuan et al., MICRO 2009",
    params: Parameters::params,
};

pub(super) const ENTRY: TopologyEntry = TopologyEntry {
    info: INFO,
    build: |context, params| {
        let Parameters { form } = params.read();
        match form {
            Form::OneStage => Ok(Box::new(Crossbar::new(context)?) as _),
            Form::Router => {
                let layout = Layout::crossbar(context.inputs.len(), context.outputs.len());
                router::build(&layout, context, &INFO)
            }
        }
    },
};

params! {
    struct Parameters {
        /// `one-stage`: the head packet of each input competes for its output and holds both for
        /// its flits; `router`: flits, buffers, virtual channels and an allocator
        form: Form = Form::OneStage;
    }
}

choice! {
    enum Form {
        OneStage = "one-stage",
        Router = "router",
    }
}

/// A crossbar in one stage. Every node has one port, so a port has the number of its node.
struct Crossbar {
    switch: Switch,
    rule: Rule,
    ports: PortEnds,
}

/// The ports that a crossbar connects.
struct PortEnds {
    direction: Direction,
    clock: NetworkClock,
    packets: PacketSizes,
    latency: u64,
    banks: usize,
    inputs: Table<EntranceId, PortId>,
    outputs: Table<ExitId, PortId>,
    tally: Tally,
}

impl Crossbar {
    fn new(context: &NetworkContext) -> Result<Crossbar, PolicyError> {
        check_nodes(&INFO, context, "1, or `crossbar(form=router)`")?;
        let outputs = ArbiterContext {
            direction: context.direction,
            routers: 1,
            outputs: context.outputs.len(),
            banks: context.channels * context.banks,
        };
        let network = &context.network;
        let sizes = [context.inputs.len(), context.outputs.len()];
        Ok(Crossbar {
            switch: Switch::new(context.clock, network.input_speedup, sizes),
            rule: arbiter::build(&context.policies.arbiter, &outputs)?,
            ports: PortEnds {
                direction: context.direction,
                clock: context.clock,
                packets: context.packets,
                latency: u64::from(network.router_latency) + u64::from(network.link_latency),
                banks: context.banks,
                inputs: context.inputs.iter().map(|ports| ports[0]).collect(),
                outputs: context.outputs.iter().map(|ports| ports[0]).collect(),
                tally: Tally::new(context),
            },
        })
    }
}

/// Rejects nodes of several ports: a switch has one input and one output per node.
pub(super) fn check_nodes(
    info: &PolicyInfo,
    context: &NetworkContext,
    valid: &str,
) -> Result<(), PolicyError> {
    let alone = context.inputs.iter().chain(&context.outputs).all(|ports| ports.len() == 1);
    let (key, shared) = ("network.sms_per_node", context.network.sms_per_node);
    info.fits(alone, key, shared, || valid.to_owned())
}

impl Ends for PortEnds {
    #[inline]
    fn head_ready(&self, input: EntranceId, ctx: &Context) -> Ticks {
        ctx.head_ready(self.inputs[input])
    }

    #[inline]
    fn wanted(&self, input: EntranceId, now: Ticks, ctx: &Context) -> Option<ExitId> {
        let request = ctx.request(ctx.ready(self.inputs[input], now)?);
        self.tally.will_enter(input, request.place);
        Some(self.direction.exit(request))
    }

    fn seen(&self, input: EntranceId, ctx: &Context) -> PacketView {
        packet(self.inputs[input], self.clock, self.banks, ctx)
    }

    #[inline]
    fn room_or_wake(&mut self, output: ExitId, _cycle: NetworkCycle, ctx: &mut Context) -> bool {
        ctx.room_or_wake(self.outputs[output])
    }

    fn pass(
        &mut self,
        source: EntranceId,
        target: ExitId,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) -> u64 {
        let (port, now) = (self.inputs[source], self.clock.at(cycle));
        let ready = ctx.head_ready(port);
        let request = ctx.pop(port, now);
        let row = ctx.request(request);
        let wait = self.clock.cycles_in(now.since(ready));
        if self.direction == Direction::Request {
            self.tally.enter(source, row.place);
            self.tally.leave(row.place);
        }
        let flits = self.packets.flits(self.direction, row);
        let transit = flits + self.latency;
        ctx.push(self.outputs[target], request, self.clock.at(cycle + transit));
        self.tally.pass(&Journey {
            source: SourceId(source.0),
            destination: DestinationId(target.0),
            flits,
            wait,
            transit,
            hops: 1,
            pipeline: self.latency,
        });
        flits
    }
}

impl Topology for Crossbar {
    fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let arrivals = ctx.take_arrivals(self.ports.direction as usize);
        let next = self.switch.step(&arrivals, cycle, &mut self.rule, &mut self.ports, ctx);
        (next < NetworkCycle::NEVER).then_some(next)
    }

    fn so_far(&self, cycles: u64) -> NetworkResult {
        let (links, crowded) = (self.links(), self.switch.contended().collect());
        NetworkResult { links, crowded, ..self.ports.tally.so_far(cycles) }
    }

    fn links(&self) -> Vec<LinkResult> {
        let result = self.ports.tally.counts();
        let sources = (0..).zip(&result.sources);
        let ins = sources.map(|(n, node)| link(LinkEnd::Source(n), LinkEnd::Router(0), node));
        let destinations = (0..).zip(&result.destinations);
        let outs =
            destinations.map(|(n, node)| link(LinkEnd::Router(0), LinkEnd::Destination(n), node));
        ins.chain(outs).collect()
    }

    /// A packet is always in one of the ports, which report it.
    fn describe(&self) -> Vec<String> {
        Vec::new()
    }

    fn routers(&self) -> Vec<Ports> {
        vec![self.switch.ports()]
    }
}

/// Returns the link of a node, which carries the packets that the node sends or receives. Flits do
/// not wait at its end.
pub(super) fn link(from: LinkEnd, to: LinkEnd, node: &NodeResult) -> LinkResult {
    LinkResult { from, to, flits: node.flits, buffer_flits: 0, buffer_flit_cycles: 0 }
}

/// Returns the properties of a port's head packet that an arbitration rule may use.
pub(super) fn packet(port: PortId, clock: NetworkClock, banks: usize, ctx: &Context) -> PacketView {
    let (ready, request) = ctx.head(port).expect("the input has a wanted output");
    let place = ctx.request(request).place;
    let bank = place.channel.index() * banks + place.bank.index();
    PacketView { since: clock.cycle_from(ready), bank: bank as u32, row: place.row }
}
