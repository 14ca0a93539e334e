//! The lookup of a request at the tags of a slice: hits, misses and stores.

use super::slice::Slice;
use crate::context::Context;
use warpmem_cache::{
    Allocation, Evicted, Fetch, Miss, MshrEntry, Read, ReadAccess, ReservationFail, Room,
    WriteAccess,
};
use warpmem_sim::{CacheLevel, Insertion, L2Cycle, Request, RequestId, RequestKind, Ticks};

impl Slice {
    /// Looks a request up and carries out the outcome. Fails without any effect if a resource is
    /// missing.
    pub(super) fn access(
        &mut self,
        id: RequestId,
        room: Room,
        cycle: L2Cycle,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let request = *ctx.requests.get(id);
        if self.resets.is_due(request.cta) {
            self.begin_kernel(ctx);
        }
        self.look_up(id, &request, room, cycle, now, ctx)?;
        self.write_back_cleaned(now, ctx);
        self.place_line(request.address, request.insertion);
        Ok(())
    }

    /// Performs the reset that is due with the first request of a kernel. Under `run.cold_launches`
    /// the host has written dirty lines back before the kernel: they cost no time and no DRAM
    /// command. Of earlier kernels only stores of ended warps may still arrive, which count for the
    /// new kernel; the slice's own fetches may be in flight.
    #[cold]
    fn begin_kernel(&mut self, ctx: &Context) {
        let Slice { spec, cache, prefetched, peer, resets, .. } = self;
        if !spec.cold_launches {
            return cache.release_kept();
        }
        resets.dirty_sectors += cache.invalidate(|slot, address| {
            prefetched.note_left(address, ctx.map);
            prefetched.evict_line(slot);
            if let Some(peer) = peer {
                peer.take_copied(slot);
            }
        });
    }

    #[inline]
    fn look_up(
        &mut self,
        id: RequestId,
        request: &Request,
        room: Room,
        cycle: L2Cycle,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        if self.spec.perfect {
            self.find(id, request, cycle, now, ctx);
            return Ok(());
        }
        if !self.spec.cached {
            self.pass_down(id, request, cycle, now, ctx);
            return Ok(());
        }
        let is_read =
            matches!(request.kind, RequestKind::Read | RequestKind::Fetch | RequestKind::Walk);
        if !is_read && self.is_remote(request.place) {
            self.forward_to_peer(id, request, now, ctx);
            return Ok(());
        }
        match request.kind {
            RequestKind::Read | RequestKind::Fetch | RequestKind::Prefetch => {
                self.read(id, request, room, now, ctx)
            }
            RequestKind::Walk => self.read_entry(id, request, room, now, ctx),
            RequestKind::Atomic => {
                self.read(id, request, room, now, ctx)?;
                self.hold_for_atomic(request, cycle);
                Ok(())
            }
            RequestKind::Write | RequestKind::Writeback => self.write(id, request, room, now, ctx),
            RequestKind::Invalidate => {
                unreachable!("invalidations arrive as replies of the peer slice")
            }
            RequestKind::Message | RequestKind::Translation => {
                unreachable!("such requests never enter a slice")
            }
        }
    }

    /// Applies the eviction priority that an access asks for.
    #[inline]
    pub(super) fn place_line(&mut self, address: u64, insertion: Insertion) {
        if let Insertion::Asked(eviction) = insertion {
            self.cache.set_eviction(address, eviction, self.spec.most_kept);
        }
    }

    /// Serves a request of a perfect cache, which holds every sector.
    fn find(
        &mut self,
        id: RequestId,
        request: &Request,
        cycle: L2Cycle,
        now: Ticks,
        ctx: &mut Context,
    ) {
        if matches!(request.kind, RequestKind::Write | RequestKind::Writeback) {
            self.cache.counts.write_hits += 1;
            return self.acknowledge(id, request, now, ctx);
        }
        self.cache.counts.read_hits += 1;
        self.answered(request, now, ctx);
        self.sample(request, true, now, ctx);
        self.replies.hit(id, now);
        if request.kind == RequestKind::Atomic {
            self.cache.counts.atomics += 1;
            self.cache.counts.atomic_hits += 1;
            self.hold_for_atomic(request, cycle);
        }
    }

    /// Keeps the tags busy for an atomic: lanes at one address are serialised.
    pub(super) fn hold_for_atomic(&mut self, request: &Request, cycle: L2Cycle) {
        let busy = u64::from(self.spec.atomic_cycles) * u64::from(request.max_lanes_per_address);
        self.tags.hold_until(cycle + busy.max(1));
    }

    fn read(
        &mut self,
        id: RequestId,
        request: &Request,
        room: Room,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let Request { address, place, insertion, .. } = *request;
        let atomic = request.kind == RequestKind::Atomic;
        let remote = self.is_remote(place);
        let (access, set_key) =
            (ReadAccess { address, atomic, insertion, on_fill: remote }, &self.spec.set_key);
        let room = if remote { self.room_for_copy(room) } else { room };
        match self.cache.read(access, room, |_| set_key.of(place))? {
            Read::Hit(slot) => {
                self.prefetched.use_line(slot);
                self.count_copy_hit(request);
                self.note_copy(Some(slot), id, ctx);
                if atomic {
                    self.invalidate_copy(request, Some(slot), now, ctx);
                }
                self.answered(request, now, ctx);
                self.sample(request, true, now, ctx);
                self.replies.hit(id, now);
                self.hold_data_port(self.cache.geometry().sector_bytes());
            }
            Read::Pending(entry) => {
                self.answered(request, now, ctx);
                self.sample(request, false, now, ctx);
                if remote {
                    self.cache.join(entry, id, ctx.requests);
                    return Ok(());
                }
                if atomic {
                    self.invalidate_copy(request, None, now, ctx);
                }
                self.join(entry, id, request, now, ctx);
                ctx.requests.get_mut(id).offchip = true;
            }
            Read::Miss { miss, allocated, insertion } => {
                self.take_line(allocated, address, now, ctx);
                if remote {
                    // The home slice counts the miss.
                    self.request_from_peer(id, miss, now, ctx);
                    return Ok(());
                }
                self.cache.count_read_miss(&miss);
                if atomic {
                    self.invalidate_copy(request, None, now, ctx);
                }
                if let Some(counts) = &mut self.warps {
                    counts.inserted(insertion);
                }
                self.sample(request, false, now, ctx);
                self.miss(id, miss, now, ctx);
            }
        }
        Ok(())
    }

    /// Reads an entry of a page table, which may allocate no line.
    #[inline(never)]
    fn read_entry(
        &mut self,
        id: RequestId,
        request: &Request,
        room: Room,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let Some(rates) = &self.walk_bypass else { return self.read(id, request, room, now, ctx) };
        let insertion = rates.insertion(request, &self.cache.counts);
        let request = Request { insertion, ..*request };
        ctx.requests.get_mut(id).insertion = insertion;
        let before = self.cache.counts.read_hits;
        self.read(id, &request, room, now, ctx)?;
        let hit = self.cache.counts.read_hits > before;
        self.walk_bypass.iter_mut().for_each(|rates| rates.count(&request, hit));
        Ok(())
    }

    /// Counts a read as a hit or a miss of its warp, where the DRAM scheduler needs warp types.
    fn sample(&mut self, request: &Request, hit: bool, now: Ticks, ctx: &mut Context) {
        let (Some(counts), Some(warps)) = (&mut self.warps, &mut ctx.side.warps) else { return };
        let cycle = self.spec.clock.cycle_of(now);
        if let Some(kind) = warps.sample(request.warp, hit, cycle) {
            counts.sampled(kind);
        }
    }

    /// Reports to the DRAM scheduler that a request of a load ends here and will not reach DRAM.
    fn answered(&self, request: &Request, now: Ticks, ctx: &mut Context) {
        let due = Ticks(now.0 + self.spec.to_dram_ticks);
        ctx.answered_in_l2(request.load, request.address, due);
    }

    /// Merges a request into an MSHR entry, and reports the merge where the DRAM scheduler follows
    /// merges.
    fn join(
        &mut self,
        entry: MshrEntry,
        id: RequestId,
        request: &Request,
        now: Ticks,
        ctx: &mut Context,
    ) {
        self.cache.join(entry, id, ctx.requests);
        if !self.to_dram.follows_merges() {
            return;
        }
        let mut next = self.cache.mshr().first(entry);
        let mut same_sm = false;
        while next != id {
            same_sm |= ctx.requests.get(next).sm == request.sm;
            next = ctx.requests.next(next, CacheLevel::L2);
        }
        self.to_dram.merged(entry, same_sm, ctx.requests.stamps(id).created, now);
    }

    /// Sends a miss to DRAM and opens its MSHR entry.
    fn miss(&mut self, id: RequestId, miss: Miss, now: Ticks, ctx: &mut Context) {
        let entry = self.cache.open(miss, id, ctx.requests);
        self.to_dram.opened(entry, id, ctx);
        ctx.requests.get_mut(id).offchip = true;
        self.to_dram.send(id, now, ctx);
    }

    /// Completes the allocation of a line for the data at `address`, if there is one: dirty data of
    /// the evicted line go to DRAM.
    pub(super) fn take_line(
        &mut self,
        allocated: Option<Allocation>,
        address: u64,
        now: Ticks,
        ctx: &mut Context,
    ) {
        let Some(allocated) = allocated else { return };
        if let Some(evicted) = allocated.dirty() {
            self.write_back(evicted, now, ctx);
        }
        let leaving = allocated.evicted.map(|evicted| evicted.address);
        self.prefetched.note_replaced(leaving, address, ctx.map);
        self.prefetched.evict_line(allocated.slot);
        self.forget_copy(allocated.slot);
    }

    /// Writes back the line that the last access cleaned to keep the bound on dirty lines, if any.
    #[inline]
    pub(super) fn write_back_cleaned(&mut self, now: Ticks, ctx: &mut Context) {
        if let Some(cleaned) = self.cache.take_cleaned() {
            self.write_back(cleaned, now, ctx);
        }
    }

    /// Sends the dirty sectors of a line to DRAM. There must be room.
    fn write_back(&mut self, line: Evicted, now: Ticks, ctx: &mut Context) {
        let sectors = line.dirty.count_ones();
        self.hold_data_port(sectors * self.cache.geometry().sector_bytes());
        self.to_dram.write(line.address, line.dirty, now, ctx);
    }

    /// Transfers `bytes` through the data port for the request at the tags.
    fn hold_data_port(&mut self, bytes: u32) {
        self.tags.hold_data_port(self.spec.port_cycles(bytes));
    }

    /// Serves a store, or dirty data of an L1. It is acknowledged as soon as its data have a line or
    /// an entry of the queue to DRAM; until then it stays at the tags and retries.
    fn write(
        &mut self,
        id: RequestId,
        request: &Request,
        room: Room,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let Request { address, place, sectors, bytes, .. } = *request;
        let store = WriteAccess { address, sectors, bytes, local: false };
        let set_key = &self.spec.set_key;
        let write = self.cache.write(store, room, |_| set_key.of(place))?;
        self.take_line(write.allocated, address, now, ctx);
        if write.sent_on {
            self.to_dram.write(address, sectors, now, ctx);
        }
        if let Some(fetch) = write.fetch {
            self.fetch(request, fetch, now, ctx);
        }
        let known = write.slot.filter(|_| write.allocated.is_none());
        self.invalidate_copy(request, known, now, ctx);
        if let Some(slot) = write.slot {
            self.prefetched.use_line(slot);
            if write.hit {
                self.hold_data_port(self.bytes_of(request));
            }
        }
        self.acknowledge(id, request, now, ctx);
        Ok(())
    }

    /// Fetches the sector that a store needs, or merges into its outstanding miss. The read is the
    /// slice's own and has no reply.
    fn fetch(&mut self, store: &Request, fetch: Fetch, now: Ticks, ctx: &mut Context) {
        let read = Request::of_slice(store.address, RequestKind::Fetch, store.place);
        let sm = if self.spec.fetches_have_sm { store.sm } else { read.sm };
        let read = Request { own: true, sm, ..read };
        let id = ctx.requests.add(read, now);
        match fetch {
            Fetch::Open(miss) => self.miss(id, miss, now, ctx),
            Fetch::Join(entry) => self.join(entry, id, &read, now, ctx),
        }
    }

    /// Returns the bytes that a store writes.
    fn bytes_of(&self, store: &Request) -> u32 {
        let of_sector = store.bytes.count_ones() * self.cache.geometry().sector_bytes() / u32::BITS;
        of_sector * store.sectors.count_ones()
    }

    /// Acknowledges a store to its SM. A write-back of an L1 needs no acknowledgement.
    fn acknowledge(&mut self, id: RequestId, request: &Request, now: Ticks, ctx: &mut Context) {
        if request.kind == RequestKind::Write {
            self.replies.hit(id, now);
        } else {
            ctx.requests.remove(id);
        }
    }
}
