//! The request table: every request below the SMs' coalescers is one row, named by its index.
//!
//! A row is added when the coalescer makes the request and removed when the SM has its answer. In
//! between the units hand the [`RequestId`] to each other through ports, and each notes the time in
//! the row's [`Stamps`]. The life of a load that misses everywhere:
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
//! A request that hits skips the part below the hit. One that finds its sector outstanding waits in
//! the MSHR entry, linked to the requests before it by [`Request::next`], and shares their answer
//! ([`RequestTable::share_reply`], [`RequestTable::share_fill`]). A slice adds requests of its own,
//! for write-backs, for the rest of a line that a store allocated and for its twin, and a channel
//! adds prefetches; for these no SM waits.

use crate::hint::{self, LINE_BYTES};
use crate::{Location, SmId, Ticks, WarpId, names};

/// A row of a table: the table's region and the index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub u32);

impl RequestId {
    pub const NONE: RequestId = RequestId(u32::MAX);

    #[inline]
    fn index(self) -> usize {
        names::index(self.0)
    }

    /// Number of the region that has the row.
    #[inline]
    pub(crate) fn region(self) -> usize {
        names::of(self.0)
    }
}

/// The caches in whose MSHRs a request can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum CacheLevel {
    L1,
    L2,
}

impl CacheLevel {
    const COUNT: usize = 2;
}

/// Where a line is inserted in the replacement order of its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// As the line that is replaced last.
    Newest,
    /// As the line that is replaced next.
    Oldest,
    /// Not at all: the data are passed on and take no line.
    Nowhere,
    /// As the newest, and then as the access asks, whether the line is inserted or present.
    Asked(Eviction),
}

/// When a line leaves the L2, as an access to it asks (PTX ISA, "createpolicy").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Eviction {
    /// In its turn, whatever was asked before.
    Normal,
    /// As the next of its set.
    First,
    /// After all others of its set.
    Last,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RequestKind {
    Read,
    Write,
    /// Read-modify-write carried out at the L2.
    Atomic,
    /// Dirty data evicted from the L2; nobody waits for it.
    Writeback,
    /// A read by the slice itself: the rest of a line that a store allocated.
    Fetch,
    /// A line that a channel has prefetched, on its way to its slice.
    Prefetch,
    /// From a slice to its twin: a sector there is no longer what it is at home.
    Invalidate,
    /// From an SM to the shared memory of another: see [`Message`](crate::Message).
    Message,
}

/// What a request is, apart from its times.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Byte address of the first sector.
    pub address: u64,
    /// Program counter of the instruction it comes from, low bits.
    pub pc: u32,
    /// Bytes that a store writes, one bit per 1/32 of a sector.
    pub bytes: u32,
    /// Row of the memory instruction in its SM's table.
    pub access: u32,
    pub warp: WarpId,
    /// CTA that it comes from, numbered over all kernels of the trace. One number is left out
    /// between two kernels, so that CTAs with consecutive numbers belong to the same kernel.
    /// `u32::MAX` if no SM made the request, or if the number does not fit.
    pub cta: u32,
    /// The load that it belongs to, if the DRAM scheduler needs [`Needs::load_ends`](crate::Needs);
    /// else `u32::MAX`.
    pub load: u32,
    /// Next request in the same MSHR entry, one link per [`CacheLevel`]: a request can be linked in
    /// an L1 entry and in an L2 entry at once.
    pub next: [RequestId; CacheLevel::COUNT],
    pub sm: SmId,
    /// Where `address` lies: computed once, as every level asks for it. Its slice is the one that is
    /// asked: where slices have twins, that of the SM's partition until it passes the request on.
    pub place: Location,
    /// Sectors that it covers, one bit each; bit 0 is the sector at `address`.
    pub sectors: u8,
    pub kind: RequestKind,
    /// Bypasses L1 (atomics, cache operators): no L1 MSHR waits for it.
    pub bypass: bool,
    /// The most lanes of an atomic that access the same address.
    pub max_lanes_per_address: u8,
    /// It missed in the L2.
    pub offchip: bool,
    /// The slice made it for itself: no requester waits for the answer.
    pub own: bool,
    /// Its SM had many warps waiting for memory when it was made; set if the DRAM scheduler needs
    /// `critical_share`.
    pub critical: bool,
    /// Its warp mostly hits in the L2; set if the DRAM scheduler needs `warp_types`.
    pub hit_prone: bool,
    /// Where its line is inserted in the L2.
    pub insertion: Insertion,
    /// The Critical Field of its instruction (CALRS) when it arrived at the queue of its slice; 0
    /// until then.
    pub critical_field: u8,
}

impl Request {
    /// [`Request::sm`] of a request for which no SM waits.
    pub const NO_SM: SmId = SmId(u16::MAX);

    /// A request for the sector at `address`, which lies at `place`, that a slice sends to DRAM for
    /// itself.
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
    /// Made by the coalescer.
    pub created: Ticks,
    /// Left L1 for the network.
    pub l1_missed: Ticks,
    /// Arrived at the slice's queue.
    pub l2_arrived: Ticks,
    /// Was looked up in the slice's tags; if it missed, it was sent to DRAM or merged into an
    /// outstanding miss then.
    pub l2_served: Ticks,
    /// Entered the channel's queue.
    pub dram_entered: Ticks,
    /// First DRAM command for it.
    pub dram_started: Ticks,
    /// DRAM was done with it (`dram.done_with`).
    pub dram_finished: Ticks,
    /// Its reply entered the slice's reply queue.
    pub replied: Ticks,
}

/// A request and its stamps, in a cache line of the host each: most units touch only one of them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Row {
    request: Request,
    stamps: Stamps,
}

const _: () = assert!(size_of::<Request>() == LINE_BYTES && size_of::<Stamps>() == LINE_BYTES);

/// The requests in flight of a region.
pub struct RequestTable {
    region: usize,
    rows: Vec<Row>,
    free: Vec<RequestId>,
    /// By row, the row of the region that a guest comes from; [`RequestId::NONE`] for others. As long as
    /// the first guest needs.
    homes: Vec<RequestId>,
    guests: usize,
    /// Homes of guests that have left the machine here.
    left: Vec<RequestId>,
}

/// With debug assertions, the time at which a request was created that has left.
const LEFT: Ticks = Ticks(u64::MAX);

/// Rows that are reserved at the start: 8 MB of address space. The host backs only the used part
/// with memory, and a table that need not grow is never copied.
const FIRST_ROWS: usize = 1 << 16;

impl Default for RequestTable {
    fn default() -> RequestTable {
        RequestTable::new(0)
    }
}

impl RequestTable {
    /// The table of region number `region`.
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
            assert!(*created != LEFT, "request {} leaves twice", id.0);
            *created = LEFT;
        }
        self.free.push(id);
    }

    /// Hints to the host that the row of a request will be read soon.
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

    /// The request that waits behind `id` in the same MSHR entry.
    #[inline]
    pub fn next(&self, id: RequestId, level: CacheLevel) -> RequestId {
        self.get(id).next[level as usize]
    }

    /// Puts `next` behind `id` in its MSHR entry.
    #[inline]
    pub fn set_next(&mut self, id: RequestId, level: CacheLevel, next: RequestId) {
        self.get_mut(id).next[level as usize] = next;
    }

    /// Whether two requests come from different SMs. A request that no SM made differs from none.
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

    /// Requests in flight that were made in this region.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.rows.len() - self.free.len() - self.guests
    }
}

/// Requests that are in another region than the one in which they were made: guests there. A guest
/// has a row in both tables; that of its home keeps the place in its L1's MSHRs.
impl RequestTable {
    /// Takes a copy of a request from its home.
    pub(crate) fn add_guest(&mut self, home: &RequestTable, request: RequestId) -> RequestId {
        let id = self.add_row(home.rows[request.index()]);
        if id.index() >= self.homes.len() {
            self.homes.resize(self.rows.len(), RequestId::NONE);
        }
        self.homes[id.index()] = request;
        self.guests += 1;
        id
    }

    /// The home of a guest, which is a guest no longer; none for others.
    fn take_home(&mut self, id: RequestId) -> Option<RequestId> {
        let home = std::mem::replace(self.homes.get_mut(id.index())?, RequestId::NONE);
        let is_guest = home != RequestId::NONE;
        self.guests -= usize::from(is_guest);
        is_guest.then_some(home)
    }

    /// The guest `id` of `abroad` comes home; returns its row here. None if it is not at home here.
    pub(crate) fn welcome(
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

    /// Homes of guests that have left the machine here since the last call.
    pub(crate) fn take_left(&mut self) -> Option<RequestId> {
        self.left.pop()
    }
}

impl Stamps {
    /// These times for a request that joined this one at `joined`: none is before the joining.
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
    /// `joined` waited in an L1 MSHR for `first`, whose reply has come.
    #[inline]
    pub fn share_reply(&mut self, joined: RequestId, first: &Request, stamps: &Stamps) {
        self.get_mut(joined).offchip = first.offchip;
        let own = self.stamps_mut(joined);
        *own = stamps.shared_from(own.created);
    }

    /// `joined` waited in an L2 MSHR for `first`, whose data have come from DRAM.
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

/// A request for tests of the units.
pub fn test_request(requests: &mut RequestTable, address: u64) -> RequestId {
    let request = Request::of_slice(address, RequestKind::Read, Location::ZERO);
    requests.add(request, Ticks(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stamps 10, 20, … 80 in the order in which a request passes them.
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
    #[should_panic(expected = "request 0 leaves twice")]
    fn a_request_leaves_once() {
        let mut requests = RequestTable::default();
        let id = test_request(&mut requests, 0);
        requests.remove(id);
        requests.remove(id);
    }

    #[test]
    fn rows_are_used_again_with_new_stamps() {
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
    fn a_guest_comes_home_with_what_happened_to_it() {
        let ([mut ours, mut theirs], home, abroad) = guest();
        assert_eq!((home.region(), abroad.region()), (0, 1));
        assert_eq!([&ours, &theirs].map(RequestTable::in_flight), [1, 1], "counted once, at home");
        theirs.stamps_mut(abroad).replied = Ticks(9);
        theirs.get_mut(abroad).offchip = true;
        theirs.set_next(abroad, CacheLevel::L1, RequestId(77));
        let merged = test_request(&mut ours, 128);
        ours.set_next(home, CacheLevel::L1, merged);
        assert_eq!(ours.welcome(&mut theirs, abroad), Some(home));
        assert_eq!(ours.stamps(home).replied, Ticks(9));
        assert!(ours.get(home).offchip);
        assert_eq!(ours.next(home, CacheLevel::L1), merged, "its L1 has gone on meanwhile");
        assert_eq!([&ours, &theirs].map(RequestTable::in_flight), [2, 1]);
        ours.remove(home);
        assert_eq!(ours.take_left(), None, "it was at home");
    }

    #[test]
    fn a_guest_that_leaves_the_machine_leaves_its_home() {
        let ([mut ours, mut theirs], home, abroad) = guest();
        theirs.remove(abroad);
        assert_eq!([&ours, &theirs].map(RequestTable::in_flight), [1, 1]);
        assert_eq!((theirs.take_left(), theirs.take_left()), (Some(home), None));
        ours.remove(home);
        assert_eq!(ours.in_flight(), 0);
        let own = test_request(&mut theirs, 0);
        assert_eq!(own, abroad, "the row is used again");
        assert_eq!(ours.welcome(&mut theirs, own), None, "by no guest");
    }

    #[test]
    fn a_request_that_joined_in_l1_shares_the_way_from_then_on() {
        let mut requests = RequestTable::default();
        let mut first = Request::of_slice(0, RequestKind::Read, Location::ZERO);
        first.offchip = true;
        let joined = requests.add(Request { offchip: false, ..first }, Ticks(35));
        requests.share_reply(joined, &first, &stamps_in_order());
        assert_eq!(in_order(requests.stamps(joined)), [35, 35, 35, 40, 50, 60, 70, 80]);
        assert!(requests.get(joined).offchip);
    }

    #[test]
    fn a_request_that_joined_in_the_l2_keeps_its_own_way_there() {
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
