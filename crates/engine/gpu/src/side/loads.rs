//! Which loads may still send requests to which DRAM channel.

use std::collections::VecDeque;
use warpmem_sim::{ChannelId, Ticks};

/// Set in a count if a request of the load has entered the channel's queue.
const ENTERED: u16 = 1 << 15;

/// What must happen before the number of a load is used again.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Requests, over all channels, that may still come.
    left: u32,
    /// Its instruction has not ended: requests of it may be in service.
    in_flight: bool,
}

/// What a controller has not taken yet.
#[derive(Clone, Default)]
struct Inbox {
    /// Loads that ended by what an SM did.
    ended: VecDeque<u32>,
    /// Requests that the L2 has answered: when the controller knows, and the load.
    answered: VecDeque<(Ticks, u32)>,
}

/// For each load in flight and each channel, how many of its requests may still come to the
/// channel's queue. A controller that has taken a request of the load learns when that number
/// reaches zero.
///
/// A request that L1 answers is counted at once; one that the L2 answers, once the channel can
/// know it.
pub struct LoadEnds {
    channels: usize,
    loads: Vec<Load>,
    free: Vec<u32>,
    /// By load and channel: requests that may still come, and [`ENTERED`].
    left: Vec<u16>,
    inboxes: Vec<Inbox>,
}

impl LoadEnds {
    pub(super) fn new(channels: usize) -> LoadEnds {
        let inboxes = vec![Inbox::default(); channels];
        LoadEnds { channels, loads: Vec::new(), free: Vec::new(), left: Vec::new(), inboxes }
    }

    /// A load has been coalesced into requests to these channels; its number until
    /// [`LoadEnds::finish`] and until every channel knows what became of its requests.
    pub fn begin(&mut self, channels: impl Iterator<Item = ChannelId>) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.loads.push(Load::default());
            self.left.resize(self.left.len() + self.channels, 0);
            self.loads.len() as u32 - 1
        });
        let load = &mut self.loads[id as usize];
        load.in_flight = true;
        for channel in channels {
            load.left += 1;
            self.left[id as usize * self.channels + channel.index()] += 1;
        }
        id
    }

    /// All data of the load are back.
    pub fn finish(&mut self, load: u32) {
        self.loads[load as usize].in_flight = false;
        self.release(load);
    }

    /// L1 has answered a request, or made it wait for another. True if the channel must be stepped,
    /// because no more requests of the load will come.
    pub fn answered_in_l1(&mut self, load: u32, channel: ChannelId) -> bool {
        let ended = self.settle(load, channel);
        if ended {
            self.inboxes[channel.index()].ended.push_back(load);
        }
        ended
    }

    /// The L2 has answered a request, or made it wait for another, which the channel knows at
    /// `due`. These come in order of time.
    pub fn answered_in_l2(&mut self, load: u32, channel: ChannelId, due: Ticks) {
        self.inboxes[channel.index()].answered.push_back((due, load));
    }

    /// A request has entered the channel's queue. True if no more will come.
    pub fn entered(&mut self, load: u32, channel: ChannelId) -> bool {
        self.left[load as usize * self.channels + channel.index()] |= ENTERED;
        self.settle(load, channel)
    }

    /// The next load of which the channel learns by `now` that no more requests will come.
    pub fn next_end(&mut self, channel: ChannelId, now: Ticks) -> Option<u32> {
        let index = channel.index();
        if let Some(load) = self.inboxes[index].ended.pop_front() {
            return Some(load);
        }
        while let Some(&(due, load)) = self.inboxes[index].answered.front()
            && due <= now
        {
            self.inboxes[index].answered.pop_front();
            if self.settle(load, channel) {
                return Some(load);
            }
        }
        None
    }

    /// One request less may come; whether it was the last, and the channel has any.
    fn settle(&mut self, load: u32, channel: ChannelId) -> bool {
        let left = &mut self.left[load as usize * self.channels + channel.index()];
        debug_assert!(*left & !ENTERED > 0, "load {load} has no more requests for {channel}");
        *left -= 1;
        let ended = *left == ENTERED;
        if *left & !ENTERED == 0 {
            *left = 0;
        }
        self.loads[load as usize].left -= 1;
        self.release(load);
        ended
    }

    fn release(&mut self, load: u32) {
        let Load { left, in_flight } = self.loads[load as usize];
        if left == 0 && !in_flight {
            self.free.push(load);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_is_told_when_the_last_request_has_come_or_will_not() {
        let mut ends = LoadEnds::new(2);
        let load = ends.begin([0, 1, 0, 0].map(ChannelId).into_iter());
        assert!(!ends.entered(load, ChannelId(0)));
        assert!(!ends.answered_in_l1(load, ChannelId(0)));
        assert!(ends.entered(load, ChannelId(0)), "the last of three");
        assert!(ends.entered(load, ChannelId(1)), "the only one");
    }

    #[test]
    fn what_the_l2_answers_is_known_when_the_channel_knows_it() {
        let mut ends = LoadEnds::new(1);
        let load = ends.begin([0, 0, 0].map(ChannelId).into_iter());
        ends.entered(load, ChannelId(0));
        ends.answered_in_l2(load, ChannelId(0), Ticks(30));
        ends.answered_in_l2(load, ChannelId(0), Ticks(40));
        assert_eq!(ends.next_end(ChannelId(0), Ticks(39)), None);
        assert_eq!(ends.next_end(ChannelId(0), Ticks(40)), Some(load));
        assert_eq!(ends.next_end(ChannelId(0), Ticks(50)), None, "told once");
    }

    #[test]
    fn an_end_by_an_sm_waits_for_the_channel_and_wakes_it() {
        let mut ends = LoadEnds::new(2);
        let load = ends.begin([1, 1].map(ChannelId).into_iter());
        assert!(!ends.entered(load, ChannelId(1)));
        assert!(ends.answered_in_l1(load, ChannelId(1)));
        assert_eq!(ends.next_end(ChannelId(0), Ticks(0)), None, "the other channel");
        assert_eq!(ends.next_end(ChannelId(1), Ticks(0)), Some(load));
    }

    #[test]
    fn a_channel_that_no_request_entered_is_told_nothing() {
        let mut ends = LoadEnds::new(1);
        let load = ends.begin([0, 0].map(ChannelId).into_iter());
        assert!(!ends.answered_in_l1(load, ChannelId(0)));
        ends.answered_in_l2(load, ChannelId(0), Ticks(5));
        assert_eq!(ends.next_end(ChannelId(0), Ticks(9)), None);
    }

    #[test]
    fn a_number_is_used_again_when_its_load_is_over_and_every_channel_knows() {
        let mut ends = LoadEnds::new(1);
        let first = ends.begin([0, 0].map(ChannelId).into_iter());
        ends.entered(first, ChannelId(0));
        ends.answered_in_l2(first, ChannelId(0), Ticks(50));
        ends.finish(first);
        let second = ends.begin([0].map(ChannelId).into_iter());
        assert_ne!(first, second, "the end of the first is still on its way");
        assert_eq!(ends.next_end(ChannelId(0), Ticks(50)), Some(first));
        assert!(ends.entered(second, ChannelId(0)));
        assert_eq!(ends.begin([0, 0].map(ChannelId).into_iter()), first);
        assert!(!ends.entered(first, ChannelId(0)), "counted anew");
        let third = ends.begin([0].map(ChannelId).into_iter());
        assert!(third != first && third != second, "the second's data are not back");
    }
}
