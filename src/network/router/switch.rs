//! Switch allocation: which flits cross a router in a cycle.

use super::channel::NONE;
use super::virtual_channels::members;
use super::wires::Sink;
use super::{Flit, Routers};
use crate::engine::Context;
use crate::network::allocator::Choice;
use crate::network::arbiter::Inputs;
use crate::network::tally::Journey;

/// What has been matched in a router's turn, kept to be used again.
pub(super) struct Match {
    /// Inputs of the router that chose an output, by output.
    proposals: Vec<Inputs>,
    /// Outputs that were chosen, and those that are matched.
    proposed: Vec<u32>,
    taken: Vec<bool>,
    /// By input of the router, the virtual channel that it chose.
    chosen: Vec<u32>,
}

impl Match {
    /// For routers of at most so many inputs and outputs.
    pub fn new(inputs: usize, outputs: usize) -> Match {
        Match {
            proposals: vec![Inputs::default(); outputs],
            proposed: Vec::new(),
            taken: vec![false; outputs],
            chosen: vec![NONE; inputs],
        }
    }
}

impl Routers {
    /// Lets flits cross a router, at most one from each input and to each output. Whether the last flit of a packet
    /// has.
    pub(super) fn cross_switch(&mut self, router: usize, cycle: u64, ctx: &mut Context) -> bool {
        let mut unmatched = self.ready_inputs[router];
        let mut ended = false;
        let iterations = self.allocator.iterations();
        for iteration in 0..iterations {
            self.propose(router, &unmatched, iteration);
            if self.switch.proposed.is_empty() {
                break;
            }
            while let Some(local) = self.switch.proposed.pop() {
                let input = self.accept(router, local as usize, iteration);
                unmatched[input / 64] &= !(1 << (input % 64));
                ended |= self.cross(self.switch.chosen[input] as usize, cycle, ctx);
            }
        }
        if iterations > 1 {
            self.switch.taken.fill(false);
        }
        ended
    }

    /// Each unmatched input chooses one of its flits whose output is not taken.
    fn propose(&mut self, router: usize, unmatched: &Inputs, iteration: u32) {
        let channels = self.rules.channels;
        for input in members(unmatched) {
            let number = self.wires.first_input[router] + input;
            let mut mask = self.ready[number];
            if iteration > 0 {
                mask &= self.open(router, number);
            }
            if mask == 0 {
                continue;
            }
            let channel = match mask.is_power_of_two() {
                true => mask.trailing_zeros() as usize,
                false => self.choose_channel(number, mask),
            };
            let channel = number * channels + channel;
            self.switch.chosen[input] = channel as u32;
            let output = self.outputs[self.waiting.inputs[channel].output as usize].link as usize;
            let local = output - self.wires.first_output[router];
            let proposals = &mut self.switch.proposals[local];
            if *proposals == Inputs::default() {
                self.switch.proposed.push(local as u32);
            }
            proposals[input / 64] |= 1 << (input % 64);
        }
    }

    /// Virtual channels of an input whose output is not taken.
    fn open(&self, router: usize, input: usize) -> u64 {
        let channels = self.rules.channels;
        let first = self.wires.first_output[router];
        let own = &self.waiting.inputs[input * channels..(input + 1) * channels];
        let open = own.iter().filter(|channel| {
            channel.output != NONE
                && !self.switch.taken[self.outputs[channel.output as usize].link as usize - first]
        });
        open.fold(0, |mask, channel| mask | 1 << channel.index)
    }

    fn choose_channel(&mut self, input: usize, mask: u64) -> usize {
        let (waiting, first) = (&self.waiting, input * self.rules.channels);
        let since = |channel: usize| waiting.first(first + channel).seen.since;
        let chooser = self.first_injection() + input;
        self.allocator.choose(&Choice { chooser, set: &[mask], since: &since })
    }

    /// An output takes one of the inputs that chose it.
    fn accept(&mut self, router: usize, local: usize, iteration: u32) -> usize {
        let proposals = std::mem::take(&mut self.switch.proposals[local]);
        self.switch.taken[local] = iteration + 1 < self.allocator.iterations();
        let inputs = self.first_injection();
        let chooser = inputs + self.wires.inputs.len() + self.wires.first_output[router] + local;
        let (waiting, chosen) = (&self.waiting, &self.switch.chosen);
        let since = |input: usize| waiting.first(chosen[input] as usize).seen.since;
        let input = self.allocator.choose(&Choice { chooser, set: &proposals, since: &since });
        self.allocator.accepted(chooser, input, iteration);
        let channel = &self.waiting.inputs[self.switch.chosen[input] as usize];
        self.allocator.accepted(inputs + channel.input as usize, channel.index as usize, iteration);
        input
    }

    /// A flit leaves an input virtual channel by the output virtual channel that its packet has; whether it is the
    /// packet's last.
    fn cross(&mut self, channel: usize, cycle: u64, ctx: &mut Context) -> bool {
        let state = &mut self.waiting.inputs[channel];
        let (input, index) = (state.input as usize, state.index);
        let output = state.output as usize;
        let part = state.parts.front_mut().expect("a flit is there");
        let packet = part.packet;
        part.flits -= 1;
        state.left -= 1;
        let last = state.left == 0;
        if last {
            state.output = NONE;
            state.parts.pop_front();
            let output = &mut self.outputs[output];
            (output.holder, output.free_since) = (NONE, cycle + 1);
        }
        let more = last && !state.parts.is_empty();
        self.waited[input] = self.waited[input].wrapping_add(cycle + 1);
        self.give_credit(input, index, cycle);
        self.pass_on(packet, output, last, cycle, ctx);
        if more {
            self.want(channel);
        }
        self.update_ready(channel);
        last
    }

    /// The place of a flit that leaves an input can be used again.
    fn give_credit(&mut self, input: usize, index: u32, cycle: u64) {
        let channel = self.wires.inputs[input].upstream * self.rules.channels as u32 + index;
        self.credits.push_back((cycle + 1 + self.rules.link_latency, channel));
    }

    /// A flit goes onto the link behind an output virtual channel.
    fn pass_on(&mut self, packet: u32, output: usize, last: bool, cycle: u64, ctx: &mut Context) {
        let state = &mut self.outputs[output];
        let link = state.link as usize;
        self.passed[link] += 1;
        match self.wires.downstream[link] {
            Sink::Input(input) => {
                state.credits -= 1;
                let channel = input * self.rules.channels as u32 + state.index;
                let at = cycle + self.rules.router_latency + self.rules.link_latency;
                self.links.push_back((at, Flit { channel, packet }));
            }
            Sink::Node(_) if last => self.deliver(packet, cycle + 1 + self.rules.link_latency, ctx),
            Sink::Node(_) => (),
        }
    }

    /// The reader of a packet can take it from `cycle` on.
    fn deliver(&mut self, number: u32, cycle: u64, ctx: &mut Context) {
        let packet = self.waiting.remove(number);
        let exit = &mut self.exits[usize::from(packet.exit)];
        exit.reserved -= 1;
        ctx.fabric.push(exit.port, packet.request, self.rules.clock.at(cycle));
        self.tally.leave(packet.place);
        let hops = u64::from(packet.hops);
        self.tally.pass(&Journey {
            source: usize::from(packet.source),
            destination: usize::from(packet.destination),
            flits: packet.flits.into(),
            wait: packet.entered - packet.seen.since,
            transit: cycle - packet.entered,
            hops,
            pipeline: hops * (self.rules.router_latency + self.rules.link_latency),
        });
    }
}
