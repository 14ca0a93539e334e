//! Sectors at the tags of L1: hits, misses and what they send to the network.

use super::access::AccessId;
use super::banks::{L1Bank, Lookup};
use super::sectors::Sector;
use super::{MemoryPipeline, Occupancy};
use crate::context::Context;
use crate::sm::scheduler::WarpScheduler;
use std::cmp::Reverse;
use warpmem_cache::{Allocation, Evicted, Fetch, Miss, Read, ReservationFail};
use warpmem_sim::{Request, RequestId, RequestKind};

impl MemoryPipeline {
    /// The tags of every bank serve the lookup that is due; one that fails stays.
    pub fn look_up(
        &mut self,
        occupancy: Occupancy,
        policy: &mut dyn WarpScheduler,
        ctx: &mut Context,
    ) {
        let cycle = self.cycle;
        for bank in self.banks.occupied() {
            let Some(&lookup) = self.banks.at_tags(bank, cycle) else { continue };
            if self.still_fails(bank, lookup.store, ctx) {
                continue;
            }
            if let Some((reason, cycles)) = self.banks.end_fail(bank, cycle) {
                self.l1.count_fail(reason, cycles);
            }
            let served = if self.perfect_l1 {
                self.find(&lookup, ctx);
                Ok(())
            } else if lookup.store {
                self.store(&lookup, occupancy, policy, ctx)
            } else {
                self.load(&lookup, occupancy, policy, ctx)
            };
            match served {
                Ok(()) => self.banks.pop(bank),
                Err(reason) => self.banks.fail(bank, reason, cycle),
            }
        }
    }

    /// Whether a lookup that failed must fail again. It fails until a sector is filled, because only
    /// its own bank could have asked for its sector meanwhile; one that lacked an entry of the miss
    /// queue only while there is none for it.
    fn still_fails(&self, bank: L1Bank, store: bool, ctx: &Context) -> bool {
        match self.banks.failing(bank) {
            Some(_) if self.last_fill == self.cycle => false,
            Some(ReservationFail::MissQueueFull) => self.room_to_ask(ctx) <= self.l1.reserve(store),
            Some(_) => true,
            None => false,
        }
    }

    /// Whether one more request may be in the memory below.
    pub(super) fn may_ask(&self) -> bool {
        self.in_flight < self.max_requests
    }

    /// Free entries of the miss queue for requests of instructions.
    fn room_to_ask(&self, ctx: &Context) -> usize {
        if self.may_ask() { self.room(ctx) } else { 0 }
    }

    /// Free entries of the miss queue.
    pub(super) fn room(&self, ctx: &Context) -> usize {
        self.miss_queue.room(self.cycle).min(ctx.fabric.room(self.request_port))
    }

    /// A perfect L1 holds every sector.
    fn find(&mut self, lookup: &Lookup, ctx: &mut Context) {
        self.l1.find(lookup.store);
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
        match self.l1.read(&sector, self.room_to_ask(ctx))? {
            Read::Hit(_) => {
                self.hit(access, ctx);
                self.answered_in_l1(access, &sector, ctx);
            }
            Read::Pending(entry) => {
                let request =
                    self.request(access, &sector, RequestKind::Read, entered, occupancy, ctx);
                self.l1.join(entry, request, ctx.requests);
                self.answered_in_l1(access, &sector, ctx);
            }
            Read::Miss { miss, allocated, .. } => {
                self.report_miss(access, &sector, policy);
                self.take_line(access, allocated, policy, ctx);
                self.fetch(lookup, miss, RequestKind::Read, occupancy, ctx);
            }
        }
        Ok(())
    }

    fn answered_in_l1(&self, access: AccessId, sector: &Sector, ctx: &mut Context) {
        let load = self.accesses.get(access).load;
        ctx.answered_in_l1(load, sector.address, self.clock.at(self.cycle));
    }

    fn store(
        &mut self,
        lookup: &Lookup,
        occupancy: Occupancy,
        policy: &mut dyn WarpScheduler,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let Lookup { access, sector, local, entered, .. } = *lookup;
        let write = self.l1.write(&sector, local, self.room_to_ask(ctx))?;
        self.take_line(access, write.allocated, policy, ctx);
        if let Some(Fetch::Open(miss)) = write.fetch {
            self.fetch(lookup, miss, RequestKind::Fetch, occupancy, ctx);
        } else if write.sent_on {
            let request =
                self.request(access, &sector, RequestKind::Write, entered, occupancy, ctx);
            self.ask(request, ctx);
        } else {
            self.hit(access, ctx);
        }
        Ok(())
    }

    /// Reports a read that missed L1 to a policy that asks for that.
    fn report_miss(&self, access: AccessId, sector: &Sector, policy: &mut dyn WarpScheduler) {
        if self.reports_l1_events {
            let slot = self.accesses.get(access).warp_slot();
            policy.missed(slot, self.l1.line(sector.address), self.cycle);
        }
    }

    /// A line may have been allocated for an access: its warp becomes the owner, a policy that asks
    /// for that learns what was evicted, and dirty data are written back.
    pub(super) fn take_line(
        &mut self,
        access: AccessId,
        allocated: Option<Allocation>,
        policy: &mut dyn WarpScheduler,
        ctx: &mut Context,
    ) {
        let Some(allocated) = allocated else { return };
        if self.reports_l1_events
            && let slot = self.accesses.get(access).warp_slot()
            && let Some((owner, line)) = self.l1.claim(allocated, slot)
        {
            policy.evicted(owner, line);
        }
        if let Some(evicted) = allocated.dirty() {
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
        self.l1.open(miss, request, ctx.requests);
        self.ask(request, ctx);
    }

    fn write_back(&mut self, Evicted { address, dirty }: Evicted, ctx: &mut Context) {
        let place = ctx.map.locate(address);
        let request = Request {
            sectors: dirty,
            bytes: u32::MAX,
            ..self.blank_request(address, RequestKind::Writeback, place)
        };
        let request = ctx.requests.add(request, self.clock.at(self.cycle));
        self.push(request, ctx);
    }

    /// A request that will be answered leaves L1.
    fn ask(&mut self, request: RequestId, ctx: &mut Context) {
        self.in_flight += 1;
        self.push(request, ctx);
    }

    /// A request leaves L1 through its miss queue.
    fn push(&mut self, request: RequestId, ctx: &mut Context) {
        let leaves = self.clock.at(self.miss_queue.push(self.cycle));
        ctx.requests.stamps_mut(request).l1_missed = leaves;
        ctx.fabric.push(self.request_port, request, leaves);
    }

    fn hit(&mut self, access: AccessId, ctx: &mut Context) {
        ctx.side.fields.hit(self.sm, access.0);
        let row = self.accesses.get_mut(access);
        row.waiting -= 1;
        row.ready_cycle = row.ready_cycle.max(self.cycle);
        if row.waiting == 0 {
            self.completions.push(Reverse((row.ready_cycle, access)));
        }
    }
}
