//! Memory instructions in flight.

use crate::results::{AccessKind, LoadRow, RequestRow, Requester};
use crate::sm::code::Static;
use warpmem_sim::{CoreCycle, Request, RequestKind, Stamps, Ticks, WarpSlot, ids};
use warpmem_trace::{Kind, L2Policy, Mbarrier};

ids! {
    /// Row of an [`AccessTable`].
    pub(in crate::sm) AccessId(u32);
}

/// Turnaround of an off-chip request, and its time in the memory controller, ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Turnaround {
    total: u64,
    in_controller: u64,
}

/// Waits for translations, core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    pub count: u32,
    pub shortest: u32,
    pub longest: u32,
}

impl Waits {
    pub fn one(cycles: u64) -> Waits {
        let cycles = cycles as u32;
        Waits { count: 1, shortest: cycles, longest: cycles }
    }

    pub fn add(&mut self, other: Waits) {
        if self.count == 0 {
            return *self = other;
        }
        if other.count > 0 {
            self.shortest = self.shortest.min(other.shortest);
            self.longest = self.longest.max(other.longest);
            self.count += other.count;
        }
    }
}

/// One memory instruction from issue to its last reply.
#[derive(Clone, Debug, Default)]
pub(in crate::sm) struct Access {
    /// Number of its CTA in the trace.
    pub cta: u32,
    /// Returns data: loads, atomics, async copies.
    pub returns: bool,
    /// Blocks the issue of its warp until it completes.
    pub holds_warp: bool,
    /// Its warp may end before it completes.
    pub outlives_warp: bool,
    /// Its data also go to other SMs.
    pub is_multicast: bool,
    /// An async copy with a [`Copy`](super::copies::Copy).
    pub is_tracked_copy: bool,
    /// At its completion its warp waits for incomplete mbarrier phases.
    pub waits_at_mbarrier: bool,
    /// Requests not answered, including those not sent.
    pub outstanding: u32,
    /// Cycle in which the data received so far are ready.
    pub ready_cycle: CoreCycle,
    /// Number of the load where a DRAM scheduler tracks loads, else `u32::MAX`.
    pub load: u32,
    /// L2 eviction policy requested for its lines.
    pub l2_policy: Option<L2Policy>,
    pub row: LoadRow,
    slowest: Turnaround,
    fastest: Turnaround,
    waits: Waits,
}

impl Access {
    /// Creates the access of an instruction of CTA number `cta`; `atomics_stall`: atomics block
    /// the issue of their warp.
    pub fn new(instruction: &Static, cta: u32, atomics_stall: bool, row: LoadRow) -> Access {
        let kind = instruction.kind;
        let is_atomic = matches!(kind, Kind::Atomic | Kind::Reduction);
        let waits_at_mbarrier = matches!(instruction.mbarrier, Some(Mbarrier::Wait { .. }));
        Access {
            cta,
            returns: matches!(kind, Kind::Load | Kind::Atomic | Kind::AsyncCopy),
            holds_warp: atomics_stall && is_atomic || waits_at_mbarrier,
            waits_at_mbarrier,
            load: u32::MAX,
            l2_policy: instruction.l2_policy,
            row,
            ..Access::default()
        }
    }

    pub fn warp_slot(&self) -> WarpSlot {
        WarpSlot(self.row.warp_slot as u16)
    }

    /// Returns its issue cycle.
    pub fn issue_cycle(&self) -> CoreCycle {
        CoreCycle::new(self.row.issue_cycle)
    }

    /// Records waits for translations.
    pub(super) fn waited(&mut self, waits: Waits) {
        self.waits.add(waits);
        self.row.translation_cycles = self.waits.longest;
    }

    /// Records the reply of a request, `total` ticks after its creation.
    pub fn request_back(&mut self, request: &Request, stamps: &Stamps, total: u64) {
        self.outstanding -= 1;
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

    /// Returns the row of a request answered at `now`. `period`: ticks per core cycle.
    pub fn request_row(
        &self,
        request: &Request,
        stamps: &Stamps,
        now: Ticks,
        period: u64,
    ) -> RequestRow {
        let row = &self.row;
        let requester = Requester {
            kernel: row.kernel,
            cta: row.cta,
            warp_in_cta: row.warp_in_cta,
            sm: row.sm,
            warp_slot: row.warp_slot,
            pc: row.pc,
        };
        let kind = access_kind(request.kind);
        RequestRow::new(Some(requester), kind, request, stamps, now, period)
    }

    /// Returns the row of the completed load. `period`: ticks per core cycle.
    pub fn finished_row(&self, cycle: CoreCycle, period: u64) -> LoadRow {
        let mut row = self.row;
        row.load_time = cycle.since(self.issue_cycle());
        if row.offchip_requests >= 2 {
            let spread = self.slowest.total - self.fastest.total;
            let inside = self.slowest.in_controller as i64 - self.fastest.in_controller as i64;
            row.divergence = Some(spread / period);
            row.in_mc_divergence = Some(inside / period as i64);
        }
        let Waits { count, shortest, longest } = self.waits;
        row.translation_divergence = (count >= 2).then(|| longest - shortest);
        row
    }
}

/// Returns the kind of an access from its answered request.
fn access_kind(kind: RequestKind) -> AccessKind {
    match kind {
        RequestKind::Atomic => AccessKind::Atomic,
        RequestKind::Fetch => AccessKind::Fetch,
        RequestKind::Write | RequestKind::Writeback => AccessKind::Write,
        RequestKind::Read | RequestKind::Prefetch | RequestKind::Invalidate => AccessKind::Read,
        RequestKind::Message | RequestKind::Translation | RequestKind::Walk => {
            unreachable!("such requests do not return to an access")
        }
    }
}

/// Memory instructions in flight of one SM.
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

    /// Returns the number of instructions in flight.
    pub fn len(&self) -> usize {
        self.rows.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_sim::Location;

    /// Returns the row of a load whose off-chip requests took (turnaround, controller time) ticks.
    fn row(offchip: &[(u64, u64)]) -> LoadRow {
        let row = LoadRow { issue_cycle: 100, ..LoadRow::default() };
        let outstanding = offchip.len() as u32 + 1;
        let mut access = Access { returns: true, outstanding, row, ..Access::default() };
        let mut request = Request::of_slice(0, RequestKind::Read, Location::ZERO);
        // On-chip requests do not count, however slow.
        access.request_back(&request, &Stamps::default(), 1_000_000);
        request.offchip = true;
        for &(total, inside) in offchip {
            let dram_finished = Ticks(7 + inside);
            let stamps = Stamps { dram_entered: Ticks(7), dram_finished, ..Stamps::default() };
            access.request_back(&request, &stamps, total);
        }
        assert_eq!(access.outstanding, 0);
        access.finished_row(CoreCycle::new(150), 10)
    }

    #[test]
    fn waits_have_a_shortest_and_a_longest_in_any_order() {
        let mut waits = Waits::default();
        for cycles in [10, 7, 12] {
            waits.add(Waits::one(cycles));
        }
        waits.add(Waits::default());
        assert_eq!(waits, Waits { count: 3, shortest: 7, longest: 12 });
    }

    #[test]
    fn divergence_compares_the_slowest_and_the_fastest_request() {
        let row = row(&[(500, 200), (900, 350), (300, 100), (600, 590)]);
        assert_eq!((row.offchip_requests, row.load_time), (4, 50));
        assert_eq!((row.divergence, row.in_mc_divergence), (Some(60), Some(25)));
    }

    #[test]
    fn controller_divergence_may_be_negative() {
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
