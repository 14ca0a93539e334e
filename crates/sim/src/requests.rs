//! The request table: every request below the SMs' coalescers is one row, named by its index.

use crate::Ticks;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub u32);

impl RequestId {
    pub const NONE: RequestId = RequestId(u32::MAX);
}

/// The caches in whose MSHRs a request can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum CacheLevel {
    L1,
    Llc,
}

impl CacheLevel {
    const COUNT: usize = 2;
}

/// Where in the order of its set a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Insertion {
    /// It is replaced last.
    Newest,
    /// It is replaced next.
    Oldest,
    /// The data are passed on and take no line.
    Nowhere,
}

/// What a request asks of the memory below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RequestKind {
    Read,
    Write,
    /// Read-modify-write carried out at the LLC.
    Atomic,
    /// Dirty data evicted from the LLC; nobody waits for it.
    Writeback,
    /// Read by a slice on its own account: the rest of a line that a store allocated.
    Fetch,
    /// A line that a channel has read unasked, on its way to its slice.
    Prefetch,
}

/// What the units read together on the way of a request.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Byte address of the first sector.
    pub address: u64,
    /// Program counter of the instruction it comes from, low bits.
    pub pc: u32,
    /// Bytes that a store covers, one bit per 1/32 of a sector.
    pub bytes: u32,
    /// Row of the memory instruction in its SM's table.
    pub access: u32,
    /// Slot of the warp, counted over all SMs.
    pub warp: u32,
    /// CTA that it comes from, numbered over all kernels of the trace with one number left out between two, so that
    /// neighbours are of one kernel; `u32::MAX` where no SM made it, and beyond the numbers that there are.
    pub cta: u32,
    /// The load it belongs to, where somebody asked for the ends of loads; else `u32::MAX`.
    pub load: u32,
    /// Next request in the same MSHR entry, of each [`CacheLevel`]: one that waits in L1 may be the first of those
    /// that wait in the LLC.
    pub next: [RequestId; CacheLevel::COUNT],
    pub sm: u16,
    pub slice: u16,
    /// Sectors that it covers, one bit each, from the one at `address` on.
    pub sectors: u8,
    pub kind: RequestKind,
    /// Passed the L1 by (atomics, cache operators): no L1 MSHR waits for it.
    pub bypass: bool,
    /// Largest number of lanes of an atomic that hit one address.
    pub max_lanes_per_address: u8,
    /// The LLC could not answer it from its data.
    pub offchip: bool,
    /// A slice reads it on its own account: nobody waits for the answer.
    pub own: bool,
    /// Its SM had so many warps waiting that it is critical, where somebody asked.
    pub critical: bool,
    /// Its warp hits in the LLC, where somebody asked.
    pub hit_prone: bool,
    /// What becomes of its line in the LLC.
    pub insertion: Insertion,
    /// The Critical Field of its instruction when it arrived at the queue of its slice; 0 until then.
    pub critical_field: u8,
}

impl Request {
    /// [`Request::sm`] of what no SM waits for.
    pub const NO_SM: u16 = u16::MAX;

    /// A request for one sector by which a slice itself reaches DRAM.
    #[inline]
    pub fn of_slice(address: u64, kind: RequestKind, slice: u16) -> Request {
        Request {
            address,
            pc: 0,
            bytes: u32::MAX,
            access: u32::MAX,
            warp: u32::MAX,
            cta: u32::MAX,
            load: u32::MAX,
            next: [RequestId::NONE; CacheLevel::COUNT],
            sm: Request::NO_SM,
            slice,
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

/// Times at which a request passed the boundaries of the machine. First what a slice writes when it reads the
/// [`Request`], which lies before it: see [`Row`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Stamps {
    /// Arrived at the slice's queue.
    pub llc_arrived: Ticks,
    /// Had its turn at the slice's tags; if it missed, left for DRAM or joined one that had.
    pub llc_served: Ticks,
    /// Coalesced.
    pub created: Ticks,
    /// Left L1 for the network.
    pub l1_missed: Ticks,
    /// Entered the channel's queue.
    pub dram_entered: Ticks,
    /// First DRAM command on its behalf.
    pub dram_started: Ticks,
    /// Last datum on the DRAM bus.
    pub dram_finished: Ticks,
    /// Reply handed to the network.
    pub replied: Ticks,
}

/// A request with its stamps, in two lines of the host's cache: most units touch one of them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Row {
    request: Request,
    stamps: Stamps,
}

const LINE_BYTES: usize = 64;
const _: () = assert!(size_of::<Row>() == 2 * LINE_BYTES);

/// All requests in flight.
pub struct RequestTable {
    rows: Vec<Row>,
    free: Vec<RequestId>,
}

/// Rows for which there is room from the start: 8 MB of address space, of which only what is used becomes memory. A
/// table that grows is copied.
const FIRST_ROWS: usize = 1 << 16;

impl Default for RequestTable {
    fn default() -> RequestTable {
        RequestTable { rows: Vec::with_capacity(FIRST_ROWS), free: Vec::new() }
    }
}

impl RequestTable {
    /// Adds a request; no allocation once the table has grown to the most in flight.
    #[inline]
    pub fn add(&mut self, request: Request, created: Ticks) -> RequestId {
        let row = Row { request, stamps: Stamps { created, ..Stamps::default() } };
        if let Some(id) = self.free.pop() {
            self.rows[id.0 as usize] = row;
            return id;
        }
        self.rows.push(row);
        RequestId(self.rows.len() as u32 - 1)
    }

    /// Gives the row back.
    #[inline]
    pub fn remove(&mut self, id: RequestId) {
        debug_assert!(!self.free.contains(&id), "request {} leaves twice", id.0);
        self.free.push(id);
    }

    #[inline]
    pub fn get(&self, id: RequestId) -> &Request {
        &self.rows[id.0 as usize].request
    }

    #[inline]
    pub fn get_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.rows[id.0 as usize].request
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

    /// Whether two requests come from different SMs; what no SM made comes from none.
    #[inline]
    pub fn are_of_two_sms(&self, one: RequestId, other: RequestId) -> bool {
        let (one, other) = (self.get(one).sm, self.get(other).sm);
        one != other && one != Request::NO_SM && other != Request::NO_SM
    }

    #[inline]
    pub fn stamps(&self, id: RequestId) -> &Stamps {
        &self.rows[id.0 as usize].stamps
    }

    #[inline]
    pub fn stamps_mut(&mut self, id: RequestId) -> &mut Stamps {
        &mut self.rows[id.0 as usize].stamps
    }

    /// Requests in flight.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.rows.len() - self.free.len()
    }
}

impl Stamps {
    /// What a request that joined another at `joined` knows of the way down that they share.
    fn shared_from(self, joined: Ticks) -> Stamps {
        Stamps {
            created: self.created.max(joined),
            l1_missed: self.l1_missed.max(joined),
            llc_arrived: self.llc_arrived.max(joined),
            llc_served: self.llc_served.max(joined),
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

    /// `joined` waited in an LLC MSHR for `first`, whose data have come from DRAM.
    #[inline]
    pub fn share_fill(&mut self, joined: RequestId, first: RequestId) {
        let stamps = *self.stamps(first);
        let own = self.stamps_mut(joined);
        let shared = stamps.shared_from(own.llc_served);
        own.dram_entered = shared.dram_entered;
        own.dram_started = shared.dram_started;
        own.dram_finished = shared.dram_finished;
    }
}

/// A request for tests of the units.
pub fn test_request(requests: &mut RequestTable, address: u64) -> RequestId {
    requests.add(Request::of_slice(address, RequestKind::Read, 0), Ticks(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stamps 10, 20, … 80 in the order of the way.
    fn way() -> Stamps {
        let [created, l1_missed, llc_arrived, llc_served] = [10, 20, 30, 40].map(Ticks);
        let [dram_entered, dram_started, dram_finished, replied] = [50, 60, 70, 80].map(Ticks);
        Stamps {
            created,
            l1_missed,
            llc_arrived,
            llc_served,
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
            s.llc_arrived,
            s.llc_served,
            s.dram_entered,
            s.dram_started,
            s.dram_finished,
            s.replied,
        ]
        .map(|at| at.0)
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

    #[test]
    fn a_request_that_joined_in_l1_shares_the_way_from_then_on() {
        let mut requests = RequestTable::default();
        let mut first = Request::of_slice(0, RequestKind::Read, 0);
        first.offchip = true;
        let joined = requests.add(Request { offchip: false, ..first }, Ticks(35));
        requests.share_reply(joined, &first, &way());
        assert_eq!(in_order(requests.stamps(joined)), [35, 35, 35, 40, 50, 60, 70, 80]);
        assert!(requests.get(joined).offchip);
    }

    #[test]
    fn a_request_that_joined_in_the_llc_keeps_its_own_way_there() {
        let mut requests = RequestTable::default();
        let joined = test_request(&mut requests, 0);
        let own = [41, 51, 61, 65].map(Ticks);
        let stamps = requests.stamps_mut(joined);
        [stamps.created, stamps.l1_missed, stamps.llc_arrived, stamps.llc_served] = own;
        let first = test_request(&mut requests, 0);
        *requests.stamps_mut(first) = way();
        requests.share_fill(joined, first);
        assert_eq!(in_order(requests.stamps(joined))[..4], own.map(|at| at.0));
        assert_eq!(in_order(requests.stamps(joined))[4..7], [65, 65, 70], "joined in service");
    }
}
