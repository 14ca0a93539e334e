//! Issuing commands: which banks may, which one does, and what follows from it.

use super::{Active, Channel, READS, WRITES};
use crate::dram::agenda::{BankSet, first_from, one};
use crate::dram::request::CommandKind::{self, Act, Pre, Rd, Ref, Wr};
use crate::dram::request::{Command, Completion, RowOutcome};

const ROW_BUS: usize = 0;
const COLUMN_BUS: usize = 1;

impl Channel {
    /// The next cycle at which something could issue.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let next = if self.may_refresh() {
            self.earliest_refresh().max(now + 1)
        } else if self.refreshing {
            self.agenda.plan().cycle
        } else {
            self.agenda.plan().cycle.min(self.next_refresh)
        };
        (next < u64::MAX).then_some(next)
    }

    /// A refresh is due and every bank is closed and idle.
    fn may_refresh(&self) -> bool {
        self.refreshing && self.open_banks == 0 && self.active == [0; 2]
    }

    fn earliest_refresh(&self) -> u64 {
        self.timing.of_channel()[Ref as usize].max(self.bus_free)
    }

    /// Refreshes if it can. True if nothing else may issue.
    pub(super) fn refreshes(&mut self, now: u64) -> bool {
        if !self.may_refresh() {
            return false;
        }
        if now >= self.earliest_refresh() {
            self.agenda.invalidate();
            self.timing.issued(Ref, 0, now);
            self.bus_free = now + 1;
            self.count.refreshes += 1;
            self.record(Command {
                cycle: now,
                kind: Ref,
                bank: 0,
                row: 0,
                burst: 0,
                request: None,
            });
            self.refreshing = false;
            self.next_refresh += self.spec.trefi;
            self.decide_all(now);
            self.replan(0, now + 1);
        }
        true
    }

    /// Issues the commands whose cycle has come, one per bus, and plans the next.
    pub(super) fn issue_due(&mut self, now: u64, room: u32) {
        let held = self.held(room);
        if !self.agenda.is_current(held, now) {
            self.replan(held, now.max(self.bus_free));
        }
        if self.agenda.plan().cycle > now {
            return;
        }
        let due = self.agenda.plan().banks;
        let completed = self.completions.len();
        if self.spec.dual_command_bus {
            let columns = self.agenda.columns();
            self.issue_one(COLUMN_BUS, due & columns, now);
            // What has just started may have taken the last room.
            let held = self.held(self.room_left(room, completed));
            self.issue_one(ROW_BUS, due & !columns & !held, now);
        } else {
            self.issue_one(ROW_BUS, due, now);
        }
        self.bus_free = now + 1;
        self.replan(self.held(self.room_left(room, completed)), now + 1);
    }

    /// What reads among the completions from the one numbered `from` on leave of the `room`.
    fn room_left(&self, room: u32, from: usize) -> u32 {
        let reads = self.completions[from..].iter().filter(|done| !done.write).count() as u32;
        room.saturating_sub(reads)
    }

    fn replan(&mut self, held: BankSet, floor: u64) {
        self.agenda.replan(&self.timing, held, floor);
    }

    /// Banks that may not issue their command whatever timing says.
    fn held(&self, room: u32) -> BankSet {
        let no_room = if room <= self.active[READS] { self.read_candidates } else { 0 };
        no_room | self.held_by_turn(no_room)
    }

    /// Banks that wait for the data bus to turn, or let it turn.
    ///
    /// With two queues a change from reads to writes or back first completes what is in service.
    /// With one queue column commands of one kind would keep the other kind's turnaround from ever
    /// ending, so only so many may pass.
    fn held_by_turn(&self, no_room: BankSet) -> BankSet {
        if self.spec.split {
            let other_kind_in_service = self.active[1 - self.serving] > 0;
            let kind = if self.serving == WRITES { Wr } else { Rd };
            return if other_kind_in_service { self.agenda.wanting(kind) } else { 0 };
        }
        let Some(direction) = self.direction else { return 0 };
        let others_wait = self.agenda.wanting(opposite(direction)) & !no_room != 0;
        let turns = others_wait && self.passed >= self.spec.turn_limit;
        if turns { self.agenda.wanting(direction) } else { 0 }
    }

    /// Issues the command of the next of the `due` banks in the round.
    fn issue_one(&mut self, bus: usize, due: BankSet, now: u64) {
        let Some(index) = first_from(due, self.turn[bus]) else { return };
        self.turn[bus] = index as u32 + 1;
        let kind = self.agenda.kind(index);
        let starts = self.banks[index].active.is_none() && self.banks[index].candidate.is_some();
        if starts && !self.refreshing {
            self.start_service(index, kind, now);
        }
        self.agenda.invalidate();
        self.timing.issued(kind, index, now);
        match kind {
            Act => self.activate(index, now),
            Pre => self.precharge(index, now),
            Rd | Wr => self.transfer(index, kind, now),
            _ => unreachable!("not on the agenda"),
        }
        self.decide(index, now);
    }

    /// Takes the bank's candidate out of the queue; `kind` is its first command.
    fn start_service(&mut self, index: usize, kind: CommandKind, now: u64) {
        let (serving, oldest) = (self.serving, self.holds_oldest(index));
        let rules = self.scheduler_rules(serving);
        let bank = &mut self.banks[index];
        let Some(candidate) = bank.candidate.take() else { return };
        if rules {
            self.scheduler.on_service(&bank.view(index, serving, now, oldest), candidate);
        }
        let Some(queued) = bank.queues[serving].take(candidate, bank.open_row) else { return };
        let outcome = match kind {
            Act => RowOutcome::Miss,
            Pre => RowOutcome::Conflict,
            _ => RowOutcome::Hit,
        };
        match outcome {
            RowOutcome::Hit => bank.count.row_hits += 1,
            RowOutcome::Miss => bank.count.row_misses += 1,
            RowOutcome::Conflict => bank.count.row_conflicts += 1,
        }
        bank.active = Some(Active { queued, first_command: now, issued: 0, outcome });
        bank.service.open(now);
        self.service.open(now);
        self.active[usize::from(queued.request.write)] += 1;
        if self.spec.in_order {
            self.order[serving].pop_front();
        }
    }

    fn activate(&mut self, index: usize, now: u64) {
        let bank = &mut self.banks[index];
        let Some(active) = bank.active else { return };
        let request = active.queued.request;
        bank.open_row = Some(request.row);
        bank.last_use = now;
        bank.count.activations += 1;
        bank.queues.iter_mut().for_each(|queue| queue.row_changed(Some(request.row)));
        self.open_banks |= one(index);
        self.scheduler.on_activate(request.bank, request.row);
        self.record(Command {
            cycle: now,
            kind: Act,
            bank: request.bank,
            row: request.row,
            burst: 0,
            request: Some(request.id),
        });
    }

    fn precharge(&mut self, index: usize, now: u64) {
        let bank = &mut self.banks[index];
        let Some(row) = bank.open_row.take() else { return };
        bank.count.precharges += 1;
        bank.queues.iter_mut().for_each(|queue| queue.row_changed(None));
        self.open_banks &= !one(index);
        if bank.active.is_none() {
            bank.service.add(now, now + self.spec.trp);
            self.service.add(now, now + self.spec.trp);
        }
        let request = bank.active.map(|active| active.queued.request.id);
        self.record(Command { cycle: now, kind: Pre, bank: index as u16, row, burst: 0, request });
    }

    fn transfer(&mut self, index: usize, kind: CommandKind, now: u64) {
        self.note_direction(kind);
        let bank = &mut self.banks[index];
        let Some(active) = &mut bank.active else { return };
        let request = active.queued.request;
        let burst = active.issued;
        active.issued += 1;
        let active = *active;
        let last = active.issued == request.bursts;
        let latency = match kind {
            Wr => {
                bank.count.writes += 1;
                self.spec.write_latency
            }
            _ => {
                bank.count.reads += 1;
                self.spec.read_latency
            }
        };
        bank.last_use = now;
        self.count.columns += 1;
        self.scheduler.on_column(&active.queued, last);
        self.record(Command {
            cycle: now,
            kind,
            bank: request.bank,
            row: request.row,
            burst,
            request: Some(request.id),
        });
        if last {
            self.finish(index, &active, now + latency + self.spec.burst, now);
        }
    }

    /// Counts turns of the data bus, and commands that pass one waiting for it to turn.
    fn note_direction(&mut self, kind: CommandKind) {
        if self.direction != Some(kind) {
            self.count.turnarounds += u64::from(self.direction.is_some());
            self.direction = Some(kind);
            self.passed = 0;
        }
        let others_wait = self.agenda.wanting(opposite(kind)) != 0;
        self.passed = if others_wait { self.passed + 1 } else { 0 };
    }

    /// The request's last column command has issued.
    fn finish(&mut self, index: usize, active: &Active, data_end: u64, now: u64) {
        let request = active.queued.request;
        let queue = self.queue_of(request.write);
        let kind = usize::from(request.write);
        let bank = &mut self.banks[index];
        bank.active = None;
        bank.waiting[queue] -= 1;
        bank.pending.close(data_end);
        bank.service.close(data_end);
        self.pending.close(data_end);
        self.service.close(data_end);
        self.waiting[queue] -= 1;
        self.active[kind] -= 1;
        self.count.requests[kind] += 1;
        self.occupancy.set(now, self.pending());
        self.completions.push(Completion {
            id: request.id,
            write: request.write,
            arrived: active.queued.arrived,
            first_command: active.first_command,
            data_end,
            row_outcome: active.outcome,
        });
        if self.choose_served_queue(now) {
            return;
        }
        if let Some(&oldest) = self.order[self.serving].front() {
            self.decide(usize::from(oldest), now);
        }
    }

    fn record(&mut self, command: Command) {
        if let Some(log) = &mut self.log {
            log.push(command);
        }
    }
}

fn opposite(column: CommandKind) -> CommandKind {
    if column == Rd { Wr } else { Rd }
}
