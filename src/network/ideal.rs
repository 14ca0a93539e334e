//! A network without contention.

use super::tally::{Journey, Tally};
use super::{Direction, NetworkContext, PacketSizes, Topology, TopologyEntry};
use crate::engine::{Clock, Context, PortId, RequestId};
use crate::record::{LinkResult, NetworkResult};
use crate::registry::PolicyInfo;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

const INFO: PolicyInfo = PolicyInfo {
    name: "ideal",
    summary: "every packet takes a router, a link and its flits, whatever the others do",
    source: "reference without contention",
    params: &[],
};

pub(super) const ENTRY: TopologyEntry = TopologyEntry {
    info: INFO,
    build: |context, params| {
        params.none(&INFO)?;
        Ok(Box::new(Ideal::new(context)) as _)
    },
};

/// A port and the number of its node.
#[derive(Clone, Copy)]
struct Port {
    id: PortId,
    node: usize,
}

struct Output {
    port: Port,
    /// Packets on their way, for each of which a place of the port is kept.
    coming: usize,
    /// Inputs whose head found no place, in the order in which they came.
    waiting: VecDeque<usize>,
}

/// A packet on its way: network cycle of its arrival, packets that entered before it, output, number of the request.
type Flight = (u64, u64, usize, u32);

struct Ideal {
    direction: Direction,
    clock: Clock,
    packets: PacketSizes,
    latency: u64,
    inputs: Vec<Port>,
    outputs: Vec<Output>,
    /// Inputs whose head cannot leave before a later cycle.
    early: Vec<usize>,
    flights: BinaryHeap<Reverse<Flight>>,
    entered: u64,
    tally: Tally,
}

impl Ideal {
    fn new(context: &NetworkContext) -> Ideal {
        let network = &context.network;
        let output = |port| Output { port, coming: 0, waiting: VecDeque::new() };
        Ideal {
            direction: context.direction,
            clock: context.clock,
            packets: context.packets,
            latency: u64::from(network.router_latency) + u64::from(network.link_latency),
            inputs: ports(&context.inputs).collect(),
            outputs: ports(&context.outputs).map(output).collect(),
            early: Vec::new(),
            flights: BinaryHeap::new(),
            entered: 0,
            tally: Tally::new(context),
        }
    }

    /// Lets inputs that wait for an output go on as far as there is room now.
    fn serve_waiting(&mut self, cycle: u64, ctx: &mut Context) {
        for output in 0..self.outputs.len() {
            while !self.outputs[output].waiting.is_empty() && self.has_room(output, ctx) {
                let input = self.outputs[output].waiting.pop_front().expect("an input waits");
                self.pass(input, output, cycle, ctx);
                self.send(input, cycle, ctx);
            }
        }
    }

    /// Looks at inputs that have come to hold something or whose head's time may have come.
    fn serve_heads(&mut self, cycle: u64, ctx: &mut Context) {
        for input in std::mem::take(&mut self.early) {
            self.send(input, cycle, ctx);
        }
        let news = ctx.fabric.take_arrivals(self.direction as usize);
        for (word, mut bits) in news.into_iter().enumerate() {
            while bits != 0 {
                self.send(word * 64 + bits.trailing_zeros() as usize, cycle, ctx);
                bits &= bits - 1;
            }
        }
    }

    /// Sends all that may leave an input.
    fn send(&mut self, input: usize, cycle: u64, ctx: &mut Context) {
        while let Some((ready, request)) = ctx.fabric.head(self.inputs[input].id) {
            if ready > self.clock.at(cycle) {
                return self.early.push(input);
            }
            let output = self.target(request, ctx);
            if !self.outputs[output].waiting.is_empty() || !self.has_room(output, ctx) {
                return self.outputs[output].waiting.push_back(input);
            }
            self.pass(input, output, cycle, ctx);
        }
    }

    fn target(&self, request: RequestId, ctx: &Context) -> usize {
        let request = ctx.requests.get(request);
        usize::from(match self.direction {
            Direction::Request => request.slice,
            Direction::Reply => request.sm,
        })
    }

    /// Whether there is room beside what is on its way; if not, the network is woken when the reader takes something.
    fn has_room(&self, output: usize, ctx: &mut Context) -> bool {
        let output = &self.outputs[output];
        let room = ctx.fabric.room(output.port.id) > output.coming;
        if !room {
            ctx.fabric.wake_writer(output.port.id);
        }
        room
    }

    /// The head packet of `input` sets out for `output`.
    fn pass(&mut self, input: usize, output: usize, cycle: u64, ctx: &mut Context) {
        let source = self.inputs[input];
        let since = self.clock.cycle_from(ctx.fabric.head_ready(source.id));
        let request = ctx.fabric.pop(source.id, self.clock.at(cycle));
        let row = ctx.requests.get(request);
        if self.direction == Direction::Request {
            self.tally.enter(input, ctx.map.locate(row.address));
        }
        let flits = self.packets.flits(self.direction, row);
        let transit = flits + self.latency;
        self.flights.push(Reverse((cycle + transit, self.entered, output, request.0)));
        self.entered += 1;
        self.outputs[output].coming += 1;
        self.tally.pass(&Journey {
            source: source.node,
            destination: self.outputs[output].port.node,
            flits,
            wait: cycle - since,
            transit,
            hops: 1,
            pipeline: self.latency,
        });
    }

    /// Hands over what arrives in the next cycle: all of it is on its way now, and readers of the same time see it.
    fn land(&mut self, cycle: u64, ctx: &mut Context) {
        while let Some(&Reverse((arrival, _, output, request))) = self.flights.peek() {
            if arrival > cycle + 1 {
                return;
            }
            self.flights.pop();
            let request = RequestId(request);
            if self.direction == Direction::Request {
                self.tally.leave(ctx.map.locate(ctx.requests.get(request).address));
            }
            let output = &mut self.outputs[output];
            output.coming -= 1;
            ctx.fabric.push(output.port.id, request, self.clock.at(arrival));
        }
    }

    /// When the next turn is due if nothing comes to an input and nothing is taken from an output.
    fn next(&self, ctx: &Context) -> Option<u64> {
        let ready = |&input: &usize| ctx.fabric.head_ready(self.inputs[input].id);
        let heads = self.early.iter().map(|input| self.clock.cycle_from(ready(input)));
        let landing = self.flights.peek().map(|Reverse((arrival, ..))| arrival - 1);
        heads.chain(landing).min()
    }
}

impl Topology for Ideal {
    fn step(&mut self, cycle: u64, ctx: &mut Context) -> Option<u64> {
        self.serve_waiting(cycle, ctx);
        self.serve_heads(cycle, ctx);
        self.land(cycle, ctx);
        self.next(ctx)
    }

    fn finish(&mut self, cycles: u64) -> NetworkResult {
        self.tally.finish(cycles)
    }

    /// Packets take no way of their own.
    fn links(&self) -> Vec<LinkResult> {
        Vec::new()
    }

    fn describe(&self) -> Vec<String> {
        let flight = |&Reverse((arrival, _, output, request)): &Reverse<Flight>| {
            let node = self.outputs[output].port.node;
            format!("request {request} reaches node {node} in network cycle {arrival}")
        };
        self.flights.iter().map(flight).collect()
    }
}

fn ports(nodes: &[Vec<PortId>]) -> impl Iterator<Item = Port> {
    let nodes = nodes.iter().enumerate();
    nodes.flat_map(|(node, ports)| ports.iter().map(move |&id| Port { id, node }))
}
