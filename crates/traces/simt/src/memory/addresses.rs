//! Addresses that are not taken, handed out from the lowest on.

use std::collections::BTreeMap;

/// Ranges of addresses.
#[derive(Debug)]
pub(super) struct FreeAddresses {
    /// From first address to length; no two ranges touch, but at a border.
    free: BTreeMap<u64, u64>,
    bytes: u64,
    /// What is taken together lies between two multiples of it.
    border: u64,
}

impl FreeAddresses {
    /// All addresses of a range.
    pub fn new(base: u64, length: u64) -> FreeAddresses {
        let mut addresses = FreeAddresses { free: BTreeMap::new(), bytes: 0, border: u64::MAX };
        addresses.give(base, length);
        addresses
    }

    /// No addresses yet.
    pub fn between(border: u64) -> FreeAddresses {
        FreeAddresses { free: BTreeMap::new(), bytes: 0, border }
    }

    /// Addresses that are free.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes the lowest `length` addresses that lie together.
    pub fn take(&mut self, length: u64) -> Option<u64> {
        let (&base, &size) = self.free.iter().find(|&(_, &size)| size >= length)?;
        self.free.remove(&base);
        if size > length {
            self.free.insert(base + length, size - length);
        }
        self.bytes -= length;
        Some(base)
    }

    /// Gives addresses to be handed out.
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
