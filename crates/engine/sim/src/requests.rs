//! The request table: every request below the coalescers is one row, named by its index.
//!
//! The coalescer adds a row; the SM removes it with the reply. In between, units pass the
//! [`RequestId`] through ports, and each records a time in the row's [`Stamps`]. A load that misses
//! everywhere:
//!
//! ```text
//!   SM                        L2 slice                 DRAM channel
//!   ───────────────────────   ──────────────────────   ───────────────────────────
//!   add: created
//!   L1 lookup: l1_missed
//!        └─ request network ─▶ queue: l2_arrived
//!                              tags:  l2_served
//!                                 └─ miss queue ──────▶ queue: dram_entered
//!                                                       first command: dram_started
//!                                                       done: dram_finished     
//!                              fill  ◀──────────────────────┘
//!                              reply: replied
//!   L1 fill ◀─── reply network ───┘
//!   remove
//! ```
//!
//! A request that hits skips everything below the hit. One whose sector is outstanding waits in the
//! MSHR entry, linked to earlier requests by [`Request::next`], and shares their reply
//! ([`RequestTable::share_reply`], [`RequestTable::share_fill`]). A slice adds requests of its own
//! for write-backs, for the rest of a line that a store allocated and for its peer; a channel adds
//! prefetches. No SM waits for those.

use crate::hint::{self, LINE_BYTES};
use crate::{Location, SmId, Ticks, WarpId, names};

/// Name of a row: the region of its table, and the index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub u32);

impl RequestId {
    pub const NONE: RequestId = RequestId(u32::MAX);

    #[inline]
    fn index(self) -> usize {
        names::index(self.0)
    }

    /// Returns the number of the region that has the row.
    #[inline]
    pub(crate) fn region(self) -> usize {
        names::of(self.0)
    }
}

/// A cache whose MSHRs can hold a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum CacheLevel {
    L1,
    L2,
}

impl CacheLevel {
    const COUNT: usize = 2;
}

/// Position of a new line in the replacement order of its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// Most recently used: replaced last.
    Newest,
    /// Least recently used: replaced next.
    Oldest,
    /// None: the data bypass the cache.
    Nowhere,
    /// Most recently used, then as the access asks, for a present line too.
    Asked(Eviction),
}

/// Eviction priority in the L2, as set by an access (PTX ISA, "createpolicy").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Eviction {
    /// Replacement order, whatever was set before.
    Normal,
    /// Next of its set.
    First,
    /// After all other lines of its set.
    Last,
}

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RequestKind {
    Read,
    Write,
    /// Read-modify-write, carried out at the L2.
    Atomic,
    /// Dirty data evicted from the L2. No unit waits for it.
    Writeback,
    /// Read of a slice for itself: the rest of a line that a store allocated.
    Fetch,
    /// Prefetched line in flight from its channel to its slice.
    Prefetch,
    /// From a slice to its peer: a copy of this sector is stale.
    Invalidate,
    /// From an SM to the shared memory of another SM: see [`Message`](crate::Message).
    Message,
    /// From an SM to the translation unit: the page at this virtual address.
    Translation,
    /// Load of a page walk.
    Walk,
}

/// Properties of a request, without its times.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Byte address of the first sector.
    pub address: u64,
    /// Low bits of the program counter of its instruction; of a load of a page walk, the level of the
    /// page table.
    pub pc: u32,
    /// Bytes that a store writes, one bit per 1/32 of a sector.
    pub bytes: u32,
    /// Row of its memory instruction in the table of the SM.
    pub access: u32,
    pub warp: WarpId,
    /// CTA of its warp, numbered over all kernels of the trace. One number is unused between two
    /// kernels, so that consecutive numbers belong to the same kernel. `u32::MAX` if no SM made the
    /// request, or if the number does not fit.
    pub cta: u32,
    /// Its load, if the DRAM scheduler needs [`Needs::load_ends`](crate::Needs); otherwise
    /// `u32::MAX`.
    pub load: u32,
    /// Next request in the same MSHR entry, one link per [`CacheLevel`]: a request can wait in an
    /// L1 entry and in an L2 entry at once.
    pub next: [RequestId; CacheLevel::COUNT],
    pub sm: SmId,
    /// Location of `address`. The slice is the next one on the way: with peer slices, first that in
    /// the partition of the SM, then the home.
    pub place: Location,
    /// Sectors covered, one bit each; bit 0 is the sector at `address`.
    pub sectors: u8,
    pub kind: RequestKind,
    /// Bypasses L1 (atomics, cache operators), so that no L1 MSHR waits for it.
    pub bypass: bool,
    /// Largest number of lanes of an atomic at one address.
    pub max_lanes_per_address: u8,
    /// Missed in the L2.
    pub offchip: bool,
    /// Made by the slice for itself: the reply has no recipient.
    pub own: bool,
    /// Made while many warps of its SM waited for memory; set if the DRAM scheduler needs
    /// `critical_share`.
    pub critical: bool,
    /// From a warp that mostly hits in the L2; set if the DRAM scheduler needs `warp_types`.
    pub hit_prone: bool,
    /// Position of its line in the replacement order of the L2.
    pub insertion: Insertion,
    /// Critical Field of its instruction (CaLRS) on arrival at the queue of its slice; 0 before.
    pub critical_field: u8,
}

impl Request {
    /// [`Request::sm`] of a request that no SM made.
    pub const NO_SM: SmId = SmId(u16::MAX);

    /// Returns a request that a slice makes for itself, for the sector at `address`, located at
    /// `place`.
    #[inline]
    pub fn of_slice(address: u64, kind: RequestKind, place: Location) -> Request {
        Request {
            address,
            pc: 0,
            bytes: u32::MAX,
            access: u32::MAX,
            warp: WarpId(u32::MAX),
            cta: u32::MAX,
            load: u32::MAX,
            next: [RequestId::NONE; CacheLevel::COUNT],
            sm: Request::NO_SM,
            place,
            sectors: 1,
            kind,
            bypass: false,
            max_lanes_per_address: 1,
            offchip: false,
            own: false,
            critical: false,
            hit_prone: false,
            insertion: Insertion::Newest,
            critical_field: 0,
        }
    }
}

/// Times at which a request passed the boundaries between units.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    /// Creation by the coalescer.
    pub created: Ticks,
    /// Departure from L1 to the network.
    pub l1_missed: Ticks,
    /// Arrival at the slice's queue.
    pub l2_arrived: Ticks,
    /// Lookup in the slice's tags; a miss goes to DRAM or merges into an outstanding miss at that
    /// time.
    pub l2_served: Ticks,
    /// Arrival in the channel's queue.
    pub dram_entered: Ticks,
    /// First DRAM command.
    pub dram_started: Ticks,
    /// Completion in DRAM (`dram.done_with`).
    pub dram_finished: Ticks,
    /// Arrival of the reply in the slice's reply queue.
    pub replied: Ticks,
}

/// A request and its stamps, each in a cache line of the host: most units touch only one of them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Row {
    request: Request,
    stamps: Stamps,
}

const _: () = assert!(size_of::<Request>() == LINE_BYTES && size_of::<Stamps>() == LINE_BYTES);

/// The requests in flight in a region.
pub struct RequestTable {
    region: usize,
    rows: Vec<Row>,
    free: Vec<RequestId>,
    /// By row, the home row of a guest; [`RequestId::NONE`] for other rows. Empty until there is a
    /// guest.
    homes: Vec<RequestId>,
    guests: usize,
    /// Home rows of guests that were removed here.
    left: Vec<RequestId>,
}

/// Creation time of a removed row, with debug assertions.
const LEFT: Ticks = Ticks(u64::MAX);

/// Rows reserved at the start: 8 MB of address space. The host backs only the used part with
/// memory, and a table that need not grow is never copied.
const FIRST_ROWS: usize = 1 << 16;

impl Default for RequestTable {
    fn default() -> RequestTable {
        RequestTable::new(0)
    }
}

impl RequestTable {
    /// Creates the table of region number `region`.
    pub fn new(region: usize) -> RequestTable {
        RequestTable {
            region,
            rows: Vec::with_capacity(FIRST_ROWS),
            free: Vec::new(),
            homes: Vec::new(),
            guests: 0,
            left: Vec::new(),
        }
    }

    /// Adds a request. Allocates only while the table grows to the largest number in flight.
    #[inline]
    pub fn add(&mut self, request: Request, created: Ticks) -> RequestId {
        self.add_row(Row { request, stamps: Stamps { created, ..Stamps::default() } })
    }

    #[inline]
    fn add_row(&mut self, row: Row) -> RequestId {
        if let Some(id) = self.free.pop() {
            self.rows[id.index()] = row;
            return id;
        }
        self.rows.push(row);
        RequestId(names::name(self.region, self.rows.len() - 1))
    }

    /// Frees the row of a request.
    #[inline]
    pub fn remove(&mut self, id: RequestId) {
        if !self.homes.is_empty()
            && let Some(home) = self.take_home(id)
        {
            self.left.push(home);
        }
        self.free_row(id);
    }

    #[inline]
    fn free_row(&mut self, id: RequestId) {
        if cfg!(debug_assertions) {
            let created = &mut self.rows[id.index()].stamps.created;
            assert!(*created != LEFT, "request {} is removed twice", id.0);
            *created = LEFT;
        }
        self.free.push(id);
    }

    /// Prefetches the row of a request into the host's caches.
    #[inline]
    pub fn will_be_read(&self, id: RequestId) {
        hint::will_be_read(&self.rows[id.index()]);
    }

    #[inline]
    pub fn get(&self, id: RequestId) -> &Request {
        &self.rows[id.index()].request
    }

    #[inline]
    pub fn get_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.rows[id.index()].request
    }

    /// Returns the next request in the same MSHR entry.
    #[inline]
    pub fn next(&self, id: RequestId, level: CacheLevel) -> RequestId {
        self.get(id).next[level as usize]
    }

    /// Links `next` behind `id` in its MSHR entry.
    #[inline]
    pub fn set_next(&mut self, id: RequestId, level: CacheLevel, next: RequestId) {
        self.get_mut(id).next[level as usize] = next;
    }

    /// Returns whether two requests come from different SMs. A request that no SM made differs from
    /// none.
    #[inline]
    pub fn are_of_two_sms(&self, one: RequestId, other: RequestId) -> bool {
        let (one, other) = (self.get(one).sm, self.get(other).sm);
        one != other && one != Request::NO_SM && other != Request::NO_SM
    }

    #[inline]
    pub fn stamps(&self, id: RequestId) -> &Stamps {
        &self.rows[id.index()].stamps
    }

    #[inline]
    pub fn stamps_mut(&mut self, id: RequestId) -> &mut Stamps {
        &mut self.rows[id.index()].stamps
    }

    /// Returns the number of requests in flight that were made in this region.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.rows.len() - self.free.len() - self.guests
    }
}

/// Guests: requests that are in another region than their home, where they were made. A guest has a
/// row in both tables; the home row keeps the place in the L1's MSHRs.
impl RequestTable {
    /// Adds a copy of a request of another region.
    pub(crate) fn add_guest(&mut self, home: &RequestTable, request: RequestId) -> RequestId {
        let id = self.add_row(home.rows[request.index()]);
        if id.index() >= self.homes.len() {
            self.homes.resize(self.rows.len(), RequestId::NONE);
        }
        self.homes[id.index()] = request;
        self.guests += 1;
        id
    }

    /// Ends the stay of a guest and returns its home row; none for other rows.
    fn take_home(&mut self, id: RequestId) -> Option<RequestId> {
        let home = std::mem::replace(self.homes.get_mut(id.index())?, RequestId::NONE);
        let is_guest = home != RequestId::NONE;
        self.guests -= usize::from(is_guest);
        is_guest.then_some(home)
    }

    /// Moves guest `id` of `abroad` back to its home row, and returns that; none if its home is
    /// elsewhere.
    pub(crate) fn take_back(
        &mut self,
        abroad: &mut RequestTable,
        id: RequestId,
    ) -> Option<RequestId> {
        abroad.homes.get(id.index()).filter(|home| home.region() == self.region)?;
        let home = abroad.take_home(id)?;
        let row = &mut self.rows[home.index()];
        let next_in_l1 = row.request.next[CacheLevel::L1 as usize];
        *row = abroad.rows[id.index()];
        row.request.next[CacheLevel::L1 as usize] = next_in_l1;
        abroad.free_row(id);
        Some(home)
    }

    /// Takes the home row of a guest that was removed here.
    pub(crate) fn take_left(&mut self) -> Option<RequestId> {
        self.left.pop()
    }
}

impl Stamps {
    /// Returns these times for a request that joined at `joined`, none of them earlier.
    fn shared_from(self, joined: Ticks) -> Stamps {
        Stamps {
            created: self.created.max(joined),
            l1_missed: self.l1_missed.max(joined),
            l2_arrived: self.l2_arrived.max(joined),
            l2_served: self.l2_served.max(joined),
            dram_entered: self.dram_entered.max(joined),
            dram_started: self.dram_started.max(joined),
            dram_finished: self.dram_finished.max(joined),
            replied: self.replied.max(joined),
        }
    }
}

impl RequestTable {
    /// Gives `joined`, which waited in an L1 MSHR, the stamps of `first`, whose reply has arrived.
    #[inline]
    pub fn share_reply(&mut self, joined: RequestId, first: &Request, stamps: &Stamps) {
        self.get_mut(joined).offchip = first.offchip;
        let own = self.stamps_mut(joined);
        *own = stamps.shared_from(own.created);
    }

    /// Gives `joined`, which waited in an L2 MSHR, the DRAM stamps of `first`, whose data have
    /// arrived.
    #[inline]
    pub fn share_fill(&mut self, joined: RequestId, first: RequestId) {
        let stamps = *self.stamps(first);
        let own = self.stamps_mut(joined);
        let shared = stamps.shared_from(own.l2_served);
        own.dram_entered = shared.dram_entered;
        own.dram_started = shared.dram_started;
        own.dram_finished = shared.dram_finished;
    }
}

/// Adds a read for tests of units.
pub fn test_request(requests: &mut RequestTable, address: u64) -> RequestId {
    let request = Request::of_slice(address, RequestKind::Read, Location::ZERO);
    requests.add(request, Ticks(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stamps 10, 20, … 80 in chronological order.
    fn stamps_in_order() -> Stamps {
        let [created, l1_missed, l2_arrived, l2_served] = [10, 20, 30, 40].map(Ticks);
        let [dram_entered, dram_started, dram_finished, replied] = [50, 60, 70, 80].map(Ticks);
        Stamps {
            created,
            l1_missed,
            l2_arrived,
            l2_served,
            dram_entered,
            dram_started,
            dram_finished,
            replied,
        }
    }

    fn in_order(s: &Stamps) -> [u64; 8] {
        [
            s.created,
            s.l1_missed,
            s.l2_arrived,
            s.l2_served,
            s.dram_entered,
            s.dram_started,
            s.dram_finished,
            s.replied,
        ]
        .map(|at| at.0)
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "request 0 is removed twice")]
    fn a_request_is_removed_once() {
        let mut requests = RequestTable::default();
        let id = test_request(&mut requests, 0);
        requests.remove(id);
        requests.remove(id);
    }

    #[test]
    fn rows_are_reused_with_new_stamps() {
        let mut requests = RequestTable::default();
        let a = test_request(&mut requests, 0);
        let b = test_request(&mut requests, 128);
        requests.stamps_mut(a).replied = Ticks(9);
        requests.remove(a);
        assert_eq!(requests.in_flight(), 1);
        let again = test_request(&mut requests, 256);
        assert_eq!((again, requests.get(again).address), (a, 256));
        assert_eq!(requests.stamps(again).replied, Ticks(0));
        assert_eq!(requests.get(b).address, 128);
    }

    /// A request made in region 0 that is a guest of region 1.
    fn guest() -> ([RequestTable; 2], RequestId, RequestId) {
        let mut tables = [RequestTable::new(0), RequestTable::new(1)];
        test_request(&mut tables[1], 0);
        let home = test_request(&mut tables[0], 128);
        let [ours, theirs] = &mut tables;
        let abroad = theirs.add_guest(ours, home);
        (tables, home, abroad)
    }

    #[test]
    fn a_guest_returns_with_its_updates() {
        let ([mut ours, mut theirs], home, abroad) = guest();
        assert_eq!((home.region(), abroad.region()), (0, 1));
        assert_eq!([&ours, &theirs].map(RequestTable::in_flight), [1, 1], "counted once, at home");
        theirs.stamps_mut(abroad).replied = Ticks(9);
        theirs.get_mut(abroad).offchip = true;
        theirs.set_next(abroad, CacheLevel::L1, RequestId(77));
        let merged = test_request(&mut ours, 128);
        ours.set_next(home, CacheLevel::L1, merged);
        assert_eq!(ours.take_back(&mut theirs, abroad), Some(home));
        assert_eq!(ours.stamps(home).replied, Ticks(9));
        assert!(ours.get(home).offchip);
        assert_eq!(ours.next(home, CacheLevel::L1), merged, "the L1 link of the home row is kept");
        assert_eq!([&ours, &theirs].map(RequestTable::in_flight), [2, 1]);
        ours.remove(home);
        assert_eq!(ours.take_left(), None, "it is no guest");
    }

    #[test]
    fn removing_a_guest_frees_its_home_row() {
        let ([mut ours, mut theirs], home, abroad) = guest();
        theirs.remove(abroad);
        assert_eq!([&ours, &theirs].map(RequestTable::in_flight), [1, 1]);
        assert_eq!((theirs.take_left(), theirs.take_left()), (Some(home), None));
        ours.remove(home);
        assert_eq!(ours.in_flight(), 0);
        let own = test_request(&mut theirs, 0);
        assert_eq!(own, abroad, "the row is reused");
        assert_eq!(ours.take_back(&mut theirs, own), None, "not by a guest");
    }

    #[test]
    fn stamps_shared_in_l1_are_not_before_the_join() {
        let mut requests = RequestTable::default();
        let mut first = Request::of_slice(0, RequestKind::Read, Location::ZERO);
        first.offchip = true;
        let joined = requests.add(Request { offchip: false, ..first }, Ticks(35));
        requests.share_reply(joined, &first, &stamps_in_order());
        assert_eq!(in_order(requests.stamps(joined)), [35, 35, 35, 40, 50, 60, 70, 80]);
        assert!(requests.get(joined).offchip);
    }

    #[test]
    fn a_merge_in_the_l2_shares_only_the_dram_stamps() {
        let mut requests = RequestTable::default();
        let joined = test_request(&mut requests, 0);
        let own = [41, 51, 61, 65].map(Ticks);
        let stamps = requests.stamps_mut(joined);
        [stamps.created, stamps.l1_missed, stamps.l2_arrived, stamps.l2_served] = own;
        let first = test_request(&mut requests, 0);
        *requests.stamps_mut(first) = stamps_in_order();
        requests.share_fill(joined, first);
        assert_eq!(in_order(requests.stamps(joined))[..4], own.map(|at| at.0));
        assert_eq!(in_order(requests.stamps(joined))[4..7], [65, 65, 70], "joined in service");
    }
}
