//! One slice of the last-level cache: queue, tags, MSHRs, replies.

use super::queue::{LLC_QUEUES, LlcQueue};
use crate::cache::{ALL_BYTES, Geometry, Merge, Mshr, Slot, Tags, Victim};
use crate::dram::AddressMap;
use crate::engine::{
    CacheLevel, Clock, Context, Domain, PortId, Request, RequestId, RequestKind, Ticks, UnitId,
};
use crate::machine::{self, Machine, ReadAllocate, WriteAllocate, WritePolicy};
use crate::record::{ReservationFail, SliceResult};
use crate::registry::PolicyError;
use std::collections::VecDeque;

/// Where a slice's ports lead.
#[derive(Clone, Copy, Debug)]
pub struct SlicePorts {
    /// From the request network.
    pub requests: PortId,
    /// To the reply network.
    pub replies: PortId,
    /// To the DRAM channel.
    pub misses: PortId,
    /// From the DRAM channel.
    pub fills: PortId,
}

/// Requests on their way to somewhere within the slice, with the time at which they are there.
type DelayLine = VecDeque<(Ticks, RequestId)>;

/// A slice.
pub struct Slice {
    index: u16,
    unit: UnitId,
    clock: Clock,
    config: machine::Llc,
    ports: SlicePorts,
    geometry: Geometry,
    tags: Tags,
    mshr: Mshr,
    set_key: SetKey,
    queue: Box<dyn LlcQueue>,
    /// From the network to the queue, and at most this many requests in both together.
    arriving: DelayLine,
    input_capacity: usize,
    input_ticks: u64,
    to_dram_ticks: u64,
    /// From the tags to the reply port.
    hits: DelayLine,
    /// Next of the requests that the last fill answers.
    answering: RequestId,
    /// The tags are taken until this cycle (atomics).
    tags_free: u64,
    /// What the request at the tags lacks, and since when.
    failing: Option<(ReservationFail, u64)>,
    result: SliceResult,
}

impl Slice {
    /// Slice `index` of the machine. `core` is the clock of the latencies given in core cycles.
    pub fn new(
        machine: &Machine,
        index: usize,
        clock: Clock,
        core: Clock,
        ports: SlicePorts,
    ) -> Result<Slice, PolicyError> {
        let config = &machine.llc;
        let input_ticks = u64::from(config.input_latency) * core.period();
        Ok(Slice {
            index: index as u16,
            unit: UnitId { domain: Domain::Llc, index: index as u32 },
            clock,
            ports,
            geometry: Geometry::new(&config.cache),
            tags: Tags::new(&config.cache, config.cache.size_bytes),
            mshr: Mshr::new(CacheLevel::Llc, config.cache.mshr_entries, config.cache.mshr_merges),
            set_key: SetKey::new(machine),
            queue: LLC_QUEUES.build(&machine.policy.llc_queue, config)?,
            arriving: VecDeque::new(),
            // The delay line holds what arrives at one request a cycle during the delay.
            input_capacity: config.queue as usize + input_ticks.div_ceil(clock.period()) as usize,
            input_ticks,
            to_dram_ticks: u64::from(config.to_dram_latency) * core.period(),
            hits: VecDeque::new(),
            answering: RequestId::NONE,
            tags_free: 0,
            failing: None,
            result: SliceResult::default(),
            config: config.clone(),
        })
    }

    /// This slice as the fabric knows it.
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// One turn at LLC cycle `cycle`: arrivals, a fill, a reply, a request at the tags.
    pub fn step(&mut self, cycle: u64, ctx: &mut Context) {
        let now = self.clock.at(cycle);
        self.arrive(now, ctx);
        self.fill(now, ctx);
        self.reply(now, ctx);
        self.serve(cycle, now, ctx);
        self.schedule(cycle, now, ctx);
    }

    /// Takes at most one request from the network, and lets those whose delay is over enter the queue.
    fn arrive(&mut self, now: Ticks, ctx: &mut Context) {
        if self.arriving.len() + self.queue.len() < self.input_capacity
            && let Some(request) = ctx.fabric.ready(self.ports.requests, now)
        {
            ctx.fabric.pop(self.ports.requests, now);
            self.arriving.push_back((Ticks(now.0 + self.input_ticks), request));
        }
        while let Some(&(due, id)) = self.arriving.front() {
            let request = ctx.requests.get(id);
            if due > now || !self.queue.accepts(request) {
                break;
            }
            self.queue.push(id, request);
            ctx.requests.stamps_mut(id).llc_arrived = due;
            self.arriving.pop_front();
        }
    }

    /// Takes at most one fill from DRAM, when the last one is answered.
    fn fill(&mut self, now: Ticks, ctx: &mut Context) {
        if self.answering != RequestId::NONE {
            return;
        }
        let Some(id) = ctx.fabric.ready(self.ports.fills, now) else { return };
        let address = ctx.requests.get(id).address;
        let Some(slot) = self.fill_slot(address, now, ctx) else { return };
        ctx.fabric.pop(self.ports.fills, now);
        self.tags.fill(slot, self.geometry.sector_in_line(address));
        let sector = self.geometry.sector(address);
        let (first, count) = self.mshr.close(sector).expect("a fill answers a miss");
        self.result.mshr_merge_length.record(u64::from(count));
        self.answering = first;
        let stamps = *ctx.requests.stamps(id);
        let mut next = first;
        while next != RequestId::NONE {
            let (this, kind) = (next, ctx.requests.get(next).kind);
            next = ctx.requests.next(this, CacheLevel::Llc);
            if kind == RequestKind::Atomic {
                self.tags.write(slot, self.geometry.sector_in_line(address), ALL_BYTES, true);
            }
            if this != id {
                ctx.requests.share_fill(this, &stamps);
            }
        }
    }

    /// The place of a fill; `None` while a dirty line in its way cannot leave.
    fn fill_slot(&mut self, address: u64, now: Ticks, ctx: &mut Context) -> Option<Slot> {
        let line = self.geometry.line(address);
        match self.tags.find(line) {
            Some(slot) => Some(slot),
            None => self.allocate(address, 0, now, ctx).ok(),
        }
    }

    /// Hands at most one reply to the network: a hit whose latency is over, else an answer of the last fill.
    fn reply(&mut self, now: Ticks, ctx: &mut Context) {
        self.skip_own_fetches(ctx);
        let hit = self.hits.front().filter(|&&(due, _)| due <= now).map(|&(_, id)| id);
        let id = match hit {
            Some(id) => id,
            None if self.answering != RequestId::NONE => self.answering,
            None => return,
        };
        if !ctx.fabric.room_or_wake(self.ports.replies) {
            return;
        }
        match hit {
            Some(_) => {
                self.hits.pop_front();
            }
            None => {
                self.answering = ctx.requests.next(id, CacheLevel::Llc);
                self.skip_own_fetches(ctx);
            }
        }
        ctx.requests.stamps_mut(id).replied = now;
        ctx.fabric.push(self.ports.replies, id, now);
    }

    /// Nobody waits for what the slice fetched on its own account.
    fn skip_own_fetches(&mut self, ctx: &mut Context) {
        while self.answering != RequestId::NONE {
            if ctx.requests.get(self.answering).sm != Request::NO_SM {
                return;
            }
            let next = ctx.requests.next(self.answering, CacheLevel::Llc);
            ctx.requests.remove(self.answering);
            self.answering = next;
        }
    }

    /// The next request of the queue has its turn at the tags.
    fn serve(&mut self, cycle: u64, now: Ticks, ctx: &mut Context) {
        if self.tags_free > cycle || self.hits.len() > self.config.latency as usize {
            return;
        }
        let Some(id) = self.queue.next() else { return };
        ctx.requests.stamps_mut(id).llc_served = now;
        match self.access(id, cycle, now, ctx) {
            Ok(()) => {
                self.queue.pop();
                self.end_fail(cycle);
            }
            Err(reason) => {
                self.end_fail(cycle);
                self.failing = Some((reason, cycle));
                if reason == ReservationFail::MissQueueFull {
                    ctx.fabric.wake_writer(self.ports.misses);
                }
            }
        }
    }

    fn end_fail(&mut self, cycle: u64) {
        if let Some((reason, since)) = self.failing.take() {
            self.result.cache.reservation_fails[reason as usize] += cycle - since;
        }
    }

    fn access(
        &mut self,
        id: RequestId,
        cycle: u64,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let request = *ctx.requests.get(id);
        match request.kind {
            RequestKind::Read | RequestKind::Fetch => {
                self.read(id, &request, request.bytes, now, ctx)
            }
            RequestKind::Atomic => {
                self.read(id, &request, ALL_BYTES, now, ctx)?;
                self.result.cache.atomics += 1;
                let busy = u64::from(self.config.atomic_cycles) * u64::from(request.serial);
                self.tags_free = cycle + busy.max(1);
                Ok(())
            }
            RequestKind::Write | RequestKind::Writeback => self.write(id, &request, now, ctx),
        }
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
        if let Some(slot) = slot
            && self.tags.holds(slot, part, bytes)
        {
            self.tags.touch(slot);
            if request.kind == RequestKind::Atomic {
                self.tags.write(slot, part, ALL_BYTES, true);
            }
            self.result.cache.read_hits += 1;
            self.hit(id, now);
            return Ok(());
        }
        match self.mshr.merge(sector, id, ctx.requests) {
            Merge::Full => return Err(ReservationFail::MshrMerge),
            Merge::Joined { .. } => {
                if let Some(slot) = slot {
                    self.tags.touch(slot);
                }
                self.result.cache.read_pending_hits += 1;
                ctx.requests.get_mut(id).offchip = true;
                ctx.requests.stamps_mut(id).llc_missed = now;
                return Ok(());
            }
            Merge::Absent => {}
        }
        self.take_miss(request.address, slot, self.config.cache.read_allocate, now, ctx)?;
        match slot {
            Some(_) => self.result.cache.read_sector_misses += 1,
            None => self.result.cache.read_misses += 1,
        }
        self.miss(id, now, ctx);
        Ok(())
    }

    /// Reserves what a miss needs beside its request, or says what is missing. Its line has its place at once or
    /// when it comes.
    fn take_miss(
        &mut self,
        address: u64,
        slot: Option<Slot>,
        allocate: ReadAllocate,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        if self.mshr.is_full() {
            return Err(ReservationFail::MshrEntry);
        }
        if ctx.fabric.room(self.ports.misses) == 0 {
            return Err(ReservationFail::MissQueueFull);
        }
        if allocate == ReadAllocate::OnFill {
            return Ok(());
        }
        let slot = match slot {
            Some(slot) => slot,
            None => self.allocate(address, 1, now, ctx)?,
        };
        // A fill that looks for its place must find one, though all lines wait for fills behind it.
        if self.config.cache.read_allocate == ReadAllocate::OnMiss {
            self.tags.reserve(slot, self.geometry.sector_in_line(address));
        }
        self.tags.touch(slot);
        Ok(())
    }

    /// Sends a miss to DRAM and opens its MSHR entry.
    fn miss(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        let sector = self.geometry.sector(ctx.requests.get(id).address);
        self.mshr.open(sector, id, ctx.requests);
        ctx.requests.get_mut(id).offchip = true;
        self.send(id, now, ctx);
    }

    fn send(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        ctx.requests.stamps_mut(id).llc_missed = now;
        ctx.fabric.push(self.ports.misses, id, Ticks(now.0 + self.to_dram_ticks));
    }

    /// Gives the line of `address` a place. A dirty line that leaves needs a place on the way to DRAM, of
    /// which `kept` are spoken for.
    fn allocate(
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
                if ctx.fabric.room(self.ports.misses) <= kept {
                    ctx.fabric.wake_writer(self.ports.misses);
                    return Err(ReservationFail::MissQueueFull);
                }
                self.write_back(self.geometry.line_address(line), dirty, now, ctx);
            }
            self.result.cache.evictions += 1;
        }
        Ok(self.tags.replace(victim, self.geometry.line(address)))
    }

    fn write_back(&mut self, address: u64, dirty: u8, now: Ticks, ctx: &mut Context) {
        self.result.cache.writebacks += 1;
        let request = Request {
            sectors: dirty,
            ..Request::of_slice(address, RequestKind::Writeback, self.index)
        };
        let id = ctx.requests.add(request, now);
        self.send(id, now, ctx);
    }

    fn write(
        &mut self,
        id: RequestId,
        request: &Request,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let (line, part) = self.place(request.address);
        let slot = self.tags.find(line);
        let keeps = self.config.cache.write == WritePolicy::WriteBack;
        let place = match slot {
            None if !keeps || self.config.cache.write_allocate == WriteAllocate::None => {
                self.pass_on(request, now, ctx)?;
                None
            }
            found if self.must_fetch(request, found, part) => {
                // The store's data need the place at once.
                self.take_miss(request.address, found, ReadAllocate::OnMiss, now, ctx)?;
                self.fetch(request.address, now, ctx);
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
            let sectors = request.sectors << part;
            (0..u8::BITS)
                .filter(|sector| sectors >> sector & 1 == 1)
                .for_each(|sector| self.tags.write(place, sector, request.bytes, keeps));
            self.tags.touch(place);
        }
        match slot {
            Some(_) => self.result.cache.write_hits += 1,
            None => self.result.cache.write_misses += 1,
        }
        self.acknowledge(id, request, now, ctx);
        Ok(())
    }

    /// Whether a store leaves part of a sector to be fetched at once.
    fn must_fetch(&self, request: &Request, slot: Option<Slot>, part: u32) -> bool {
        self.config.cache.write_allocate == WriteAllocate::FetchOnWrite
            && request.bytes != ALL_BYTES
            && !slot.is_some_and(|slot| self.tags.holds(slot, part, ALL_BYTES))
            && self.mshr.probe(self.geometry.sector(request.address)).is_none()
    }

    fn fetch(&mut self, address: u64, now: Ticks, ctx: &mut Context) {
        self.result.cache.write_fetches += 1;
        let fetch = Request::of_slice(address, RequestKind::Fetch, self.index);
        let id = ctx.requests.add(fetch, now);
        self.miss(id, now, ctx);
    }

    /// Sends a store's data on to DRAM.
    fn pass_on(
        &mut self,
        request: &Request,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        if ctx.fabric.room(self.ports.misses) == 0 {
            return Err(ReservationFail::MissQueueFull);
        }
        let down = Request {
            sectors: request.sectors,
            ..Request::of_slice(request.address, RequestKind::Writeback, self.index)
        };
        let id = ctx.requests.add(down, now);
        self.send(id, now, ctx);
        Ok(())
    }

    /// A store is done here: the SM is told, or nobody waits for it.
    fn acknowledge(&mut self, id: RequestId, request: &Request, now: Ticks, ctx: &mut Context) {
        if request.kind == RequestKind::Write {
            self.hit(id, now);
        } else {
            ctx.requests.remove(id);
        }
    }

    fn hit(&mut self, id: RequestId, now: Ticks) {
        let due = now.0 + u64::from(self.config.latency) * self.clock.period();
        self.hits.push_back((Ticks(due), id));
    }

    fn place(&self, address: u64) -> (u64, u32) {
        (self.geometry.line(address), self.geometry.sector_in_line(address))
    }

    /// Asks for the next turn.
    fn schedule(&mut self, cycle: u64, now: Ticks, ctx: &mut Context) {
        let mut next = u64::MAX;
        let clock = self.clock;
        let mut at = |time: Ticks| next = next.min(clock.cycle_from(time).max(cycle + 1));
        if self.arriving.len() + self.queue.len() < self.input_capacity
            && let Some((ready, _)) = ctx.fabric.head(self.ports.requests)
        {
            at(ready);
        }
        // What is due and finds the queue full waits until a request is served.
        if let Some(&(due, id)) = self.arriving.front()
            && (due > now || self.queue.accepts(ctx.requests.get(id)))
        {
            at(due);
        }
        if let Some((ready, _)) =
            ctx.fabric.head(self.ports.fills).filter(|_| !self.fill_waits(now, ctx))
        {
            at(ready);
        }
        let has_reply_room = ctx.fabric.room_or_wake(self.ports.replies);
        if has_reply_room && self.answering != RequestId::NONE {
            at(now);
        }
        if let Some(&(due, _)) = self.hits.front().filter(|&&(due, _)| has_reply_room || due > now)
        {
            at(due);
        }
        if !self.queue.is_empty() && self.failing.is_none() {
            at(clock.at(self.tags_free));
        }
        if next != u64::MAX {
            ctx.fabric.wake_cycle(self.unit, next);
        }
    }

    /// A fill that is there waits for something that wakes the slice.
    fn fill_waits(&self, now: Ticks, ctx: &Context) -> bool {
        let answers_wait = self.answering != RequestId::NONE;
        answers_wait && ctx.fabric.ready(self.ports.fills, now).is_some()
    }

    /// What the slice did.
    pub fn finish(&mut self) -> SliceResult {
        std::mem::take(&mut self.result)
    }

    /// Whether nothing is queued or in flight.
    pub fn is_idle(&self) -> bool {
        self.arriving.is_empty()
            && self.queue.is_empty()
            && self.hits.is_empty()
            && self.answering == RequestId::NONE
            && self.mshr.is_empty()
    }

    /// State for the deadlock report.
    pub fn describe(&self) -> String {
        format!(
            "slice {}: {} arriving, {} queued, {} misses outstanding, {} hits on their way{}",
            self.index,
            self.arriving.len(),
            self.queue.len(),
            self.mshr.len(),
            self.hits.len(),
            self.failing.map(|(reason, _)| format!(", fails for {reason:?}")).unwrap_or_default(),
        )
    }
}

/// The number by which a line's set is chosen: its number among the lines of the slice, so that the bits
/// that choose the slice do not leave sets unused.
#[derive(Clone, Debug)]
struct SetKey {
    slice_shift: u32,
    bank_shift: u32,
    lines_per_row_shift: u32,
    bursts_per_line_shift: u32,
}

impl SetKey {
    fn new(machine: &Machine) -> SetKey {
        let dram = &machine.dram;
        let line_bytes = machine.llc.cache.line_bytes;
        SetKey {
            slice_shift: machine.llc.slices_per_channel.trailing_zeros(),
            bank_shift: dram.banks.trailing_zeros(),
            lines_per_row_shift: (dram.row_bytes / line_bytes).trailing_zeros(),
            bursts_per_line_shift: (line_bytes / dram.burst_bytes()).trailing_zeros(),
        }
    }

    fn of(&self, map: &AddressMap, address: u64) -> u64 {
        let place = map.locate(address);
        let bank_and_row = u64::from(place.row) << self.bank_shift | u64::from(place.bank);
        let line_in_row = u64::from(place.column >> self.bursts_per_line_shift);
        (bank_and_row >> self.slice_shift) << self.lines_per_row_shift | line_in_row
    }
}
