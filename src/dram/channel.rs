//! The channel: queues, banks, command scheduling, refresh.

mod issue;

use super::MAX_BANKS;
use super::agenda::{Agenda, BankSet, one};
use super::queue::{BankQueue, Queued};
use super::request::{Command, CommandKind, Completion, Request, RowOutcome};
use super::scheduler::{BankView, QueueView, Scheduler};
use super::statistics::{BankStatistics, ChannelStatistics, Occupancy, Span};
use super::timing::TimingState;
use crate::machine::Dram;
use std::collections::VecDeque;

/// Index of the read queue, which is also the one queue where there is no other.
const READS: usize = 0;
const WRITES: usize = 1;

/// What the channel needs of its configuration.
struct Spec {
    /// Reads and writes have a queue each.
    split: bool,
    capacity: [u32; 2],
    high_watermark: u32,
    low_watermark: u32,
    /// Data cycles of a column command.
    burst: u64,
    /// RD and WR to first data.
    read_latency: u64,
    write_latency: u64,
    trp: u64,
    trefi: u64,
    dual_command_bus: bool,
    /// One queue: column commands that may pass a bank that waits for the data bus to turn.
    turn_limit: u32,
    in_order: bool,
    scheduler_orders_writes: bool,
}

/// A request in service.
#[derive(Clone, Copy)]
struct Active {
    queued: Queued,
    first_command: u64,
    /// Column commands issued.
    issued: u16,
    outcome: RowOutcome,
}

#[derive(Default)]
struct Bank {
    open_row: Option<u32>,
    /// Last column command or activation.
    last_use: u64,
    queues: [BankQueue; 2],
    active: Option<Active>,
    /// Index in the served queue of the request to serve next.
    candidate: Option<usize>,
    /// Requests of each queue in the channel, the one in service included.
    waiting: [u32; 2],
    pending: Span,
    service: Span,
    count: BankStatistics,
}

#[derive(Default)]
struct Counts {
    requests: [u64; 2],
    refreshes: u64,
    turnarounds: u64,
    write_drains: u64,
    columns: u64,
}

/// One DRAM channel. Times are cycles of its command clock and never go back.
pub struct Channel {
    spec: Spec,
    scheduler: Box<dyn Scheduler>,
    timing: TimingState,
    agenda: Agenda,
    banks: Vec<Bank>,
    open_banks: BankSet,
    /// Banks whose candidate is a read.
    read_candidates: BankSet,
    /// First cycle in which the command buses are free again.
    bus_free: u64,
    /// Round robin: the bank to look at first, for row commands (or all) and column commands.
    turn: [u32; 2],
    /// Requests in each queue, those in service included.
    waiting: [u32; 2],
    /// Reads and writes in service.
    active: [u32; 2],
    /// Strictly in-order schedulers: banks of the requests not yet in service, oldest first.
    order: [VecDeque<u16>; 2],
    serving: usize,
    draining: bool,
    /// Kind of the last column command, and how many of that kind passed a bank that needs the other.
    direction: Option<CommandKind>,
    passed: u32,
    next_refresh: u64,
    refreshing: bool,
    completions: Vec<Completion>,
    log: Option<Vec<Command>>,
    count: Counts,
    occupancy: Occupancy,
    pending: Span,
    service: Span,
}

impl Channel {
    /// A channel with all banks closed, at cycle 0. `dram` must be valid (see
    /// [`AddressMap::new`](super::AddressMap::new)): at least one bank, at most [`MAX_BANKS`].
    pub fn new(dram: &Dram, scheduler: Box<dyn Scheduler>) -> Channel {
        assert!((1..=MAX_BANKS).contains(&dram.banks), "1 to {MAX_BANKS} banks");
        let timing = TimingState::new(dram);
        let banks = dram.banks as usize;
        let t = &dram.timing;
        let spec = Spec {
            split: dram.write_queue > 0,
            capacity: [dram.read_queue, dram.write_queue],
            high_watermark: dram.write_high_watermark,
            low_watermark: dram.write_low_watermark,
            burst: dram.burst_cycles().into(),
            read_latency: t.tcl.into(),
            write_latency: t.twl.into(),
            trp: t.trp.into(),
            trefi: t.trefi.into(),
            dual_command_bus: dram.dual_command_bus,
            turn_limit: dram.read_queue,
            in_order: scheduler.strictly_in_order(),
            scheduler_orders_writes: scheduler.orders_writes(),
        };
        Channel {
            agenda: Agenda::new(banks, &timing),
            timing,
            scheduler,
            banks: (0..banks).map(|_| Bank::default()).collect(),
            open_banks: 0,
            read_candidates: 0,
            bus_free: 0,
            turn: [0; 2],
            waiting: [0; 2],
            active: [0; 2],
            order: Default::default(),
            serving: READS,
            draining: false,
            direction: None,
            passed: 0,
            next_refresh: if spec.trefi > 0 { spec.trefi } else { u64::MAX },
            refreshing: false,
            completions: Vec::new(),
            log: None,
            count: Counts::default(),
            occupancy: Occupancy::new(spec.capacity.iter().sum::<u32>() as usize),
            pending: Span::default(),
            service: Span::default(),
            spec,
        }
    }

    /// Whether there is room for the request.
    pub fn accepts(&self, request: &Request) -> bool {
        let queue = self.queue_of(request.write);
        let view = QueueView {
            waiting: self.waiting[queue],
            bank_waiting: self.banks[usize::from(request.bank)].waiting[queue],
            capacity: self.spec.capacity[queue],
            banks: self.banks.len() as u32,
        };
        if self.scheduler_rules(queue) {
            self.scheduler.accepts(&view)
        } else {
            view.waiting < view.capacity
        }
    }

    /// Takes a request that the channel [`accepts`](Channel::accepts). Step the channel afterwards.
    pub fn push(&mut self, now: u64, request: Request) {
        debug_assert!(self.accepts(&request), "pushed into a full queue: {request:?}");
        debug_assert!(request.bursts > 0, "a request without data: {request:?}");
        let index = usize::from(request.bank);
        let queue = self.queue_of(request.write);
        let queued = Queued { request, arrived: now };
        let bank = &mut self.banks[index];
        bank.queues[queue].push(queued, bank.open_row);
        bank.waiting[queue] += 1;
        bank.pending.open(now);
        self.pending.open(now);
        self.waiting[queue] += 1;
        self.occupancy.set(now, self.pending());
        self.scheduler.on_arrival(&queued);
        if self.spec.in_order {
            self.order[queue].push_back(request.bank);
        }
        if !self.choose_served_queue(now) && self.banks[index].active.is_none() {
            self.decide(index, now);
        }
    }

    /// Issues what the command buses allow at `now`, at most once per cycle.
    ///
    /// `room` is how many more reads may complete; a read claims its place with its first command, so
    /// `room` may shrink by completions only. Returns the next cycle at which a command could issue if
    /// nothing arrives and no room is made; none: never.
    pub fn step(&mut self, now: u64, room: u32) -> Option<u64> {
        debug_assert!(room >= self.active[READS], "room taken from reads in service");
        if now >= self.next_refresh && !self.refreshing {
            self.refreshing = true;
            self.decide_all(now);
        }
        if !self.refreshes(now) {
            self.issue_due(now, room);
        }
        self.next_event(now)
    }

    /// Whether a read may not start because reads in service will take the `room`.
    pub fn lacks_room(&self, room: u32) -> bool {
        room <= self.active[READS] && self.read_candidates != 0
    }

    /// The requests that have left since the last call, in order.
    pub fn take_completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.completions.drain(..)
    }

    /// No request is waiting or in service; data may still be on the bus.
    pub fn is_empty(&self) -> bool {
        self.pending() == 0
    }

    /// Requests waiting or in service.
    pub fn pending(&self) -> usize {
        (self.waiting[READS] + self.waiting[WRITES]) as usize
    }

    /// Counts up to `now`.
    pub fn statistics(&self, now: u64) -> ChannelStatistics {
        let bank = |bank: &Bank| BankStatistics {
            pending_cycles: bank.pending.cycles(now),
            service_cycles: bank.service.cycles(now),
            ..bank.count
        };
        ChannelStatistics {
            cycles: now,
            read_requests: self.count.requests[READS],
            write_requests: self.count.requests[WRITES],
            refreshes: self.count.refreshes,
            turnarounds: self.count.turnarounds,
            write_drains: self.count.write_drains,
            data_bus_cycles: self.count.columns * self.spec.burst,
            pending_cycles: self.pending.cycles(now),
            service_cycles: self.service.cycles(now),
            occupancy_cycles: self.occupancy.histogram(now),
            banks: self.banks.iter().map(bank).collect(),
        }
    }

    /// Keeps every command from now on.
    pub fn enable_log(&mut self) {
        self.log.get_or_insert_default();
    }

    /// The commands kept, in order.
    pub fn log(&self) -> &[Command] {
        self.log.as_deref().unwrap_or_default()
    }

    fn queue_of(&self, write: bool) -> usize {
        if write && self.spec.split { WRITES } else { READS }
    }

    fn scheduler_rules(&self, queue: usize) -> bool {
        queue == READS || self.spec.scheduler_orders_writes
    }

    /// Reads or writes: writes from the high watermark down to the low one, and when there is no read.
    /// True if that changed, and every bank's choice with it.
    fn choose_served_queue(&mut self, now: u64) -> bool {
        if !self.spec.split {
            return false;
        }
        let [reads, writes] = self.waiting;
        if writes <= self.spec.low_watermark {
            self.draining = false;
        } else if writes >= self.spec.high_watermark && !self.draining {
            self.draining = true;
            self.count.write_drains += 1;
        }
        let serving = if writes > 0 && (self.draining || reads == 0) { WRITES } else { READS };
        let changed = serving != self.serving;
        self.serving = serving;
        if changed {
            self.decide_all(now);
        }
        changed
    }

    fn decide_all(&mut self, now: u64) {
        for bank in 0..self.banks.len() {
            self.decide(bank, now);
        }
    }

    /// Settles which command the bank needs next.
    fn decide(&mut self, index: usize, now: u64) {
        self.read_candidates &= !one(index);
        let next = match self.banks[index].active {
            Some(active) => Some(self.command_for(index, &active.queued.request)),
            None if self.refreshing => self.close(index, 0),
            None => self.choose_candidate(index, now),
        };
        self.agenda.set(index, next, &self.timing);
    }

    /// What the bank needs for its scheduler's choice, or to close a row that nothing waits for.
    fn choose_candidate(&mut self, index: usize, now: u64) -> Option<(CommandKind, u64)> {
        let candidate = self.pick(index, now);
        let bank = &mut self.banks[index];
        bank.candidate = candidate;
        if let Some(candidate) = candidate {
            let request = bank.queues[self.serving].requests()[candidate].request;
            self.read_candidates |= if request.write { 0 } else { one(index) };
            return Some(self.command_for(index, &request));
        }
        if bank.queues.iter().any(|queue| queue.hits() > 0) {
            return None;
        }
        let from = self.scheduler.close_idle_row_at(bank.last_use)?;
        self.close(index, from)
    }

    fn pick(&mut self, index: usize, now: u64) -> Option<usize> {
        let bank = &self.banks[index];
        if bank.queues[self.serving].is_empty() {
            return None;
        }
        let view = bank.view(index, self.serving, now, self.holds_oldest(index));
        if self.scheduler_rules(self.serving) {
            self.scheduler.pick(&view)
        } else {
            Some(view.fr_fcfs())
        }
    }

    /// The bank holds the oldest request that may be served, and none is in service.
    fn holds_oldest(&self, index: usize) -> bool {
        self.spec.in_order
            && self.active == [0; 2]
            && self.order[self.serving].front() == Some(&(index as u16))
    }

    /// The next command of a request, and its earliest cycle as far as the bank goes.
    fn command_for(&self, index: usize, request: &Request) -> (CommandKind, u64) {
        let kind = match self.banks[index].open_row {
            None => CommandKind::Act,
            Some(row) if row != request.row => CommandKind::Pre,
            Some(_) if request.write => CommandKind::Wr,
            Some(_) => CommandKind::Rd,
        };
        (kind, self.timing.of_bank(kind, index))
    }

    /// Closing the bank's row, if one is open, no earlier than `from`.
    fn close(&self, index: usize, from: u64) -> Option<(CommandKind, u64)> {
        self.banks[index].open_row?;
        let kind = CommandKind::Pre;
        Some((kind, self.timing.of_bank(kind, index).max(from)))
    }
}

impl Bank {
    fn view(
        &self,
        index: usize,
        queue: usize,
        now: u64,
        holds_channel_oldest: bool,
    ) -> BankView<'_> {
        let queue = &self.queues[queue];
        BankView {
            now,
            bank: index as u16,
            open_row: self.open_row,
            hits: queue.hits(),
            requests: queue.requests(),
            holds_channel_oldest,
        }
    }
}
