//! The first-level data cache of an SM.

use super::banks::L1Bank;
use super::sectors::Sector;
use warpmem_cache::{
    Allocation, CacheCounts, Controller, FetchUse, Fill, Miss, MshrEntry, Read, ReadAccess,
    ReadAllocate, ReservationFail, Room, Rules, ThroughMiss, Write, WriteAccess,
};
use warpmem_machine as machine;
use warpmem_sim::{CacheLevel, Insertion, RequestId, RequestTable, WarpSlot};

/// L1 of one SM.
pub(super) struct L1 {
    config: machine::L1,
    cache: Controller,
    /// Which warp, by slot, each line was fetched for; kept where the warp scheduler asks for
    /// evictions.
    owners: Option<Vec<WarpSlot>>,
}

/// How an L1 differs from other caches.
fn rules(config: &machine::Cache) -> Rules {
    // A streaming L1 replaces lines in the order of their fills and hits; requests that wait are no
    // uses.
    let fetch_use = match config.read_allocate {
        ReadAllocate::OnMiss => FetchUse::Join,
        ReadAllocate::OnFill => FetchUse::Fill,
    };
    Rules::new(config, fetch_use, ThroughMiss::Allocate)
}

impl L1 {
    /// What is free below. All requests of a fill are answered at once, so no MSHR entry is held.
    fn room(&self, queue: usize) -> Room {
        Room { queue, held_mshrs: 0, read_reserve: self.reserve(false) }
    }

    /// Entries of the miss queue that an access that does not hit leaves free.
    #[inline]
    pub fn reserve(&self, store: bool) -> usize {
        if store { 0 } else { self.config.read_reserve as usize }
    }

    pub fn new(config: &machine::L1) -> L1 {
        L1 {
            cache: Controller::new(CacheLevel::L1, &config.cache, rules(&config.cache)),
            owners: None,
            config: config.clone(),
        }
    }

    /// Empties the cache and gives it a new size, at the start of a kernel.
    pub fn reset(&mut self, size_bytes: u32) {
        self.cache.reset(&self.config.cache, size_bytes);
        if self.owners.is_some() {
            self.keep_owners();
        }
    }

    /// Keeps, from now on, for which warp each line was fetched.
    pub fn keep_owners(&mut self) {
        self.owners = Some(vec![WarpSlot(0); self.cache.lines()]);
    }

    /// Makes the warp in `slot` the owner of a line that was allocated for it. Returns the evicted
    /// line and its owner's slot. Does nothing where owners are not kept.
    pub fn claim(&mut self, allocated: Allocation, slot: WarpSlot) -> Option<(WarpSlot, u64)> {
        let owners = self.owners.as_mut()?;
        let before = std::mem::replace(&mut owners[allocated.slot.index()], slot);
        allocated.evicted.map(|evicted| (before, self.line(evicted.address)))
    }

    /// Number of the line that holds `address`.
    pub fn line(&self, address: u64) -> u64 {
        self.cache.geometry().line(address)
    }

    /// The bank that serves a sector.
    pub fn bank(&self, address: u64) -> L1Bank {
        L1Bank((self.cache.geometry().sector(address) % u64::from(self.config.banks)) as usize)
    }

    pub fn counts(&self) -> &CacheCounts {
        &self.cache.counts
    }

    /// Counts a hit in a perfect cache.
    pub fn find(&mut self, store: bool) {
        let counts = &mut self.cache.counts;
        let hits = if store { &mut counts.write_hits } else { &mut counts.read_hits };
        *hits += 1;
    }

    /// Counts cycles in which an access failed.
    pub fn count_fail(&mut self, reason: ReservationFail, cycles: u64) {
        self.cache.counts.reservation_fails[reason as usize] += cycles;
    }

    /// Looks a read up; the miss queue has `queue` free entries.
    pub fn read(&mut self, sector: &Sector, queue: usize) -> Result<Read, ReservationFail> {
        let access = ReadAccess {
            address: sector.address,
            atomic: false,
            insertion: Insertion::Newest,
            on_fill: false,
        };
        self.cache.read(access, self.room(queue), |line| line)
    }

    /// A store to local memory (`local`) or other memory; the miss queue has `queue` free entries.
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

    /// Lets a request wait for a sector that is on its way.
    pub fn join(&mut self, entry: MshrEntry, request: RequestId, requests: &mut RequestTable) {
        self.cache.join(entry, request, requests);
    }

    /// A sector arrives; the miss queue has `queue` free entries. A sector that finds no line is not
    /// kept: replies never wait for the miss queue.
    pub fn fill(&mut self, address: u64, queue: usize) -> Fill {
        match self.cache.fill(address, Insertion::Newest, self.room(queue), |line| line) {
            Ok(fill) => fill,
            Err(_) => self.cache.fill_nothing(address),
        }
    }

    /// An atomic bypasses L1.
    pub fn pass_atomic(&mut self, address: u64) {
        self.cache.bypass_atomic(address);
    }

    /// A store bypasses L1 (bulk copy).
    pub fn pass_write(&mut self, address: u64) {
        self.cache.bypass_write(address);
    }

    /// A read bypasses L1 (cache operator).
    pub fn pass_read(&mut self) {
        self.cache.counts.bypasses += 1;
    }

    /// Misses outstanding.
    pub fn outstanding(&self) -> usize {
        self.cache.mshr().len()
    }

    /// Misses that could be outstanding beside those that are.
    pub fn free_misses(&self) -> usize {
        self.cache.mshr().free()
    }
}

#[cfg(test)]
mod tests;
