//! Messages among the controllers of a machine: which controller has selected a group of which
//! load.

use super::super::shared::Shared;
use std::collections::VecDeque;
use warpmem_sim::DramCycle;

/// A controller has selected its group of a load.
#[derive(Clone, Copy)]
pub struct Message {
    pub load: u32,
    /// The group's completion score there.
    pub score: u32,
    /// Cycle in which it is known here.
    pub at: DramCycle,
}

#[derive(Default)]
struct Mailbox {
    /// In order of their arrival.
    messages: VecDeque<Message>,
    /// The controller has groups that a message may be about.
    waiting: bool,
}

/// The messages that one controller receives and sends.
pub struct Coordination {
    mailboxes: Shared<Vec<Mailbox>>,
    channel: usize,
    latency: u64,
    /// Messages sent, one to each other controller.
    pub sent: u64,
    /// Messages received that were about a group that waited.
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

    /// The same mailboxes from the side of a channel.
    pub fn of_channel(&self, channel: usize) -> Coordination {
        let mailboxes = self.mailboxes.clone();
        Coordination { mailboxes, channel, sent: 0, matched: 0, ..*self }
    }

    /// Whether this controller has groups waiting.
    pub fn set_waiting(&self, waiting: bool) {
        self.mailboxes.get()[self.channel].waiting = waiting;
    }

    /// Sends a message to all others.
    pub fn tell(&mut self, load: u32, score: u32, now: DramCycle) {
        let mut mailboxes = self.mailboxes.get();
        for (_, mailbox) in
            mailboxes.iter_mut().enumerate().filter(|&(other, _)| other != self.channel)
        {
            // Messages that arrived while no group was waiting are not asked for.
            while !mailbox.waiting && mailbox.messages.front().is_some_and(|old| old.at <= now) {
                mailbox.messages.pop_front();
            }
            mailbox.messages.push_back(Message { load, score, at: now + self.latency });
            self.sent += 1;
        }
    }

    /// Passes on the messages that have arrived, and counts those that were `of_use`.
    pub fn hear(&mut self, now: DramCycle, mut of_use: impl FnMut(Message) -> bool) {
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

    /// An idle controller keeps what is under way, however long it hears nothing.
    #[test]
    fn mailboxes_stay_small() {
        let shared = Coordination::new(2, 4);
        let mut busy = shared.of_channel(0);
        let kept = || shared.mailboxes.get()[1].messages.len();
        (0..1000).map(at).for_each(|now| busy.tell(0, 1, now));
        assert_eq!(kept(), 4);
        shared.of_channel(1).set_waiting(true);
        (1000..1100).map(at).for_each(|now| busy.tell(0, 1, now));
        assert_eq!(kept(), 104);
    }
}
