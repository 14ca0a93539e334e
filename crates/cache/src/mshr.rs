//! Miss-status holding registers: the outstanding misses of a cache and the requests that wait for
//! each.

use super::index::AddressIndex;
use super::tags::Slot;
use warpmem_sim::{CacheLevel, RequestId, RequestTable};

/// One outstanding miss; its requests are linked through the request table.
#[derive(Clone, Copy)]
struct Entry {
    sector: u64,
    first: RequestId,
    last: RequestId,
    count: u32,
    /// The line that is reserved for it in the tags, if one is.
    place: Option<Slot>,
    /// Requests of at least two SMs wait for it.
    shared: bool,
}

/// The registers of one cache, by sector address.
pub struct Mshr {
    level: CacheLevel,
    index: AddressIndex,
    /// Grows to the largest number of entries in use at once.
    entries: Vec<Entry>,
    free: Vec<u32>,
    capacity: usize,
    merges: u32,
    /// Number of entries that are shared.
    shared: u32,
}

/// One of a cache's MSHR entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MshrEntry(u32);

impl MshrEntry {
    /// The entry of this index, below the number of entries.
    #[inline]
    pub fn at(index: usize) -> MshrEntry {
        MshrEntry(index as u32)
    }

    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Result of looking for an outstanding miss that a request can join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// No miss of this sector is outstanding.
    Absent,
    /// The entry holds as many requests as it can.
    Full,
    /// The request has joined; the length of the entry includes it.
    Joined { length: u32 },
}

impl Mshr {
    /// Registers for `entries` misses with at most `merges` requests each, the first included.
    pub fn new(level: CacheLevel, entries: u32, merges: u32) -> Mshr {
        let capacity = entries as usize;
        Mshr {
            level,
            index: AddressIndex::new(capacity),
            entries: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
            capacity,
            merges,
            shared: 0,
        }
    }

    /// Whether every entry is in use.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity
    }

    /// Entries in use.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Entries in which requests of at least two SMs wait.
    #[inline]
    pub fn shared(&self) -> u32 {
        self.shared
    }

    /// Free entries.
    #[inline]
    pub fn free(&self) -> usize {
        self.capacity - self.len()
    }

    #[inline]
    fn entry(&self, sector: u64) -> Option<u32> {
        self.index.get(sector, |entry| self.entries[entry as usize].sector)
    }

    /// Whether no miss is outstanding.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Merges `request` into the outstanding miss of `sector`, if there is one.
    #[inline]
    pub fn merge(&mut self, sector: u64, request: RequestId, requests: &mut RequestTable) -> Merge {
        let Some(entry) = self.entry(sector) else { return Merge::Absent };
        let entry = &mut self.entries[entry as usize];
        if entry.count == self.merges {
            return Merge::Full;
        }
        // If any two requests differ in their SM, some two neighbours do. A request that no SM made
        // can only be the first.
        if !entry.shared && requests.are_of_two_sms(entry.last, request) {
            entry.shared = true;
            self.shared += 1;
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
        self.entry(sector).map(|entry| self.entries[entry as usize].count < self.merges)
    }

    /// The entry of `sector`, if a miss of it is outstanding.
    #[inline]
    pub fn find(&self, sector: u64) -> Option<MshrEntry> {
        self.entry(sector).map(MshrEntry)
    }

    /// The first of the requests that wait in an entry; the others follow through
    /// [`RequestTable::next`].
    #[inline]
    pub fn first(&self, entry: MshrEntry) -> RequestId {
        self.entries[entry.index()].first
    }

    /// The reserved line of an outstanding miss, if [`Mshr::open`] was given one.
    #[inline]
    pub fn place(&self, sector: u64) -> Option<Slot> {
        self.entry(sector).and_then(|entry| self.entries[entry as usize].place)
    }

    /// Opens an entry for `sector`. An entry must be free and the sector must have none. `place` is
    /// the line that stays reserved until the entry is closed, if there is one.
    #[inline]
    pub fn open(
        &mut self,
        sector: u64,
        place: Option<Slot>,
        request: RequestId,
        requests: &mut RequestTable,
    ) {
        assert!(!self.is_full(), "a free MSHR entry was promised");
        requests.set_next(request, self.level, RequestId::NONE);
        let opened =
            Entry { sector, first: request, last: request, count: 1, place, shared: false };
        let entry = self.free.pop().unwrap_or(self.entries.len() as u32);
        match self.entries.get_mut(entry as usize) {
            Some(entry) => *entry = opened,
            None => self.entries.push(opened),
        }
        self.index.insert(sector, entry);
    }

    /// Closes the entry of `sector`; returns its first request (the others follow through
    /// [`RequestTable::next`]) and their number.
    #[inline]
    pub fn close(&mut self, sector: u64) -> Option<(RequestId, u32)> {
        let entry = self.index.remove(sector, |entry| self.entries[entry as usize].sector)?;
        self.free.push(entry);
        let Entry { first, count, shared, .. } = self.entries[entry as usize];
        self.shared -= u32::from(shared);
        Some((first, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_sim::test_request;

    fn chain(mut at: RequestId, level: CacheLevel, requests: &RequestTable) -> Vec<RequestId> {
        let mut ids = Vec::new();
        while at != RequestId::NONE {
            ids.push(at);
            at = requests.next(at, level);
        }
        ids
    }

    fn some_requests<const N: usize>(requests: &mut RequestTable) -> [RequestId; N] {
        std::array::from_fn(|_| test_request(requests, 0))
    }

    #[test]
    fn requests_of_a_sector_come_back_in_the_order_in_which_they_came() {
        let mut requests = RequestTable::default();
        let [a, b, c, other] = some_requests(&mut requests);
        let mut mshr = Mshr::new(CacheLevel::L1, 4, 8);
        assert_eq!(mshr.merge(5, a, &mut requests), Merge::Absent);
        mshr.open(5, None, a, &mut requests);
        mshr.open(6, None, other, &mut requests);
        assert_eq!(mshr.merge(5, b, &mut requests), Merge::Joined { length: 2 });
        assert_eq!(mshr.merge(5, c, &mut requests), Merge::Joined { length: 3 });
        let (first, count) = mshr.close(5).unwrap();
        assert_eq!(count, 3);
        assert_eq!(chain(first, CacheLevel::L1, &requests), [a, b, c]);
        assert_eq!(mshr.close(5), None);
        assert_eq!(mshr.close(6), Some((other, 1)));
        assert!(mshr.is_empty());
    }

    #[test]
    fn a_full_entry_is_distinguished_from_an_absent_one() {
        let mut requests = RequestTable::default();
        let [a, b, c] = some_requests(&mut requests);
        let mut mshr = Mshr::new(CacheLevel::Llc, 4, 2);
        assert_eq!(mshr.probe(5), None);
        mshr.open(5, None, a, &mut requests);
        assert_eq!(mshr.probe(5), Some(true));
        assert_eq!(mshr.merge(5, b, &mut requests), Merge::Joined { length: 2 });
        assert_eq!(mshr.probe(5), Some(false));
        assert_eq!(mshr.merge(5, c, &mut requests), Merge::Full);
        assert_eq!(mshr.merge(6, c, &mut requests), Merge::Absent);
        let (first, _) = mshr.close(5).unwrap();
        assert_eq!(
            chain(first, CacheLevel::Llc, &requests),
            [a, b],
            "the refused one is not in it"
        );
        assert_eq!(mshr.probe(5), None, "closed");
    }

    #[test]
    fn entries_run_out_and_are_used_again() {
        let mut requests = RequestTable::default();
        let ids: [RequestId; 3] = some_requests(&mut requests);
        let mut mshr = Mshr::new(CacheLevel::Llc, 2, 1);
        mshr.open(0, None, ids[0], &mut requests);
        assert!(!mshr.is_full());
        mshr.open(1, None, ids[1], &mut requests);
        assert!(mshr.is_full());
        mshr.close(0);
        assert_eq!((mshr.is_full(), mshr.len()), (false, 1));
        mshr.open(2, None, ids[2], &mut requests);
        assert_eq!((mshr.close(1), mshr.close(2)), (Some((ids[1], 1)), Some((ids[2], 1))));
    }

    /// A request that opens an entry in L1 goes on and opens, or joins, one in the LLC.
    #[test]
    fn a_request_waits_in_both_levels_at_once() {
        let mut requests = RequestTable::default();
        let [first, behind_in_l1, behind_in_llc] = some_requests(&mut requests);
        let mut l1 = Mshr::new(CacheLevel::L1, 1, 8);
        let mut llc = Mshr::new(CacheLevel::Llc, 1, 8);
        l1.open(5, None, first, &mut requests);
        llc.open(5, None, first, &mut requests);
        l1.merge(5, behind_in_l1, &mut requests);
        llc.merge(5, behind_in_llc, &mut requests);
        let (answered, count) = llc.close(5).unwrap();
        assert_eq!(count, 2);
        assert_eq!(chain(answered, CacheLevel::Llc, &requests), [first, behind_in_llc]);
        assert_eq!(chain(l1.close(5).unwrap().0, CacheLevel::L1, &requests), [first, behind_in_l1]);
    }

    #[test]
    fn an_entry_knows_the_place_that_it_was_opened_with_until_it_is_closed() {
        let mut requests = RequestTable::default();
        let [a, b] = some_requests(&mut requests);
        let mut mshr = Mshr::new(CacheLevel::Llc, 2, 2);
        mshr.open(5, Some(Slot(9)), a, &mut requests);
        mshr.open(6, None, b, &mut requests);
        assert_eq!([5, 6, 7].map(|sector| mshr.place(sector)), [Some(Slot(9)), None, None]);
        mshr.close(5);
        assert_eq!(mshr.place(5), None);
    }
}
