//! Messages between the controllers of a machine: which controller has selected a group of which
//! load.

use super::super::shared::Shared;
use std::collections::VecDeque;
use warpmem_sim::DramCycle;

/// The selection of a group by a controller.
#[derive(Clone, Copy)]
pub struct Message {
    pub load: u32,
    /// Completion score of the group at its controller.
    pub score: u32,
    /// Cycle in which the message arrives.
    pub at: DramCycle,
}

#[derive(Default)]
struct Mailbox {
    /// Messages in order of arrival.
    messages: VecDeque<Message>,
    /// Whether the controller has groups that a message may concern.
    waiting: bool,
}

/// Messages that one controller receives and sends.
pub struct Coordination {
    mailboxes: Shared<Vec<Mailbox>>,
    channel: usize,
    latency: u64,
    /// Messages sent, one to each other controller.
    pub sent: u64,
    /// Received messages that concerned a waiting group.
    pub matched: u64,
}

impl Coordination {
    pub fn new(channels: u32, latency: u32) -> Coordination {
        let mailboxes = (0..channels).map(|_| Mailbox::default()).collect();
        Coordination {
            mailboxes: Shared::new(mailboxes),
            channel: 0,
            latency: latency.into(),
            sent: 0,
            matched: 0,
        }
    }

    /// Returns access to the same mailboxes for a channel.
    pub fn of_channel(&self, channel: usize) -> Coordination {
        let mailboxes = self.mailboxes.clone();
        Coordination { mailboxes, channel, sent: 0, matched: 0, ..*self }
    }

    /// Sets whether this controller has waiting groups.
    pub fn set_waiting(&self, waiting: bool) {
        self.mailboxes.get()[self.channel].waiting = waiting;
    }

    /// Sends a message to all other controllers.
    pub fn send(&mut self, load: u32, score: u32, now: DramCycle) {
        let mut mailboxes = self.mailboxes.get();
        for (_, mailbox) in
            mailboxes.iter_mut().enumerate().filter(|&(other, _)| other != self.channel)
        {
            // Messages that arrived while no group was waiting are dropped.
            while !mailbox.waiting && mailbox.messages.front().is_some_and(|old| old.at <= now) {
                mailbox.messages.pop_front();
            }
            mailbox.messages.push_back(Message { load, score, at: now + self.latency });
            self.sent += 1;
        }
    }

    /// Delivers the messages that have arrived, and counts those that were `of_use`.
    pub fn receive(&mut self, now: DramCycle, mut of_use: impl FnMut(Message) -> bool) {
        let messages = &mut self.mailboxes.get()[self.channel].messages;
        while let Some(message) = messages.pop_front_if(|message| message.at <= now) {
            self.matched += u64::from(of_use(message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::at;

    /// An idle controller keeps only the messages in flight, however long it receives none.
    #[test]
    fn mailboxes_stay_small() {
        let shared = Coordination::new(2, 4);
        let mut busy = shared.of_channel(0);
        let kept = || shared.mailboxes.get()[1].messages.len();
        (0..1000).map(at).for_each(|now| busy.send(0, 1, now));
        assert_eq!(kept(), 4);
        shared.of_channel(1).set_waiting(true);
        (1000..1100).map(at).for_each(|now| busy.send(0, 1, now));
        assert_eq!(kept(), 104);
    }
}
