//! Lookups at the tags of L1: hits, misses, and the requests they send.

use super::access::AccessId;
use super::banks::{L1Bank, Lookup};
use super::sectors::Sector;
use super::{MemoryPipeline, Occupancy};
use crate::context::Context;
use crate::sm::scheduler::WarpScheduler;
use warpmem_cache::{Allocation, Evicted, Fetch, Miss, Read, ReservationFail};
use warpmem_sim::{Request, RequestKind};

impl MemoryPipeline {
    /// Whether a lookup is at the tags.
    #[inline]
    pub fn has_lookup(&self) -> bool {
        self.tags.banks.is_due(self.cycle)
    }

    /// Serves the due lookups of every bank; a lookup that fails stays at the tags.
    #[inline(never)]
    pub fn look_up(
        &mut self,
        occupancy: Occupancy,
        policy: &mut dyn WarpScheduler,
        ctx: &mut Context,
    ) {
        let most = self.tags.lookups_per_cycle();
        for bank in self.tags.banks.occupied() {
            let mut served = 0;
            while served < most && self.serve_bank(bank, occupancy, policy, ctx) {
                served += 1;
            }
        }
        self.tags.banks.end_cycle();
    }

    /// Serves the first lookup of a bank if it is due; returns whether it did.
    fn serve_bank(
        &mut self,
        bank: L1Bank,
        occupancy: Occupancy,
        policy: &mut dyn WarpScheduler,
        ctx: &mut Context,
    ) -> bool {
        let cycle = self.cycle;
        let Some(&lookup) = self.tags.banks.at_tags(bank, cycle) else { return false };
        let room = || self.network.room_for_requests(cycle, ctx.fabric);
        if self.tags.still_fails(bank, lookup.store, cycle, room) {
            return false;
        }
        self.tags.end_fail(bank, cycle);
        let served = if self.tags.is_perfect() {
            self.hit_perfect(&lookup, ctx);
            Ok(())
        } else if lookup.store {
            self.store(&lookup, occupancy, policy, ctx)
        } else {
            self.load(&lookup, occupancy, policy, ctx)
        };
        match served {
            Ok(()) => self.tags.banks.pop(bank),
            Err(reason) => self.tags.banks.fail(bank, reason, cycle),
        }
        served.is_ok()
    }

    /// Hits in a perfect L1.
    fn hit_perfect(&mut self, lookup: &Lookup, ctx: &mut Context) {
        self.tags.l1.count_hit(lookup.store);
        self.hit(lookup.access, ctx);
    }

    fn load(
        &mut self,
        lookup: &Lookup,
        occupancy: Occupancy,
        policy: &mut dyn WarpScheduler,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let Lookup { access, sector, entered, .. } = *lookup;
        let room = self.network.room_for_requests(self.cycle, ctx.fabric);
        match self.tags.l1.read(&sector, room)? {
            Read::Hit(_) => {
                self.hit(access, ctx);
                self.answered_in_l1(access, &sector, ctx);
            }
            Read::Pending(entry) => {
                let request =
                    self.request(access, &sector, RequestKind::Read, entered, occupancy, ctx);
                self.tags.l1.join(entry, request, ctx.requests);
                self.answered_in_l1(access, &sector, ctx);
            }
            Read::Miss { miss, allocated, .. } => {
                let slot = self.accesses.get(access).warp_slot();
                self.tags.report_miss(slot, &sector, self.cycle, policy);
                self.allocate(access, allocated, policy, ctx);
                self.fetch(lookup, miss, RequestKind::Read, occupancy, ctx);
            }
        }
        Ok(())
    }

    fn answered_in_l1(&self, access: AccessId, sector: &Sector, ctx: &mut Context) {
        let load = self.accesses.get(access).load;
        ctx.answered_in_l1(load, sector.address, self.config.clock.at(self.cycle));
    }

    fn store(
        &mut self,
        lookup: &Lookup,
        occupancy: Occupancy,
        policy: &mut dyn WarpScheduler,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let Lookup { access, sector, local, entered, .. } = *lookup;
        let room = self.network.room_for_requests(self.cycle, ctx.fabric);
        let write = self.tags.l1.write(&sector, local, room)?;
        self.allocate(access, write.allocated, policy, ctx);
        if let Some(Fetch::Open(miss)) = write.fetch {
            self.fetch(lookup, miss, RequestKind::Fetch, occupancy, ctx);
        } else if write.sent_on {
            let request =
                self.request(access, &sector, RequestKind::Write, entered, occupancy, ctx);
            self.network.send(request, self.cycle, ctx);
        } else {
            self.hit(access, ctx);
        }
        Ok(())
    }

    /// Assigns a line, if one was allocated for an access, to its warp and writes back the dirty
    /// data that it evicts.
    pub(super) fn allocate(
        &mut self,
        access: AccessId,
        allocated: Option<Allocation>,
        policy: &mut dyn WarpScheduler,
        ctx: &mut Context,
    ) {
        let Some(allocated) = allocated else { return };
        let slot = self.accesses.get(access).warp_slot();
        if let Some(evicted) = self.tags.claim(slot, allocated, policy) {
            self.write_back(evicted, ctx);
        }
    }

    /// Sends a request for a sector and opens its MSHR entry.
    fn fetch(
        &mut self,
        lookup: &Lookup,
        miss: Miss,
        kind: RequestKind,
        occupancy: Occupancy,
        ctx: &mut Context,
    ) {
        let Lookup { access, sector, entered, .. } = *lookup;
        let request = self.request(access, &sector, kind, entered, occupancy, ctx);
        self.tags.l1.open(miss, request, ctx.requests);
        self.network.send(request, self.cycle, ctx);
    }

    fn write_back(&mut self, Evicted { address, dirty }: Evicted, ctx: &mut Context) {
        let place = ctx.map.locate(address);
        let request = Request {
            sectors: dirty,
            bytes: u32::MAX,
            ..self.blank_request(address, RequestKind::Writeback, place)
        };
        let request = ctx.requests.add(request, self.config.clock.at(self.cycle));
        self.network.send_write_back(request, self.cycle, ctx);
    }

    fn hit(&mut self, access: AccessId, ctx: &mut Context) {
        ctx.side.fields.hit(self.config.sm, access.0);
        self.finish_part(access, self.cycle);
    }
}
