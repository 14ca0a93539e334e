//! Interleaving of any number of channels by bytes.

use crate::IndexHash;
use crate::hash::{Hash, MAX_INDEX_BITS};

/// Channels interleaved in chunks of `1 << shift` bytes. With a hash, each round over all channels is
/// rotated by the hash of its number. The round and the channel still determine the position in the
/// round, so the map stays a bijection for any number of channels.
///
/// Storage skewed by rotation: Budnik and Kuck, IEEE Transactions on Computers, 1971; Harper and Jump,
/// IEEE Transactions on Computers, 1987. Rotation by a hash of all higher bits: Rau, ISCA 1991; Liu
/// et al., ISCA 2018, who show for GPUs that bits far above those of the channel must take part.
pub(super) struct Interleave {
    shift: u32,
    count: u64,
    rotation: Option<Hash>,
}

impl Interleave {
    pub fn new(shift: u32, channels: u32, hash: IndexHash) -> Interleave {
        // The widest hash makes the remainder modulo the number of channels nearly uniform.
        Interleave { shift, count: channels.into(), rotation: Hash::new(hash, MAX_INDEX_BITS) }
    }

    /// Returns the number of channels.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the position in the round, and the address within the channel.
    #[inline]
    pub fn split(&self, address: u64) -> (u32, u64) {
        let (chunk, offset) = (address >> self.shift, address & self.below());
        ((chunk % self.count) as u32, (chunk / self.count) << self.shift | offset)
    }

    /// Returns the channel at a position of the round that contains an address within a channel.
    #[inline]
    pub fn channel(&self, position: u32, inner: u64) -> u32 {
        match &self.rotation {
            None => position,
            Some(hash) => {
                let rotation = u32::from(hash.of(inner >> self.shift));
                (position + rotation) % self.count as u32
            }
        }
    }

    /// Returns the address of an address within a channel.
    pub fn join(&self, channel: u32, inner: u64) -> u64 {
        let round = inner >> self.shift;
        let rotation = self.rotation.as_ref().map_or(0, |hash| u64::from(hash.of(round)));
        let position = (u64::from(channel) + self.count - rotation % self.count) % self.count;
        let chunk = round * self.count + position;
        chunk << self.shift | inner & self.below()
    }

    fn below(&self) -> u64 {
        (1 << self.shift) - 1
    }
}
