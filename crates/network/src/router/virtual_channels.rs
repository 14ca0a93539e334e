//! VC allocation: which packets get the virtual channels of the next link.

use super::Routers;
use super::channel::NONE;
use super::waiting::Packet;
use crate::VcAssignment;
use crate::allocator::{Choice, members};
use crate::arbiter::{Contest, Inputs, Output};
use warpmem_sim::Context;

impl Routers {
    /// The first packet of an input virtual channel wants to go on.
    pub(super) fn want(&mut self, channel: usize) {
        let state = &self.waiting.inputs[channel];
        let (router, input) = (usize::from(state.router), state.local);
        self.allocates[router] = true;
        let destination = usize::from(self.waiting.first(channel).destination);
        let route = self.wires.route(router, destination);
        let class = usize::from(route.class);
        let pool = match self.rules.assignment {
            VcAssignment::Dynamic => class,
            VcAssignment::StaticDestination => {
                class * self.rules.class_channels + destination % self.rules.class_channels
            }
        };
        let local = usize::from(route.output) * self.rules.pools + pool;
        let pool = self.wires.first_output[router] * self.rules.pools + local;
        self.waiting.inputs[channel].pool = pool as u32;
        self.wanting[pool][usize::from(input / 64)] |= 1 << (input % 64);
        self.wanted[self.first_wanted[router] + local / 64] |= 1 << (local % 64);
    }

    /// Gives the free virtual channels behind a router to packets that want them.
    pub(super) fn allocate_channels(&mut self, router: usize, cycle: u64, ctx: &mut Context) {
        let first = self.first_wanted[router];
        for word in first..self.first_wanted[router + 1] {
            let mut bits = self.wanted[word];
            while bits != 0 {
                let pool = (word - first) * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.allocate_pool(router, pool, cycle, ctx);
            }
        }
    }

    /// Gives the free virtual channels of one pool, `local` among those of the router, to packets
    /// that want one.
    fn allocate_pool(&mut self, router: usize, local: usize, cycle: u64, ctx: &mut Context) {
        let (pools, channels) = (self.rules.pools, self.rules.channels);
        let link = self.wires.first_output[router] + local / pools;
        let pool = self.wires.first_output[router] * pools + local;
        // Pools share the virtual channels of a link equally.
        let share = channels / pools;
        let first = link * channels + local % pools * share;
        for output in first..first + share {
            if self.outputs[output].holder != NONE {
                continue;
            }
            if is_empty(&self.wanting[pool]) {
                return;
            }
            let fitting = self.fitting(router, pool, output, ctx);
            if is_empty(&fitting) {
                self.outputs[output].blocked = true;
                continue;
            }
            let input = self.choose_input(router, pool, output, &fitting, cycle);
            let channel = self.waiting.oldest(self.wires.first_input[router] + input, pool);
            self.grant(channel, output, cycle);
        }
    }

    /// Inputs whose packet may have `output`: all that want it, where it leads to a router and
    /// flits go one by one.
    fn fitting(&mut self, router: usize, pool: usize, output: usize, ctx: &mut Context) -> Inputs {
        let wanting = self.wanting[pool];
        let to_node = self.outputs[output].downstream == NONE;
        if !to_node && !self.rules.cut_through {
            return wanting;
        }
        let mut fitting = Inputs::default();
        for input in members(&wanting) {
            let number = self.wires.first_input[router] + input;
            let packet = *self.waiting.first(self.waiting.oldest(number, pool));
            let fits = match to_node {
                true => self.has_exit(&packet, router, ctx),
                false => self.outputs[output].credits >= packet.flits,
            };
            if fits {
                fitting[input / 64] |= 1 << (input % 64);
            }
        }
        fitting
    }

    /// Whether the port that a packet goes to has room for it; if not, the router has a turn when
    /// it has.
    fn has_exit(&mut self, packet: &Packet, router: usize, ctx: &mut Context) -> bool {
        let exit = &mut self.exits[usize::from(packet.exit)];
        if exit.has_room(ctx) {
            return true;
        }
        ctx.fabric.wake_writer(exit.port);
        if !exit.awaited {
            exit.awaited = true;
            self.full.push((router as u32, packet.exit));
        }
        false
    }

    /// The input whose packet gets `output`: the rule's, or else the allocator's.
    fn choose_input(
        &mut self,
        router: usize,
        pool: usize,
        output: usize,
        fitting: &Inputs,
        cycle: u64,
    ) -> usize {
        let (waiting, first) = (&self.waiting, self.wires.first_input[router]);
        let packet = |input| waiting.first(waiting.oldest(first + input, pool)).seen;
        let choice = Choice { chooser: output, set: fitting, since: &|input| packet(input).since };
        let allocator = &mut self.allocator;
        let mut turn = || only(fitting).unwrap_or_else(|| allocator.choose(&choice));
        let input = match &mut self.rule {
            None => turn(),
            Some(rule) => {
                let place = Output { router, index: output };
                let state = &self.outputs[output];
                let fresh = state.blocked || state.free_since == cycle;
                let contest = Contest { output: place, wanting: fitting, fresh, packet: &packet };
                let input = rule.designate(&contest).unwrap_or_else(turn);
                rule.granted(place, input, packet(input));
                input
            }
        };
        self.allocator.accepted(output, input, 0);
        input
    }

    /// Gives the first packet of an input virtual channel an output virtual channel.
    fn grant(&mut self, channel: usize, output: usize, cycle: u64) {
        let packet = self.waiting.first_mut(channel);
        packet.hops += 1;
        let packet = *packet;
        let state = &mut self.waiting.inputs[channel];
        let pool = std::mem::replace(&mut state.pool, NONE);
        (state.output, state.left) = (output as u32, packet.flits);
        let (router, input) = (usize::from(state.router), state.input as usize);
        let output = &mut self.outputs[output];
        debug_assert!(output.holder == NONE && output.free_since <= cycle);
        (output.holder, output.blocked) = (channel as u32, false);
        let ready = output.credits > 0;
        if output.downstream == NONE {
            self.exits[usize::from(packet.exit)].reserved += 1;
        }
        if self.waiting.wants(input, pool) {
            // The next packet may have one of those that this could not.
            self.allocates[router] = true;
        } else {
            self.forget(channel, pool as usize);
        }
        if ready {
            self.set_ready(channel);
        }
    }

    /// The input of a virtual channel has no packet any more that wants a virtual channel of
    /// `pool`.
    fn forget(&mut self, channel: usize, pool: usize) {
        let state = &self.waiting.inputs[channel];
        let (router, input) = (usize::from(state.router), state.local);
        self.wanting[pool][usize::from(input / 64)] &= !(1 << (input % 64));
        if is_empty(&self.wanting[pool]) {
            let local = pool - self.wires.first_output[router] * self.rules.pools;
            self.wanted[self.first_wanted[router] + local / 64] &= !(1 << (local % 64));
        }
    }
}

/// Whether a set has no member.
#[inline]
pub(super) fn is_empty(set: &Inputs) -> bool {
    set.iter().fold(0, |all, word| all | word) == 0
}

/// The member of a set that has only one.
#[inline]
pub(super) fn only(set: &Inputs) -> Option<usize> {
    let word = set.iter().position(|&word| word != 0)?;
    let alone = set[word].is_power_of_two() && set[word + 1..].iter().all(|&word| word == 0);
    alone.then(|| word * 64 + set[word].trailing_zeros() as usize)
}
