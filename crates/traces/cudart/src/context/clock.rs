//! Streams, events, and the device clock. All work executes in program order. The clock is a simple
//! deterministic model, never the host's time, so that a program that reads times behaves the same in every
//! run.

use std::collections::BTreeMap;

use crate::status::{Outcome, Status};

/// Device time, nanoseconds.
pub type Ticks = u64;

/// Time of a call that submits work, nanoseconds.
const CALL: Ticks = 1_000;
/// Copy bandwidth, bytes per nanosecond.
const BYTES: u64 = 10;

/// Device time, and the recorded events.
#[derive(Default)]
pub struct Clock {
    now: Ticks,
    /// Time of each event, by handle; `None` until it is recorded.
    events: BTreeMap<u64, Option<Ticks>>,
    /// Stream number in traces, by handle.
    streams: BTreeMap<u64, u64>,
    last: u64,
}

/// First handle; lower numbers denote the special streams (0, 1, 2).
const FIRST_HANDLE: u64 = 0x1000;

impl Clock {
    /// Advances the clock by a kernel: one nanosecond per warp instruction.
    pub fn executed(&mut self, warp_instructions: u64) {
        self.now += CALL + warp_instructions;
    }

    pub fn copied(&mut self, bytes: u64) {
        self.now += CALL + bytes / BYTES;
    }

    pub fn create_event(&mut self) -> u64 {
        let handle = self.handle();
        self.events.insert(handle, None);
        handle
    }

    /// Destroys an event.
    ///
    /// # Errors
    /// When the event does not exist.
    pub fn destroy_event(&mut self, event: u64) -> Outcome<()> {
        self.events.remove(&event).map(drop).ok_or(Status::INVALID_HANDLE.into())
    }

    /// Records an event at the current time.
    ///
    /// # Errors
    /// When the event does not exist.
    pub fn record(&mut self, event: u64) -> Outcome<()> {
        self.now += CALL;
        let at = self.events.get_mut(&event).ok_or(Status::INVALID_HANDLE)?;
        *at = Some(self.now);
        Ok(())
    }

    /// Checks that an event exists.
    ///
    /// # Errors
    /// When the event does not exist.
    pub fn check_event(&self, event: u64) -> Outcome<()> {
        self.events.get(&event).map(drop).ok_or(Status::INVALID_HANDLE.into())
    }

    /// Returns the milliseconds from one event to another.
    ///
    /// # Errors
    /// When either event is not recorded.
    pub fn elapsed(&self, start: u64, end: u64) -> Outcome<f32> {
        let at = |event| self.events.get(&event).copied().flatten().ok_or(Status::INVALID_HANDLE);
        let (start, end) = (at(start)?, at(end)?);
        Ok((end as f64 - start as f64) as f32 / 1e6)
    }

    pub fn create_stream(&mut self) -> u64 {
        let handle = self.handle();
        let number = handle - FIRST_HANDLE;
        self.streams.insert(handle, number);
        handle
    }

    /// Destroys a stream.
    ///
    /// # Errors
    /// When the stream does not exist.
    pub fn destroy_stream(&mut self, stream: u64) -> Outcome<()> {
        self.streams.remove(&stream).map(drop).ok_or(Status::INVALID_HANDLE.into())
    }

    /// Returns a stream's number in traces; 0 is the default stream.
    ///
    /// # Errors
    /// When the stream does not exist.
    pub fn stream(&self, stream: u64) -> Outcome<u64> {
        match stream {
            0..=2 => Ok(0),
            _ => self.streams.get(&stream).copied().ok_or(Status::INVALID_HANDLE.into()),
        }
    }

    fn handle(&mut self) -> u64 {
        self.last += 1;
        FIRST_HANDLE + self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_time_is_the_work_between_two_events() {
        let mut clock = Clock::default();
        let [start, end] = [clock.create_event(), clock.create_event()];
        clock.record(start).unwrap();
        assert!(clock.elapsed(start, end).is_err());
        clock.executed(3_000_000);
        clock.copied(1_000_000);
        clock.record(end).unwrap();
        assert_eq!(clock.elapsed(start, end).unwrap(), 3.103);
        assert!(clock.destroy_event(start).is_ok() && clock.record(start).is_err());
    }

    #[test]
    fn streams_are_numbered() {
        let mut clock = Clock::default();
        let stream = clock.create_stream();
        assert_eq!(clock.stream(0).unwrap(), 0);
        assert_eq!(clock.stream(stream).unwrap(), 1);
        assert!(clock.destroy_stream(stream).is_ok() && clock.stream(stream).is_err());
    }
}
