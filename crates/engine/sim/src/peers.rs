//! The two partitions of a machine whose slices keep copies of each other's lines.

use crate::{ChannelId, Request, SliceId, SmId};

/// The partition of each SM and slice, and the pairs of peer slices.
///
/// ```text
///   partition 0                     partition 1
///   SMs 0, 2, 4 …                   SMs 1, 3, 5 …
///   slices 0 … n/2 - 1   ◀─ links ─▶   slices n/2 … n - 1
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PeerSlices {
    /// Slices of a partition.
    half: u16,
    /// Channels of a partition.
    channels: u16,
}

impl PeerSlices {
    /// `channels` must be even.
    pub fn new(channels: u32, slices_per_channel: u32) -> PeerSlices {
        let half = channels / 2;
        PeerSlices { half: (half * slices_per_channel) as u16, channels: half as u16 }
    }

    /// Returns the slice at the same position in the other partition.
    #[inline]
    pub fn peer(self, slice: SliceId) -> SliceId {
        SliceId(if slice.0 < self.half { slice.0 + self.half } else { slice.0 - self.half })
    }

    /// Returns whether an SM and a slice are in the same partition. SMs alternate between the
    /// partitions, so that CTAs dispatched in the order of the SMs use both.
    #[inline]
    pub fn is_near(self, sm: SmId, slice: SliceId) -> bool {
        (sm.0 % 2 == 1) == (slice.0 >= self.half)
    }

    /// Returns whether `request` reached `slice` from its peer.
    #[inline]
    pub fn is_from_peer(self, request: &Request, slice: SliceId) -> bool {
        request.sm != Request::NO_SM && !request.own && !self.is_near(request.sm, slice)
    }

    /// Returns whether the lines of `channel` have their home in the partition of `slice`.
    #[inline]
    pub fn is_home(self, slice: SliceId, channel: ChannelId) -> bool {
        (slice.0 >= self.half) == (channel.0 >= self.channels)
    }

    /// Returns the slice to which an SM sends requests for a line with this home: the home itself or
    /// its peer, whichever is in the partition of the SM.
    #[inline]
    pub fn entry_slice(self, sm: SmId, home: SliceId) -> SliceId {
        if self.is_near(sm, home) { home } else { self.peer(home) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sm_sends_requests_only_to_its_own_partition() {
        let peers = PeerSlices::new(4, 2);
        for (sm, home, entry) in [(0, 1, 1), (0, 5, 1), (1, 1, 5), (1, 5, 5), (6, 7, 3)] {
            let (sm, home, entry) = (SmId(sm), SliceId(home), SliceId(entry));
            assert_eq!(peers.entry_slice(sm, home), entry, "SM {sm}, home {home}");
            assert!(peers.is_near(sm, entry));
            assert!(peers.is_home(home, ChannelId(home.0 / 2)));
            assert_eq!(peers.is_home(entry, ChannelId(home.0 / 2)), entry == home);
        }
    }

    #[test]
    fn peers_are_symmetric() {
        let peers = PeerSlices::new(6, 1);
        for slice in (0..6).map(SliceId) {
            assert_ne!(peers.peer(slice), slice);
            assert_eq!(peers.peer(peers.peer(slice)), slice);
        }
    }
}
