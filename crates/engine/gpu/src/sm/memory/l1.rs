//! L1 data cache of an SM.

use super::banks::L1Bank;
use super::sectors::Sector;
use warpmem_cache::{
    Allocation, CacheController, CacheCounts, FetchUse, Fill, Miss, MshrEntry, Read, ReadAccess,
    ReadAllocate, ReservationFail, Room, Rules, ThroughMiss, Write, WriteAccess,
};
use warpmem_machine as machine;
use warpmem_sim::{CacheLevel, Insertion, RequestId, RequestTable, WarpSlot};

/// L1 of one SM.
pub(super) struct L1 {
    config: machine::L1,
    cache: CacheController,
    /// Slot of the warp for which each line was fetched; kept if the warp scheduler observes
    /// evictions.
    owners: Option<Vec<WarpSlot>>,
}

/// Returns the rules in which an L1 differs from other caches.
fn rules(config: &machine::Cache) -> Rules {
    // A streaming L1 replaces lines in the order of their fills and hits; merged requests do not
    // count as uses.
    let fetch_use = match config.read_allocate {
        ReadAllocate::OnMiss => FetchUse::Join,
        ReadAllocate::OnFill => FetchUse::Fill,
    };
    Rules::new(config, fetch_use, ThroughMiss::Allocate)
}

impl L1 {
    /// Returns the resources below L1. All requests of a fill are answered at once, so no MSHR
    /// entry is held.
    fn room(&self, queue: usize) -> Room {
        Room { queue, held_mshrs: 0, read_reserve: self.reserve(false) }
    }

    /// Returns the miss-queue entries that a miss must leave free.
    #[inline]
    pub fn reserve(&self, store: bool) -> usize {
        if store { 0 } else { self.config.read_reserve as usize }
    }

    pub fn new(config: &machine::L1) -> L1 {
        L1 {
            cache: CacheController::new(CacheLevel::L1, &config.cache, rules(&config.cache)),
            owners: None,
            config: config.clone(),
        }
    }

    /// Reads a sector outside simulated time; returns whether it was present.
    pub fn warm_read(&mut self, address: u64) -> bool {
        self.cache.warm_read(address, |line| line).is_some_and(|warmed| warmed.hit)
    }

    /// Stores to a sector outside simulated time.
    pub fn warm_write(&mut self, address: u64, bytes: u32) {
        self.cache.warm_write(address, bytes, |line| line);
    }

    /// Drops a sector outside simulated time.
    pub fn warm_drop(&mut self, address: u64) {
        self.cache.warm_drop(address);
    }

    /// Flushes and resizes the cache, at the start of a kernel.
    pub fn reset(&mut self, size_bytes: u32) {
        if self.config.shrinks == machine::Shrinks::Sets {
            self.config.cache.size_bytes = size_bytes;
        }
        self.cache.reset(&self.config.cache, size_bytes);
        if self.owners.is_some() {
            self.keep_owners();
        }
    }

    /// Starts tracking the owner of each line.
    pub fn keep_owners(&mut self) {
        self.owners = Some(vec![WarpSlot(0); self.cache.lines()]);
    }

    /// Makes the warp in `slot` the owner of a newly allocated line. Returns the previous owner's
    /// slot and the evicted line. Does nothing without owner tracking.
    pub fn claim(&mut self, allocated: Allocation, slot: WarpSlot) -> Option<(WarpSlot, u64)> {
        let owners = self.owners.as_mut()?;
        let before = std::mem::replace(&mut owners[allocated.slot.index()], slot);
        allocated.evicted.map(|evicted| (before, self.line(evicted.address)))
    }

    /// Returns the number of the line that holds `address`.
    pub fn line(&self, address: u64) -> u64 {
        self.cache.geometry().line(address)
    }

    /// Returns the bank of a sector.
    pub fn bank(&self, address: u64) -> L1Bank {
        let sector = self.cache.geometry().sector(address);
        let banks = u64::from(self.config.banks);
        // A division takes longer than the rest of a lookup.
        let bank = if banks.is_power_of_two() { sector & (banks - 1) } else { sector % banks };
        L1Bank(bank as usize)
    }

    pub fn counts(&self) -> &CacheCounts {
        &self.cache.counts
    }

    /// Counts a hit in a perfect cache.
    pub fn count_hit(&mut self, store: bool) {
        let counts = &mut self.cache.counts;
        let hits = if store { &mut counts.write_hits } else { &mut counts.read_hits };
        *hits += 1;
    }

    /// Counts cycles in which an access failed.
    pub fn count_fail(&mut self, reason: ReservationFail, cycles: u64) {
        self.cache.counts.reservation_fails[reason as usize] += cycles;
    }

    /// Looks up a read, with `queue` free miss-queue entries.
    pub fn read(&mut self, sector: &Sector, queue: usize) -> Result<Read, ReservationFail> {
        let access = ReadAccess {
            address: sector.address,
            atomic: false,
            insertion: Insertion::Newest,
            on_fill: false,
        };
        let read = self.cache.read(access, self.room(queue), |line| line)?;
        if let Read::Miss { miss, .. } = &read {
            self.cache.count_read_miss(miss);
        }
        Ok(read)
    }

    /// Looks up a store to local memory (`local`) or other memory, with `queue` free miss-queue
    /// entries.
    pub fn write(
        &mut self,
        sector: &Sector,
        local: bool,
        queue: usize,
    ) -> Result<Write, ReservationFail> {
        let store = WriteAccess { address: sector.address, sectors: 1, bytes: sector.bytes, local };
        self.cache.write(store, self.room(queue), |line| line)
    }

    /// Opens the MSHR entry of a miss.
    pub fn open(&mut self, miss: Miss, request: RequestId, requests: &mut RequestTable) {
        self.cache.open(miss, request, requests);
    }

    /// Merges a request into the outstanding miss of its sector.
    pub fn join(&mut self, entry: MshrEntry, request: RequestId, requests: &mut RequestTable) {
        self.cache.join(entry, request, requests);
    }

    /// Fills a sector, with `queue` free miss-queue entries. A sector that cannot allocate a line
    /// is dropped: replies never wait for the miss queue.
    pub fn fill(&mut self, address: u64, queue: usize) -> Fill {
        match self.cache.fill(address, Insertion::Newest, self.room(queue), |line| line) {
            Ok(fill) => fill,
            Err(_) => self.cache.fill_nothing(address),
        }
    }

    /// Counts an atomic that bypasses L1 and invalidates its sector.
    pub fn bypass_atomic(&mut self, address: u64) {
        self.cache.bypass_atomic(address);
    }

    /// Counts a store that bypasses L1 (bulk copy) and invalidates its sector.
    pub fn bypass_write(&mut self, address: u64) {
        self.cache.bypass_write(address);
    }

    /// Counts a read that bypasses L1 (cache operator).
    pub fn bypass_read(&mut self) {
        self.cache.counts.bypasses += 1;
    }

    /// Returns the number of outstanding misses.
    pub fn outstanding(&self) -> usize {
        self.cache.mshr().len()
    }

    /// Returns the number of free MSHR entries.
    pub fn free_misses(&self) -> usize {
        self.cache.mshr().free()
    }
}

#[cfg(test)]
mod tests;
