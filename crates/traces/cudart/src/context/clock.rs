//! Streams and events. Everything happens in the order in which it is asked for, and a simple clock
//! says how long it took: so that a program that looks at times does the same in every run, times
//! are not the host's.

use std::collections::BTreeMap;

use crate::status::{Outcome, Status};

/// Nanoseconds of the device's clock.
pub type Ticks = u64;

/// What a call takes that gives the device work.
const CALL: Ticks = 1_000;
/// Bytes that are copied in a nanosecond.
const BYTES: u64 = 10;

/// The time of the device, and what was noted of it.
#[derive(Default)]
pub struct Clock {
    now: Ticks,
    /// By handle: when it was recorded.
    events: BTreeMap<u64, Option<Ticks>>,
    /// By handle: its number in traces.
    streams: BTreeMap<u64, u64>,
    last: u64,
}

/// Handles begin here, so that none is one of the special streams (0, 1, 2).
const FIRST_HANDLE: u64 = 0x1000;

impl Clock {
    /// A kernel: a nanosecond for every warp instruction.
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

    /// # Errors
    /// When there is no such event.
    pub fn destroy_event(&mut self, event: u64) -> Outcome<()> {
        self.events.remove(&event).map(drop).ok_or(Status::INVALID_HANDLE.into())
    }

    /// # Errors
    /// When there is no such event.
    pub fn record(&mut self, event: u64) -> Outcome<()> {
        self.now += CALL;
        let at = self.events.get_mut(&event).ok_or(Status::INVALID_HANDLE)?;
        *at = Some(self.now);
        Ok(())
    }

    /// # Errors
    /// When there is no such event.
    pub fn check_event(&self, event: u64) -> Outcome<()> {
        self.events.get(&event).map(drop).ok_or(Status::INVALID_HANDLE.into())
    }

    /// Milliseconds from one event to another.
    ///
    /// # Errors
    /// When one of them was not recorded.
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

    /// # Errors
    /// When there is no such stream.
    pub fn destroy_stream(&mut self, stream: u64) -> Outcome<()> {
        self.streams.remove(&stream).map(drop).ok_or(Status::INVALID_HANDLE.into())
    }

    /// The number of a stream in traces: 0 is the default stream.
    ///
    /// # Errors
    /// When there is no such stream.
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
    fn times_between_events_are_of_the_work_between_them() {
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
    fn streams_have_numbers() {
        let mut clock = Clock::default();
        let stream = clock.create_stream();
        assert_eq!(clock.stream(0).unwrap(), 0);
        assert_eq!(clock.stream(stream).unwrap(), 1);
        assert!(clock.destroy_stream(stream).is_ok() && clock.stream(stream).is_err());
    }
}
