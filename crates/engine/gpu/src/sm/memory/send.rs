//! Sending of an instruction's sectors into the L1 banks or, bypassing L1, to the network.

use super::access::{Access, AccessId};
use super::entry::{Entry, Work};
use super::sectors::Sector;
use super::{Config, MemoryPipeline, Occupancy};
use crate::context::Context;
use warpmem_cache::ReservationFail;
use warpmem_sim::{CoreCycle, Insertion, Location, Request, RequestId, RequestKind, WarpId};
use warpmem_trace::{Eviction, L2Policy};

impl MemoryPipeline {
    /// Sends sectors of the current instruction in order: at most one into each L1 bank, or one
    /// bypassing L1.
    pub(super) fn send_sectors(
        &mut self,
        cycle: CoreCycle,
        occupancy: Occupancy,
        ctx: &mut Context,
    ) {
        if self.translates() && !self.is_admitted(cycle, ctx) {
            return;
        }
        let Some(entry) = self.lsu.head() else { return };
        if entry.sent == 0 {
            let sectors = entry.lists.sectors.as_slice().len();
            ctx.side.fields.begin(self.config.sm, entry.access.0, sectors);
        }
        let bypasses = self.tags.is_bypassed_by(entry);
        // A perfect L1 sends no requests, so loads are not tracked.
        if ctx.side.loads.is_some() && !self.tags.is_perfect() {
            self.begin_load(ctx);
        }
        if bypasses {
            self.send_bypassing(cycle, occupancy, ctx);
        } else if let Some(entry) = self.lsu.head_mut() {
            let (sent, busy_until) = self.tags.enter(entry, cycle);
            entry.sent += sent;
            self.lsu.busy_until = busy_until;
        }
        if let Some(translation) = &mut self.network.translation
            && self.lsu.head().is_some_and(|entry| entry.sent > 0)
        {
            translation.entered();
        }
        if self.lsu.head().is_some_and(Entry::is_sent) {
            self.lsu.pop();
        }
    }

    /// Whether the pages of the current instruction are translated, if that is due before L1.
    #[inline(never)]
    fn is_admitted(&mut self, cycle: CoreCycle, ctx: &mut Context) -> bool {
        let Some(entry) = self.lsu.head().filter(|entry| entry.sent == 0) else { return true };
        let access = entry.access;
        let (sectors, warp) =
            (entry.lists.sectors.as_slice(), self.warp_of(self.accesses.get(access)));
        let Some(translation) = &mut self.network.translation else { return true };
        let waited = translation.admits(access, warp, sectors, cycle, ctx);
        if let Some(waits) = waited {
            self.accesses.get_mut(access).waited(waits);
        }
        waited.is_some()
    }

    /// Sends the next sector of the current instruction to the network, bypassing L1.
    fn send_bypassing(&mut self, cycle: CoreCycle, occupancy: Occupancy, ctx: &mut Context) {
        let Some(entry) = self.lsu.head() else { return };
        let (access, work) = (entry.access, entry.work);
        let sector = entry.lists.sectors.as_slice()[entry.sent];
        if let Some(cycles) = self.network.end_stall(cycle) {
            self.tags.l1.count_fail(ReservationFail::MissQueueFull, cycles);
        }
        if !self.network.may_send_or_wake(ctx.fabric) {
            self.network.stall(cycle);
            return;
        }
        let kind = match work {
            Work::Atomic => RequestKind::Atomic,
            Work::Store { .. } => RequestKind::Write,
            _ => RequestKind::Read,
        };
        match kind {
            RequestKind::Atomic => self.tags.l1.bypass_atomic(sector.address),
            RequestKind::Read => self.tags.l1.bypass_read(),
            _ => self.tags.l1.bypass_write(sector.address),
        }
        let request = self.request(access, &sector, kind, cycle, occupancy, ctx);
        ctx.requests.get_mut(request).bypass = true;
        self.network.send_bypassing(request, cycle, ctx);
        if let Some(entry) = self.lsu.head_mut() {
            entry.sent += 1;
        }
    }

    /// Numbers a load before its first request is sent.
    fn begin_load(&mut self, ctx: &mut Context) {
        let Some(entry) = self.lsu.head() else { return };
        let access = self.accesses.get_mut(entry.access);
        if entry.work == Work::Load && access.load == u32::MAX {
            let sectors = entry.lists.sectors.as_slice();
            access.load = ctx.begin_load(sectors.iter().map(|sector| sector.address));
        }
    }

    /// Creates a request for a sector of an access.
    pub(super) fn request(
        &self,
        access: AccessId,
        sector: &Sector,
        kind: RequestKind,
        created: CoreCycle,
        occupancy: Occupancy,
        ctx: &mut Context,
    ) -> RequestId {
        let row = self.accesses.get(access);
        let clock = self.config.clock;
        let request = Request {
            pc: row.row.pc as u32,
            bytes: sector.bytes,
            access: access.0,
            warp: self.warp_of(row),
            cta: row.cta,
            load: row.load,
            max_lanes_per_address: sector.max_lanes_per_address,
            critical: is_critical(occupancy, ctx),
            insertion: self.insertion(row.l2_policy, sector.address),
            ..self.blank_request(sector.address, kind, sector.place)
        };
        ctx.requests.add(request, clock.at(created))
    }

    /// Returns the number of the warp of an access in the whole machine.
    #[inline]
    fn warp_of(&self, access: &Access) -> WarpId {
        let Config { sm, max_warps, .. } = self.config;
        WarpId(u32::from(sm.0) * max_warps + access.row.warp_slot)
    }

    /// Returns the L2 insertion priority of the line that holds `address`.
    fn insertion(&self, policy: Option<L2Policy>, address: u64) -> Insertion {
        match policy.map(|policy| policy.of_line(self.tags.l1.line(address))) {
            None | Some(Eviction::Unchanged) => Insertion::Newest,
            Some(Eviction::Normal) => Insertion::Asked(warpmem_sim::Eviction::Normal),
            Some(Eviction::First) => Insertion::Asked(warpmem_sim::Eviction::First),
            Some(Eviction::Last) => Insertion::Asked(warpmem_sim::Eviction::Last),
        }
    }

    /// Returns a request to the slice through which this SM reaches `place`.
    pub(super) fn blank_request(
        &self,
        address: u64,
        kind: RequestKind,
        place: Location,
    ) -> Request {
        let Config { sm, peers, .. } = self.config;
        let slice = peers.map_or(place.slice, |peers| peers.entry_slice(sm, place.slice));
        Request { sm, ..Request::of_slice(address, kind, Location { slice, ..place }) }
    }
}

/// Whether enough warps wait for memory to make the SM's requests critical.
fn is_critical(occupancy: Occupancy, ctx: &Context) -> bool {
    ctx.side.critical.is_some_and(|share| {
        let waiting = occupancy.waiting_for_memory.count_ones();
        share.is_critical(waiting, occupancy.present.count_ones())
    })
}
