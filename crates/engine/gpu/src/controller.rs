//! The controller of a DRAM channel: takes requests from the ports of its slices, and returns
//! finished reads.

mod credits;
#[cfg(test)]
mod merge_tests;
mod perfect;
mod prefetched;
#[cfg(test)]
mod tests;
mod transit;

use crate::context::Context;
use crate::side::Sent;
use credits::Credits;
use perfect::Perfect;
use prefetched::OpenRows;
use std::collections::VecDeque;
use transit::Transit;
use warpmem_dram::prefetch::Prefetcher;
use warpmem_dram::{Channel, ChannelResult, Command, DramRequest, RowSharing};
use warpmem_machine::Machine;
use warpmem_params::Counter;
use warpmem_sim::{
    BankId, CachedLines, ChannelId, Domain, DramClock, DramCycle, PortId, RequestId, RequestKind,
    Ticks, UnitId, hint,
};

/// The item at the head of the port of a slice.
#[derive(Clone, Copy)]
struct Head {
    id: RequestId,
    /// Earliest cycle of its departure.
    cycle: DramCycle,
    item: Item,
}

#[derive(Clone, Copy)]
enum Item {
    Request(DramRequest),
    /// A dummy request, which reports merges into a request to this bank.
    MergeUpdate {
        sent: Sent,
        bank: BankId,
    },
}

/// An item in flight between a slice and the queues. It may enter them from `cycle` on.
struct InFlight {
    cycle: DramCycle,
    id: RequestId,
    item: Item,
}

/// The ports between the controller and one slice.
struct SlicePort {
    misses: PortId,
    fills: PortId,
    /// The head of `misses`, kept once read: only this controller removes it.
    head: Option<Head>,
}

/// Reads that may start in a cycle: one per command bus.
const STARTS: u32 = 2;

/// A channel and its connection to its slices.
pub struct MemoryController {
    unit: UnitId,
    clock: DramClock,
    channel: Channel,
    /// By slice of the channel.
    slices: Vec<SlicePort>,
    /// First slice of the next round-robin search: the one after the slice served last.
    first: usize,
    bursts_per_sector: u16,
    bursts_per_line: u32,
    /// Addresses of open rows, with a prefetcher.
    rows: Option<OpenRows>,
    /// Lines in the L2, with a prefetcher that skips them.
    cached: Option<CachedLines>,
    /// Items between the slices and the queues, oldest first.
    in_flight: VecDeque<InFlight>,
    transit: Transit,
    /// DRAM cycles from the end of a read to its slice.
    return_latency: u64,
    /// Credits of the slices' requests, if their number is limited.
    credits: Option<Credits>,
    /// Reads that may finish before a port to a slice is full: a lower bound, updated when it
    /// matters.
    room: u32,
    /// State of a perfect DRAM, which replaces the channel.
    perfect: Option<Perfect>,
    /// CTAs that use each row, if `run.count_row_sharing` is set.
    sharing: Option<RowSharing>,
}

impl MemoryController {
    /// Creates the controller of channel `index`, with its prefetcher. `slices`: for each slice,
    /// the ports of misses and of fills.
    pub fn new(
        machine: &Machine,
        index: usize,
        clock: DramClock,
        channel: Channel,
        prefetcher: Box<dyn Prefetcher>,
        slices: Vec<(PortId, PortId)>,
    ) -> MemoryController {
        let (dram, cache) = (&machine.dram, &machine.l2.cache);
        let line_bursts = cache.line_bytes / dram.burst_bytes();
        let cached = prefetcher.skips_cached().then(CachedLines::default);
        let rows = prefetcher.prefetches().then(|| OpenRows::new(machine));
        let lines = dram.row_bytes / cache.line_bytes;
        let channel = channel.with_prefetcher(
            prefetcher,
            lines,
            line_bursts as u16,
            cached.clone().unwrap_or_default(),
        );
        let credits = Credits::new(machine, slices.len());
        let port = |(misses, fills)| SlicePort { misses, fills, head: None };
        MemoryController {
            unit: UnitId { domain: Domain::Dram, index: index as u32 },
            clock,
            channel,
            slices: slices.into_iter().map(port).collect(),
            first: 0,
            bursts_per_sector: (cache.sector_bytes / dram.burst_bytes()) as u16,
            bursts_per_line: line_bursts,
            rows,
            cached,
            credits,
            room: 0,
            perfect: None,
            sharing: machine.run.count_row_sharing.then(RowSharing::default),
            in_flight: VecDeque::new(),
            transit: Transit::new(machine, clock),
            return_latency: dram.return_latency.into(),
        }
    }

    /// Returns the list of cached lines that the slices maintain, if the prefetcher skips them.
    pub fn cached_lines(&self) -> Option<&CachedLines> {
        self.cached.as_ref()
    }

    /// Returns the unit of the channel in the fabric.
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// Executes DRAM cycle `cycle`: merge updates and requests enter, commands issue, finished
    /// reads leave.
    pub fn step(&mut self, cycle: DramCycle, ctx: &mut Context) {
        if self.perfect.is_some() {
            self.step_perfect(cycle, ctx);
            return;
        }
        self.end_loads(cycle, ctx);
        self.admit(cycle, ctx);
        if self.room <= self.channel.reads_in_service() + STARTS {
            self.room = self.room(ctx);
        }
        let next = self.channel.step(cycle, self.room);
        self.complete(ctx);
        let next = self.await_room(cycle, next, ctx);
        self.schedule(cycle, next, ctx);
    }

    /// Reports to the scheduler the loads whose last request ended above DRAM.
    fn end_loads(&mut self, cycle: DramCycle, ctx: &mut Context) {
        let Some(loads) = &mut ctx.side.loads else { return };
        while let Some(load) = loads.next_end(self.id(), self.clock.at(cycle)) {
            if self.perfect.is_none() {
                self.channel.load_complete(cycle, load);
            }
        }
    }

    /// Takes at most one item from the slices, and moves items that have arrived into the queues.
    ///
    /// An item leaves its slice only while the queues have room and the slice has a credit. Items
    /// ahead of it may have filled the queues when it arrives; it then waits in front of them
    /// (GPGPU-Sim, `memory_partition_unit::dram_cycle`).
    fn admit(&mut self, cycle: DramCycle, ctx: &mut Context) {
        if let Some(credits) = &mut self.credits {
            credits.settle(cycle);
        }
        self.take_next(cycle, ctx);
        while let Some(item) = self.in_flight.front()
            && item.cycle <= cycle
            && self.may_enter(&item.item)
        {
            let InFlight { id, item, .. } = *item;
            self.in_flight.pop_front();
            if let Some(next) = self.in_flight.front() {
                hint::will_be_read(next);
            }
            if self.enter(id, item, cycle, ctx) {
                break;
            }
        }
    }

    /// Takes an item from the next slice, in round-robin order, whose head may enter.
    fn take_next(&mut self, cycle: DramCycle, ctx: &mut Context) {
        let mut slice = self.first;
        for _ in 0..self.slices.len() {
            let next = if slice + 1 < self.slices.len() { slice + 1 } else { 0 };
            self.peek(slice, ctx);
            let head = self.slices[slice].head.as_ref();
            if let Some(&Head { id, item, .. }) = head
                .filter(|head| self.leaves_from(slice, head) <= cycle && self.may_enter(&head.item))
            {
                self.take_head(slice, id, cycle, ctx);
                self.take_credit(slice, &item);
                let cycle = self.transit.end(cycle);
                self.in_flight.push_back(InFlight { cycle, id, item });
                self.first = next;
                return;
            }
            slice = next;
        }
    }

    /// Moves an item into the channel. Returns whether it is a request for the queue.
    fn enter(&mut self, id: RequestId, item: Item, cycle: DramCycle, ctx: &mut Context) -> bool {
        match item {
            Item::MergeUpdate { sent, bank } => {
                // A dummy request enters no queue: it ends with the update of the scheduler.
                let (merges, age) = (sent.merges.into(), sent.age.into());
                self.channel.merge(cycle, bank, sent.about.0, merges, age);
                ctx.requests.remove(id);
                false
            }
            Item::Request(request) => {
                if let Some(sharing) = &mut self.sharing {
                    sharing.note(&request);
                }
                self.channel.push(cycle, request);
                self.end_load(request.load, cycle, ctx);
                true
            }
        }
    }

    /// Reads the head of the port of a slice unless it is cached.
    #[inline]
    fn peek(&mut self, slice: usize, ctx: &Context) {
        let port = &self.slices[slice];
        if port.head.is_none() && ctx.fabric.head_ready(port.misses) != Ticks::NEVER {
            self.slices[slice].head = self.fetch(slice, ctx);
        }
    }

    #[inline(never)]
    fn fetch(&self, slice: usize, ctx: &Context) -> Option<Head> {
        let (ready, id) = ctx.fabric.head(self.slices[slice].misses)?;
        Some(Head { id, cycle: self.transit.begin(ready), item: self.item(slice, id, ctx) })
    }

    fn take_head(&mut self, slice: usize, id: RequestId, cycle: DramCycle, ctx: &mut Context) {
        let port = &mut self.slices[slice];
        port.head = None;
        pop(port.misses, id, self.clock.at(cycle), ctx);
    }

    /// Returns the first cycle in which the head of the port of a slice may leave, given room in
    /// the queues.
    #[inline]
    fn leaves_from(&self, slice: usize, head: &Head) -> DramCycle {
        match (&self.credits, &head.item) {
            (Some(credits), Item::Request(_)) => head.cycle.max(credits.free_from(slice)),
            _ => head.cycle,
        }
    }

    #[inline]
    fn take_credit(&mut self, slice: usize, item: &Item) {
        if let (Some(credits), Item::Request(_)) = (&mut self.credits, item) {
            credits.take(slice);
        }
    }

    fn id(&self) -> ChannelId {
        ChannelId(self.unit.index as u16)
    }

    /// Reports the end of `load` to the scheduler if its last request has entered the queue.
    fn end_load(&mut self, load: u32, cycle: DramCycle, ctx: &mut Context) {
        let Some(loads) = ctx.side.loads.as_mut().filter(|_| load != u32::MAX) else { return };
        if loads.entered(load, self.id()) && self.perfect.is_none() {
            self.channel.load_complete(cycle, load);
        }
    }

    /// Returns the item of request `id` at the head of the port of a slice.
    fn item(&self, slice: usize, id: RequestId, ctx: &Context) -> Item {
        let row = ctx.requests.get(id);
        let place = row.place;
        let update = merge_update(id, ctx);
        if let Some(sent) = update.filter(|sent| sent.about != id) {
            return Item::MergeUpdate { sent, bank: place.bank };
        }
        Item::Request(DramRequest {
            id: id.0,
            bank: place.bank,
            row: place.row,
            write: row.kind == RequestKind::Writeback,
            bursts: row.sectors.count_ones() as u16 * self.bursts_per_sector,
            line: (u32::from(place.column) / self.bursts_per_line) as u16,
            port: slice as u16,
            sm: row.sm.0,
            warp: row.warp.0,
            cta: row.cta,
            pc: row.pc,
            load: row.load,
            critical: row.critical,
            hit_prone: row.hit_prone,
            walk: row.kind == RequestKind::Walk,
            merges: update.map_or(1, |sent| sent.merges),
            age: update.map_or(0, |sent| sent.age),
        })
    }

    /// Returns the reads that may finish without overflowing the port of any slice.
    fn room(&self, ctx: &Context) -> u32 {
        let rooms = self.slices.iter().map(|port| ctx.fabric.room(port.fills));
        rooms.min().unwrap_or(0) as u32
    }

    /// Sends finished reads to their slices.
    fn complete(&mut self, ctx: &mut Context) {
        let (slices, rows, clock) = (&self.slices, &mut self.rows, self.clock);
        let first_slice = self.unit.index as usize * slices.len();
        for done in self.channel.take_completions() {
            // The row of a request was last used on its way into the channel: reading it here would
            // wait for the host's memory.
            let (id, slice) = match rows {
                Some(rows) => {
                    let id = rows.request(&done, clock, ctx);
                    (id, ctx.requests.get(id).place.slice.index() - first_slice)
                }
                None => (RequestId(done.id), usize::from(done.port)),
            };
            debug_assert_eq!(slice, ctx.requests.get(id).place.slice.index() - first_slice);
            let returned = match done.write {
                true => done.end,
                false => done.end + self.return_latency,
            };
            if let Some(credits) = self.credits.as_mut().filter(|_| !done.is_prefetch()) {
                credits.give_back(slice, returned);
            }
            if done.write {
                ctx.requests.remove(id);
                continue;
            }
            ctx.requests.will_be_read(id);
            let stamps = ctx.requests.stamps_mut(id);
            stamps.dram_entered = self.clock.at(done.arrived);
            stamps.dram_started = self.clock.at(done.first_command);
            stamps.dram_finished = clock.at(done.end);
            ctx.fabric.push(slices[slice].fills, id, clock.at(returned));
            self.room -= 1;
        }
    }

    /// Reschedules a channel that lacked room: in the next cycle if the ports have more room than
    /// it knew, otherwise when an entry becomes free.
    fn await_room(
        &self,
        cycle: DramCycle,
        next: Option<DramCycle>,
        ctx: &mut Context,
    ) -> Option<DramCycle> {
        if !self.channel.lacks_room(self.room) {
            return next;
        }
        if !self.channel.lacks_room(self.room(ctx)) {
            return Some(cycle + 1);
        }
        for port in &self.slices {
            ctx.fabric.wake_writer(port.fills);
        }
        next
    }

    fn schedule(&mut self, cycle: DramCycle, next: Option<DramCycle>, ctx: &mut Context) {
        let mut wake = next.unwrap_or(DramCycle::NEVER);
        // Nothing is earlier than a step in the next cycle.
        if wake > cycle + 1 {
            wake = wake.min(self.next_item(cycle, ctx));
        }
        if wake != DramCycle::NEVER {
            ctx.fabric.wake_at(self.unit.index, wake.max(cycle + 1));
        }
    }

    /// Returns when the next item can leave its slice or enter the queues; any cycle up to `cycle`
    /// means the next.
    fn next_item(&mut self, cycle: DramCycle, ctx: &Context) -> DramCycle {
        let mut next = DramCycle::NEVER;
        if let Some(item) = self.in_flight.front()
            && (item.cycle > cycle || self.may_enter(&item.item))
        {
            next = item.cycle;
        }
        for slice in 0..self.slices.len() {
            self.peek(slice, ctx);
            let Some(head) = self.slices[slice].head.as_ref().filter(|head| head.cycle < next)
            else {
                continue;
            };
            let from = self.leaves_from(slice, head);
            if from < next && (from > cycle || next > cycle && self.may_enter(&head.item)) {
                next = from;
            }
        }
        next
    }

    fn may_enter(&self, item: &Item) -> bool {
        match item {
            Item::MergeUpdate { .. } => true,
            Item::Request(request) => self.channel.accepts(request),
        }
    }

    /// Returns the counts of the channel up to `cycle`.
    pub fn counts(&self, cycle: DramCycle) -> ChannelResult {
        self.channel.counts(cycle)
    }

    /// Returns the CTAs that used each row, if `run.count_row_sharing` is set.
    pub fn row_sharing(&self) -> Option<&RowSharing> {
        self.sharing.as_ref()
    }

    /// Starts the command log, for the checker.
    pub fn enable_log(&mut self) {
        self.channel.enable_log();
    }

    /// Takes the commands logged since the last call.
    pub fn take_log(&mut self) -> Vec<Command> {
        self.channel.take_log()
    }

    /// Returns the counters of the scheduler or of the perfect DRAM.
    pub fn counters(&self) -> Vec<Counter> {
        match &self.perfect {
            Some(perfect) => perfect.counters(),
            None => self.channel.counters(),
        }
    }

    /// Returns whether DRAM is perfect: see [`MemoryController::perfect`].
    pub fn is_perfect(&self) -> bool {
        self.perfect.is_some()
    }

    /// Returns whether the channel has a prefetcher.
    pub fn has_prefetcher(&self) -> bool {
        self.rows.is_some()
    }

    /// Stops prefetching at `cycle`, in which the controller must be stepped.
    pub fn end_prefetching(&mut self, cycle: DramCycle) {
        self.channel.end_prefetching(cycle);
    }

    /// Returns whether a prefetched line is still in the channel.
    pub fn is_prefetching(&self) -> bool {
        self.channel.is_prefetching()
    }

    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// State for the deadlock report.
    pub fn describe(&self) -> String {
        let (pending, in_flight) = (self.channel.pending(), self.in_flight.len());
        format!("channel {}: {pending} requests pending, {in_flight} in flight", self.unit.index)
    }
}

/// Returns the merge update of the item at the head of the port that holds `id`.
fn merge_update(id: RequestId, ctx: &Context) -> Option<Sent> {
    let slice = ctx.requests.get(id).place.slice;
    ctx.side.merges.as_ref().and_then(|updates| updates.head(slice))
}

/// Returns the update that a dummy request reports; none if `id` is a request for data.
fn dummy(id: RequestId, ctx: &Context) -> Option<Sent> {
    merge_update(id, ctx).filter(|sent| sent.about != id)
}

/// Pops the item at the head of a port, with its merge update.
fn pop(port: PortId, id: RequestId, now: Ticks, ctx: &mut Context) {
    ctx.pop(port, now);
    let slice = ctx.requests.get(id).place.slice;
    if let Some(updates) = &mut ctx.side.merges {
        updates.pop(slice);
    }
}
