//! The rules of a cache one by one, and the conservation of stores.

mod conservation;
mod fills;
mod reads;
mod warm;
mod writes;

use super::*;
use crate::{Replacement, WriteAllocate, WritePolicy};
use warpmem_sim::{IndexHash, test_request};

/// Bytes of a line and of a sector.
const LINE: u64 = 128;
const SECTOR: u64 = 32;

/// One set of `ways` lines of four sectors, with ample other resources.
fn cache(ways: u32) -> Cache {
    Cache {
        size_bytes: ways * LINE as u32,
        ways,
        line_bytes: LINE as u32,
        sector_bytes: SECTOR as u32,
        replacement: Replacement::Lru,
        write: WritePolicy::WriteBack,
        write_allocate: WriteAllocate::LazyFetch,
        read_allocate: ReadAllocate::OnMiss,
        index: IndexHash::Linear,
        mshr_entries: 8,
        mshr_merges: 8,
        miss_queue: 8,
    }
}

/// A cache with its requests.
struct Driven {
    cache: CacheController,
    requests: RequestTable,
    room: Room,
}

/// Outcome of a read whose entry has been opened or joined.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Hit,
    Pending,
    Miss,
    Fail(ReservationFail),
}

impl Driven {
    fn new(config: &Cache, fetch_use: FetchUse, through_miss: ThroughMiss) -> Driven {
        let rules = Rules::new(config, fetch_use, through_miss);
        Driven {
            cache: CacheController::new(CacheLevel::L2, config, rules),
            requests: RequestTable::default(),
            room: Room { queue: 8, held_mshrs: 0, read_reserve: 0 },
        }
    }

    /// A cache with the L2's level-dependent rules.
    fn of(config: &Cache) -> Driven {
        Driven::new(config, FetchUse::Join, ThroughMiss::Pass)
    }

    fn access(&mut self, access: ReadAccess) -> Result<Read, ReservationFail> {
        self.cache.read(access, self.room, |line| line)
    }

    /// Reads and opens or joins the entry; returns the evicted line too.
    fn read_from(&mut self, access: ReadAccess) -> (Found, Option<Evicted>) {
        let request = test_request(&mut self.requests, access.address);
        match self.access(access) {
            Ok(Read::Hit(_)) => (Found::Hit, None),
            Ok(Read::Pending(entry)) => {
                self.cache.join(entry, request, &mut self.requests);
                (Found::Pending, None)
            }
            Ok(Read::Miss { miss, allocated, .. }) => {
                self.cache.count_read_miss(&miss);
                self.cache.open(miss, request, &mut self.requests);
                (Found::Miss, allocated.and_then(|allocated| allocated.evicted))
            }
            Err(reason) => (Found::Fail(reason), None),
        }
    }

    fn read(&mut self, address: u64) -> Found {
        self.read_from(read(address)).0
    }

    fn fill(&mut self, address: u64) -> Fill {
        self.insert(address, Insertion::Newest).expect("nothing blocks it")
    }

    fn insert(&mut self, address: u64, insertion: Insertion) -> Result<Fill, ReservationFail> {
        self.cache.fill(address, insertion, self.room, |line| line)
    }

    /// Reads and fills sectors.
    fn bring(&mut self, addresses: &[u64]) {
        for &address in addresses {
            assert_eq!(self.read(address), Found::Miss);
            self.fill(address);
        }
    }

    fn write(&mut self, store: WriteAccess) -> Result<Write, ReservationFail> {
        self.cache.write(store, self.room, |line| line)
    }

    /// A store that needs no fetch.
    fn put(&mut self, store: WriteAccess) -> Write {
        let write = self.write(store).expect("there is room");
        assert_eq!(write.fetch, None);
        write
    }

    /// Returns whether a line is present, without an effect.
    fn has(&self, line: u64) -> bool {
        self.cache.tags.find(line).is_some()
    }
}

fn read(address: u64) -> ReadAccess {
    ReadAccess { address, atomic: false, insertion: Insertion::Newest, on_fill: false }
}

fn atomic(address: u64) -> ReadAccess {
    ReadAccess { atomic: true, ..read(address) }
}

/// A store of a whole sector.
fn store(address: u64) -> WriteAccess {
    WriteAccess { address, sectors: 1, bytes: ALL_BYTES, local: false }
}

/// A store of a part of a sector.
fn partial(address: u64) -> WriteAccess {
    WriteAccess { bytes: 0xff, ..store(address) }
}
