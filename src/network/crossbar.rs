//! A crossbar: every input reaches every output, one packet at a time on each.

use super::arbiter::{Arbiter, Inputs};
use super::{Direction, NetworkContext, PacketSizes, Topology, TopologyEntry};
use crate::engine::{Clock, Context, PortId};
use crate::registry::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "crossbar",
    summary: "one stage; the head packet of each input competes for its output; a packet holds both for its flits",
    source: "local crossbar of GPGPU-Sim 4; Yuan et al., MICRO 2009",
    params: &[],
};

pub(super) const ENTRY: TopologyEntry = TopologyEntry {
    info: INFO,
    build: |context, params| {
        params.none(&INFO)?;
        Ok(Box::new(Crossbar::new(context)?) as _)
    },
};

struct Input {
    port: PortId,
    /// Output that the head packet wants, once it has been looked at.
    wants: Option<u16>,
    /// Cycle from which it may send the next packet.
    free: u64,
}

struct Output {
    port: PortId,
    wanted_by: Inputs,
    waiting: u32,
    free: u64,
}

struct Crossbar {
    direction: Direction,
    clock: Clock,
    packets: PacketSizes,
    latency: u64,
    arbiter: Box<dyn Arbiter>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Outputs that some input wants.
    wanted: Inputs,
}

impl Crossbar {
    fn new(context: &NetworkContext) -> Result<Crossbar, crate::registry::PolicyError> {
        let input = |&port: &PortId| Input { port, wants: None, free: 0 };
        let output = |&port: &PortId| Output { port, wanted_by: [0; 4], waiting: 0, free: 0 };
        Ok(Crossbar {
            direction: context.direction,
            clock: context.clock,
            packets: context.packets,
            latency: context.latency,
            arbiter: context.arbiter()?,
            inputs: context.inputs.iter().map(input).collect(),
            outputs: context.outputs.iter().map(output).collect(),
            wanted: [0; 4],
        })
    }

    /// Looks at the head packets of inputs that have none registered.
    fn register_heads(&mut self, cycle: u64, ctx: &Context) -> Option<u64> {
        let now = self.clock.at(cycle);
        let mut next = None;
        for (index, input) in self.inputs.iter_mut().enumerate() {
            if input.wants.is_some() {
                continue;
            }
            let Some((ready, request)) = ctx.fabric.head(input.port) else { continue };
            if ready > now || input.free > cycle {
                next = earlier(next, self.clock.cycle_from(ready).max(input.free));
                continue;
            }
            let request = ctx.requests.get(request);
            let target = match self.direction {
                Direction::Request => request.slice,
                Direction::Reply => request.sm,
            };
            input.wants = Some(target);
            let output = &mut self.outputs[target as usize];
            output.wanted_by[index / 64] |= 1 << (index % 64);
            output.waiting += 1;
            self.wanted[target as usize / 64] |= 1 << (target % 64);
        }
        next
    }

    /// Serves every output that is wanted and free.
    fn grant(&mut self, cycle: u64, ctx: &mut Context) -> Option<u64> {
        let mut next = None;
        for word in 0..self.wanted.len() {
            let mut done = 0u64;
            loop {
                let bits = self.wanted[word] & !done;
                if bits == 0 { break; }
                let output = word * 64 + bits.trailing_zeros() as usize;
                done |= u64::MAX >> (63 - bits.trailing_zeros());
                next = match self.serve(output, cycle, ctx) {
                    Some(at) => earlier(next, at),
                    None => next,
                };
            }
        }
        next
    }

    /// Lets an output take a packet; when to look at it again.
    fn serve(&mut self, index: usize, cycle: u64, ctx: &mut Context) -> Option<u64> {
        let output = &mut self.outputs[index];
        if output.free > cycle {
            return Some(output.free);
        }
        if !ctx.fabric.room_or_wake(output.port) {
            return None;
        }
        let source = self.arbiter.pick(index, &output.wanted_by);
        debug_assert!(output.wanted_by[source / 64] >> (source % 64) & 1 == 1);
        output.wanted_by[source / 64] &= !(1 << (source % 64));
        output.waiting -= 1;
        if output.waiting == 0 {
            self.wanted[index / 64] &= !(1 << (index % 64));
        }
        let input = &mut self.inputs[source];
        let now = self.clock.at(cycle);
        let request = ctx.fabric.pop(input.port, now);
        let flits = self.packets.flits(self.direction, ctx.requests.get(request));
        input.wants = None;
        input.free = cycle;
        let port = input.port;
        if let Some((ready, next)) = ctx.fabric.head(port) && ready <= now {
            let row = ctx.requests.get(next);
            let target = match self.direction {
                Direction::Request => row.slice,
                Direction::Reply => row.sm,
            };
            if target as usize > index {
                self.inputs[source].wants = Some(target);
                let output = &mut self.outputs[target as usize];
                output.wanted_by[source / 64] |= 1 << (source % 64);
                output.waiting += 1;
                self.wanted[target as usize / 64] |= 1 << (target % 64);
            }
        }
        let output = &mut self.outputs[index];
        output.free = cycle + flits;
        let arrival = self.clock.at(cycle + flits + self.latency);
        ctx.fabric.push(output.port, request, arrival);
        Some(cycle + flits)
    }
}

impl Topology for Crossbar {
    fn step(&mut self, cycle: u64, ctx: &mut Context) -> Option<u64> {
        let heads = self.register_heads(cycle, ctx);
        let outputs = self.grant(cycle, ctx);
        match (heads, outputs) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

fn earlier(a: Option<u64>, b: u64) -> Option<u64> {
    Some(a.map_or(b, |a| a.min(b)))
}
