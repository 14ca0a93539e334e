//! A crossbar: every input reaches every output, one packet at a time on each.

use super::allocator::first_from;
use super::arbiter::{self, Arbiter, ArbiterContext, Contest, Inputs, Output as Place, Packet};
use super::ids::{DestinationId, EntranceId, ExitId, SourceId};
use super::router;
use super::router::layout::Layout;
use super::tally::{Journey, Tally};
use super::{Direction, NetworkContext, PacketSizes, Ports, Topology, TopologyEntry};
use crate::{LinkEnd, LinkResult, NetworkResult, NodeResult};
use warpmem_params::{PolicyError, PolicyInfo, choice, params};
use warpmem_sim::{Context, NetworkClock, NetworkCycle, PortId, Table, Ticks, bits};

const INFO: PolicyInfo = PolicyInfo {
    name: "crossbar",
    summary: "one router connects every node with every other",
    source: "local crossbar of GPGPU-Sim 4; Yuan et al., MICRO 2009",
    params: Parameters::params,
};

pub(super) const ENTRY: TopologyEntry = TopologyEntry {
    info: INFO,
    build: |context, params| {
        let Parameters { form } = params.parse(&INFO)?;
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

struct Input {
    port: PortId,
    /// Cycle from which it may send the next packet.
    free: NetworkCycle,
    /// Cycle in which it last sent, and the number of packets that it sent then.
    cycle: NetworkCycle,
    sent: u32,
}

struct Output {
    port: PortId,
    wanted_by: Inputs,
    waiting: u32,
    free: NetworkCycle,
    /// It has been free and wanted, but its port was full, so its last input could not go on.
    blocked: bool,
    /// Round-robin pointer, for choices that the arbitration rule leaves open.
    next: u32,
}

/// Every node has one port, so that a port has the number of its node.
struct Crossbar {
    direction: Direction,
    clock: NetworkClock,
    packets: PacketSizes,
    latency: u64,
    input_speedup: u32,
    banks: usize,
    rule: Option<Box<dyn Arbiter>>,
    inputs: Table<EntranceId, Input>,
    outputs: Table<ExitId, Output>,
    /// Inputs whose head packet is not registered at an output.
    unknown: Inputs,
    /// Outputs that some input wants.
    wanted: Inputs,
    tally: Tally,
}

impl Crossbar {
    fn new(context: &NetworkContext) -> Result<Crossbar, PolicyError> {
        let alone = context.inputs.iter().chain(&context.outputs).all(|ports| ports.len() == 1);
        let (key, shared) = ("network.sms_per_node", context.network.sms_per_node);
        INFO.fits(alone, key, shared, || "1, or `crossbar(form=router)`".to_owned())?;
        let input = |ports: &Vec<PortId>| Input {
            port: ports[0],
            free: NetworkCycle::ZERO,
            cycle: NetworkCycle::ZERO,
            sent: 0,
        };
        let output = |ports: &Vec<PortId>| Output {
            port: ports[0],
            wanted_by: [0; 4],
            waiting: 0,
            free: NetworkCycle::ZERO,
            blocked: false,
            next: 0,
        };
        let outputs = ArbiterContext {
            direction: context.direction,
            routers: 1,
            outputs: context.outputs.len(),
            banks: context.channels * context.banks,
        };
        let network = &context.network;
        Ok(Crossbar {
            direction: context.direction,
            clock: context.clock,
            packets: context.packets,
            latency: u64::from(network.router_latency) + u64::from(network.link_latency),
            input_speedup: network.input_speedup,
            banks: context.banks,
            rule: arbiter::build(&context.arbiter, &outputs)?,
            inputs: context.inputs.iter().map(input).collect(),
            outputs: context.outputs.iter().map(output).collect(),
            unknown: [0; 4],
            wanted: [0; 4],
            tally: Tally::new(context),
        })
    }

    /// Registers the head packets of inputs at the outputs; returns the next cycle in which one
    /// could be registered.
    fn register_heads(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> NetworkCycle {
        let arrivals = ctx.take_arrivals(self.direction as usize);
        let mut next = NetworkCycle::NEVER;
        for (word, arrived) in arrivals.into_iter().enumerate() {
            let unknown = std::mem::take(&mut self.unknown[word]) | arrived;
            for bit in bits::ones(unknown) {
                next = next.min(self.look_at(EntranceId::new(word * bits::WORD + bit), cycle, ctx));
            }
        }
        next
    }

    /// Registers the head packet of an input at its output, if there is one and it can be sent;
    /// returns the cycle in which to try again.
    fn look_at(&mut self, index: EntranceId, cycle: NetworkCycle, ctx: &Context) -> NetworkCycle {
        let input = &self.inputs[index];
        let head = ctx.ready(input.port, self.clock.at(cycle));
        let Some(request) = head.filter(|_| input.free <= cycle) else {
            return self.look_again(index, ctx);
        };
        self.register(index, self.direction.exit(ctx.request(request)));
        NetworkCycle::NEVER
    }

    /// Notes that an input is to be looked at as soon as its head packet can be sent; returns the
    /// cycle. An input without packets is looked at when one arrives.
    fn look_again(&mut self, index: EntranceId, ctx: &Context) -> NetworkCycle {
        let input = &self.inputs[index];
        let ready = ctx.head_ready(input.port);
        if ready == Ticks::NEVER {
            return NetworkCycle::NEVER;
        }
        bits::insert(&mut self.unknown, index.index());
        if ready <= self.clock.at(input.free) { input.free } else { self.clock.cycle_from(ready) }
    }

    fn register(&mut self, input: EntranceId, target: ExitId) {
        let output = &mut self.outputs[target];
        bits::insert(&mut output.wanted_by, input.index());
        output.waiting += 1;
        bits::insert(&mut self.wanted, target.index());
    }

    /// Serves every output that is wanted and free, in the order of their numbers; returns the next
    /// cycle to do so.
    fn grant(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> NetworkCycle {
        let (mut first, mut next) = (0, NetworkCycle::NEVER);
        // Serving an output may add wanted outputs behind it.
        while let Some(output) = bits::next_from(&self.wanted, first) {
            first = output + 1;
            next = next.min(self.serve(ExitId::new(output), cycle, ctx));
        }
        next
    }

    /// Lets an output take a packet; returns the next cycle in which the output or the input may go
    /// on.
    fn serve(&mut self, index: ExitId, cycle: NetworkCycle, ctx: &mut Context) -> NetworkCycle {
        let output = &mut self.outputs[index];
        if output.free > cycle {
            return output.free;
        }
        if !ctx.room_or_wake(output.port) {
            output.blocked = true;
            return NetworkCycle::NEVER;
        }
        let round_robin = || first_from(&output.wanted_by, output.next as usize);
        let source = match &mut self.rule {
            None => round_robin(),
            Some(rule) => {
                let (inputs, clock, banks) = (&self.inputs, self.clock, self.banks);
                let packet =
                    |input: usize| packet(inputs[EntranceId::new(input)].port, clock, banks, ctx);
                let place = Place { router: 0, index: index.index() };
                let fresh = output.blocked || output.free == cycle;
                let wanting = &output.wanted_by;
                let contest = Contest { output: place, wanting, fresh, packet: &packet };
                let source = rule.designate(&contest).unwrap_or_else(round_robin);
                rule.granted(place, source, packet(source));
                source
            }
        };
        bits::remove(&mut output.wanted_by, source);
        output.waiting -= 1;
        (output.next, output.blocked) = (source as u32 + 1, false);
        let is_wanted = output.waiting > 0;
        if !is_wanted {
            bits::remove(&mut self.wanted, index.index());
        }
        let source = EntranceId::new(source);
        let flits = self.pass(source, index, cycle, ctx);
        let next = self.sent(source, index, flits, cycle, ctx);
        // An output that nobody wants is looked at when it is wanted again.
        if is_wanted { next.min(cycle + flits) } else { next }
    }

    /// Moves the head packet of `source` to `target`; returns its flits.
    fn pass(
        &mut self,
        source: EntranceId,
        target: ExitId,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) -> u64 {
        let (port, now) = (self.inputs[source].port, self.clock.at(cycle));
        let wait = self.clock.cycles_in(now.since(ctx.head_ready(port)));
        let request = ctx.pop(port, now);
        let row = ctx.request(request);
        if self.direction == Direction::Request {
            self.tally.enter(source, row.place);
            self.tally.leave(row.place);
        }
        let flits = self.packets.flits(self.direction, row);
        let output = &mut self.outputs[target];
        output.free = cycle + flits;
        let transit = flits + self.latency;
        ctx.push(output.port, request, self.clock.at(cycle + transit));
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

    /// Notes that an input has sent a packet to `output`; returns the cycle in which to look at the
    /// input again. Its next packet may go in the same cycle to an output that has not been served
    /// yet in this cycle, because GPGPU-Sim grants the outputs one by one
    /// (`xbar_router::iSLIP_Advance`).
    fn sent(
        &mut self,
        index: EntranceId,
        output: ExitId,
        flits: u64,
        cycle: NetworkCycle,
        ctx: &Context,
    ) -> NetworkCycle {
        let input = &mut self.inputs[index];
        input.sent = if input.cycle == cycle { input.sent + 1 } else { 1 };
        input.cycle = cycle;
        if input.sent >= self.input_speedup {
            input.free = cycle + flits;
            return self.look_again(index, ctx);
        }
        let Some(next) = ctx.ready(input.port, self.clock.at(cycle)) else {
            return self.look_again(index, ctx);
        };
        let target = self.direction.exit(ctx.request(next));
        if target <= output {
            bits::insert(&mut self.unknown, index.index());
            return cycle + 1;
        }
        self.register(index, target);
        NetworkCycle::NEVER
    }
}

impl Topology for Crossbar {
    fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let heads = self.register_heads(cycle, ctx);
        let next = self.grant(cycle, ctx).min(heads);
        (next < NetworkCycle::NEVER).then_some(next)
    }

    fn finish(&mut self, cycles: u64) -> NetworkResult {
        let links = self.links();
        NetworkResult { links, ..self.tally.finish(cycles) }
    }

    fn links(&self) -> Vec<LinkResult> {
        let result = self.tally.counts();
        let link = |from, to, node: &NodeResult| LinkResult {
            from,
            to,
            flits: node.flits,
            buffer_flits: 0,
            buffer_flit_cycles: 0,
        };
        let sources = (0..).zip(&result.sources);
        let ins = sources.map(|(n, node)| link(LinkEnd::Source(n), LinkEnd::Router(0), node));
        let destinations = (0..).zip(&result.destinations);
        let outs =
            destinations.map(|(n, node)| link(LinkEnd::Router(0), LinkEnd::Destination(n), node));
        ins.chain(outs).collect()
    }

    /// A packet is always in one of the ports, which are reported themselves.
    fn describe(&self) -> Vec<String> {
        Vec::new()
    }

    fn routers(&self) -> Vec<Ports> {
        vec![Ports { inputs: self.inputs.len(), outputs: self.outputs.len() }]
    }
}

/// The properties of a port's head packet that an arbitration rule may use.
fn packet(port: PortId, clock: NetworkClock, banks: usize, ctx: &Context) -> Packet {
    let (ready, request) = ctx.head(port).expect("the input wants an output");
    let place = ctx.request(request).place;
    let bank = place.channel.index() * banks + place.bank.index();
    Packet { since: clock.cycle_from(ready), bank: bank as u32, row: place.row }
}
