//! Switch allocation: which flits cross a router in a cycle.

use super::channel::NONE;
use super::virtual_channels::{is_empty, only};
use super::{Flit, Routers};
use crate::allocator::Choice;
use crate::arbiter::Inputs;
use crate::tally::Journey;
use warpmem_sim::Context;

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
    /// Lets flits cross a router, at most one from each input and to each output.
    pub(super) fn cross_switch(&mut self, router: usize, cycle: u64, ctx: &mut Context) {
        let mut unmatched = self.ready_inputs[router];
        if let Some(input) = only(&unmatched) {
            let number = self.wires.first_input[router] + input;
            let channel = self.choose_channel(number, self.ready[number]);
            let output = self.outputs[self.waiting.inputs[channel].output as usize].link as usize;
            self.matched(channel, input, output, 0);
            self.cross(channel, cycle, ctx);
            return;
        }
        let iterations = self.allocator.iterations();
        for iteration in 0..iterations {
            self.propose(router, &unmatched, iteration);
            if self.switch.proposed.is_empty() {
                break;
            }
            while let Some(output) = self.switch.proposed.pop() {
                let output = output as usize;
                self.switch.taken[output] = iterations > 1;
                let input = self.accept(router, output);
                let channel = self.switch.chosen[input] as usize;
                self.matched(channel, input, self.wires.first_output[router] + output, iteration);
                unmatched[input / 64] &= !(1 << (input % 64));
                self.cross(channel, cycle, ctx);
            }
        }
        if iterations > 1 {
            self.switch.taken.fill(false);
        }
    }

    /// Each unmatched input chooses one of its flits whose output is not taken.
    fn propose(&mut self, router: usize, unmatched: &Inputs, iteration: u32) {
        for (word, &bits) in unmatched.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let input = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.propose_one(router, input, iteration);
            }
        }
    }

    fn propose_one(&mut self, router: usize, input: usize, iteration: u32) {
        let number = self.wires.first_input[router] + input;
        let mut mask = self.ready[number];
        if iteration > 0 {
            mask &= self.open(router, number);
        }
        if mask == 0 {
            return;
        }
        let channel = self.choose_channel(number, mask);
        self.switch.chosen[input] = channel as u32;
        let output = self.outputs[self.waiting.inputs[channel].output as usize].link as usize;
        let local = output - self.wires.first_output[router];
        let proposals = &mut self.switch.proposals[local];
        if is_empty(proposals) {
            self.switch.proposed.push(local as u32);
        }
        proposals[input / 64] |= 1 << (input % 64);
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

    /// The virtual channel of an input, one of `mask`, that has its turn.
    #[inline]
    fn choose_channel(&mut self, input: usize, mask: u64) -> usize {
        let first = input * self.rules.channels;
        if mask.is_power_of_two() {
            return first + mask.trailing_zeros() as usize;
        }
        let waiting = &self.waiting;
        let since = |channel: usize| waiting.first(first + channel).seen.since;
        let chooser = self.first_injection() + input;
        first + self.allocator.choose(&Choice { chooser, set: &[mask], since: &since })
    }

    /// An output, `output` among those of the router, takes one of the inputs that chose it.
    fn accept(&mut self, router: usize, output: usize) -> usize {
        let proposals = std::mem::take(&mut self.switch.proposals[output]);
        if let Some(input) = only(&proposals) {
            return input;
        }
        let chooser = self.output_chooser(self.wires.first_output[router] + output);
        let (waiting, chosen) = (&self.waiting, &self.switch.chosen);
        let since = |input: usize| waiting.first(chosen[input] as usize).seen.since;
        self.allocator.choose(&Choice { chooser, set: &proposals, since: &since })
    }

    /// Number of an output among those who choose: behind all virtual channels and inputs.
    fn output_chooser(&self, output: usize) -> usize {
        self.first_injection() + self.wires.inputs.len() + output
    }

    /// A virtual channel of `input` of a router and an output have chosen each other.
    fn matched(&mut self, channel: usize, input: usize, output: usize, iteration: u32) {
        let state = &self.waiting.inputs[channel];
        let chooser = self.first_injection() + state.input as usize;
        self.allocator.accepted(chooser, state.index.into(), iteration);
        self.allocator.accepted(self.output_chooser(output), input, iteration);
    }

    /// A flit leaves an input virtual channel by the output virtual channel that its packet has.
    fn cross(&mut self, channel: usize, cycle: u64, ctx: &mut Context) {
        let state = &mut self.waiting.inputs[channel];
        let part = &mut state.first;
        let packet = part.packet;
        part.flits -= 1;
        state.left -= 1;
        let last = state.left == 0;
        let mut ready = part.flits > 0 && !last;
        // Its place can be used again.
        self.credits.push_back((cycle + 1 + self.rules.link_latency, state.upstream));
        let waited = &mut self.waited[state.input as usize];
        *waited = waited.wrapping_add(cycle + 1);
        let output = &mut self.outputs[state.output as usize];
        self.passed[output.link as usize] += 1;
        if output.downstream != NONE {
            output.credits -= 1;
            ready &= output.credits > 0;
            let at = cycle + self.rules.router_latency + self.rules.link_latency;
            self.links.push_back((at, Flit { channel: output.downstream, packet }));
        }
        let delivered = last && output.downstream == NONE;
        let mut more = false;
        if last {
            self.allocates[usize::from(state.router)] = true;
            (output.holder, output.free_since) = (NONE, cycle + 1);
            state.output = NONE;
            more = state.advance();
        }
        if !ready {
            self.clear_ready(channel);
        }
        if more {
            self.want(channel);
        }
        if delivered {
            self.deliver(packet, cycle + 1 + self.rules.link_latency, ctx);
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
