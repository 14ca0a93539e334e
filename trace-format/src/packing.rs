//! Compresses blocks on a separate thread while the writer encodes the next ones.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::block::{Block, Packer};

/// Maximum blocks in flight: one in compression, one queued.
const AHEAD: usize = 2;

/// The buffers of a block, reused for later blocks.
#[derive(Default)]
pub(crate) struct Parcel {
    /// Inflated content.
    pub plain: Vec<u8>,
    /// Compressed content.
    pub stored: Vec<u8>,
}

/// A compressed block, or the error.
type Packed = (Parcel, io::Result<Block>);

/// The blocks in flight between a writer and its file. They return in the order of
/// [`Packing::push`], each with its place in the index.
pub(crate) struct Packing<P> {
    to_pack: SyncSender<Parcel>,
    /// Never locked: the mutex only makes the writer shareable between threads.
    packed: Mutex<Receiver<Packed>>,
    in_flight: VecDeque<P>,
}

impl<P> Packing<P> {
    /// # Errors
    /// When the thread cannot start.
    pub fn new(mut packer: Packer) -> io::Result<Packing<P>> {
        let (to_pack, parcels) = sync_channel::<Parcel>(AHEAD);
        let (done, packed) = sync_channel(AHEAD);
        // The thread ends with the writer, which drops its ends of both channels.
        thread::Builder::new().name("pack".to_owned()).spawn(move || {
            for mut parcel in parcels {
                let block = packer.pack(&parcel.plain, &mut parcel.stored);
                if done.send((parcel, block)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Packing { to_pack, packed: Mutex::new(packed), in_flight: VecDeque::new() })
    }

    /// Returns whether a block must be taken back before the next push.
    pub fn is_full(&self) -> bool {
        self.in_flight.len() == AHEAD
    }

    /// Queues a block for compression.
    pub fn push(&mut self, parcel: Parcel, place: P) {
        assert!(!self.is_full(), "at most {AHEAD} blocks are in flight");
        self.in_flight.push_back(place);
        self.to_pack.send(parcel).expect(ALIVE);
    }

    /// Waits for the oldest block in flight; `None` if there is none.
    pub fn next(&mut self) -> Option<(P, Packed)> {
        let place = self.in_flight.pop_front()?;
        let packed = self.packed.get_mut().unwrap_or_else(PoisonError::into_inner);
        Some((place, packed.recv().expect(ALIVE)))
    }
}

const ALIVE: &str = "the thread that packs lives as long as its writer";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Codec;

    fn parcel(plain: Vec<u8>) -> Parcel {
        Parcel { plain, stored: Vec::new() }
    }

    #[test]
    fn packed_blocks_return_in_order_and_match_a_single_packer() {
        for codec in [Codec::Deflate, Codec::Zstd] {
            let mut packing = Packing::new(Packer::new(codec, 6).unwrap()).unwrap();
            let mut packer = Packer::new(codec, 6).unwrap();
            let contents: Vec<Vec<u8>> =
                (0..9u8).map(|n| vec![n; 40_000 / (1 + usize::from(n))]).collect();
            let mut left = contents.iter().enumerate();
            for (at, content) in contents.iter().enumerate() {
                while !packing.is_full()
                    && let Some((place, next)) = left.next()
                {
                    packing.push(parcel(next.clone()), place);
                }
                let (place, (Parcel { plain, stored }, block)) = packing.next().unwrap();
                let mut expected = Vec::new();
                assert_eq!(packer.pack(content, &mut expected).unwrap(), block.unwrap());
                assert_eq!((place, &plain, stored), (at, content, expected));
            }
            assert!(packing.next().is_none(), "nothing is under way");
        }
    }

    #[test]
    fn a_writer_may_be_dropped_with_blocks_in_flight() {
        let mut packing = Packing::new(Packer::new(Codec::Zstd, 1).unwrap()).unwrap();
        packing.push(parcel(vec![7; 1 << 20]), ());
        packing.push(parcel(Vec::new()), ());
    }
}
