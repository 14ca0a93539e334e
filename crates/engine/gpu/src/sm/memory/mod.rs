//! The memory side of an SM: load/store unit, L1, and requests in flight. The rest of the SM starts
//! an instruction here and takes it back when it has completed; it sees neither sectors nor
//! requests.
//!
//! ```text
//!  start ─▶ requests ─▶ load/store unit ─┬─▶ L1 banks ─▶ tags ── miss ─▶ miss queue ─▶ network
//!                                        ├─▶ bypass of L1 ────────────────────────────▶ network
//!                                        ├─▶ shared memory of a cluster ──────────────▶ other SMs
//!                                        └─▶ shared memory        │ hit
//!  take_completed ◀── completions ◀── accesses ◀──────────────────┴── L1 fill ◀─ reply network
//! ```

mod access;
mod banks;
mod coalescer;
mod completions;
mod copies;
mod entry;
mod footprint;
mod l1;
mod lookup;
mod lsu;
mod messages;
mod network_port;
mod passes;
mod replay;
mod reply;
mod requests;
mod sectors;
mod send;
mod signals;
mod tags;
mod translation;
mod wavefronts;
mod writeback;

pub(super) use access::{Access, AccessId};
pub(super) use entry::EntryId;
pub(super) use messages::ClusterMember;
pub use replay::{Access as ReplayedAccess, Replay};
pub(super) use reply::Completed;
pub(super) use signals::write_signals;

use super::code::Static;
use super::read_only_cache::ReadOnlyCache;
use super::scheduler::SchedulerId;
use crate::context::Context;
use crate::results::SmResult;
use access::{AccessTable, Waits};
use completions::Completions;
use copies::Copy;
use entry::{Entry, Work};
use lsu::Lsu;
use messages::Messages;
use network_port::NetworkPort;
use requests::RequestGenerator;
use std::collections::VecDeque;
use tags::TagStage;
use translation::Translation;
use warpmem_machine::Machine;
use warpmem_sim::{AddressMap, CoreClock, CoreCycle, PeerSlices, PortId, Signal, SmId, Ticks};
use warpmem_trace::{CacheOp, Kind, MAX_REGISTER_WIDTH, Space};
use warpmem_translation::SmPorts;

/// Warps of an SM that determine whether its requests are critical, by slot.
#[derive(Clone, Copy)]
pub(super) struct Occupancy {
    pub waiting_for_memory: u64,
    pub present: u64,
}

/// Fixed parameters of the memory side. Latencies are in core cycles.
struct Config {
    sm: SmId,
    peers: Option<PeerSlices>,
    max_warps: u32,
    clock: CoreClock,
    constant_latency: u64,
    shared_latency: u64,
    operand_latency: u64,
    writeback_latency: u64,
    /// Replies taken from the network per cycle.
    replies_per_cycle: u32,
    /// Async copies with the global cache operator bypass L1.
    async_bypass: bool,
}

impl Config {
    fn new(machine: &Machine, sm: SmId, clock: CoreClock) -> Config {
        let config = &machine.sm;
        Config {
            sm,
            peers: machine.peer_slices(),
            max_warps: config.max_warps,
            clock,
            constant_latency: u64::from(config.constant_latency),
            shared_latency: u64::from(config.shared.latency),
            operand_latency: u64::from(config.operand_latency),
            writeback_latency: u64::from(config.writeback_latency),
            replies_per_cycle: config.replies_per_cycle,
            async_bypass: machine.l1.async_bypass,
        }
    }

    /// Returns the cache operator that the machine applies to an instruction.
    fn cache_op(&self, instruction: &Static) -> CacheOp {
        match instruction.cache_op {
            CacheOp::Global if instruction.kind == Kind::AsyncCopy && !self.async_bypass => {
                CacheOp::Default
            }
            op => op,
        }
    }
}

/// The memory side of one SM.
pub(super) struct MemoryPipeline {
    config: Config,
    /// Cycle of the current step.
    cycle: CoreCycle,
    requests: RequestGenerator,
    lsu: Lsu,
    tags: TagStage,
    network: NetworkPort,
    /// None if every constant load hits.
    constants: Option<Box<ReadOnlyCache>>,
    accesses: AccessTable,
    completions: Completions,
    /// Messages to and from other SMs; none on a machine without clusters.
    messages: Option<Box<Messages>>,
    /// Async copies in flight that signal mbarriers or go to several CTAs.
    copies: Vec<Copy>,
    /// Pending updates of mbarriers.
    signals: VecDeque<Signal>,
    counts: Counts,
}

/// See the fields of the same names in [`SmResult`].
#[derive(Clone, Copy, Default)]
struct Counts {
    requesting_instructions: u64,
    requested_channels: u64,
    requested_banks: u64,
    shared_accesses: u64,
    shared_bank_conflict_cycles: u64,
    replies: u64,
    reply_ticks: u64,
}

impl MemoryPipeline {
    /// Builds the memory side of an SM that sends requests to `request_port` and receives replies
    /// from `reply_port`.
    pub fn new(
        machine: &Machine,
        sm: SmId,
        clock: CoreClock,
        request_port: PortId,
        reply_port: PortId,
    ) -> MemoryPipeline {
        MemoryPipeline {
            config: Config::new(machine, sm, clock),
            cycle: CoreCycle::ZERO,
            requests: RequestGenerator::new(machine),
            lsu: Lsu::new(&machine.sm),
            tags: TagStage::new(machine),
            network: NetworkPort::new(machine, clock, request_port, reply_port),
            constants: ReadOnlyCache::new(&machine.sm.constant_cache),
            accesses: AccessTable::default(),
            completions: Completions::new(machine.sm.replies_per_cycle),
            messages: None,
            copies: Vec::new(),
            signals: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    /// Connects the SM to the translation unit.
    pub fn connect_translation(&mut self, machine: &Machine, ports: SmPorts) {
        let Config { sm, clock, .. } = self.config;
        self.network.translation = Some(Box::new(Translation::new(machine, sm, clock, ports)));
    }

    /// Makes every access hit in L1: no request to global or local memory leaves the SM.
    pub fn make_l1_perfect(&mut self) {
        self.tags.make_perfect();
    }

    /// Enables or disables reports of L1 misses and evictions to the warp scheduler.
    pub fn report_l1_events(&mut self, reports: bool) {
        self.tags.report_events(reports);
    }

    /// Flushes L1 and resizes it, at the start of a kernel.
    pub fn reset_l1(&mut self, size_bytes: u32) {
        self.tags.l1.reset(size_bytes);
    }

    /// Begins a step.
    pub fn begin(&mut self, cycle: CoreCycle) {
        self.cycle = cycle;
    }

    /// Starts an issued memory instruction of `member`: allocates a row in the access table and,
    /// except for constants, an entry in the load/store queue of `scheduler`.
    pub fn start(
        &mut self,
        access: Access,
        scheduler: SchedulerId,
        instruction: &Static,
        addresses: &[u64],
        member: ClusterMember,
        map: &AddressMap,
    ) -> (AccessId, Option<EntryId>) {
        let operands_read = access.issue_cycle() + self.config.operand_latency;
        let access = self.accesses.add(access);
        if instruction.space == Space::Constant {
            let kernel = self.accesses.get(access).row.kernel;
            let lines = self.read_constants(kernel, addresses, operands_read);
            let ready = lines + self.config.constant_latency;
            self.accesses.get_mut(access).ready_cycle = ready;
            self.completions.push(ready, access);
            return (access, None);
        }
        let mut entry = self.entry(access, instruction, addresses, member, operands_read);
        self.count_requests(access, &mut entry, map);
        let entry = self.lsu.push(scheduler, entry);
        if instruction.is_tracked_copy() {
            self.begin_copy(access, instruction, member, addresses.len() as u32);
        }
        (access, Some(entry))
    }

    /// Reads constants of a kernel in `cycle`. Returns the cycle in which all their lines are
    /// available.
    fn read_constants(&mut self, kernel: u32, addresses: &[u64], cycle: CoreCycle) -> CoreCycle {
        let Some(cache) = &mut self.constants else { return cycle };
        let available = addresses.iter().map(|&address| {
            let line = cache.line_of(kernel, address);
            cache.read(line, cycle)
        });
        available.fold(cycle, CoreCycle::max)
    }

    /// Builds the load/store entry of an instruction whose operands are read in cycle `from`.
    fn entry(
        &mut self,
        access: AccessId,
        instruction: &Static,
        addresses: &[u64],
        member: ClusterMember,
        from: CoreCycle,
    ) -> Entry {
        let mut lists = self.lsu.take_lists();
        Entry {
            access,
            work: self.requests.generate(instruction, addresses, member, &mut lists),
            cache_op: self.config.cache_op(instruction),
            bulk: instruction.width > MAX_REGISTER_WIDTH,
            is_multicast: instruction.destinations != 0,
            lists,
            sent: 0,
            from,
            moved_bytes: u64::from(instruction.width) * addresses.len() as u64,
        }
    }

    /// Locates the requests of an entry and counts them for its access.
    fn count_requests(&mut self, access: AccessId, entry: &mut Entry, map: &AddressMap) {
        let (channels, banks) = self.requests.locate(&mut entry.lists, map);
        let sectors = entry.lists.sectors.as_slice();
        let translation = self.network.translation.as_mut();
        let pages = translation.map_or(0, |translation| translation.begin(access, sectors));
        let access = self.accesses.get_mut(access);
        access.row.pages = pages;
        access.row.requests = sectors.len() as u32;
        access.outstanding = entry.lists.len() as u32;
        (access.row.channels, access.row.banks) = (channels, banks);
        self.counts.requesting_instructions += u64::from(channels > 0);
        self.counts.requested_channels += u64::from(channels);
        self.counts.requested_banks += u64::from(banks);
    }

    /// Whether the load/store unit has an instruction or can take one.
    #[inline]
    pub fn has_work(&self) -> bool {
        !self.lsu.is_unused()
    }

    /// Works on the current instruction of the load/store unit, and takes the next.
    pub fn work(&mut self, occupancy: Occupancy, ctx: &mut Context) {
        let cycle = self.cycle;
        self.lsu.take(cycle);
        let is_free = self.lsu.busy_until <= cycle;
        if let Some(entry) = self.lsu.head().filter(|entry| is_free && entry.from <= cycle) {
            match entry.work {
                Work::Shared { passes } => self.access_shared(entry.access, passes, cycle),
                Work::Cluster => self.send_message(cycle, ctx),
                _ => self.send_sectors(cycle, occupancy, ctx),
            }
        }
        self.lsu.take_next(cycle);
    }

    /// Occupies the unit for the passes of a shared-memory instruction.
    fn access_shared(&mut self, access: AccessId, passes: u32, cycle: CoreCycle) {
        self.counts.shared_accesses += 1;
        self.counts.shared_bank_conflict_cycles += u64::from(passes - 1);
        if let Some(entry) = self.lsu.head_mut() {
            self.signals.extend(entry.lists.signals.drain(..));
        }
        self.lsu.pop();
        let ready = self.occupy_banks(access, passes, cycle);
        self.completions.push(ready, access);
    }

    /// Occupies the shared-memory banks for `passes` cycles; returns when the access is done. The
    /// first pass is part of a load's latency. A store is done after its passes, and writes no
    /// register (GPGPU-Sim, `ldst_unit::cycle`).
    fn occupy_banks(&mut self, access: AccessId, passes: u32, cycle: CoreCycle) -> CoreCycle {
        let end = cycle + u64::from(passes);
        self.lsu.busy_until = end;
        if !self.accesses.get(access).returns {
            return end;
        }
        let read = end - 1 + self.config.shared_latency;
        self.completions.write_back(cycle, read + self.config.writeback_latency)
    }

    /// Records that a part of an access is done, with its data ready in cycle `ready`.
    fn finish_part(&mut self, access: AccessId, ready: CoreCycle) {
        self.accesses.get_mut(access).outstanding -= 1;
        self.complete_if_done(access, ready);
    }

    /// Extends the ready cycle of an access to `ready`, and completes it if nothing is outstanding.
    fn complete_if_done(&mut self, access: AccessId, ready: CoreCycle) {
        let row = self.accesses.get_mut(access);
        row.ready_cycle = row.ready_cycle.max(ready);
        if row.outstanding == 0 {
            self.completions.push(row.ready_cycle, access);
        }
    }

    /// Returns the next cycle in which the load/store unit can act without an outside event.
    pub fn next_unit_cycle(&self) -> CoreCycle {
        let waits = self.network.is_stalled()
            || self.waits_for_bank()
            || self.waits_to_send()
            || self.waits_for_pages();
        // The unit cannot observe the end of its wait while a message occupies the banks.
        let has_tried = self.lsu.busy_until <= self.cycle;
        if waits && has_tried { CoreCycle::NEVER } else { self.lsu.next(self.cycle + 1) }
    }

    /// Returns the next cycle in which a reply arrives or an instruction completes.
    #[inline]
    pub fn next_end(&self, ctx: &Context) -> CoreCycle {
        let end = self.completions.next();
        let clock = self.config.clock;
        match ctx.fabric.head_ready(self.network.reply_port) {
            Ticks::NEVER => end,
            reply if reply <= clock.at(self.cycle + 1) => self.cycle + 1,
            reply => end.min(clock.cycle_from(reply)),
        }
    }

    /// Whether a translation has arrived by this cycle, or translated requests wait for the port.
    #[inline]
    pub fn has_translated(&self, ctx: &Context) -> bool {
        let translation = self.network.translation.as_ref();
        translation.is_some_and(|own| own.has_work(self.cycle, ctx))
    }

    /// Whether the SM translates addresses.
    #[inline]
    pub fn translates(&self) -> bool {
        self.network.translation.is_some()
    }

    /// Returns the next cycle in which a translation arrives. Translated requests wait for the
    /// network, which wakes the SM.
    #[inline(never)]
    pub fn next_translation(&self, ctx: &Context) -> CoreCycle {
        let Some(translation) = &self.network.translation else { return CoreCycle::NEVER };
        match translation.next_arrival(ctx) {
            Ticks::NEVER => CoreCycle::NEVER,
            arrival => self.config.clock.cycle_from(arrival),
        }
    }

    /// Whether the current instruction waits for translations in front of L1.
    fn waits_for_pages(&self) -> bool {
        self.network.translation.as_ref().is_some_and(|own| own.holds_instruction())
    }

    /// Takes the translations of this cycle, and sends the requests that waited for them.
    #[inline(never)]
    pub fn translate(&mut self, ctx: &mut Context) {
        let cycle = self.cycle;
        let Some(translation) = &mut self.network.translation else { return };
        translation.take_arrivals(cycle, ctx);
        self.send_translated(cycle, ctx);
    }

    fn send_translated(&mut self, cycle: CoreCycle, ctx: &mut Context) {
        while let Some((access, waited)) = self.network.send_translated(cycle, ctx) {
            self.accesses.get_mut(access).waited(Waits::one(waited));
        }
    }

    /// Returns the next cycle in which a lookup is due at the tags.
    #[inline]
    pub fn next_lookup(&self, ctx: &mut Context) -> CoreCycle {
        // While no request can be sent, the reply or the network that makes room wakes the SM.
        let banks = &self.tags.banks;
        let blocked = banks.any_lacks_room() && !self.network.may_send_or_wake(ctx.fabric);
        banks.next(self.cycle + 1, blocked)
    }

    /// Queues an update of an mbarrier.
    pub fn signal(&mut self, signal: Signal) {
        self.signals.push_back(signal);
    }

    /// Takes the next update of an mbarrier.
    #[inline]
    pub fn take_signal(&mut self) -> Option<Signal> {
        self.signals.pop_front()
    }

    /// Whether an instruction has completed by this cycle.
    #[inline]
    pub fn has_completed(&self) -> bool {
        self.completions.next() <= self.cycle
    }

    /// Whether the next sector of the current instruction finds its bank full. A lookup at the tags
    /// makes room and wakes the SM.
    fn waits_for_bank(&self) -> bool {
        self.lsu.head().is_some_and(|entry| self.tags.blocks(entry))
    }

    /// Whether the load/store queue of a scheduler is full.
    #[inline]
    pub fn is_full(&self, scheduler: SchedulerId) -> bool {
        self.lsu.is_full(scheduler)
    }

    /// Returns the schedulers whose load/store register holds an instruction, one bit each.
    #[inline]
    pub fn offers(&self) -> u64 {
        self.lsu.offers()
    }

    /// Moves an instruction into the load/store register of `scheduler` in `cycle`.
    pub fn offer(&mut self, scheduler: SchedulerId, entry: EntryId, cycle: CoreCycle) {
        self.lsu.offer(scheduler, entry, cycle);
    }

    /// Whether the load/store unit has no current instruction.
    pub fn unit_is_idle(&self) -> bool {
        self.lsu.head().is_none()
    }

    /// Returns the number of misses for which L1 has room; 0 while a lookup stalls at the tags.
    pub fn miss_room(&self) -> usize {
        self.tags.miss_room()
    }

    /// Whether nothing is queued or in flight.
    pub fn is_idle(&self) -> bool {
        self.lsu.is_empty()
            && self.accesses.len() == 0
            && self.network.is_idle()
            && self.tags.is_idle()
    }

    /// Adds the counts so far to `result`.
    pub fn add_to(&self, result: &mut SmResult) {
        result.requesting_instructions += self.counts.requesting_instructions;
        result.requested_channels += self.counts.requested_channels;
        result.requested_banks += self.counts.requested_banks;
        result.shared_accesses += self.counts.shared_accesses;
        result.shared_bank_conflict_cycles += self.counts.shared_bank_conflict_cycles;
        if let Some(messages) = &self.messages {
            let [sent, bytes] = messages.counts();
            result.messages += sent;
            result.message_bytes += bytes;
        }
        result.replies += self.counts.replies;
        result.reply_ticks += self.counts.reply_ticks;
        result.l1 = self.tags.l1.counts().clone();
        result.l1_wavefront_cycles = self.tags.wavefront_cycles();
        if let Some(translation) = &self.network.translation {
            result.tlb = translation.counts();
        }
        result.constant_cache_misses = self.constants.as_ref().map_or(0, |cache| cache.misses());
    }

    /// Describes the memory side for the deadlock report.
    pub fn describe(&self) -> String {
        format!(
            "{} memory instructions in flight, {} in the load/store queue, {} in L1 banks, {} L1 \
             misses outstanding{}",
            self.accesses.len(),
            self.lsu.len(),
            self.tags.banks.len(),
            self.tags.l1.outstanding(),
            self.network.translation.as_ref().map_or_else(String::new, |own| own.describe()),
        )
    }
}
