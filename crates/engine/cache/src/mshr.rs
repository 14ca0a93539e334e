//! Miss-status holding registers: the outstanding misses of a cache and the requests merged into
//! each.

use super::homes::Homes;
use super::tags::LineSlot;
use warpmem_sim::{CacheLevel, RequestId, RequestTable, hint, ids};

/// One outstanding miss, in half a cache line of the host; its requests are linked through the
/// request table.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Entry {
    sector: u64,
    first: RequestId,
    last: RequestId,
    count: u32,
    /// The reserved line, or [`NO_PLACE`].
    place: LineSlot,
    /// Requests of at least two SMs wait in it.
    shared: bool,
    /// Next entry of the same chain.
    next: Link,
}

const _: () = assert!(size_of::<Entry>() == 32);

/// Reserved line of a miss that reserves none.
const NO_PLACE: LineSlot = LineSlot(u32::MAX);

/// Index of an entry plus one; 0 is none, so that zeroed memory is an empty table, which a large
/// cache does not touch before it uses it.
type Link = u32;
const NO_LINK: Link = 0;

/// The registers of one cache, by sector. Entries are chained by a hash of their sectors: they are
/// opened and closed with every miss, and chains of one or two are the fastest to update.
pub struct Mshr {
    level: CacheLevel,
    /// First entry of each chain, by the home position of its sectors.
    chains: Vec<Link>,
    homes: Homes,
    /// Grows to the largest number of entries in use.
    entries: Vec<Entry>,
    free: Vec<MshrEntry>,
    capacity: usize,
    merges: u32,
    /// Number of entries that are shared.
    shared: u32,
}

ids! {
    /// An MSHR entry of a cache.
    pub MshrEntry(u32);
}

/// An outstanding miss, to be closed.
#[derive(Clone, Copy)]
pub(crate) struct Outstanding {
    entry: MshrEntry,
    /// The reserved line, if [`Mshr::open`] received one.
    pub line: Option<LineSlot>,
}

/// A closed entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    pub entry: MshrEntry,
    /// First of its requests; the others follow through [`RequestTable::next`].
    pub first: RequestId,
    /// Number of its requests.
    pub count: u32,
}

impl Mshr {
    /// Creates registers for `entries` misses of at most `merges` requests each, the first
    /// included.
    pub(crate) fn new(level: CacheLevel, entries: u32, merges: u32) -> Mshr {
        let capacity = entries as usize;
        let homes = Homes::for_entries(capacity);
        Mshr {
            level,
            chains: vec![NO_LINK; homes.positions()],
            homes,
            entries: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
            capacity,
            merges,
            shared: 0,
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.len() == self.capacity
    }

    /// Returns the number of entries in use.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Returns the number of entries with requests of at least two SMs.
    #[inline]
    pub fn shared(&self) -> u32 {
        self.shared
    }

    /// Returns the number of free entries.
    #[inline]
    pub fn free(&self) -> usize {
        self.capacity - self.len()
    }

    /// Returns whether no miss is outstanding.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Merges `request` into an entry, which must have room.
    #[inline]
    pub(crate) fn join(
        &mut self,
        entry: MshrEntry,
        request: RequestId,
        requests: &mut RequestTable,
    ) {
        debug_assert!(self.has_room(entry));
        let entry = &mut self.entries[entry.index()];
        // If any two requests differ in their SM, two consecutive ones do. A request that no SM
        // made can only be the first.
        if !entry.shared && requests.are_of_two_sms(entry.last, request) {
            entry.shared = true;
            self.shared += 1;
        }
        requests.set_next(entry.last, self.level, request);
        requests.set_next(request, self.level, RequestId::NONE);
        entry.last = request;
        entry.count += 1;
    }

    /// Returns whether an entry has room for another request.
    #[inline]
    pub(crate) fn has_room(&self, entry: MshrEntry) -> bool {
        self.entries[entry.index()].count < self.merges
    }

    /// Returns the entry of `sector`, if a miss is outstanding.
    #[inline]
    pub fn find(&self, sector: u64) -> Option<MshrEntry> {
        let mut link = self.chains[self.homes.of(sector)];
        while link != NO_LINK {
            let entry = &self.entries[(link - 1) as usize];
            if entry.sector == sector {
                return Some(MshrEntry(link - 1));
            }
            link = entry.next;
        }
        None
    }

    /// Prefetches the chain of `sector` into the host's caches.
    #[inline]
    pub(crate) fn will_be_read(&self, sector: u64) {
        hint::will_be_read(&self.chains[self.homes.of(sector)]);
    }

    /// Prefetches the first entry of the chain of `sector` into the host's caches.
    #[inline]
    pub(crate) fn will_be_closed(&self, sector: u64) {
        let link = self.chains[self.homes.of(sector)];
        if let Some(entry) = self.entries.get(link.wrapping_sub(1) as usize) {
            hint::will_be_read(entry);
        }
    }

    /// Returns the first request of an entry; the others follow through [`RequestTable::next`].
    #[inline]
    pub fn first(&self, entry: MshrEntry) -> RequestId {
        self.entries[entry.index()].first
    }

    /// Returns the outstanding miss of `sector`.
    #[inline]
    pub(crate) fn outstanding(&self, sector: u64) -> Option<Outstanding> {
        let entry = self.find(sector)?;
        let place = self.entries[entry.index()].place;
        Some(Outstanding { entry, line: Some(place).filter(|&place| place != NO_PLACE) })
    }

    /// Opens an entry for `sector`, which must have none; an entry must be free. `place` is the
    /// line that stays reserved until the entry is closed.
    #[inline]
    pub(crate) fn open(
        &mut self,
        sector: u64,
        place: Option<LineSlot>,
        request: RequestId,
        requests: &mut RequestTable,
    ) -> MshrEntry {
        assert!(!self.is_full(), "the caller checks for a free MSHR entry");
        requests.set_next(request, self.level, RequestId::NONE);
        let entry = self.free.pop().unwrap_or(MshrEntry::new(self.entries.len()));
        let chain = self.homes.of(sector);
        let next = std::mem::replace(&mut self.chains[chain], entry.0 + 1);
        let (first, last, place) = (request, request, place.unwrap_or(NO_PLACE));
        let opened = Entry { sector, first, last, count: 1, place, shared: false, next };
        match self.entries.get_mut(entry.index()) {
            Some(entry) => *entry = opened,
            None => self.entries.push(opened),
        }
        entry
    }

    /// Closes the entry of a miss. No entry may have been opened or closed since it was found.
    #[inline]
    pub(crate) fn close(&mut self, Outstanding { entry, .. }: Outstanding) -> Closed {
        let Entry { sector, first, count, shared, next, .. } = self.entries[entry.index()];
        self.unchain(self.homes.of(sector), entry, next);
        self.free.push(entry);
        self.shared -= u32::from(shared);
        Closed { entry, first, count }
    }

    /// Unlinks an entry, followed by `next`, from its chain.
    #[inline]
    fn unchain(&mut self, chain: usize, entry: MshrEntry, next: Link) {
        let link = entry.0 + 1;
        let mut before = self.chains[chain];
        if before == link {
            self.chains[chain] = next;
            return;
        }
        while self.entries[(before - 1) as usize].next != link {
            before = self.entries[(before - 1) as usize].next;
        }
        self.entries[(before - 1) as usize].next = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
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

    fn join(mshr: &mut Mshr, sector: u64, request: RequestId, requests: &mut RequestTable) {
        let entry = mshr.find(sector).expect("a miss is outstanding");
        mshr.join(entry, request, requests);
    }

    fn close_sector(mshr: &mut Mshr, sector: u64) -> Option<Closed> {
        let miss = mshr.outstanding(sector)?;
        Some(mshr.close(miss))
    }

    fn close(mshr: &mut Mshr, sector: u64) -> Option<(RequestId, u32)> {
        close_sector(mshr, sector).map(|closed| (closed.first, closed.count))
    }

    #[test]
    fn requests_of_an_entry_are_returned_in_order_of_arrival() {
        let mut requests = RequestTable::default();
        let [a, b, c, other] = some_requests(&mut requests);
        let mut mshr = Mshr::new(CacheLevel::L1, 4, 8);
        let entry = mshr.open(5, None, a, &mut requests);
        assert_eq!((mshr.find(5), mshr.first(entry)), (Some(entry), a));
        mshr.open(6, None, other, &mut requests);
        join(&mut mshr, 5, b, &mut requests);
        join(&mut mshr, 5, c, &mut requests);
        assert_eq!(close_sector(&mut mshr, 5), Some(Closed { entry, first: a, count: 3 }));
        assert_eq!(chain(a, CacheLevel::L1, &requests), [a, b, c]);
        assert_eq!(close(&mut mshr, 5), None);
        assert_eq!(close(&mut mshr, 6), Some((other, 1)));
        assert!(mshr.is_empty());
    }

    #[test]
    fn a_full_entry_is_distinguished_from_an_absent_one() {
        let mut requests = RequestTable::default();
        let [a, b] = some_requests(&mut requests);
        let mut mshr = Mshr::new(CacheLevel::L2, 4, 2);
        let has_room = |mshr: &Mshr| mshr.find(5).map(|entry| mshr.has_room(entry));
        assert_eq!(has_room(&mshr), None);
        mshr.open(5, None, a, &mut requests);
        assert_eq!(has_room(&mshr), Some(true));
        join(&mut mshr, 5, b, &mut requests);
        assert_eq!(has_room(&mshr), Some(false));
        close(&mut mshr, 5);
        assert_eq!(has_room(&mshr), None, "closed");
    }

    #[test]
    fn entries_are_limited_and_reused() {
        let mut requests = RequestTable::default();
        let ids: [RequestId; 3] = some_requests(&mut requests);
        let mut mshr = Mshr::new(CacheLevel::L2, 2, 1);
        mshr.open(0, None, ids[0], &mut requests);
        assert_eq!(mshr.free(), 1);
        mshr.open(1, None, ids[1], &mut requests);
        assert_eq!(mshr.free(), 0);
        close(&mut mshr, 0);
        assert_eq!((mshr.free(), mshr.len()), (1, 1));
        mshr.open(2, None, ids[2], &mut requests);
        assert_eq!(close(&mut mshr, 1), Some((ids[1], 1)));
        assert_eq!(close(&mut mshr, 2), Some((ids[2], 1)));
    }

    /// A request that opens an entry in L1 also opens or joins one in the L2.
    #[test]
    fn a_request_waits_in_both_levels_at_once() {
        let mut requests = RequestTable::default();
        let [first, behind_in_l1, behind_in_l2] = some_requests(&mut requests);
        let mut l1 = Mshr::new(CacheLevel::L1, 1, 8);
        let mut l2 = Mshr::new(CacheLevel::L2, 1, 8);
        l1.open(5, None, first, &mut requests);
        l2.open(5, None, first, &mut requests);
        join(&mut l1, 5, behind_in_l1, &mut requests);
        join(&mut l2, 5, behind_in_l2, &mut requests);
        let (answered, count) = close(&mut l2, 5).unwrap();
        assert_eq!(count, 2);
        assert_eq!(chain(answered, CacheLevel::L2, &requests), [first, behind_in_l2]);
        let (back, _) = close(&mut l1, 5).unwrap();
        assert_eq!(chain(back, CacheLevel::L1, &requests), [first, behind_in_l1]);
    }

    proptest! {
        /// Chains of up to seven entries, opened and closed in any order, compared with a map.
        #[test]
        fn a_sector_is_found_at_any_position_of_its_chain(
            steps in prop::collection::vec(0usize..7, 1..60)
        ) {
            let mut requests = RequestTable::default();
            let mut mshr = Mshr::new(CacheLevel::L2, 7, 1);
            let chain = mshr.homes.of(0);
            let sectors: Vec<u64> = (0..).filter(|&s| mshr.homes.of(s) == chain).take(7).collect();
            let mut open: BTreeMap<u64, RequestId> = BTreeMap::new();
            for step in steps {
                let sector = sectors[step];
                let closed = close(&mut mshr, sector);
                prop_assert_eq!(closed, open.remove(&sector).map(|request| (request, 1)));
                if closed.is_none() {
                    let request = test_request(&mut requests, sector);
                    mshr.open(sector, None, request, &mut requests);
                    open.insert(sector, request);
                }
                for &sector in &sectors {
                    let found = mshr.find(sector).map(|entry| mshr.first(entry));
                    prop_assert_eq!(found, open.get(&sector).copied());
                }
            }
        }
    }

    #[test]
    fn an_entry_keeps_its_reserved_line_until_it_is_closed() {
        let mut requests = RequestTable::default();
        let [a, b] = some_requests(&mut requests);
        let mut mshr = Mshr::new(CacheLevel::L2, 2, 2);
        mshr.open(5, Some(LineSlot(9)), a, &mut requests);
        mshr.open(6, None, b, &mut requests);
        let line = |mshr: &Mshr, sector| mshr.outstanding(sector).map(|miss| miss.line);
        let lines = [5, 6, 7].map(|sector| line(&mshr, sector));
        assert_eq!(lines, [Some(Some(LineSlot(9))), Some(None), None]);
        close(&mut mshr, 5);
        assert_eq!(line(&mshr, 5), None);
    }
}
