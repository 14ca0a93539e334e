//! The channel: queues, banks, command scheduling, refresh.

mod choice;
mod direction;
mod issue;
mod prefetch;
mod refresh;
mod spec;
mod streak;

use super::MAX_BANKS;
use super::agenda::Agenda;
use super::durations::{Busy, Occupancy, Span};
use super::page::{PAGE_POLICIES, PagePolicy};
use super::queue::{Queue, Queued, Slot};
use super::request::{Command, Completion, Request, RowOutcome};
use super::scheduler::{Event, Family, QueueView, SCHEDULERS, Scheduler, SchedulerContext};
use super::sets::{BankSet, one};
use super::timing::TimingState;
use crate::{BankResult, ChannelResult, Dram};
use direction::Direction;
use prefetch::Prefetch;
use refresh::Refresh;
use spec::Spec;
use std::collections::VecDeque;
use std::rc::Rc;
use streak::Streak;
use warpmem_params::{Counter, PolicyError};

/// Index of the read queue, which is also the one queue where there is no other.
const READS: usize = 0;
const WRITES: usize = 1;
/// Index of the queue of prefetches, which enter it with their first command and so never wait in
/// it.
const PREFETCHES: usize = 2;

/// Indices of [`Channel::round_robin`].
const ROW_BUS: usize = 0;
const COLUMN_BUS: usize = 1;
const ASSIGNMENTS: usize = 2;

/// A request in service.
#[derive(Clone, Copy)]
struct Active {
    first_command: u64,
    /// Column commands issued.
    issued: u16,
    slot: Slot,
    queue: u8,
    outcome: RowOutcome,
}

/// The fields that commands change come first, then the counts.
#[derive(Default)]
#[repr(C, align(64))]
struct Bank {
    open_row: Option<u32>,
    /// Column commands since the row was opened.
    columns: u32,
    /// The request to serve next, in the served queue.
    candidate: Option<Slot>,
    active: Option<Active>,
    /// Last column command or activation.
    last_use: u64,
    /// Requests of each queue in the channel, the one in service included.
    waiting: [u32; 2],
    /// Without durations, which `busy` has.
    count: BankResult,
    busy: Busy,
}

impl Bank {
    /// With the durations up to `now`.
    fn counts(&self, now: u64) -> BankResult {
        BankResult {
            outstanding_cycles: self.busy.pending.cycles(now),
            busy_cycles: self.busy.service.cycles(now),
            ..self.count.clone()
        }
    }
}

/// One DRAM channel. Times are cycles of its command clock and never go back.
///
/// A machine steps many channels one after the other, so that the host's first-level cache rarely
/// holds the state of the next: the fields that every step reads come first, then those that
/// commands and requests change, then the rest.
#[repr(C)]
pub struct Channel {
    /// The next cycle with something to do beside commands, or an earlier one.
    upkeep: u64,
    /// Banks at which no request may start, as their refresh is due.
    refreshing: BankSet,
    open_banks: BankSet,
    /// Banks with a request or a prefetch in service.
    busy: BankSet,
    /// Banks that go on with a prefetch, and those with one in service.
    offered: BankSet,
    prefetching: BankSet,
    /// Banks whose candidate is a read.
    read_candidates: BankSet,
    /// Banks that wait to be assigned a request, where only so many are in a cycle.
    unassigned: BankSet,
    /// Requests in each queue, those in service included.
    waiting: [u32; 2],
    /// Reads and writes in service, and prefetches, which are neither.
    active: [u32; 2],
    active_prefetches: u32,
    direction: Direction,
    prefetch: Option<Box<Prefetch>>,
    /// Round robin: the bank to look at first, for row commands (or all), column commands, and
    /// assignments.
    round_robin: [u32; 3],
    agenda: Agenda,
    spec: Rc<Spec>,
    banks: Box<[Bank]>,
    timing: TimingState,
    queues: [Queue; 3],
    arrived: u64,
    /// Reads and writes that have left.
    requests_left: [u64; 2],
    occupancy: Occupancy,
    completions: Vec<Completion>,
    log: Option<Vec<Command>>,
    busy_time: Busy,
    /// Some row is open.
    open: Span,
    scheduler: Box<dyn Scheduler>,
    page: Box<dyn PagePolicy>,
    refresh: Refresh,
    /// Banks whose candidate stays theirs: it has been assigned.
    assigned: BankSet,
    /// The next cycle in which requests may be assigned.
    next_assignment: u64,
    /// The first of [`Channel::choice_ends`], or earlier.
    choices_end: u64,
    /// By bank: from when on the scheduler's choice may differ though nothing happens to the bank.
    choice_ends: Vec<u64>,
    /// By bank.
    streaks: Vec<Streak>,
    /// Strictly in-order schedulers: banks of the requests not yet in service, oldest first.
    order: [VecDeque<u16>; 2],
}

impl Channel {
    /// The channels of a machine, under the DRAM scheduler that `policy` names.
    ///
    /// # Errors
    /// [`PolicyError`] if it, or the page policy of the machine, is unknown or cannot be built.
    pub fn family(context: &SchedulerContext, policy: &str) -> Result<Vec<Channel>, PolicyError> {
        Channel::all(context, &*SCHEDULERS.build(policy, context)?)
    }

    /// The channels of a machine under a family of schedulers.
    ///
    /// # Errors
    /// [`PolicyError`] if the page policy is unknown or cannot be built.
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
                channel.spec = Rc::clone(&first.spec);
            }
            channels.push(channel);
        }
        Ok(channels)
    }

    /// A channel with all banks closed, at cycle 0. `dram` must be valid (see
    /// [`AddressMap::new`](super::AddressMap::new)): at least one bank, at most [`MAX_BANKS`].
    ///
    /// # Errors
    /// [`PolicyError`] if the page policy is unknown.
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
        let (banks, refresh) = (dram.banks as usize, Refresh::new(dram));
        let spec = Spec::new(dram, &timing, traits, &*page);
        let [reads, writes] =
            spec.capacity.map(|entries| Queue::new(banks, entries as usize + banks));
        Ok(Channel {
            agenda: Agenda::new(),
            timing,
            scheduler,
            page,
            queues: [reads, writes, Queue::new(banks, 0)],
            prefetch: None,
            banks: (0..banks).map(|_| Bank::default()).collect(),
            choice_ends: vec![u64::MAX; banks],
            open_banks: 0,
            busy: 0,
            offered: 0,
            prefetching: 0,
            refreshing: 0,
            read_candidates: 0,
            unassigned: 0,
            assigned: 0,
            next_assignment: 0,
            choices_end: u64::MAX,
            round_robin: [0; 3],
            waiting: [0; 2],
            active: [0; 2],
            active_prefetches: 0,
            arrived: 0,
            streaks: vec![Streak::default(); banks],
            order: Default::default(),
            direction: Direction::new(dram),
            upkeep: refresh.next(),
            refresh,
            completions: Vec::new(),
            log: None,
            requests_left: [0; 2],
            occupancy: Occupancy::new(spec.capacity.iter().sum::<u32>() as usize + banks),
            busy_time: Busy::default(),
            open: Span::default(),
            spec: Rc::new(spec),
        })
    }

    /// Whether there is room for the request.
    #[inline]
    pub fn accepts(&self, request: &Request) -> bool {
        let (index, queue) = (usize::from(request.bank), self.queue_of(request.write));
        // A scheduler may have entries of its own, but every request needs one of the channel's.
        let waiting = self.entries_taken(queue);
        if waiting >= self.spec.capacity[queue] {
            return false;
        }
        let view = QueueView {
            waiting,
            bank_waiting: self.banks[index].waiting[queue] - self.at_bank(index, queue),
            capacity: self.spec.capacity[queue],
            bank_capacity: self.spec.bank_capacity[queue],
            banks: self.banks.len() as u32,
        };
        if self.spec.scheduled[queue] {
            self.scheduler.accepts(&view, request)
        } else {
            view.has_room()
        }
    }

    /// Entries of a queue that are taken.
    #[inline]
    fn entries_taken(&self, queue: usize) -> u32 {
        self.waiting[queue] - self.at_banks(queue)
    }

    /// Requests that have left a queue's entries for their banks. With `picks_per_cycle` > 0 a
    /// request frees its queue entry when it is assigned to a bank, otherwise when it completes.
    #[inline]
    fn at_banks(&self, queue: usize) -> u32 {
        if self.spec.picks_per_cycle == 0 {
            return 0;
        }
        let assigned = if self.serves(queue) { self.assigned.count_ones() } else { 0 };
        let active = if self.spec.split { self.active[queue] } else { self.active.iter().sum() };
        active + assigned
    }

    /// As [`Channel::at_banks`], of one bank.
    #[inline]
    fn at_bank(&self, index: usize, queue: usize) -> u32 {
        if self.spec.picks_per_cycle == 0 {
            return 0;
        }
        let is_of_queue = |active: Active| usize::from(active.queue) == queue;
        let active = self.banks[index].active.is_some_and(is_of_queue);
        let assigned = self.serves(queue) && self.assigned & one(index) != 0;
        u32::from(active) + u32::from(assigned)
    }

    /// Whether requests of this queue are now those to start.
    fn serves(&self, queue: usize) -> bool {
        !self.spec.split || queue == self.direction.serving
    }

    /// Takes a request that the channel [`accepts`](Channel::accepts). Step the channel afterwards.
    pub fn push(&mut self, now: u64, request: Request) {
        debug_assert!(self.accepts(&request), "pushed into a full queue: {request:?}");
        debug_assert!(request.bursts > 0, "a request without data: {request:?}");
        let index = usize::from(request.bank);
        let queue = self.queue_of(request.write);
        let queued = Queued { request, arrived: now, order: self.arrived };
        self.arrived += 1;
        let slot = self.queues[queue].push(queued);
        let bank = &mut self.banks[index];
        bank.waiting[queue] += 1;
        bank.busy.pending.open(now);
        self.busy_time.pending.open(now);
        self.waiting[queue] += 1;
        self.occupancy.set(now, self.pending());
        if self.spec.scheduled[queue] {
            self.scheduler.on_arrival(slot, &queued);
        }
        if self.spec.traits.strictly_in_order {
            self.order[queue].push_back(request.bank);
        }
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.arrived(self.waiting.iter().sum());
        }
        if !self.choose_served_queue(now) && self.changes_choice(index, queue, slot) {
            self.decide(index, now);
        }
    }

    /// Whether a request that has just entered may change what its bank does next. FR-FCFS changes
    /// its choice for a first row hit only, and a bank that waits to be assigned a request goes on
    /// waiting unless its row may be closed.
    fn changes_choice(&self, index: usize, queue: usize, slot: Slot) -> bool {
        let bank = &self.banks[index];
        if bank.active.is_some() {
            return false;
        }
        if self.spec.scheduled[self.direction.serving] {
            return true;
        }
        // A bank that goes on with a prefetch has no candidate.
        if bank.candidate.is_none() {
            return self.spec.closes_idle_rows || self.unassigned & one(index) == 0;
        }
        queue == self.direction.serving && self.queues[queue].oldest_hit(index as u16) == Some(slot)
    }

    /// More requests wait for the data of request `id`, which goes to `bank`: see
    /// [`Event::Merged`]. Nothing happens if it is in service or gone. Step the channel afterwards.
    pub fn merge(&mut self, now: u64, bank: u16, id: u32, merges: u32, age: u64) {
        let named = |(slot, queued): (Slot, &Queued)| (queued.request.id == id).then_some(slot);
        let Some(slot) = self.queues[READS].requests(bank).find_map(named) else { return };
        self.tell(Event::Merged { slot, merges, age }, now);
        self.redecide(usize::from(bank), now);
    }

    /// No more requests of this load will come: see [`Event::LoadComplete`]. Step the channel
    /// afterwards.
    pub fn load_complete(&mut self, now: u64, load: u32) {
        self.tell(Event::LoadComplete { load }, now);
    }

    /// Tells a scheduler that takes events of one.
    fn tell(&mut self, event: Event, now: u64) {
        if self.spec.traits.takes_events {
            self.scheduler.on_event(event, now);
        }
    }

    /// Issues what the command buses allow at `now`, at most once per cycle.
    ///
    /// `room` is how many more reads may complete; a read takes its share with its first command,
    /// so `room` may shrink by completions only. Returns the next cycle at which a command could
    /// issue if nothing arrives and no room is made; none: never.
    pub fn step(&mut self, now: u64, room: u32) -> Option<u64> {
        debug_assert!(room >= self.reads_in_service(), "room taken from reads in service");
        // Between two steps a scheduler may come to want its `tick` sooner than it said.
        if self.spec.scheduled[READS] || now >= self.upkeep {
            self.begin_refreshes(now);
            self.tick(now);
            self.end_choices(now);
            self.assign(now);
            self.plan_upkeep();
        }
        if !self.refreshes_all(now) {
            self.issue_due(now, room);
        }
        self.next_event(now)
    }

    /// Whether a read may not start because reads in service will take the `room`.
    pub fn lacks_room(&self, room: u32) -> bool {
        room <= self.reads_in_service() && self.read_candidates != 0
    }

    /// Reads and prefetches in service, which have taken their share of the room: see
    /// [`Channel::step`].
    #[inline]
    pub fn reads_in_service(&self) -> u32 {
        self.active[READS] + self.active_prefetches
    }

    /// The requests and prefetches that have left since the last call, in order.
    #[inline]
    pub fn take_completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.completions.drain(..)
    }

    /// No request is waiting or in service; data may still be on the bus.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending() == 0
    }

    /// Requests waiting or in service.
    #[inline]
    pub fn pending(&self) -> usize {
        (self.waiting[READS] + self.waiting[WRITES]) as usize
    }

    /// Counts up to `now`.
    pub fn counts(&self, now: u64) -> ChannelResult {
        let banks: Vec<BankResult> = self.banks.iter().map(|bank| bank.counts(now)).collect();
        let sum = |of: fn(&BankResult) -> u64| banks.iter().map(of).sum::<u64>();
        let data_cycles = sum(BankResult::columns) * self.spec.burst;
        let pending_cycles = self.busy_time.pending.cycles(now);
        ChannelResult {
            cycles: now,
            read_requests: self.requests_left[READS],
            write_requests: self.requests_left[WRITES],
            data_bus_busy_cycles: data_cycles / self.spec.data_buses,
            pending_cycles,
            bank_outstanding_cycles: sum(|bank| bank.outstanding_cycles),
            any_bank_outstanding_cycles: pending_cycles,
            bank_busy_cycles: sum(|bank| bank.busy_cycles),
            any_bank_busy_cycles: self.busy_time.service.cycles(now),
            occupancy_cycles: self.occupancy.histogram(now),
            open_cycles: self.open.cycles(now),
            refreshes: self.refresh.all_banks,
            bank_refreshes: self.refresh.single_banks,
            turnarounds: self.direction.turnarounds,
            write_drains: self.direction.drains,
            banks,
        }
    }

    /// What the scheduler counted.
    pub fn counters(&self) -> Vec<Counter> {
        self.scheduler.counters()
    }

    /// Keeps every command from now on.
    pub fn enable_log(&mut self) {
        self.log.get_or_insert_default();
    }

    /// The commands kept, in order.
    pub fn log(&self) -> &[Command] {
        self.log.as_deref().unwrap_or_default()
    }

    /// Takes the commands kept so far out of the log.
    pub fn take_log(&mut self) -> Vec<Command> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn queue_of(&self, write: bool) -> usize {
        if write && self.spec.split { WRITES } else { READS }
    }

    /// The request in service.
    #[inline]
    fn served(&self, active: Active) -> &Queued {
        self.queues[usize::from(active.queue)].get(active.slot)
    }
}
