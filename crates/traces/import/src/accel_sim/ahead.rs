//! The bounded queue of events between the parser of a kernel file and the writer of the trace.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::event::Event;
use crate::error::ImportError;

/// Maximum queued events, and bytes of CTAs among them if there is more than one CTA.
const EVENTS: usize = 8;
const BYTES: u64 = 256 << 20;

/// An event, or the error that ends the file.
pub type Sent = Result<Event, ImportError>;

/// The sending end of a file's events.
pub struct Events {
    events: SyncSender<Sent>,
    room: Arc<Room>,
}

/// The receiving end.
pub struct Received {
    events: Receiver<Sent>,
    room: Arc<Room>,
}

/// Creates both ends.
pub fn channel() -> (Events, Received) {
    let (sender, receiver) = sync_channel(EVENTS);
    let room = Arc::<Room>::default();
    (Events { events: sender, room: Arc::clone(&room) }, Received { events: receiver, room })
}

impl Events {
    /// Sends an event once there is room for it; returns false if the receiver is gone.
    pub fn send(&self, event: Sent) -> bool {
        self.room.take(bytes(&event)) && self.events.send(event).is_ok()
    }
}

impl Iterator for Received {
    type Item = Sent;

    fn next(&mut self) -> Option<Sent> {
        let event = self.events.recv().ok()?;
        self.room.give(bytes(&event));
        Some(event)
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        self.room.close();
    }
}

fn bytes(event: &Sent) -> u64 {
    match event {
        Ok(Event::Cta(cta, _)) => cta.waiting_bytes(),
        _ => 0,
    }
}

/// Queued bytes, and whether the receiver is gone.
#[derive(Default)]
struct Room {
    state: Mutex<(u64, bool)>,
    changed: Condvar,
}

impl Room {
    fn lock(&self) -> MutexGuard<'_, (u64, bool)> {
        // A panic elsewhere cannot leave two plain values inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room and takes it; false if the receiver is gone.
    fn take(&self, bytes: u64) -> bool {
        let is_full = |state: &mut (u64, bool)| {
            let (waiting, closed) = *state;
            !closed && waiting > 0 && waiting + bytes > BYTES
        };
        let state = self.changed.wait_while(self.lock(), is_full);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.0 += bytes;
        !state.1
    }

    fn give(&self, bytes: u64) {
        self.lock().0 -= bytes;
        self.changed.notify_one();
    }

    fn close(&self) {
        self.lock().1 = true;
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::super::cta::Cta;
    use super::*;

    fn cta(bytes: usize) -> Sent {
        Ok(Event::Cta(Cta { addresses: vec![0; bytes], ..Cta::default() }, Vec::new()))
    }

    #[test]
    fn large_ctas_wait_for_room_in_the_queue() {
        let large = BYTES as usize / 2 + 1;
        let (events, mut received) = channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..4 {
                    assert!(events.send(cta(large)));
                }
            });
            for _ in 0..4 {
                std::thread::sleep(std::time::Duration::from_millis(10));
                assert!(received.room.lock().0 <= large as u64, "one at a time");
                assert!(received.next().is_some());
            }
            assert!(received.next().is_none());
        });
    }

    #[test]
    fn a_waiting_sender_learns_that_the_receiver_is_gone() {
        let (events, received) = channel();
        assert!(events.send(cta(1 + BYTES as usize)), "one always fits");
        std::thread::scope(|scope| {
            let sender = scope.spawn(move || events.send(cta(1)));
            std::thread::sleep(std::time::Duration::from_millis(10));
            drop(received);
            assert!(!sender.join().unwrap());
        });
    }
}
