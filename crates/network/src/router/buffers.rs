//! The input buffers of all routers, and the packets in the network.

use super::channel::{InputChannel, NONE};
use crate::arbiter;
use warpmem_sim::{Location, NetworkCycle, RequestId};

/// A packet between its source and its destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub request: RequestId,
    pub source: u16,
    pub destination: u16,
    /// Port at its destination, counted over all nodes.
    pub exit: u16,
    pub hops: u16,
    pub flits: u32,
    /// Cycle in which it left its source.
    pub entered: NetworkCycle,
    /// DRAM location of its address; only for requests.
    pub place: Location,
    /// What arbitration rules see of it.
    pub seen: arbiter::Packet,
}

/// A flit that has left a buffer, and what it leaves behind.
pub(super) struct SentFlit {
    pub packet: u32,
    pub router: usize,
    /// The output virtual channel that its packet holds or, with the last flit, held.
    pub output: usize,
    /// The output virtual channel that gets a credit for its buffer entry.
    pub upstream: u32,
    pub is_last: bool,
    /// Another flit of the packet is in the buffer.
    pub more_flits: bool,
    /// The packet has left, and another has become the first of the buffer.
    pub next_packet: bool,
}

/// All input virtual channels and packets.
pub(super) struct Buffers {
    /// Virtual channels of an input.
    channels: usize,
    /// Input virtual channels, those of one input after those of another.
    inputs: Vec<InputChannel>,
    packets: Vec<Packet>,
    /// Unused entries of `packets`.
    free: Vec<u32>,
    /// By input, the sum of the cycles that flits have spent in its buffers. Arrivals are
    /// subtracted and departures added, so it is valid, modulo 2^64, while the buffers are empty.
    waited: Vec<u64>,
}

impl Buffers {
    /// `inputs` are the virtual channels of all inputs, `channels` each.
    pub fn new(inputs: Vec<InputChannel>, channels: usize) -> Buffers {
        let waited = vec![0; inputs.len() / channels];
        Buffers { channels, inputs, packets: Vec::new(), free: Vec::new(), waited }
    }

    /// Adds a packet to the network; returns its number.
    pub fn add(&mut self, packet: Packet) -> u32 {
        if let Some(number) = self.free.pop() {
            self.packets[number as usize] = packet;
            return number;
        }
        self.packets.push(packet);
        self.packets.len() as u32 - 1
    }

    /// Removes a packet from the network.
    pub fn remove(&mut self, number: u32) -> Packet {
        self.free.push(number);
        self.packets[number as usize]
    }

    /// Whether no packet is in the network.
    pub fn is_empty(&self) -> bool {
        self.packets.len() == self.free.len()
    }

    /// Adds a flit to an input virtual channel, at which it arrived in `cycle`. Returns the channel
    /// if the flit is the only one of its first packet, so that the packet may now go on.
    #[inline]
    pub fn arrive(
        &mut self,
        channel: usize,
        packet: u32,
        cycle: NetworkCycle,
    ) -> Option<&InputChannel> {
        let state = &mut self.inputs[channel];
        let waited = &mut self.waited[state.input as usize];
        *waited = waited.wrapping_sub(cycle.number());
        (state.arrive(packet) == Some(1)).then_some(&*state)
    }

    /// Takes a flit of the first packet out of an input virtual channel; it leaves in `cycle`.
    #[inline]
    pub fn send_flit(&mut self, channel: usize, cycle: NetworkCycle) -> SentFlit {
        let state = &mut self.inputs[channel];
        let waited = &mut self.waited[state.input as usize];
        *waited = waited.wrapping_add(cycle.number());
        state.first.flits -= 1;
        state.left -= 1;
        let is_last = state.left == 0;
        let mut flit = SentFlit {
            packet: state.first.packet,
            router: state.router.into(),
            output: state.output as usize,
            upstream: state.upstream,
            is_last,
            more_flits: state.first.flits > 0 && !is_last,
            next_packet: false,
        };
        if is_last {
            state.output = NONE;
            flit.next_packet = state.advance();
        }
        flit
    }

    #[inline]
    pub fn channel(&self, channel: usize) -> &InputChannel {
        &self.inputs[channel]
    }

    #[inline]
    pub fn channel_mut(&mut self, channel: usize) -> &mut InputChannel {
        &mut self.inputs[channel]
    }

    /// Number of the first virtual channel of an input.
    #[inline]
    pub fn first_channel(&self, input: usize) -> usize {
        input * self.channels
    }

    /// The virtual channels of an input.
    #[inline]
    pub fn of_input(&self, input: usize) -> &[InputChannel] {
        let first = self.first_channel(input);
        &self.inputs[first..first + self.channels]
    }

    /// All input virtual channels with a packet, by number.
    pub fn occupied(&self) -> impl Iterator<Item = (usize, &InputChannel)> {
        let channels = self.inputs.iter().enumerate();
        channels.filter(|(_, state)| state.first.packet != NONE)
    }

    /// The first packet of an input virtual channel.
    #[inline]
    pub fn first(&self, channel: usize) -> &Packet {
        &self.packets[self.inputs[channel].first.packet as usize]
    }

    #[inline]
    pub fn first_mut(&mut self, channel: usize) -> &mut Packet {
        &mut self.packets[self.inputs[channel].first.packet as usize]
    }

    /// The virtual channel of an input whose packet wants one of `pool`; of several, that of the
    /// oldest packet.
    #[inline]
    pub fn oldest(&self, input: usize, pool: usize) -> usize {
        let first = self.first_channel(input);
        if self.channels == 1 {
            return first;
        }
        let wanting =
            (first..first + self.channels).filter(|&c| self.inputs[c].pool == pool as u32);
        let oldest = wanting.min_by_key(|&channel| self.first(channel).seen.since);
        oldest.expect("the input has a packet that wants one of the pool")
    }

    /// Whether an input has a packet that wants a virtual channel of `pool`.
    #[inline]
    pub fn wants(&self, input: usize, pool: u32) -> bool {
        self.of_input(input).iter().any(|channel| channel.pool == pool)
    }

    /// By input, the sum of the cycles that flits have spent in its buffers, once these are empty.
    pub fn waited(&self) -> &[u64] {
        &self.waited
    }
}
