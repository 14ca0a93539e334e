//! Accesses outside simulated time, which leave lines in a slice.

use super::slice::Slice;
use warpmem_cache::Warmed;
use warpmem_sim::{AddressMap, Location};

impl Slice {
    /// Reads the sector at `address`; returns whether it was present.
    pub fn warm_read(&mut self, address: u64, place: Location, map: &AddressMap) -> bool {
        let set_key = &self.spec.set_key;
        let warmed = self.cache.warm_read(address, |_| set_key.of(place));
        self.take_warm_line(warmed, address, map)
    }

    /// Stores `bytes` of the sector at `address`.
    pub fn warm_write(&mut self, address: u64, bytes: u32, place: Location, map: &AddressMap) {
        let set_key = &self.spec.set_key;
        let warmed = self.cache.warm_write(address, bytes, |_| set_key.of(place));
        self.take_warm_line(warmed, address, map);
    }

    /// Drops the copy of a sector whose home has changed it.
    pub fn warm_drop(&mut self, address: u64) {
        self.cache.warm_drop(address);
    }

    /// Records that the peer has a copy of the line at `address`, if it is present.
    pub fn warm_copied(&mut self, address: u64) {
        if let (Some(peer), Some(slot)) = (&mut self.peer, self.cache.find(address)) {
            peer.note_copied(slot);
        }
    }

    fn take_warm_line(&mut self, warmed: Option<Warmed>, address: u64, map: &AddressMap) -> bool {
        let Some(Warmed { hit, slot, allocated }) = warmed else { return false };
        if let Some(allocated) = allocated {
            let leaving = allocated.evicted.map(|evicted| evicted.address);
            self.prefetched.note_replaced(leaving, address, map);
            self.prefetched.evict_line(slot);
            self.forget_copy(slot);
        }
        hit
    }
}
