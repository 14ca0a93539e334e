//! Logs the actual memory accesses of host and lanes while a kernel runs; tests compare the trace
//! with them.

use warpmem_trace::{Space, WARP_SIZE};

use super::lanes_of;
use super::word::Word;

/// An event, in program order.
#[derive(Clone, Debug)]
pub enum Event {
    /// The host wrote bytes from this address on.
    Upload(u64, Vec<u8>),
    Access(LaneAccess),
}

/// One lane's part of a memory instruction.
#[derive(Clone, Copy, Debug)]
pub struct LaneAccess {
    pub space: Space,
    pub lane: usize,
    pub address: u64,
    /// Bytes.
    pub width: usize,
    /// Word read, if any.
    pub read: Option<u128>,
    /// Word written, if any.
    pub written: Option<u128>,
}

/// The event log, if enabled.
#[derive(Debug, Default)]
pub struct Journal(Option<Vec<Event>>);

impl Journal {
    /// Starts logging.
    pub fn start(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// Stops logging; returns the events.
    pub fn take(&mut self) -> Vec<Event> {
        self.0.take().unwrap_or_default()
    }

    pub fn upload<T: Word>(&mut self, address: u64, words: &[T]) {
        if let Some(events) = &mut self.0 {
            let mut bytes = vec![0; size_of_val(words)];
            for (slot, &word) in bytes.chunks_exact_mut(T::BYTES).zip(words) {
                word.encode(slot);
            }
            events.push(Event::Upload(address, bytes));
        }
    }

    /// Logs an access; `words` returns the words that a lane read and wrote.
    pub fn access<T: Word>(
        &mut self,
        space: Space,
        mask: u32,
        addresses: &[u64; WARP_SIZE],
        words: impl Fn(usize) -> (Option<T>, Option<T>),
    ) {
        let Some(events) = &mut self.0 else { return };
        events.extend(lanes_of(mask).map(|lane| {
            let (read, written) = words(lane);
            let (address, width) = (addresses[lane], T::BYTES);
            let (read, written) = (read.map(bits), written.map(bits));
            Event::Access(LaneAccess { space, lane, address, width, read, written })
        }));
    }
}

/// A lane accesses 16 bytes at most.
fn bits<T: Word>(word: T) -> u128 {
    let mut bytes = [0; 16];
    word.encode(&mut bytes[..T::BYTES]);
    u128::from_le_bytes(bytes)
}
