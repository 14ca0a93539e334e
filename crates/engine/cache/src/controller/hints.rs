//! Hints to the host's caches ahead of an access. They change nothing.

use super::CacheController;

impl CacheController {
    /// Prefetches the state of the line at `address`, or of its likely victim, into the host's caches,
    /// after [`CacheController::will_be_looked_up`].
    #[inline]
    pub fn will_be_used(&self, address: u64, set_key: impl FnOnce(u64) -> u64) {
        self.tags.will_be_used(self.geometry.line(address), set_key);
    }

    /// Prefetches what a lookup of `address` reads first into the host's caches.
    #[inline]
    pub fn will_be_looked_up(&self, address: u64) {
        self.tags.will_be_read(self.geometry.line(address));
        self.mshr.will_be_read(self.geometry.sector(address));
    }

    /// Prefetches the MSHR entry of the sector at `address` into the host's caches.
    #[inline]
    pub fn will_be_filled(&self, address: u64) {
        self.mshr.will_be_closed(self.geometry.sector(address));
    }
}
