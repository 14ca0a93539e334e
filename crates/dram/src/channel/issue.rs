//! Issuing commands: which banks may, which one does, and what follows from it.

use super::refresh::idle_command;
use super::{Active, COLUMN_BUS, Channel, PREFETCHES, READS, ROW_BUS, WRITES};
use crate::queue::{Queued, Slot};
use crate::request::CommandKind::{Act, Pre, Rd, Rda, RefPb, Wr, Wra};
use crate::request::{Command, CommandKind, Completion, Request, RowOutcome};
use crate::scheduler::{BankView, Event, Ready};
use crate::sets::{BankSet, first_from, members, one};

impl Channel {
    /// The next cycle at which something could issue or a policy has something to do.
    pub(super) fn next_event(&mut self, now: u64) -> Option<u64> {
        let command =
            if self.may_refresh_all() { self.earliest_refresh() } else { self.agenda.plan().cycle };
        if self.spec.scheduled[READS] {
            self.plan_upkeep();
        }
        let next = command.min(self.upkeep);
        (next < u64::MAX).then_some(next.max(now + 1))
    }

    /// Notes when there is something to do beside commands.
    pub(super) fn plan_upkeep(&mut self) {
        let assignment = if self.unassigned == 0 { u64::MAX } else { self.next_assignment };
        let policy = self.choices_end.min(self.next_tick()).min(assignment);
        self.upkeep = self.refresh.next().min(policy);
    }

    /// Issues the commands whose cycle has come, one per bus, and plans the next.
    pub(super) fn issue_due(&mut self, now: u64, room: u32) {
        self.follow_timing(now);
        self.withdraw_offers(room, now);
        let held = self.held(room);
        if !self.agenda.is_current(held, now) {
            self.replan(held, now);
        }
        if self.agenda.plan().cycle > now {
            return;
        }
        let due = self.agenda.plan().banks;
        let completed = self.completions.len();
        if self.spec.dual_command_bus {
            let columns = self.agenda.columns();
            if due & columns != 0 {
                self.issue_one(COLUMN_BUS, due & columns, now);
            }
            // The column command may have begun the read that takes the last room, or ended the
            // write after which the channel serves reads: a bank whose choice that changed is due
            // no longer.
            let rows = due & !columns & self.agenda.rows();
            if rows != 0 {
                let held = self.held(self.room_left(room, completed));
                self.issue_one(ROW_BUS, rows & !held, now);
            }
        } else {
            self.issue_one(ROW_BUS, due, now);
        }
        self.follow_timing(now);
        let room = self.room_left(room, completed);
        self.withdraw_offers(room, now);
        self.replan(self.held(room), now + 1);
    }

    /// The room that is left after the reads among the completions from index `from` on.
    fn room_left(&self, room: u32, from: usize) -> u32 {
        let reads = self.completions[from..].iter().filter(|done| !done.write).count() as u32;
        room.saturating_sub(reads)
    }

    pub(super) fn replan(&mut self, held: BankSet, floor: u64) {
        self.agenda.replan(&self.timing, held, floor);
    }

    /// Asks all idle banks again, for schedulers whose choice depends on the timing that commands
    /// leave.
    fn follow_timing(&mut self, now: u64) {
        if self.spec.traits.follows_timing {
            (0..self.banks.len()).for_each(|bank| self.redecide(bank, now));
        }
    }

    /// Banks that may not issue their command whatever timing says.
    fn held(&self, room: u32) -> BankSet {
        let no_room = if room <= self.reads_in_service() { self.read_candidates } else { 0 };
        no_room | self.held_by_turnaround(no_room)
    }

    /// Banks whose column commands wait so that the data bus can turn around.
    ///
    /// Column commands of one kind would keep the turnaround of the other from ever ending:
    /// requests of a shared queue, or those still in service when the channel changes between reads
    /// and writes. So only a limited number may pass.
    fn held_by_turnaround(&self, no_room: BankSet) -> BankSet {
        let Some(last) = self.direction.last_column else { return 0 };
        let others_wait = self.agenda.wanting(opposite(last)) & !no_room != 0;
        let turns_around = others_wait && self.direction.passed >= self.direction.limit;
        if turns_around { self.agenda.wanting(last) } else { 0 }
    }

    /// Issues the command of one of the `due` banks: of those of the lowest rank the first in the
    /// round robin.
    fn issue_one(&mut self, bus: usize, due: BankSet, now: u64) {
        let due = self.confirmed(due, now);
        let due = self.without_fetched_lines(due, now);
        let best = if self.spec.traits.ranks_banks { self.best_ranked(due, now) } else { due };
        let Some(index) = first_from(best, self.round_robin[bus]) else { return };
        let kind = self.agenda.kind(index);
        if self.spec.dual_command_bus && self.timing.earliest(kind, index) > now {
            return;
        }
        if first_from(due, self.round_robin[bus]) != Some(index) {
            self.tell(Event::Overtaken, now);
        }
        if !self.spec.traits.shared_round_robin {
            self.round_robin[bus] = index as u32 + 1;
        } else if !kind.is_column() {
            self.round_robin = [(index as u32 + 1) % self.banks.len() as u32; 3];
        }
        if self.offered & one(index) != 0 {
            self.begin_prefetch(index, now);
        } else if self.banks[index].active.is_none()
            && let Some(candidate) = self.banks[index].candidate.take()
        {
            self.start_service(index, candidate, kind, now);
        }
        let kind = self.with_auto_precharge(index, kind);
        self.agenda.delay(self.timing.delayed_by(kind));
        self.timing.issued(kind, index, now);
        match kind {
            Act => self.activate(index, now),
            Pre => self.precharge(index, now),
            RefPb => self.bank_refreshed(index, now),
            _ => self.transfer(index, kind, now),
        }
        self.decide(index, now);
    }

    /// The due banks whose candidate still needs its command when the scheduler has been asked
    /// again, where it wants that.
    fn confirmed(&mut self, due: BankSet, now: u64) -> BankSet {
        if !self.spec.traits.repick_at_issue {
            return due;
        }
        let mut confirmed = due;
        for bank in members(due & !self.busy) {
            let kind = self.agenda.kind(bank);
            self.decide(bank, now);
            confirmed &= !one(bank) | self.agenda.wanting(kind);
        }
        confirmed
    }

    fn best_ranked(&self, due: BankSet, now: u64) -> BankSet {
        // Prefetches have no rank: they take part in the round robin among the best.
        let unranked = due & (self.offered | self.prefetching);
        let (mut best, mut of) = (0, u64::MAX);
        for index in members(due & !unranked) {
            let bank = &self.banks[index];
            let slot = bank.candidate.filter(|_| bank.active.is_none());
            let waiting = slot.map(|slot| self.queues[self.direction.serving].get(slot));
            let queued = bank.active.map(|active| self.served(active)).or(waiting);
            let kind = self.agenda.kind(index);
            let rank = self.scheduler.rank(&Ready { now, kind, queued, slot });
            if rank < of {
                (best, of) = (0, rank);
            }
            if rank == of {
                best |= one(index);
            }
        }
        best | unranked
    }

    /// Takes the bank's candidate out of the queue; `kind` is its first command.
    fn start_service(&mut self, index: usize, candidate: Slot, kind: CommandKind, now: u64) {
        let serving = self.direction.serving;
        if self.spec.scheduled[serving] {
            let view = BankView {
                now,
                bank: index as u16,
                queue: &self.queues[serving],
                holds_channel_oldest: self.holds_oldest(index),
                timing: &self.timing,
            };
            self.scheduler.on_service(&view, candidate);
        }
        if !kind.is_column() {
            let count = &mut self.banks[index].count;
            self.streaks[index].serve(&self.queues[serving], candidate, count);
        }
        self.queues[serving].take(candidate);
        let write = self.queues[serving].get(candidate).request.write;
        let bank = &mut self.banks[index];
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
        let (slot, queue) = (candidate, serving as u8);
        bank.active = Some(Active { first_command: now, issued: 0, slot, queue, outcome });
        self.busy |= one(index);
        self.assigned &= !one(index);
        bank.busy.service.open(now);
        self.busy_time.service.open(now);
        self.active[usize::from(write)] += 1;
        if self.spec.traits.strictly_in_order && !self.spec.traits.in_order_dispatch {
            self.order[serving].pop_front();
        }
    }

    /// The last column command of a request closes the row behind it where the page policy says so.
    fn with_auto_precharge(&self, index: usize, kind: CommandKind) -> CommandKind {
        let closing = match kind {
            Rd => Rda,
            Wr => Wra,
            _ => return kind,
        };
        if !self.spec.auto_precharge {
            return kind;
        }
        let is_last = |active: Active| active.issued + 1 == self.served(active).request.bursts;
        if !self.banks[index].active.is_some_and(is_last) {
            return kind;
        }
        let mut row = self.page_view(index);
        row.columns += 1;
        if self.page.closes_behind(&row) { closing } else { kind }
    }

    fn activate(&mut self, index: usize, now: u64) {
        let Some(active) = self.banks[index].active else { return };
        let Request { id, row, .. } = self.served(active).request;
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.opened(index);
        }
        let bank = &mut self.banks[index];
        bank.columns = 0;
        bank.last_use = now;
        bank.count.activations += 1;
        self.open.open(now);
        self.set_open_row(index, Some(row));
        self.tell(Event::Activated { bank: index as u16 }, now);
        self.record(Command { request: Some(id), ..idle_command(now, Act, index as u16, row) });
    }

    fn precharge(&mut self, index: usize, now: u64) {
        let bank = &mut self.banks[index];
        let Some(row) = bank.open_row else { return };
        bank.count.precharges += 1;
        if bank.active.is_none() {
            bank.busy.service.add(now, now + self.spec.trp);
            self.busy_time.service.add(now, now + self.spec.trp);
        }
        let active = bank.active;
        let request = active.map(|active| self.served(active).request.id);
        self.open.close(now);
        self.set_open_row(index, None);
        self.record(Command { request, ..idle_command(now, Pre, index as u16, row) });
    }

    fn set_open_row(&mut self, index: usize, row: Option<u32>) {
        self.banks[index].open_row = row;
        let queues = &mut self.queues[..self.spec.queues];
        queues.iter_mut().for_each(|queue| queue.set_open_row(index as u16, row));
        match row {
            Some(_) => self.open_banks |= one(index),
            None => self.open_banks &= !one(index),
        }
    }

    fn transfer(&mut self, index: usize, kind: CommandKind, now: u64) {
        let column = if kind.is_write() { Wr } else { Rd };
        let others_wait = self.agenda.wanting(opposite(column)) != 0;
        self.direction.note(column, others_wait);
        let bank = &mut self.banks[index];
        let Some(active) = &mut bank.active else { return };
        active.issued += 1;
        let active = *active;
        let queued = self.queues[usize::from(active.queue)].get(active.slot);
        let Request { id, row, write, bursts, .. } = queued.request;
        let last = active.issued == bursts;
        let latency = if write {
            bank.count.writes += 1;
            self.spec.write_latency
        } else {
            bank.count.reads += 1;
            self.spec.read_latency
        };
        bank.columns += 1;
        bank.last_use = now;
        if self.spec.scheduled[usize::from(active.queue)] {
            self.scheduler.on_column(queued, last, now);
        }
        let (burst, request) = (active.issued - 1, (id != Request::PREFETCH).then_some(id));
        self.record(Command { burst, request, ..idle_command(now, kind, index as u16, row) });
        if kind.closes_row() {
            self.close_behind(index, now);
        }
        if last {
            self.finish(index, active, now + latency + self.spec.burst, now);
        }
    }

    /// The column command that has just issued closes its row by itself.
    fn close_behind(&mut self, index: usize, now: u64) {
        self.banks[index].count.auto_precharges += 1;
        // The device precharges tRP before the bank may be activated again.
        let closed = self.timing.of_bank(Act, index).saturating_sub(self.spec.trp);
        self.open.close(closed.max(now));
        self.set_open_row(index, None);
    }

    /// The request's last column command has issued.
    fn finish(&mut self, index: usize, active: Active, data_end: u64, now: u64) {
        let queue = usize::from(active.queue);
        let Queued { request: Request { id, bank: number, line, write, .. }, arrived, .. } =
            *self.served(active);
        self.queues[queue].free(active.slot);
        let bank = &mut self.banks[index];
        bank.active = None;
        self.busy &= !one(index);
        bank.busy.close(data_end);
        self.busy_time.close(data_end);
        self.completions.push(Completion {
            id,
            bank: number,
            line,
            write,
            arrived,
            first_command: active.first_command,
            data_end,
            row_outcome: active.outcome,
        });
        if queue == PREFETCHES {
            self.end_prefetch(index);
            return;
        }
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.served(index, line, write);
        }
        let kind = usize::from(write);
        bank.waiting[queue] -= 1;
        self.waiting[queue] -= 1;
        self.active[kind] -= 1;
        self.requests_left[kind] += 1;
        self.occupancy.set(now, self.pending());
        if queue == WRITES {
            self.direction.write_left();
        }
        if self.choose_served_queue(now) {
            return;
        }
        if self.spec.traits.strictly_in_order
            && let Some(&oldest) = self.order[self.direction.serving].front()
        {
            self.decide(usize::from(oldest), now);
        }
    }

    pub(super) fn record(&mut self, command: Command) {
        if let Some(log) = &mut self.log {
            log.push(command);
        }
    }
}

fn opposite(column: CommandKind) -> CommandKind {
    if column == Rd { Wr } else { Rd }
}
