//! The packets of a network, and where they wait.

use super::channel::InputChannel;
use crate::arbiter;
use warpmem_sim::{Location, RequestId};

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
    pub entered: u64,
    /// Where its address lies; of requests.
    pub place: Location,
    pub seen: arbiter::Packet,
}

/// Packets under their numbers, and the virtual channels of all inputs.
pub(super) struct Waiting {
    /// Virtual channels of an input.
    channels: usize,
    pub inputs: Vec<InputChannel>,
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Waiting {
    /// `channels` of each input, all in `inputs`.
    pub fn new(inputs: Vec<InputChannel>, channels: usize) -> Waiting {
        Waiting { channels, inputs, packets: Vec::new(), free: Vec::new() }
    }

    /// Keeps a packet; its number.
    pub fn add(&mut self, packet: Packet) -> u32 {
        if let Some(number) = self.free.pop() {
            self.packets[number as usize] = packet;
            return number;
        }
        self.packets.push(packet);
        self.packets.len() as u32 - 1
    }

    /// A packet leaves the network.
    pub fn remove(&mut self, number: u32) -> Packet {
        self.free.push(number);
        self.packets[number as usize]
    }

    /// No packet is in the network.
    pub fn is_empty(&self) -> bool {
        self.packets.len() == self.free.len()
    }

    /// The packet that is first in an input virtual channel.
    #[inline]
    pub fn first(&self, channel: usize) -> &Packet {
        &self.packets[self.inputs[channel].first.packet as usize]
    }

    #[inline]
    pub fn first_mut(&mut self, channel: usize) -> &mut Packet {
        &mut self.packets[self.inputs[channel].first.packet as usize]
    }

    /// The virtual channel of an input whose packet wants one of `pool` and has been in the network
    /// longest.
    #[inline]
    pub fn oldest(&self, input: usize, pool: usize) -> usize {
        let first = input * self.channels;
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
        let own = &self.inputs[input * self.channels..(input + 1) * self.channels];
        own.iter().any(|channel| channel.pool == pool)
    }
}
