//! Memory instructions in flight.

use crate::results::{AccessKind, DramTimes, LoadRow, RequestRow};
use warpmem_sim::{CoreCycle, Request, RequestKind, Stamps, Ticks, WarpSlot, ids};
use warpmem_trace::L2Policy;

ids! {
    /// Row of an [`AccessTable`].
    pub(in crate::sm) AccessId(u32);
}

/// Turnaround of an off-chip request, and its time inside the memory controller, ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Turnaround {
    total: u64,
    in_controller: u64,
}

/// One memory instruction from issue until its last request is back.
#[derive(Clone, Debug, Default)]
pub(in crate::sm) struct Access {
    /// Its CTA's number in the trace.
    pub cta: u32,
    /// A register waits for it: loads, atomics, async copies.
    pub returns: bool,
    /// Its warp issues nothing until it is back.
    pub holds_warp: bool,
    /// Its data go to other SMs, too.
    pub is_multicast: bool,
    /// Somebody is to be told when it has ended: a copy.
    pub is_told: bool,
    /// The banks' answer is looked at before its warp goes on: a wait at an mbarrier.
    pub waits: bool,
    /// Requests that are not back, those not sent included.
    pub waiting: u32,
    /// When the data of its hits are there.
    pub ready_cycle: CoreCycle,
    /// Its number, if it is a load whose end somebody asked for; else `u32::MAX`.
    pub load: u32,
    /// What it asks of its lines in the L2.
    pub l2_policy: Option<L2Policy>,
    pub row: LoadRow,
    slowest: Turnaround,
    fastest: Turnaround,
}

impl Access {
    pub fn new(cta: u32, returns: bool, holds_warp: bool, row: LoadRow) -> Access {
        Access { cta, returns, holds_warp, row, load: u32::MAX, ..Access::default() }
    }

    pub fn warp_slot(&self) -> WarpSlot {
        WarpSlot(self.row.warp_slot as u16)
    }

    /// When it has issued.
    pub fn issue_cycle(&self) -> CoreCycle {
        CoreCycle::new(self.row.issue_cycle)
    }

    /// A request is back, `total` ticks after it was created.
    pub fn request_back(&mut self, request: &Request, stamps: &Stamps, total: u64) {
        self.waiting -= 1;
        if !request.offchip {
            return;
        }
        let in_controller = stamps.dram_finished.since(stamps.dram_entered);
        let this = Turnaround { total, in_controller };
        if self.row.offchip_requests == 0 || this.total > self.slowest.total {
            self.slowest = this;
        }
        if self.row.offchip_requests == 0 || this.total < self.fastest.total {
            self.fastest = this;
        }
        self.row.offchip_requests += 1;
    }

    /// The row of one of its requests, which is back `now`. `period` is the number of ticks in a
    /// core cycle.
    pub fn request_row(
        &self,
        request: &Request,
        stamps: &Stamps,
        now: Ticks,
        period: u64,
    ) -> RequestRow {
        let place = request.place;
        let dram = DramTimes {
            entered: stamps.dram_entered.0,
            started: stamps.dram_started.0,
            finished: stamps.dram_finished.0,
        };
        RequestRow {
            kernel: self.row.kernel,
            cta: self.row.cta,
            warp_in_cta: self.row.warp_in_cta,
            sm: self.row.sm,
            warp_slot: self.row.warp_slot,
            pc: self.row.pc,
            address: request.address,
            kind: access_kind(request.kind),
            slice: place.slice.0.into(),
            channel: place.channel.0.into(),
            bank: place.bank.0.into(),
            row: place.row.0,
            created: stamps.created.0,
            l1_missed: stamps.l1_missed.0,
            l2_arrived: stamps.l2_arrived.0,
            l2_served: stamps.l2_served.0,
            dram: request.offchip.then_some(dram),
            replied: stamps.replied.0,
            returned: now.0,
            ticks_per_core_cycle: period,
        }
    }

    /// The finished row. `period` is the number of ticks in a core cycle.
    pub fn finished_row(&self, cycle: CoreCycle, period: u64) -> LoadRow {
        let mut row = self.row;
        row.load_time = cycle.since(self.issue_cycle());
        if row.offchip_requests >= 2 {
            let spread = self.slowest.total - self.fastest.total;
            let inside = self.slowest.in_controller as i64 - self.fastest.in_controller as i64;
            row.divergence = Some(spread / period);
            row.in_mc_divergence = Some(inside / period as i64);
        }
        row
    }
}

/// What is back at an SM is one of these four.
fn access_kind(kind: RequestKind) -> AccessKind {
    match kind {
        RequestKind::Atomic => AccessKind::Atomic,
        RequestKind::Fetch => AccessKind::Fetch,
        RequestKind::Write | RequestKind::Writeback => AccessKind::Write,
        RequestKind::Read | RequestKind::Prefetch | RequestKind::Invalidate => AccessKind::Read,
        RequestKind::Message => unreachable!("it is not memory that answers it"),
    }
}

/// The memory instructions in flight of one SM.
#[derive(Default)]
pub(super) struct AccessTable {
    rows: Vec<Access>,
    free: Vec<AccessId>,
}

impl AccessTable {
    pub fn add(&mut self, access: Access) -> AccessId {
        match self.free.pop() {
            Some(id) => {
                self.rows[id.index()] = access;
                id
            }
            None => {
                self.rows.push(access);
                AccessId::new(self.rows.len() - 1)
            }
        }
    }

    pub fn remove(&mut self, id: AccessId) {
        self.free.push(id);
    }

    #[inline]
    pub fn get(&self, id: AccessId) -> &Access {
        &self.rows[id.index()]
    }

    #[inline]
    pub fn get_mut(&mut self, id: AccessId) -> &mut Access {
        &mut self.rows[id.index()]
    }

    /// Instructions in flight.
    pub fn len(&self) -> usize {
        self.rows.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_sim::Location;

    /// The row of a load whose off-chip requests took (turnaround, time in the controller) ticks.
    fn row(offchip: &[(u64, u64)]) -> LoadRow {
        let mut access =
            Access::new(0, true, false, LoadRow { issue_cycle: 100, ..LoadRow::default() });
        access.waiting = offchip.len() as u32 + 1;
        let mut request = Request::of_slice(0, RequestKind::Read, Location::ZERO);
        // On-chip requests take no part, however slow.
        access.request_back(&request, &Stamps::default(), 1_000_000);
        request.offchip = true;
        for &(total, inside) in offchip {
            let dram_finished = Ticks(7 + inside);
            let stamps = Stamps { dram_entered: Ticks(7), dram_finished, ..Stamps::default() };
            access.request_back(&request, &stamps, total);
        }
        assert_eq!(access.waiting, 0);
        access.finished_row(CoreCycle::new(150), 10)
    }

    #[test]
    fn divergence_is_of_the_slowest_and_the_fastest_request() {
        let row = row(&[(500, 200), (900, 350), (300, 100), (600, 590)]);
        assert_eq!((row.offchip_requests, row.load_time), (4, 50));
        assert_eq!((row.divergence, row.in_mc_divergence), (Some(60), Some(25)));
    }

    #[test]
    fn the_slowest_may_have_spent_less_time_in_the_controller() {
        let row = row(&[(300, 200), (900, 50)]);
        assert_eq!((row.divergence, row.in_mc_divergence), (Some(60), Some(-15)));
    }

    #[test]
    fn fewer_than_two_off_chip_requests_do_not_diverge() {
        assert_eq!(row(&[]).divergence, None);
        assert_eq!((row(&[(300, 9)]).divergence, row(&[(300, 9)]).in_mc_divergence), (None, None));
        assert_eq!(row(&[(300, 9), (300, 9)]).divergence, Some(0));
    }
}
