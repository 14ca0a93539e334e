//! The content hash of a trace: over its records as given, independent of their encoding.

use xxhash_rust::xxh3::Xxh3;

use crate::cta::PushedRecord;

/// Bytes gathered before hashing, because hashing a few at a time takes several times as long.
const GATHERED: usize = 1 << 15;

#[derive(Clone, Default)]
pub(crate) struct ContentHash {
    hash: Xxh3,
    gathered: Vec<u8>,
}

impl ContentHash {
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.gathered.extend_from_slice(bytes);
        self.hash_if_full();
    }

    pub fn words(&mut self, words: &[u32]) {
        self.gather(words, u32::to_le_bytes);
        self.hash_if_full();
    }

    pub fn record(&mut self, record: &PushedRecord) {
        self.gather(&[record.instruction.0, record.mask], u32::to_le_bytes);
        self.gather(record.lanes, u32::to_le_bytes);
        self.gather(record.addresses, u64::to_le_bytes);
        self.hash_if_full();
    }

    pub fn digest(&mut self) -> u64 {
        self.hash_gathered();
        self.hash.digest()
    }

    fn gather<T: Copy, const N: usize>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
        let start = self.gathered.len();
        self.gathered.resize(start + N * values.len(), 0);
        let places = self.gathered[start..].as_chunks_mut().0;
        for (place, &value) in places.iter_mut().zip(values) {
            *place = bytes(value);
        }
    }

    fn hash_if_full(&mut self) {
        if self.gathered.len() >= GATHERED {
            self.hash_gathered();
        }
    }

    fn hash_gathered(&mut self) {
        self.hash.update(&self.gathered);
        self.gathered.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{InstructionId, OpClass};

    /// The hash is over the concatenated pieces, even if the buffer fills several times.
    #[test]
    fn hash_covers_all_bytes_in_order() {
        let (mut hash, mut plain) = (ContentHash::default(), Xxh3::new());
        let addresses: Vec<u64> = (0..32).map(|lane| lane << 33).collect();
        for number in 0..500 {
            let lanes = [number; OpClass::COUNT];
            let (instruction, mask) = (InstructionId(number), !number);
            hash.record(&PushedRecord { instruction, mask, lanes: &lanes, addresses: &addresses });
            hash.words(&[number, 7]);
            hash.bytes(b"end");
            for word in [number, !number].iter().chain(&lanes) {
                plain.update(&word.to_le_bytes());
            }
            addresses.iter().for_each(|address| plain.update(&address.to_le_bytes()));
            [number, 7].iter().for_each(|word: &u32| plain.update(&word.to_le_bytes()));
            plain.update(b"end");
        }
        assert_eq!(hash.digest(), plain.digest());
    }
}
