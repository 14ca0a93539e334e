//! VC allocation: which packets acquire the virtual channels of the next link.

use super::Routers;
use super::channel::InputChannel;
use super::choosers::{Chooser, Choosers};
use super::ids::{InputVc, OutputVc, PoolId, RouterId};
use super::wires::Wires;
use crate::NetworkContext;
use crate::arbiter::{self, Arbiter, ArbiterContext, Contest, Inputs, Output};
use warpmem_params::PolicyError;
use warpmem_sim::{Context, NetworkCycle, Table, bits};

/// The requests of packets for output virtual channels, and the rule that arbitrates between them.
///
/// A packet requests any virtual channel of a pool.
pub(super) struct VcAllocator {
    rule: Option<Box<dyn Arbiter>>,
    /// Inputs of its router with a packet that requests it, by pool.
    requests: Table<PoolId, Inputs>,
    /// Requested pools, one bit each, by router in its words.
    requested: Vec<u64>,
    pools: Table<RouterId, RouterPools>,
    /// Whether allocation may have something to grant, by router: a packet has made a request, or a
    /// virtual channel has become available.
    due: Table<RouterId, bool>,
}

/// The pools of a router, and its words of the set of requested ones.
#[derive(Clone, Copy)]
struct RouterPools {
    first: PoolId,
    first_word: usize,
    words: usize,
}

impl VcAllocator {
    /// Builds the allocator for routers of `wires` with `channels` virtual channels per link, in
    /// `pools` pools.
    pub fn new(
        context: &NetworkContext,
        wires: &Wires,
        channels: usize,
        pools: usize,
    ) -> Result<VcAllocator, PolicyError> {
        let shape = ArbiterContext {
            direction: context.direction,
            routers: wires.routers.len(),
            outputs: wires.outputs * channels,
            banks: context.channels * context.banks,
        };
        let mut next_word = 0;
        let router_pools: Table<RouterId, RouterPools> = (wires.routers.iter())
            .map(|ports| {
                let first = PoolId::new(ports.link(0).index() * pools);
                let words = (ports.count.outputs * pools).div_ceil(bits::WORD);
                let first_word = next_word;
                next_word += words;
                RouterPools { first, first_word, words }
            })
            .collect();
        Ok(VcAllocator {
            rule: arbiter::build(&context.policies.arbiter, &shape)?,
            requests: Table::from_fn(wires.outputs * pools, |_| Inputs::default()),
            requested: vec![0; next_word],
            pools: router_pools,
            due: Table::from_fn(wires.routers.len(), |_| false),
        })
    }

    /// Makes the next step of a router allocate virtual channels.
    #[inline]
    pub fn make_due(&mut self, router: RouterId) {
        self.due[router] = true;
    }

    #[inline]
    pub fn is_due(&self, router: RouterId) -> bool {
        self.due[router]
    }

    /// Returns whether a router is to allocate virtual channels, and clears the mark.
    #[inline]
    pub fn take_due(&mut self, router: RouterId) -> bool {
        std::mem::take(&mut self.due[router])
    }

    /// Returns a pool, by its number in the router.
    #[inline]
    fn pool(&self, router: RouterId, local: usize) -> PoolId {
        PoolId::new(self.pools[router].first.index() + local)
    }

    /// Returns the position of a pool of a router in the set of requested ones.
    #[inline]
    fn bit(&self, router: RouterId, local: usize) -> usize {
        self.pools[router].first_word * bits::WORD + local
    }

    /// Adds the request of an input for a pool, `local` within the router; returns the pool.
    fn add(&mut self, router: RouterId, local: usize, input: u8) -> PoolId {
        let pool = self.pool(router, local);
        bits::insert(&mut self.requests[pool], input.into());
        let bit = self.bit(router, local);
        bits::insert(&mut self.requested, bit);
        pool
    }

    /// Removes the request of the input of `channel` for a pool, once none of its packets requests
    /// it.
    fn remove(&mut self, channel: &InputChannel, pool: PoolId) {
        bits::remove(&mut self.requests[pool], channel.local.into());
        if bits::is_empty(&self.requests[pool]) {
            let local = pool.index() - self.pools[channel.router].first.index();
            let bit = self.bit(channel.router, local);
            bits::remove(&mut self.requested, bit);
        }
    }

    /// Returns the input that acquires an output virtual channel: the rule's choice, or else the
    /// allocator's.
    fn choose(&mut self, contest: &Contest, choosers: &mut Choosers) -> usize {
        let (set, packet) = (contest.wanting, contest.packet);
        let chooser = Chooser::Channel(OutputVc::new(contest.output.index));
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
    pub(super) fn request(&mut self, channel: InputVc) {
        let state = self.buffers.channel(channel);
        let (router, input) = (state.router, state.local);
        let destination = self.buffers.first(channel).destination;
        let route = self.wires.route(router, destination);
        let pool = self.rules.pool(route.class.into(), destination);
        let local = usize::from(route.output) * self.rules.pools + pool;
        let pool = self.vcs.add(router, local, input);
        self.vcs.make_due(router);
        self.buffers.channel_mut(channel).pool = pool;
    }

    /// Grants the free output virtual channels of a router to packets that request them.
    pub(super) fn allocate_channels(
        &mut self,
        router: RouterId,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) {
        let RouterPools { first_word, words, .. } = self.vcs.pools[router];
        for word in 0..words {
            for bit in bits::ones(self.vcs.requested[first_word + word]) {
                self.allocate_pool(router, word * bits::WORD + bit, cycle, ctx);
            }
        }
    }

    /// Grants the free virtual channels of one pool, `local` within the router.
    fn allocate_pool(
        &mut self,
        router: RouterId,
        local: usize,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) {
        let pool = self.vcs.pool(router, local);
        for output in self.channels_of_pool(router, local) {
            if self.outputs[output].holder != InputVc::NONE {
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
            let channel = self.buffers.oldest(self.wires.input(router, input), pool);
            self.grant(channel, output, cycle);
        }
    }

    /// Returns the output virtual channels of a pool: the pools of a link share its virtual
    /// channels equally.
    fn channels_of_pool(
        &self,
        router: RouterId,
        local: usize,
    ) -> impl Iterator<Item = OutputVc> + use<> {
        let (pools, channels) = (self.rules.pools, self.rules.channels);
        let link = self.wires.routers[router].link(local / pools);
        let share = channels / pools;
        let first = self.rules.vc(link, local % pools * share).index();
        (first..first + share).map(OutputVc::new)
    }

    /// Returns the inputs that request `pool` and whose packet could use `output` now. Under
    /// wormhole switching these are all of them if the link leads to a router.
    fn fitting(
        &mut self,
        router: RouterId,
        pool: PoolId,
        output: OutputVc,
        ctx: &mut Context,
    ) -> Inputs {
        let requests = self.vcs.requests[pool];
        let (is_exit, credits) = (self.outputs[output].is_exit(), self.outputs[output].credits);
        if !is_exit && !self.rules.cut_through {
            return requests;
        }
        let mut fitting = Inputs::default();
        for input in bits::members(&requests) {
            let oldest = self.buffers.oldest(self.wires.input(router, input), pool);
            let packet = self.buffers.first(oldest);
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

    /// Returns the input, one of `fitting`, whose packet acquires `output`.
    fn choose_input(
        &mut self,
        router: RouterId,
        pool: PoolId,
        output: OutputVc,
        fitting: &Inputs,
        cycle: NetworkCycle,
    ) -> usize {
        let (buffers, ports) = (&self.buffers, self.wires.routers[router]);
        let state = &self.outputs[output];
        let contest = Contest {
            output: Output { router: router.index(), index: output.index() },
            wanting: fitting,
            fresh: state.blocked || state.free_since == cycle,
            packet: &|input| buffers.first(buffers.oldest(ports.input(input), pool)).seen,
        };
        self.vcs.choose(&contest, &mut self.choosers)
    }

    /// Grants an output virtual channel to the first packet of an input virtual channel.
    fn grant(&mut self, channel: InputVc, output: OutputVc, cycle: NetworkCycle) {
        let packet = self.buffers.first_mut(channel);
        packet.hops += 1;
        let (flits, exit) = (packet.flits, packet.exit);
        let state = self.buffers.channel_mut(channel);
        let pool = std::mem::replace(&mut state.pool, PoolId::NONE);
        (state.output, state.left) = (output, flits);
        let output = &mut self.outputs[output];
        output.grant(channel, cycle);
        if output.is_exit() {
            self.exits.reserve(exit);
        }
        let has_credit = output.credits > 0;
        let state = self.buffers.channel(channel);
        if self.buffers.wants(state.input, pool) {
            // The next packet may be able to use a channel that this one could not.
            self.vcs.make_due(state.router);
        } else {
            self.vcs.remove(state, pool);
        }
        if has_credit {
            self.switch.set_ready(state);
        }
    }
}
