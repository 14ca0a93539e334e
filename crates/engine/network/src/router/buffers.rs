//! The input buffers of all routers, and the packets in the network.

use super::channel::InputChannel;
use super::ids::{InputId, InputVc, OutputVc, PacketId, PoolId, RouterId};
use crate::arbiter;
use crate::ids::{DestinationId, ExitId, SourceId};
use warpmem_sim::{Location, NetworkCycle, RequestId, Table};

/// A packet between its source and its destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub request: RequestId,
    pub source: SourceId,
    pub destination: DestinationId,
    /// Port at its destination.
    pub exit: ExitId,
    pub hops: u16,
    pub flits: u32,
    /// Cycle of its departure from the source.
    pub entered: NetworkCycle,
    /// DRAM location of its address; only for requests.
    pub place: Location,
    /// Properties that arbitration rules may use.
    pub seen: arbiter::PacketView,
}

/// A flit that has left a buffer, and the state of the buffer after it.
pub(super) struct SentFlit {
    pub packet: PacketId,
    pub router: RouterId,
    /// Output virtual channel that its packet holds or, with the last flit, held.
    pub output: OutputVc,
    /// Output virtual channel that receives a credit for its buffer entry.
    pub upstream: OutputVc,
    pub is_last: bool,
    /// Whether another flit of the packet is in the buffer.
    pub more_flits: bool,
    /// Whether the packet has left and another has become the first of the buffer.
    pub next_packet: bool,
}

/// All input virtual channels and packets.
pub(super) struct Buffers {
    /// Virtual channels per input.
    channels: usize,
    inputs: Table<InputVc, InputChannel>,
    packets: Table<PacketId, Packet>,
    /// Unused entries of `packets`.
    free: Vec<PacketId>,
    /// Sum of the cycles that flits have spent in the buffers, by input. Arrivals are subtracted
    /// and departures added, so it is valid, modulo 2^64, while the buffers are empty.
    waited: Table<InputId, u64>,
}

impl Buffers {
    /// Builds the buffers. `inputs` are the virtual channels of all inputs, `channels` each.
    pub fn new(inputs: Table<InputVc, InputChannel>, channels: usize) -> Buffers {
        let waited = Table::from_fn(inputs.len() / channels, |_| 0);
        Buffers { channels, inputs, packets: Table::new(), free: Vec::new(), waited }
    }

    /// Adds a packet to the network; returns its number.
    pub fn add(&mut self, packet: Packet) -> PacketId {
        if let Some(number) = self.free.pop() {
            self.packets[number] = packet;
            return number;
        }
        self.packets.push(packet)
    }

    /// Removes a packet from the network.
    pub fn remove(&mut self, number: PacketId) -> Packet {
        self.free.push(number);
        self.packets[number]
    }

    /// Returns whether no packet is in the network.
    pub fn is_empty(&self) -> bool {
        self.packets.len() == self.free.len()
    }

    /// Adds a flit to an input virtual channel, at which it arrived in `cycle`. Returns the channel
    /// if the flit is the only one of its first packet, so that the packet may advance.
    #[inline]
    pub fn arrive(
        &mut self,
        channel: InputVc,
        packet: PacketId,
        cycle: NetworkCycle,
    ) -> Option<&InputChannel> {
        let state = &mut self.inputs[channel];
        let waited = &mut self.waited[state.input];
        *waited = waited.wrapping_sub(cycle.number());
        (state.arrive(packet) == Some(1)).then_some(&*state)
    }

    /// Removes a flit of the first packet from an input virtual channel; it leaves in `cycle`.
    #[inline]
    pub fn send_flit(&mut self, channel: InputVc, cycle: NetworkCycle) -> SentFlit {
        let state = &mut self.inputs[channel];
        let waited = &mut self.waited[state.input];
        *waited = waited.wrapping_add(cycle.number());
        state.first.flits -= 1;
        state.left -= 1;
        let is_last = state.left == 0;
        let mut flit = SentFlit {
            packet: state.first.packet,
            router: state.router,
            output: state.output,
            upstream: state.upstream,
            is_last,
            more_flits: state.first.flits > 0 && !is_last,
            next_packet: false,
        };
        if is_last {
            state.output = OutputVc::NONE;
            flit.next_packet = state.advance();
        }
        flit
    }

    #[inline]
    pub fn channel(&self, channel: InputVc) -> &InputChannel {
        &self.inputs[channel]
    }

    #[inline]
    pub fn channel_mut(&mut self, channel: InputVc) -> &mut InputChannel {
        &mut self.inputs[channel]
    }

    /// Returns a virtual channel of an input, by its number within the input.
    #[inline]
    pub fn vc(&self, input: InputId, index: usize) -> InputVc {
        InputVc::new(input.index() * self.channels + index)
    }

    /// Returns the virtual channels of an input.
    #[inline]
    pub fn of_input(&self, input: InputId) -> &[InputChannel] {
        self.inputs.run(self.vc(input, 0), self.channels)
    }

    /// Iterates over all input virtual channels with a packet, in order.
    pub fn occupied(&self) -> impl Iterator<Item = InputVc> {
        self.inputs.ids().filter(|&channel| self.inputs[channel].first.packet != PacketId::NONE)
    }

    /// Returns the first packet of an input virtual channel.
    #[inline]
    pub fn first(&self, channel: InputVc) -> &Packet {
        &self.packets[self.inputs[channel].first.packet]
    }

    #[inline]
    pub fn first_mut(&mut self, channel: InputVc) -> &mut Packet {
        &mut self.packets[self.inputs[channel].first.packet]
    }

    /// Returns the virtual channel of an input whose packet requests `pool`; of several, that of
    /// the oldest packet.
    #[inline]
    pub fn oldest(&self, input: InputId, pool: PoolId) -> InputVc {
        if self.channels == 1 {
            return self.vc(input, 0);
        }
        let own = (0..self.channels).map(|index| self.vc(input, index));
        let wanting = own.filter(|&channel| self.inputs[channel].pool == pool);
        let oldest = wanting.min_by_key(|&channel| self.first(channel).seen.since);
        oldest.expect("the input has a packet that wants one of the pool")
    }

    /// Returns whether an input has a packet that requests a virtual channel of `pool`.
    #[inline]
    pub fn wants(&self, input: InputId, pool: PoolId) -> bool {
        self.of_input(input).iter().any(|channel| channel.pool == pool)
    }

    /// Returns the sum of the cycles that flits have spent in the buffers of an input, once these
    /// are empty.
    pub fn waited(&self, input: InputId) -> u64 {
        self.waited[input]
    }
}
