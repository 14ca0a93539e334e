//! The channel: the path of a request from its arrival to its last datum.
//!
//! ```text
//!                scheduler         timing, round robin
//!                    │                  │
//!  push ─▶ queues ─▶ candidates ─────▶ commands ─▶ service ─▶ completions
//!            ▲       one per bank       │            │
//!            └─ write drain             └─▶ data bus └─▶ rows
//! ```
//!
//! A request waits in its queue until it becomes the candidate of its bank ([`decide`]). The bank
//! then wants the command that the candidate needs; timing, the buses and the round robin select
//! which bank issues ([`issue`]). Refreshes, prefetches and rows closed by the page policy request
//! commands in the same way.

mod account;
mod candidates;
mod commands;
mod data_bus;
mod decide;
mod issue;
mod log;
mod pick_expiry;
mod prefetch;
mod queues;
mod refresh;
mod round_robin;
mod rows;
mod service;
mod sleep;
mod spec;
mod streak;
mod write_drain;

use super::MAX_BANKS;
use super::page::{PAGE_POLICIES, PagePolicy};
use super::prefetch::Prefetcher;
use super::queue::{Queued, Slot};
use super::request::{Command, Completion, DramRequest};
use super::scheduler::{
    ChannelView, Event, Family, QueueView, SCHEDULERS, Scheduler, SchedulerContext,
};
use super::sets::{members, one};
use super::timing::TimingState;
use crate::{ChannelResult, Dram};
use account::Account;
use candidates::Candidates;
use commands::Commands;
use log::CommandLog;
use pick_expiry::PickExpiry;
use prefetch::Prefetch;
use queues::{Queues, READS, WRITES};
use refresh::Refresh;
use round_robin::RoundRobin;
use rows::Rows;
use service::{Active, Service};
use spec::Spec;
use std::sync::Arc;
use warpmem_params::{Counter, PolicyError};
use warpmem_sim::{BankId, CachedLines, DramCycle};
use write_drain::WriteDrain;

/// One DRAM channel. Times are cycles of its command clock and never decrease.
///
/// A machine steps many channels in succession, so the state of the next channel is rarely in the
/// first-level cache of the host. The parts that every step reads therefore come first, then the
/// parts that commands and requests change, then the rest.
#[repr(C)]
pub struct Channel {
    /// A lower bound of the next cycle with work other than commands.
    upkeep: DramCycle,
    /// Refreshes of idle banks are made up for when the channel is next used.
    asleep: bool,
    spec: Arc<Spec>,
    refresh: Refresh,
    candidates: Candidates,
    service: Service,
    prefetch: Prefetch,
    commands: Commands,
    rows: Rows,
    round_robin: RoundRobin,
    drain: WriteDrain,
    queues: Queues,
    completions: Vec<Completion>,
    scheduler: Box<dyn Scheduler>,
    pick_expiry: PickExpiry,
    page: Box<dyn PagePolicy>,
    account: Account,
    log: CommandLog,
}

impl Channel {
    /// Builds the channels of a machine with the DRAM scheduler named by `policy`.
    ///
    /// # Errors
    /// Returns [`PolicyError`] if the scheduler or the page policy of the machine is unknown or
    /// cannot be built.
    pub fn family(context: &SchedulerContext, policy: &str) -> Result<Vec<Channel>, PolicyError> {
        Channel::all(context, &*SCHEDULERS.build(policy, context)?)
    }

    /// Builds the channels of a machine with the schedulers of a family.
    ///
    /// # Errors
    /// Returns [`PolicyError`] if the page policy is unknown or cannot be built.
    pub fn all(
        context: &SchedulerContext,
        family: &dyn Family,
    ) -> Result<Vec<Channel>, PolicyError> {
        let timing = TimingState::new(&context.dram);
        let mut channels: Vec<Channel> = Vec::new();
        for index in 0..context.dram.channels as usize {
            let scheduler = family.scheduler(index);
            let mut channel = Channel::with_timing(&context.dram, timing.clone(), scheduler)?;
            if let Some(first) = channels.first().filter(|first| first.spec == channel.spec) {
                channel.spec = Arc::clone(&first.spec);
            }
            channels.push(channel);
        }
        Ok(channels)
    }

    /// Builds a channel with all banks closed, at cycle 0. `dram` must be valid (see
    /// [`AddressMap::new`](super::AddressMap::new)): at least one bank, at most [`MAX_BANKS`].
    ///
    /// # Errors
    /// Returns [`PolicyError`] if the page policy is unknown.
    pub fn new(dram: &Dram, scheduler: Box<dyn Scheduler>) -> Result<Channel, PolicyError> {
        Channel::with_timing(dram, TimingState::new(dram), scheduler)
    }

    fn with_timing(
        dram: &Dram,
        timing: TimingState,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<Channel, PolicyError> {
        assert!((1..=MAX_BANKS).contains(&dram.banks), "1 to {MAX_BANKS} banks");
        let traits = scheduler.traits();
        let page = PAGE_POLICIES.build(traits.page.as_deref().unwrap_or(&dram.page), dram)?;
        let refresh = Refresh::new(dram);
        let spec = Spec::new(dram, &timing, traits, &*page);
        let (banks, traits) = (spec.banks, &spec.traits);
        let entries = spec.capacity.iter().sum::<u32>() as usize;
        let queues = 1 + usize::from(spec.split);
        Ok(Channel {
            upkeep: refresh.next(),
            asleep: false,
            refresh,
            candidates: Candidates::new(),
            service: Service::new(),
            prefetch: Prefetch::default(),
            commands: Commands::new(timing, dram.turnaround_limit),
            rows: Rows::new(),
            round_robin: RoundRobin::new(banks, traits.shared_round_robin),
            drain: WriteDrain::new(dram),
            queues: Queues::new(banks, queues, spec.capacity, traits.strictly_in_order),
            completions: Vec::new(),
            scheduler,
            pick_expiry: PickExpiry::new(banks),
            page,
            account: Account::new(banks, entries + banks),
            log: CommandLog::default(),
            spec: Arc::new(spec),
        })
    }

    /// Adds a prefetcher to the channel. Rows have `lines` lines, at most 128, of `bursts` column
    /// commands each; [`DramRequest::line`] must be below `lines`. Lines of `cached` at the time their
    /// prefetch would issue are skipped.
    ///
    /// The channel prefetches from the open row of a bank once the row has served a request that
    /// triggers the prefetcher and no servable request waits for the row. It reads the lines that
    /// have been neither read nor written since activation, in ascending order, until the
    /// prefetcher stops or no further read may complete. A line in progress is always finished. A
    /// row that the page policy closes before its next line could be read is closed.
    #[must_use]
    pub fn with_prefetcher(
        mut self,
        policy: Box<dyn Prefetcher>,
        lines: u32,
        bursts: u16,
        cached: CachedLines,
    ) -> Channel {
        if policy.prefetches() {
            self.prefetch = Prefetch::new(policy, lines, bursts, cached, self.spec.banks);
            self.queues.allow_prefetches(self.spec.banks);
        }
        self
    }

    /// Returns whether there is room for the request.
    #[inline]
    pub fn accepts(&self, request: &DramRequest) -> bool {
        let queue = self.spec.queue_of(request.write);
        let waiting = self.entries_taken(queue);
        waiting < self.spec.capacity[queue] && self.has_share(request, queue, waiting)
    }

    /// Returns whether the request may take one of the free entries.
    fn has_share(&self, request: &DramRequest, queue: usize, waiting: u32) -> bool {
        if self.spec.scheduled[queue] {
            return self.scheduler_accepts(request, queue, waiting);
        }
        let bank_capacity = self.spec.bank_capacity[queue];
        waiting < bank_capacity || self.entries_taken_by(request.bank, queue) < bank_capacity
    }

    /// Returns whether the scheduler admits the request. A scheduler may add entries of its own,
    /// but every request needs one of the channel's.
    fn scheduler_accepts(&self, request: &DramRequest, queue: usize, waiting: u32) -> bool {
        let view = QueueView {
            waiting,
            bank_waiting: self.entries_taken_by(request.bank, queue),
            capacity: self.spec.capacity[queue],
            bank_capacity: self.spec.bank_capacity[queue],
            banks: self.spec.banks as u32,
        };
        self.scheduler.accepts(&view, request)
    }

    /// Returns the number of occupied entries of a queue. With `picks_per_cycle` > 0 a request
    /// frees its entry when it is assigned to a bank, otherwise when it completes.
    #[inline]
    fn entries_taken(&self, queue: usize) -> u32 {
        if self.spec.picks_per_cycle == 0 {
            return self.queues.present()[queue];
        }
        self.unassigned(queue)
    }

    /// Returns the number of requests in a queue that have not been assigned to their bank.
    fn unassigned(&self, queue: usize) -> u32 {
        let assigned = if self.serves(queue) { self.candidates.assigned() } else { 0 };
        self.queues.of(queue).len() as u32 - assigned.count_ones()
    }

    /// Returns the entries of a queue that requests of one bank occupy, see
    /// [`Channel::entries_taken`].
    fn entries_taken_by(&self, bank: BankId, queue: usize) -> u32 {
        let waiting = self.queues.of(queue).waiting(bank);
        if self.spec.picks_per_cycle == 0 {
            let is_of_queue = |active: Active| usize::from(active.queue) == queue;
            return waiting + u32::from(self.service.of(bank).is_some_and(is_of_queue));
        }
        let is_assigned = self.serves(queue) && self.candidates.assigned() & one(bank) != 0;
        waiting - u32::from(is_assigned)
    }

    /// Returns whether the channel currently starts requests from this queue.
    fn serves(&self, queue: usize) -> bool {
        !self.spec.split || queue == self.drain.serving()
    }

    /// Enqueues a request that the channel [`accepts`](Channel::accepts). The caller steps the
    /// channel afterwards.
    pub fn push(&mut self, now: DramCycle, request: DramRequest) {
        debug_assert!(self.accepts(&request), "pushed into a full queue: {request:?}");
        debug_assert!(request.bursts > 0, "a request without bursts: {request:?}");
        self.use_at(now);
        let (bank, queue) = (request.bank, self.spec.queue_of(request.write));
        let slot = self.queues.push(queue, request, now);
        let pending = self.queues.pending();
        self.account.arrive(bank, pending, now);
        if self.spec.scheduled[queue] {
            self.scheduler.on_arrival(slot, self.queues.of(queue).get(slot));
        }
        self.prefetch.arrive(pending);
        if !self.choose_served_queue(now) && self.changes_pick(bank, queue, slot) {
            self.decide(bank, now);
        }
    }

    /// Returns whether a new request may change the next command of its bank. FR-FCFS changes its
    /// choice only for a first row hit, and a bank that waits for the assignment of a request keeps
    /// waiting unless its row may be closed.
    fn changes_pick(&self, bank: BankId, queue: usize, slot: Slot) -> bool {
        if !self.service.is_idle(bank) {
            return false;
        }
        let serving = self.drain.serving();
        if self.spec.scheduled[serving] {
            return true;
        }
        // A bank that continues a prefetch has no candidate.
        if self.candidates.of(bank).is_none() {
            let waits = self.candidates.unassigned() & one(bank) != 0;
            return self.spec.closes_idle_rows || !waits;
        }
        queue == serving && self.queues.of(queue).oldest_hit(bank) == Some(slot)
    }

    /// Reports that more requests wait for the data of request `id` to `bank`, see
    /// [`Event::Merged`]. Has no effect once the request is in service or complete. The caller
    /// steps the channel afterwards.
    pub fn merge(&mut self, now: DramCycle, bank: BankId, id: u32, merges: u32, age: u64) {
        self.use_at(now);
        let named = |(slot, queued): (Slot, &Queued)| (queued.request.id == id).then_some(slot);
        let Some(slot) = self.queues.of(READS).requests(bank).find_map(named) else { return };
        self.notify(Event::Merged { slot, merges, age }, now);
        self.redecide(bank, now);
    }

    /// Reports that no more requests of this load will arrive, see [`Event::LoadComplete`]. The
    /// caller steps the channel afterwards.
    pub fn load_complete(&mut self, now: DramCycle, load: u32) {
        self.use_at(now);
        self.notify(Event::LoadComplete { load }, now);
    }

    /// Passes an event to a scheduler that takes events.
    fn notify(&mut self, event: Event, now: DramCycle) {
        if self.spec.traits.takes_events {
            self.scheduler.on_event(event, now);
        }
    }

    /// Starts no prefetches from `now` on. The caller steps the channel afterwards.
    pub fn end_prefetching(&mut self, now: DramCycle) {
        self.use_at(now);
        self.prefetch.end();
        members(self.prefetch.offered()).for_each(|bank| self.decide(bank, now));
    }

    /// Issues the commands that the command buses allow at `now`. Called at most once per cycle.
    ///
    /// `room` is the number of reads that may still complete. A read reserves its share with its
    /// first command, so `room` may shrink only by completions. Returns the next cycle in which a
    /// command could issue without further arrivals or room; `None` if there is none, or refreshes
    /// of idle banks only.
    pub fn step(&mut self, now: DramCycle, room: u32) -> Option<DramCycle> {
        debug_assert!(room >= self.reads_in_service(), "room below the reads in service");
        self.use_at(now);
        self.advance(now, room)
    }

    /// Brings a sleeping channel up to `now`.
    #[inline]
    fn use_at(&mut self, now: DramCycle) {
        if self.asleep {
            self.wake(now);
        }
    }

    /// Steps a channel that is up to `now`.
    fn advance(&mut self, now: DramCycle, room: u32) -> Option<DramCycle> {
        // Between two steps a scheduler may move its next `tick` forward.
        if self.spec.scheduled[READS] || now >= self.upkeep {
            self.keep_up(now);
        }
        if self.may_refresh_all() {
            self.refresh_all(now);
        } else {
            self.issue_due(now, room);
        }
        self.next_event(now)
    }

    /// Performs the work other than commands.
    #[inline(never)]
    fn keep_up(&mut self, now: DramCycle) {
        self.begin_refreshes(now);
        self.tick(now);
        self.expire_picks(now);
        self.assign(now);
        self.plan_upkeep();
    }

    /// Decides again for the banks whose refresh becomes due.
    fn begin_refreshes(&mut self, now: DramCycle) {
        if self.refresh.all_fall_due(now) {
            self.decide_all(now);
        }
        if let Some(bank) = self.refresh.bank_falls_due(now) {
            self.candidates.withdraw(one(bank));
            self.redecide(bank, now);
        }
    }

    /// Calls the scheduler's `tick` if it is due.
    fn tick(&mut self, now: DramCycle) {
        if self.next_tick() > now {
            return;
        }
        let asked = self.scheduler.tick(&ChannelView {
            now,
            queue: self.queues.of(READS),
            full: self.entries_taken(READS) >= self.spec.capacity[READS],
            writes: self.queues.present()[WRITES],
            write_high_watermark: self.drain.high_watermark(),
            busy: self.service.busy() & !self.service.prefetching(),
        });
        members(asked).for_each(|bank| self.redecide(bank, now));
    }

    /// Returns the cycle of the scheduler's next `tick`.
    fn next_tick(&self) -> DramCycle {
        if self.spec.scheduled[READS] { self.scheduler.next_tick() } else { DramCycle::NEVER }
    }

    /// Asks the scheduler again for the banks whose choice has expired.
    fn expire_picks(&mut self, now: DramCycle) {
        let ended = self.pick_expiry.take_ended(now);
        members(ended).for_each(|bank| self.redecide(bank, now));
    }

    /// Computes the next cycle with work other than commands.
    fn plan_upkeep(&mut self) {
        self.upkeep = self.refresh.next().min(self.next_policy_work());
    }

    /// Returns the next cycle in which a policy has work.
    fn next_policy_work(&self) -> DramCycle {
        let assignment = self.candidates.next_assignment();
        self.pick_expiry.next().min(self.next_tick()).min(assignment)
    }

    /// Returns the next cycle in which a command could issue or a policy has work.
    fn next_event(&mut self, now: DramCycle) -> Option<DramCycle> {
        let refreshes = self.may_refresh_all();
        let command = if refreshes { self.earliest_refresh() } else { self.commands.next_cycle() };
        if self.spec.scheduled[READS] {
            self.plan_upkeep();
        }
        if command == DramCycle::NEVER && self.may_sleep(now) {
            self.asleep = true;
            return None;
        }
        let next = command.min(self.upkeep);
        (next < DramCycle::NEVER).then_some(next.max(now + 1))
    }

    /// Returns whether a read may not start because the reads in service will use all of `room`.
    #[inline]
    pub fn lacks_room(&self, room: u32) -> bool {
        room <= self.reads_in_service() && self.candidates.reads() != 0
    }

    /// Returns the reads and prefetches in service, which have reserved their share of the room,
    /// see [`Channel::step`].
    #[inline]
    pub fn reads_in_service(&self) -> u32 {
        self.service.reads()
    }

    /// Returns whether a prefetch is in service.
    #[inline]
    pub fn is_prefetching(&self) -> bool {
        self.service.prefetching() != 0
    }

    /// Drains the requests and prefetches that have completed since the last call, in order.
    #[inline]
    pub fn take_completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.completions.drain(..)
    }

    /// Returns whether no request is waiting or in service. Data may still be on the bus.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending() == 0
    }

    /// Returns the number of requests waiting or in service.
    #[inline]
    pub fn pending(&self) -> usize {
        self.queues.pending() as usize
    }

    /// Returns the counts up to `now`.
    pub fn counts(&self, now: DramCycle) -> ChannelResult {
        let [refreshes, issued] = self.refresh.issued();
        let bank_refreshes = issued + if self.asleep { self.refresh.due_before(now) } else { 0 };
        ChannelResult {
            refreshes,
            bank_refreshes,
            turnarounds: self.commands.turnarounds(),
            write_drains: self.drain.drains(),
            ..self.account.counts(self.spec.burst, self.spec.data_buses, now)
        }
    }

    /// Returns the scheduler's own counts.
    pub fn counters(&self) -> Vec<Counter> {
        self.scheduler.counters()
    }

    /// Returns the prefetcher's counts that are not in [`Channel::counts`].
    pub fn prefetch_counters(&self) -> Vec<Counter> {
        self.prefetch.counters()
    }

    /// Starts logging every command.
    pub fn enable_log(&mut self) {
        self.log.enable();
    }

    /// Returns the logged commands, in order.
    pub fn log(&self) -> &[Command] {
        self.log.commands()
    }

    /// Drains the logged commands.
    pub fn take_log(&mut self) -> Vec<Command> {
        self.log.take()
    }

    /// Returns the request in service.
    #[inline]
    fn served(&self, active: Active) -> &Queued {
        self.queues.of(active.queue.into()).get(active.slot)
    }
}
