//! The two partitions of a machine whose slices keep copies of each other's lines.

use crate::{ChannelId, Request, SliceId, SmId};

/// Which partition an SM or a slice belongs to, and which slices are twins.
///
/// ```text
///   partition 0                     partition 1
///   SMs 0, 2, 4 …                   SMs 1, 3, 5 …
///   slices 0 … n/2 - 1   ◀─ links ─▶   slices n/2 … n - 1
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Twins {
    /// Slices of a partition, and channels.
    half: u16,
    channels: u16,
}

impl Twins {
    /// Of an even number of channels with so many slices each.
    pub fn new(channels: u32, slices_per_channel: u32) -> Twins {
        let half = channels / 2;
        Twins { half: (half * slices_per_channel) as u16, channels: half as u16 }
    }

    /// The slice of the same place in the other partition.
    #[inline]
    pub fn twin(self, slice: SliceId) -> SliceId {
        SliceId(if slice.0 < self.half { slice.0 + self.half } else { slice.0 - self.half })
    }

    /// Whether an SM and a slice are in one partition. SMs take turns, so that CTAs that are handed out
    /// in the order of the SMs are spread over the partitions.
    #[inline]
    pub fn is_near(self, sm: SmId, slice: SliceId) -> bool {
        (sm.0 % 2 == 1) == (slice.0 >= self.half)
    }

    /// Whether the twin of a slice has sent it a request.
    #[inline]
    pub fn is_from_twin(self, request: &Request, slice: SliceId) -> bool {
        request.sm != Request::NO_SM && !request.own && !self.is_near(request.sm, slice)
    }

    /// Whether a slice and a channel are in one partition.
    #[inline]
    pub fn is_at_home(self, slice: SliceId, channel: ChannelId) -> bool {
        (slice.0 >= self.half) == (channel.0 >= self.channels)
    }

    /// The slice at which an SM asks for a line that is at home in `home`: that one or its twin,
    /// whichever is near.
    #[inline]
    pub fn entrance(self, sm: SmId, home: SliceId) -> SliceId {
        if self.is_near(sm, home) { home } else { self.twin(home) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sm_asks_slices_of_its_own_partition_only() {
        let twins = Twins::new(4, 2);
        for (sm, home, entrance) in [(0, 1, 1), (0, 5, 1), (1, 1, 5), (1, 5, 5), (6, 7, 3)] {
            let (sm, home, entrance) = (SmId(sm), SliceId(home), SliceId(entrance));
            assert_eq!(twins.entrance(sm, home), entrance, "SM {sm} asks for a line of {home}");
            assert!(twins.is_near(sm, entrance));
            assert!(twins.is_at_home(home, ChannelId(home.0 / 2)));
            let at_entrance = twins.is_at_home(entrance, ChannelId(home.0 / 2));
            assert_eq!(at_entrance, entrance == home);
        }
    }

    #[test]
    fn twins_are_twins_of_each_other() {
        let twins = Twins::new(6, 1);
        for slice in (0..6).map(SliceId) {
            assert_ne!(twins.twin(slice), slice);
            assert_eq!(twins.twin(twins.twin(slice)), slice);
        }
    }
}
