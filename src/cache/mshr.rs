//! Miss-status holding registers: outstanding misses and the requests that wait for them.

use super::index::AddressIndex;
use crate::engine::{CacheLevel, RequestId, RequestTable};

/// One outstanding miss; its requests are linked through the request table.
#[derive(Clone, Copy)]
struct Entry {
    first: RequestId,
    last: RequestId,
    count: u32,
}

/// The registers of one cache, by sector address.
pub struct Mshr {
    level: CacheLevel,
    index: AddressIndex,
    entries: Vec<Entry>,
    free: Vec<u32>,
    merges: u32,
}

/// What became of a request that looked for an outstanding miss to join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// No miss of this sector is outstanding.
    Absent,
    /// The entry holds as many requests as it can.
    Full,
    /// The request waits for it now; the length includes it.
    Joined { length: u32 },
}

impl Mshr {
    /// `entries` outstanding misses of at most `merges` requests each, the first included.
    pub fn new(level: CacheLevel, entries: u32, merges: u32) -> Mshr {
        let blank = Entry { first: RequestId::NONE, last: RequestId::NONE, count: 0 };
        Mshr {
            level,
            index: AddressIndex::new(entries as usize),
            entries: vec![blank; entries as usize],
            free: (0..entries).rev().collect(),
            merges,
        }
    }

    /// Whether every entry is taken.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Entries taken.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether no miss is outstanding.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets `request` wait for an outstanding miss of `sector`, if there is one.
    #[inline]
    pub fn merge(&mut self, sector: u64, request: RequestId, requests: &mut RequestTable) -> Merge {
        let Some(entry) = self.index.get(sector) else { return Merge::Absent };
        let entry = &mut self.entries[entry as usize];
        if entry.count == self.merges {
            return Merge::Full;
        }
        requests.set_next(entry.last, self.level, request);
        requests.set_next(request, self.level, RequestId::NONE);
        entry.last = request;
        entry.count += 1;
        Merge::Joined { length: entry.count }
    }

    /// Whether a miss of `sector` is outstanding, and whether it could take one more request.
    #[inline]
    pub fn probe(&self, sector: u64) -> Option<bool> {
        self.index.get(sector).map(|entry| self.entries[entry as usize].count < self.merges)
    }

    /// The request that waits first for `sector`.
    #[inline]
    pub fn first(&self, sector: u64) -> Option<RequestId> {
        self.index.get(sector).map(|entry| self.entries[entry as usize].first)
    }

    /// Opens an entry for `sector`; there must be a free one and none for the sector.
    #[inline]
    pub fn open(&mut self, sector: u64, request: RequestId, requests: &mut RequestTable) {
        let entry = self.free.pop().expect("a free MSHR entry was promised");
        requests.set_next(request, self.level, RequestId::NONE);
        self.entries[entry as usize] = Entry { first: request, last: request, count: 1 };
        self.index.insert(sector, entry);
    }

    /// Closes the entry of `sector`: its first request (the others follow through
    /// [`RequestTable::next`]) and their number.
    #[inline]
    pub fn close(&mut self, sector: u64) -> Option<(RequestId, u32)> {
        let entry = self.index.remove(sector)?;
        self.free.push(entry);
        let Entry { first, count, .. } = self.entries[entry as usize];
        Some((first, count))
    }
}
