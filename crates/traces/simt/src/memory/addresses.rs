//! Allocator of free addresses, lowest first.

use std::collections::BTreeMap;

/// Free ranges of addresses.
#[derive(Debug)]
pub(super) struct FreeAddresses {
    /// Ranges by first address, with their length; adjacent ranges are merged, except at a border.
    free: BTreeMap<u64, u64>,
    bytes: u64,
    /// Alignment of borders, which no allocation crosses.
    border: u64,
}

impl FreeAddresses {
    /// Creates an allocator for a whole range.
    pub fn new(base: u64, length: u64) -> FreeAddresses {
        let mut addresses = FreeAddresses { free: BTreeMap::new(), bytes: 0, border: u64::MAX };
        addresses.give(base, length);
        addresses
    }

    /// Creates an allocator without addresses.
    pub fn between(border: u64) -> FreeAddresses {
        FreeAddresses { free: BTreeMap::new(), bytes: 0, border }
    }

    /// Returns the free bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes the lowest `length` consecutive addresses.
    pub fn take(&mut self, length: u64) -> Option<u64> {
        let (&base, &size) = self.free.iter().find(|&(_, &size)| size >= length)?;
        self.free.remove(&base);
        if size > length {
            self.free.insert(base + length, size - length);
        }
        self.bytes -= length;
        Some(base)
    }

    /// Adds free addresses.
    pub fn give(&mut self, base: u64, length: u64) {
        self.bytes += length;
        let (mut first, mut end) = (base, base + length);
        if let Some((&before, &size)) = self.free.range(..base).next_back()
            && before + size == base
            && !base.is_multiple_of(self.border)
        {
            first = before;
        }
        if !end.is_multiple_of(self.border)
            && let Some(size) = self.free.remove(&end)
        {
            end += size;
        }
        self.free.insert(first, end - first);
    }
}
