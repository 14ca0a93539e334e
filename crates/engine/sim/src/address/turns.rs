//! Channels of any number that are interleaved by bytes.

use crate::IndexHash;
use crate::hash::{Hash, MAX_INDEX_BITS};

/// Channels interleaved every `1 << shift` bytes. With a hash, each round of all channels begins at
/// a channel of its own: the channels are rotated by the hash of the round's number. The round and
/// the channel still give the place in the round, so the map stays a bijection for any number of
/// channels.
///
/// Storage that is skewed by rotation: Budnik and Kuck, IEEE Transactions on Computers, 1971; Harper
/// and Jump, IEEE Transactions on Computers, 1987. The rotation by a hash of all higher bits: Rau,
/// ISCA 1991; Liu et al., ISCA 2018, who show for GPUs that bits far above those of the channel have
/// to take part.
pub(super) struct Turns {
    shift: u32,
    count: u64,
    rotation: Option<Hash>,
}

impl Turns {
    pub fn new(shift: u32, channels: u32, hash: IndexHash) -> Turns {
        // As wide as a hash can be, so that the remainder modulo the channels is nearly even.
        Turns { shift, count: channels.into(), rotation: Hash::new(hash, MAX_INDEX_BITS) }
    }

    /// The channels.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The place in the round of channels, and the address within the channel.
    #[inline]
    pub fn split(&self, address: u64) -> (u32, u64) {
        let (turn, offset) = (address >> self.shift, address & self.below());
        ((turn % self.count) as u32, (turn / self.count) << self.shift | offset)
    }

    /// The channel at a place of the round in which an address within a channel is.
    #[inline]
    pub fn channel(&self, place: u32, inner: u64) -> u32 {
        match &self.rotation {
            None => place,
            Some(hash) => {
                let rotation = u32::from(hash.of(inner >> self.shift));
                (place + rotation) % self.count as u32
            }
        }
    }

    /// The address of an address within a channel.
    pub fn join(&self, channel: u32, inner: u64) -> u64 {
        let round = inner >> self.shift;
        let rotation = self.rotation.as_ref().map_or(0, |hash| u64::from(hash.of(round)));
        let place = (u64::from(channel) + self.count - rotation % self.count) % self.count;
        let turn = round * self.count + place;
        turn << self.shift | inner & self.below()
    }

    fn below(&self) -> u64 {
        (1 << self.shift) - 1
    }
}
