//! VC allocation: which packets get the virtual channels of the next link.

use super::Routers;
use super::channel::{InputChannel, NONE};
use super::choosers::{Chooser, Choosers};
use super::wires::{Wires, running_sum};
use crate::NetworkContext;
use crate::arbiter::{self, Arbiter, ArbiterContext, Contest, Inputs, Output};
use warpmem_params::PolicyError;
use warpmem_sim::{Context, NetworkCycle, bits};

/// The requests of packets for output virtual channels, and the rule that arbitrates between them.
///
/// A packet requests any virtual channel of a pool. Pools are numbered over all routers; those of a
/// router follow each other, output by output.
pub(super) struct VcAllocator {
    rule: Option<Box<dyn Arbiter>>,
    /// By pool, the inputs of its router with a packet that requests it.
    requests: Vec<Inputs>,
    /// By router, the requested pools, one bit each, in words from `first_word` on.
    requested: Vec<u64>,
    first_word: Vec<usize>,
    /// First pool of each router.
    first_pool: Vec<usize>,
    /// By router, whether allocation may have something to grant: a packet has made a request, or a
    /// virtual channel has become available.
    due: Vec<bool>,
}

impl VcAllocator {
    /// For routers of `wires` with `channels` virtual channels per link, in `pools` pools.
    pub fn new(
        context: &NetworkContext,
        wires: &Wires,
        channels: usize,
        pools: usize,
    ) -> Result<VcAllocator, PolicyError> {
        let shape = ArbiterContext {
            direction: context.direction,
            routers: wires.routers,
            outputs: wires.outputs() * channels,
            banks: context.channels * context.banks,
        };
        let outputs = wires.first_output.windows(2).map(|first| first[1] - first[0]);
        let words: Vec<usize> =
            outputs.map(|outputs| (outputs * pools).div_ceil(bits::WORD)).collect();
        let first_word = running_sum(&words);
        Ok(VcAllocator {
            rule: arbiter::build(&context.arbiter, &shape)?,
            requests: vec![Inputs::default(); wires.outputs() * pools],
            requested: vec![0; first_word[wires.routers]],
            first_word,
            first_pool: wires.first_output.iter().map(|first| first * pools).collect(),
            due: vec![false; wires.routers],
        })
    }

    /// Makes the next step of a router allocate virtual channels.
    #[inline]
    pub fn make_due(&mut self, router: usize) {
        self.due[router] = true;
    }

    #[inline]
    pub fn is_due(&self, router: usize) -> bool {
        self.due[router]
    }

    /// Whether a router is to allocate virtual channels, which it now does.
    #[inline]
    pub fn take_due(&mut self, router: usize) -> bool {
        std::mem::take(&mut self.due[router])
    }

    /// Number of a pool, `local` within the router.
    #[inline]
    fn pool(&self, router: usize, local: usize) -> usize {
        self.first_pool[router] + local
    }

    /// Adds the request of an input for a pool, `local` within the router; returns the pool's
    /// number.
    fn add(&mut self, router: usize, local: usize, input: u8) -> usize {
        let pool = self.pool(router, local);
        bits::insert(&mut self.requests[pool], input.into());
        bits::insert(&mut self.requested[self.first_word[router]..], local);
        pool
    }

    /// Removes the request of the input of `channel` for a pool, once none of its packets requests
    /// it any more.
    fn remove(&mut self, channel: &InputChannel, pool: usize) {
        let (router, input) = (usize::from(channel.router), channel.local);
        bits::remove(&mut self.requests[pool], input.into());
        if bits::is_empty(&self.requests[pool]) {
            let local = pool - self.first_pool[router];
            bits::remove(&mut self.requested[self.first_word[router]..], local);
        }
    }

    /// The input that gets an output virtual channel: the rule's choice, or else the allocator's.
    fn choose(&mut self, contest: &Contest, choosers: &mut Choosers) -> usize {
        let (set, packet) = (contest.wanting, contest.packet);
        let chooser = Chooser::Channel(contest.output.index);
        let mut fair = || {
            bits::only(set).unwrap_or_else(|| {
                choosers.choose(chooser, set, &|input: usize| packet(input).since)
            })
        };
        let input = match &mut self.rule {
            None => fair(),
            Some(rule) => {
                let input = rule.designate(contest).unwrap_or_else(fair);
                rule.granted(contest.output, input, packet(input));
                input
            }
        };
        choosers.matched(chooser, input, 0);
        input
    }
}

impl Routers {
    /// Requests an output virtual channel for the first packet of an input virtual channel.
    pub(super) fn request(&mut self, channel: usize) {
        let state = self.buffers.channel(channel);
        let (router, input) = (usize::from(state.router), state.local);
        let destination = usize::from(self.buffers.first(channel).destination);
        let route = self.wires.route(router, destination);
        let pool = self.rules.pool(route.class.into(), destination);
        let local = usize::from(route.output) * self.rules.pools + pool;
        let pool = self.vcs.add(router, local, input);
        self.vcs.make_due(router);
        self.buffers.channel_mut(channel).pool = pool as u32;
    }

    /// Grants the free output virtual channels of a router to packets that request them.
    pub(super) fn allocate_channels(
        &mut self,
        router: usize,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) {
        let first = self.vcs.first_word[router];
        for word in first..self.vcs.first_word[router + 1] {
            for bit in bits::ones(self.vcs.requested[word]) {
                let pool = (word - first) * bits::WORD + bit;
                self.allocate_pool(router, pool, cycle, ctx);
            }
        }
    }

    /// Grants the free virtual channels of one pool, `local` within the router.
    fn allocate_pool(
        &mut self,
        router: usize,
        local: usize,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) {
        let pool = self.vcs.pool(router, local);
        for output in self.channels_of_pool(router, local) {
            if self.outputs[output].holder != NONE {
                continue;
            }
            if bits::is_empty(&self.vcs.requests[pool]) {
                return;
            }
            let fitting = self.fitting(router, pool, output, ctx);
            if bits::is_empty(&fitting) {
                self.outputs[output].blocked = true;
                continue;
            }
            let input = self.choose_input(router, pool, output, &fitting, cycle);
            let channel = self.buffers.oldest(self.wires.first_input[router] + input, pool);
            self.grant(channel, output, cycle);
        }
    }

    /// The output virtual channels of a pool: the pools of a link share its virtual channels
    /// equally.
    fn channels_of_pool(&self, router: usize, local: usize) -> std::ops::Range<usize> {
        let (pools, channels) = (self.rules.pools, self.rules.channels);
        let link = self.wires.first_output[router] + local / pools;
        let share = channels / pools;
        let first = link * channels + local % pools * share;
        first..first + share
    }

    /// The inputs that request `pool` and whose packet could use `output` now. Under wormhole
    /// switching those are all of them where the link leads to a router.
    fn fitting(&mut self, router: usize, pool: usize, output: usize, ctx: &mut Context) -> Inputs {
        let requests = self.vcs.requests[pool];
        let (is_exit, credits) = (self.outputs[output].is_exit(), self.outputs[output].credits);
        if !is_exit && !self.rules.cut_through {
            return requests;
        }
        let mut fitting = Inputs::default();
        for input in bits::members(&requests) {
            let number = self.wires.first_input[router] + input;
            let packet = self.buffers.first(self.buffers.oldest(number, pool));
            let fits = match is_exit {
                true => self.exits.has_room(packet.exit, router, ctx),
                false => credits >= packet.flits,
            };
            if fits {
                bits::insert(&mut fitting, input);
            }
        }
        fitting
    }

    /// The input, one of `fitting`, whose packet gets `output`.
    fn choose_input(
        &mut self,
        router: usize,
        pool: usize,
        output: usize,
        fitting: &Inputs,
        cycle: NetworkCycle,
    ) -> usize {
        let (buffers, first) = (&self.buffers, self.wires.first_input[router]);
        let state = &self.outputs[output];
        let contest = Contest {
            output: Output { router, index: output },
            wanting: fitting,
            fresh: state.blocked || state.free_since == cycle,
            packet: &|input| buffers.first(buffers.oldest(first + input, pool)).seen,
        };
        self.vcs.choose(&contest, &mut self.choosers)
    }

    /// Gives the first packet of an input virtual channel an output virtual channel.
    fn grant(&mut self, channel: usize, output: usize, cycle: NetworkCycle) {
        let packet = self.buffers.first_mut(channel);
        packet.hops += 1;
        let (flits, exit) = (packet.flits, packet.exit);
        let state = self.buffers.channel_mut(channel);
        let pool = std::mem::replace(&mut state.pool, NONE);
        (state.output, state.left) = (output as u32, flits);
        let output = &mut self.outputs[output];
        output.grant(channel as u32, cycle);
        if output.is_exit() {
            self.exits.reserve(exit);
        }
        let has_credit = output.credits > 0;
        let state = self.buffers.channel(channel);
        if self.buffers.wants(state.input as usize, pool) {
            // The next packet may be able to use a channel that this one could not.
            self.vcs.make_due(state.router.into());
        } else {
            self.vcs.remove(state, pool as usize);
        }
        if has_credit {
            self.switch.set_ready(state);
        }
    }
}
