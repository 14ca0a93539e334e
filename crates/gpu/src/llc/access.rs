//! A request at the tags of a slice: hits, misses, stores, and what they need.

use super::slice::Slice;
use crate::context::Context;
use warpmem_cache::{
    ALL_BYTES, Merge, ReadAllocate, ReservationFail, Slot, Victim, WriteAllocate, WritePolicy,
};
use warpmem_sim::{CacheLevel, Insertion, Request, RequestId, RequestKind, Ticks};

impl Slice {
    pub(super) fn access(
        &mut self,
        id: RequestId,
        cycle: u64,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let request = *ctx.requests.get(id);
        if self.rules.perfect {
            self.find(id, &request, cycle, now, ctx);
            return Ok(());
        }
        if !self.rules.cached {
            self.pass_down(id, &request, cycle, now, ctx);
            return Ok(());
        }
        match request.kind {
            RequestKind::Read | RequestKind::Fetch | RequestKind::Prefetch => {
                self.read(id, &request, ALL_BYTES, now, ctx)
            }
            RequestKind::Atomic => {
                self.read(id, &request, ALL_BYTES, now, ctx)?;
                self.result.cache.atomics += 1;
                self.hold_for_atomic(&request, cycle);
                Ok(())
            }
            RequestKind::Write | RequestKind::Writeback => self.write(id, &request, now, ctx),
        }
    }

    /// A perfect cache holds every sector.
    fn find(
        &mut self,
        id: RequestId,
        request: &Request,
        cycle: u64,
        now: Ticks,
        ctx: &mut Context,
    ) {
        if matches!(request.kind, RequestKind::Write | RequestKind::Writeback) {
            self.result.cache.write_hits += 1;
            return self.acknowledge(id, request, now, ctx);
        }
        self.result.cache.read_hits += 1;
        self.answered(request, now, ctx);
        self.sample(request, true, now, ctx);
        self.replies.hit(id, now);
        if request.kind == RequestKind::Atomic {
            self.result.cache.atomics += 1;
            self.result.cache.atomic_hits += 1;
            self.hold_for_atomic(request, cycle);
        }
    }

    /// The lanes of an atomic that hit one address are served one after the other.
    pub(super) fn hold_for_atomic(&mut self, request: &Request, cycle: u64) {
        let busy = u64::from(self.rules.atomic_cycles) * u64::from(request.max_lanes_per_address);
        self.tags_free = self.tags_free.max(cycle + busy.max(1));
    }

    fn read(
        &mut self,
        id: RequestId,
        request: &Request,
        bytes: u32,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let (line, part) = self.place(request.address);
        let sector = self.geometry.sector(request.address);
        let slot = self.tags.find(line);
        let is_atomic = u64::from(request.kind == RequestKind::Atomic);
        if let Some(slot) = slot
            && self.tags.holds(slot, part, bytes)
        {
            self.tags.touch(slot);
            self.prefetched.use_line(slot);
            if request.kind == RequestKind::Atomic {
                self.tags.write(slot, part, ALL_BYTES, true);
            }
            self.result.cache.read_hits += 1;
            self.result.cache.atomic_hits += is_atomic;
            self.answered(request, now, ctx);
            self.sample(request, true, now, ctx);
            self.replies.hit(id, now);
            self.hold_data_port(self.geometry.sector_bytes());
            return Ok(());
        }
        match self.mshr.merge(sector, id, ctx.requests) {
            Merge::Full => return Err(ReservationFail::MshrMerge),
            Merge::Joined { .. } => {
                if let Some(slot) = slot {
                    self.tags.touch(slot);
                }
                self.result.cache.read_pending_hits += 1;
                self.result.cache.atomic_pending_hits += is_atomic;
                self.answered(request, now, ctx);
                self.sample(request, false, now, ctx);
                self.report_merge(id, request, now, ctx);
                ctx.requests.get_mut(id).offchip = true;
                return Ok(());
            }
            Merge::Absent => {}
        }
        // A missing sector of a present line goes into that line.
        let insertion = match slot {
            Some(_) => Insertion::Newest,
            None => request.insertion,
        };
        let allocate = match insertion {
            Insertion::Nowhere => ReadAllocate::OnFill,
            _ => self.rules.read_allocate,
        };
        let place = self.take_miss(request.address, slot, allocate, 1, now, ctx)?;
        if insertion == Insertion::Oldest
            && let Some(slot) = self.tags.find(line)
        {
            self.tags.demote(slot);
        }
        self.count_insertion(insertion);
        self.sample(request, false, now, ctx);
        match slot {
            Some(_) => self.result.cache.read_sector_misses += 1,
            None => self.result.cache.read_misses += 1,
        }
        self.result.cache.atomic_misses += is_atomic;
        self.miss(id, place, now, ctx);
        Ok(())
    }

    /// A request of a load is answered here and will not go to DRAM.
    fn answered(&self, request: &Request, now: Ticks, ctx: &mut Context) {
        let due = Ticks(now.0 + self.to_dram_ticks);
        ctx.answered_in_llc(request.load, request.address, due);
    }

    /// Reports that `id` has joined an MSHR entry, where the DRAM scheduler follows merges.
    fn report_merge(&mut self, id: RequestId, request: &Request, now: Ticks, ctx: &Context) {
        if !self.to_dram.follows_merges() {
            return;
        }
        let entry = self.mshr.find(self.geometry.sector(request.address));
        let entry = entry.expect("a request has joined it");
        let mut next = self.mshr.first(entry);
        let mut same_sm = false;
        while next != id {
            same_sm |= ctx.requests.get(next).sm == request.sm;
            next = ctx.requests.next(next, CacheLevel::Llc);
        }
        self.to_dram.merged(entry, same_sm, ctx.requests.stamps(id).created, now);
    }

    /// Reserves what a miss needs that sends `sent` items to DRAM, or says what is missing: an MSHR
    /// entry, room on the way to DRAM, and, if lines are allocated at the miss, a line. Returns the
    /// line's slot if it stays reserved until the fill.
    fn take_miss(
        &mut self,
        address: u64,
        slot: Option<Slot>,
        allocate: ReadAllocate,
        sent: usize,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<Option<Slot>, ReservationFail> {
        if self.mshr.free() <= self.replies.unanswered_fills() {
            return Err(ReservationFail::MshrEntry);
        }
        if self.to_dram.room(ctx) < sent {
            return Err(ReservationFail::MissQueueFull);
        }
        if allocate == ReadAllocate::OnFill {
            return Ok(None);
        }
        let slot = match slot {
            Some(slot) => slot,
            None => self.allocate(address, sent, now, ctx)?,
        };
        // A fill that looks for a line must find one, though all lines wait for fills behind it.
        let keeps = self.rules.read_allocate == ReadAllocate::OnMiss;
        if keeps {
            self.tags.reserve(slot, self.geometry.sector_in_line(address));
        }
        self.tags.touch(slot);
        Ok(keeps.then_some(slot))
    }

    /// Sends a miss to DRAM and opens its MSHR entry.
    fn miss(&mut self, id: RequestId, place: Option<Slot>, now: Ticks, ctx: &mut Context) {
        let sector = self.geometry.sector(ctx.requests.get(id).address);
        self.mshr.open(sector, place, id, ctx.requests);
        self.to_dram.opened(&self.mshr, sector, id, ctx);
        ctx.requests.get_mut(id).offchip = true;
        self.to_dram.send(id, now, ctx);
    }

    /// Allocates the line of `address`. A dirty victim needs an entry on the way to DRAM, where the
    /// first `kept` free entries are reserved for others.
    pub(super) fn allocate(
        &mut self,
        address: u64,
        kept: usize,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<Slot, ReservationFail> {
        let key = self.set_key.of(ctx.map, address);
        let victim: Victim = self.tags.victim(key).ok_or(ReservationFail::LineAlloc)?;
        if let Some((line, dirty)) = victim.line {
            if dirty != 0 {
                if self.to_dram.room(ctx) <= kept {
                    self.to_dram.wake_on_room(ctx);
                    return Err(ReservationFail::MissQueueFull);
                }
                self.write_back(self.geometry.line_address(line), dirty, now, ctx);
            }
            self.result.cache.evictions += 1;
        }
        let leaving = victim.line.map(|(line, _)| self.geometry.line_address(line));
        self.prefetched.note_replaced(leaving, address, ctx.map);
        let slot = self.tags.replace(victim, self.geometry.line(address));
        self.prefetched.evict_line(slot);
        Ok(slot)
    }

    /// Data of so many bytes pass the data port for the request at the tags, which are taken
    /// meanwhile (GPGPU-Sim, baseline_cache::bandwidth_management; a fill has a port of its own,
    /// whatever it displaces).
    fn hold_data_port(&mut self, bytes: u32) {
        self.port_busy = self.port_busy.max(self.port_cycles(bytes));
    }

    fn write_back(&mut self, address: u64, dirty: u8, now: Ticks, ctx: &mut Context) {
        self.result.cache.writebacks += 1;
        self.hold_data_port(dirty.count_ones() * self.geometry.sector_bytes());
        self.to_dram.write(address, dirty, now, ctx);
    }

    /// A store, or dirty data of an L1, at the tags. [`WriteAllocate::SendAndFetch`] aside:
    ///
    /// ```text
    ///  line absent, and write-through or no write-allocate ─▶ data on to DRAM; no line
    ///  otherwise
    ///    fetch-on-write, and the store covers part of a sector that is neither here nor on its way
    ///                         ─▶ allocate an absent line; read the sector from DRAM
    ///    else, line absent    ─▶ allocate it
    ///    else, write-through  ─▶ data on to DRAM
    ///    then write into the line, as dirty data under write-back
    /// ```
    ///
    /// The store is acknowledged when its data have their line or their entry on the way to DRAM.
    /// If it lacks anything, it stays at the tags and tries again.
    fn write(
        &mut self,
        id: RequestId,
        request: &Request,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let (line, part) = self.place(request.address);
        let slot = self.tags.find(line);
        let sectors = request.sectors << part;
        let present = slot.map(|slot| self.tags.present(slot) & sectors == sectors);
        let keeps = self.rules.write == WritePolicy::WriteBack;
        let is_present = present == Some(true);
        let is_there = slot.is_some_and(|slot| self.tags.holds(slot, part, ALL_BYTES));
        if self.rules.write_allocate == WriteAllocate::SendAndFetch && !is_there {
            return self.send_and_fetch(id, request, slot, now, ctx);
        }
        let place = match slot {
            None if !keeps || self.rules.write_allocate == WriteAllocate::None => {
                self.pass_on(request, now, ctx)?;
                None
            }
            found if self.must_fetch(request, found, part) => {
                // The store's data need the line at once.
                let place =
                    self.take_miss(request.address, found, ReadAllocate::OnMiss, 1, now, ctx)?;
                self.fetch(request, place, now, ctx);
                self.tags.find(line)
            }
            None => Some(self.allocate(request.address, 0, now, ctx)?),
            Some(slot) => {
                if !keeps {
                    self.pass_on(request, now, ctx)?;
                }
                Some(slot)
            }
        };
        if let Some(place) = place {
            (0..u8::BITS)
                .filter(|sector| sectors >> sector & 1 == 1)
                .for_each(|sector| self.tags.write(place, sector, request.bytes, keeps));
            self.tags.touch(place);
            self.prefetched.use_line(place);
        }
        if is_present {
            self.hold_data_port(self.bytes_of(request));
        }
        match present {
            Some(true) => self.result.cache.write_hits += 1,
            Some(false) => self.result.cache.write_sector_misses += 1,
            None => self.result.cache.write_misses += 1,
        }
        self.acknowledge(id, request, now, ctx);
        Ok(())
    }

    /// A store to a sector that is absent or on its way: its data go on to DRAM, and a read of the
    /// sector takes or joins an MSHR (GPGPU-Sim, data_cache::wr_miss_wa_naive).
    fn send_and_fetch(
        &mut self,
        id: RequestId,
        request: &Request,
        slot: Option<Slot>,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        match self.mshr.probe(self.geometry.sector(request.address)) {
            Some(false) => return Err(ReservationFail::MshrMerge),
            Some(true) => {
                self.pass_on(request, now, ctx)?;
                self.result.cache.write_hits += 1;
                self.join_fetch(request, now, ctx);
            }
            None => {
                let allocate = ReadAllocate::OnMiss;
                let place = self.take_miss(request.address, slot, allocate, 2, now, ctx)?;
                self.pass_on(request, now, ctx)?;
                self.result.cache.write_misses += 1;
                self.fetch(request, place, now, ctx);
            }
        }
        self.acknowledge(id, request, now, ctx);
        Ok(())
    }

    /// A read that the slice makes for itself waits for a sector that is on its way.
    fn join_fetch(&mut self, store: &Request, now: Ticks, ctx: &mut Context) {
        let fetch = self.fetch_for(store);
        let id = ctx.requests.add(fetch, now);
        self.mshr.merge(self.geometry.sector(store.address), id, ctx.requests);
        self.report_merge(id, &fetch, now, ctx);
    }

    /// Bytes of a store.
    fn bytes_of(&self, store: &Request) -> u32 {
        let of_sector = store.bytes.count_ones() * self.geometry.sector_bytes() / u32::BITS;
        of_sector * store.sectors.count_ones()
    }

    /// Whether the rest of a store's sector must be fetched at once.
    fn must_fetch(&self, request: &Request, slot: Option<Slot>, part: u32) -> bool {
        self.rules.write_allocate == WriteAllocate::FetchOnWrite
            && request.bytes != ALL_BYTES
            && !slot.is_some_and(|slot| self.tags.holds(slot, part, ALL_BYTES))
            && self.mshr.probe(self.geometry.sector(request.address)).is_none()
    }

    /// Reads what a store needs from DRAM.
    fn fetch(&mut self, store: &Request, place: Option<Slot>, now: Ticks, ctx: &mut Context) {
        self.result.cache.write_fetches += 1;
        let id = ctx.requests.add(self.fetch_for(store), now);
        self.miss(id, place, now, ctx);
    }

    /// The read that the slice makes for itself after a store. Under send-and-fetch it carries the
    /// store's SM, so that merges are counted for that SM (GPGPU-Sim,
    /// data_cache::wr_miss_wa_naive).
    fn fetch_for(&self, store: &Request) -> Request {
        let fetch = Request::of_slice(store.address, RequestKind::Fetch, self.index);
        let fetch = Request { own: true, ..fetch };
        match self.rules.write_allocate {
            WriteAllocate::SendAndFetch => Request { sm: store.sm, ..fetch },
            _ => fetch,
        }
    }

    /// Sends a store's data on to DRAM.
    pub(super) fn pass_on(
        &mut self,
        request: &Request,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        if self.to_dram.room(ctx) == 0 {
            return Err(ReservationFail::MissQueueFull);
        }
        self.to_dram.write(request.address, request.sectors, now, ctx);
        Ok(())
    }

    /// A store is done: the SM gets its acknowledgement; a write-back from L1 has none.
    fn acknowledge(&mut self, id: RequestId, request: &Request, now: Ticks, ctx: &mut Context) {
        if request.kind == RequestKind::Write {
            self.replies.hit(id, now);
        } else {
            ctx.requests.remove(id);
        }
    }

    fn place(&self, address: u64) -> (u64, u32) {
        (self.geometry.line(address), self.geometry.sector_in_line(address))
    }
}
