//! The loads that may still send requests to each DRAM channel.

use std::collections::VecDeque;
use warpmem_sim::{ChannelId, Ticks};

/// Flag in a count: a request of the load has entered the channel's queue.
const ENTERED: u16 = 1 << 15;

/// Conditions for reusing the number of a load.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Requests, over all channels, that may still arrive.
    left: u32,
    /// The instruction has not ended: its requests may be in service.
    in_flight: bool,
}

/// Events that a controller has not taken yet.
#[derive(Clone, Default)]
struct Inbox {
    /// Loads that ended in an SM.
    ended: VecDeque<u32>,
    /// Requests answered by the L2: time at which the controller learns of it, and load.
    answered: VecDeque<(Ticks, u32)>,
}

/// For each load in flight and each channel, the number of its requests that may still arrive at
/// the channel's queue. A controller that has received a request of the load is notified when the
/// number reaches zero.
///
/// A request answered by L1 is counted at once; one answered by the L2, after the latency to the
/// channel.
pub struct LoadEnds {
    channels: usize,
    loads: Vec<Load>,
    free: Vec<u32>,
    /// By load and channel: requests that may still arrive, and [`ENTERED`].
    left: Vec<u16>,
    inboxes: Vec<Inbox>,
}

impl LoadEnds {
    pub(super) fn new(channels: usize) -> LoadEnds {
        let inboxes = vec![Inbox::default(); channels];
        LoadEnds { channels, loads: Vec::new(), free: Vec::new(), left: Vec::new(), inboxes }
    }

    /// Starts a load with requests to these channels. Returns its number, which is not reused
    /// before [`LoadEnds::finish`] and before every channel knows the outcome of its requests.
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

    /// Ends a load whose data have all arrived.
    pub fn finish(&mut self, load: u32) {
        self.loads[load as usize].in_flight = false;
        self.release(load);
    }

    /// Records that L1 answered or merged a request. Returns whether the channel must be stepped
    /// because the load sends no more requests.
    pub fn answered_in_l1(&mut self, load: u32, channel: ChannelId) -> bool {
        let ended = self.settle(load, channel);
        if ended {
            self.inboxes[channel.index()].ended.push_back(load);
        }
        ended
    }

    /// Records that the L2 answered or merged a request; the channel learns of it at `due`. Calls
    /// must be in order of `due`.
    pub fn answered_in_l2(&mut self, load: u32, channel: ChannelId, due: Ticks) {
        self.inboxes[channel.index()].answered.push_back((due, load));
    }

    /// Records a request in the channel's queue. Returns whether it was the last of the load.
    pub fn entered(&mut self, load: u32, channel: ChannelId) -> bool {
        self.left[load as usize * self.channels + channel.index()] |= ENTERED;
        self.settle(load, channel)
    }

    /// Returns the next load that the channel learns, by `now`, to be over.
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

    /// Decrements the requests that may still arrive. Returns whether the last one is gone and the
    /// channel has received any.
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
    fn a_channel_is_notified_when_no_more_requests_can_arrive() {
        let mut ends = LoadEnds::new(2);
        let load = ends.begin([0, 1, 0, 0].map(ChannelId).into_iter());
        assert!(!ends.entered(load, ChannelId(0)));
        assert!(!ends.answered_in_l1(load, ChannelId(0)));
        assert!(ends.entered(load, ChannelId(0)), "the last of three");
        assert!(ends.entered(load, ChannelId(1)), "the only one");
    }

    #[test]
    fn an_l2_answer_takes_effect_at_its_due_time() {
        let mut ends = LoadEnds::new(1);
        let load = ends.begin([0, 0, 0].map(ChannelId).into_iter());
        ends.entered(load, ChannelId(0));
        ends.answered_in_l2(load, ChannelId(0), Ticks(30));
        ends.answered_in_l2(load, ChannelId(0), Ticks(40));
        assert_eq!(ends.next_end(ChannelId(0), Ticks(39)), None);
        assert_eq!(ends.next_end(ChannelId(0), Ticks(40)), Some(load));
        assert_eq!(ends.next_end(ChannelId(0), Ticks(50)), None, "reported once");
    }

    #[test]
    fn an_end_in_an_sm_wakes_the_channel() {
        let mut ends = LoadEnds::new(2);
        let load = ends.begin([1, 1].map(ChannelId).into_iter());
        assert!(!ends.entered(load, ChannelId(1)));
        assert!(ends.answered_in_l1(load, ChannelId(1)));
        assert_eq!(ends.next_end(ChannelId(0), Ticks(0)), None, "the other channel");
        assert_eq!(ends.next_end(ChannelId(1), Ticks(0)), Some(load));
    }

    #[test]
    fn a_channel_without_requests_is_not_notified() {
        let mut ends = LoadEnds::new(1);
        let load = ends.begin([0, 0].map(ChannelId).into_iter());
        assert!(!ends.answered_in_l1(load, ChannelId(0)));
        ends.answered_in_l2(load, ChannelId(0), Ticks(5));
        assert_eq!(ends.next_end(ChannelId(0), Ticks(9)), None);
    }

    #[test]
    fn a_number_is_reused_after_every_channel_knows_the_end() {
        let mut ends = LoadEnds::new(1);
        let first = ends.begin([0, 0].map(ChannelId).into_iter());
        ends.entered(first, ChannelId(0));
        ends.answered_in_l2(first, ChannelId(0), Ticks(50));
        ends.finish(first);
        let second = ends.begin([0].map(ChannelId).into_iter());
        assert_ne!(first, second, "the end of the first is still in flight");
        assert_eq!(ends.next_end(ChannelId(0), Ticks(50)), Some(first));
        assert!(ends.entered(second, ChannelId(0)));
        assert_eq!(ends.begin([0, 0].map(ChannelId).into_iter()), first);
        assert!(!ends.entered(first, ChannelId(0)), "counted from the start");
        let third = ends.begin([0].map(ChannelId).into_iter());
        assert!(third != first && third != second, "the data of the second have not arrived");
    }
}
