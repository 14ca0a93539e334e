//! Command issue: the banks that may issue, the bank that does, and the consequences.

use super::Channel;
use super::queues::{PREFETCHES, READS, WRITES};
use super::round_robin::Pointer;
use super::service::Active;
use crate::queue::Slot;
use crate::request::CommandKind::{Act, Pre, Rd, Rda, Ref, RefPb, Wr, Wra};
use crate::request::{Command, CommandKind, Completion, DramRequest, RowOutcome};
use crate::scheduler::{BankView, Event, Ready};
use crate::sets::{BankSet, members, one};
use warpmem_sim::{BankId, DramCycle, RowId};

impl Channel {
    /// Returns whether a refresh of all banks is due and every bank is closed and idle.
    pub(super) fn may_refresh_all(&self) -> bool {
        self.refresh.is_all_due() && self.rows.open_banks() == 0 && self.service.busy() == 0
    }

    pub(super) fn earliest_refresh(&self) -> DramCycle {
        let timing = self.commands.timing();
        let banks = self.refresh.pseudo_channel();
        banks.map(|bank| timing.earliest(Ref, bank)).max().unwrap_or(DramCycle::ZERO)
    }

    /// Refreshes the next pseudo channel if timing allows.
    pub(super) fn refresh_all(&mut self, now: DramCycle) {
        if now < self.earliest_refresh() {
            return;
        }
        let first = self.refresh.first_bank();
        self.commands.issue(Ref, first, now);
        self.log.record(Command::of_bank(now, Ref, first, RowId(0)));
        if self.refresh.refresh_pseudo_channel() {
            self.plan_upkeep();
            self.decide_all(now);
            self.commands.replan(0, now + 1);
        }
    }

    /// Issues the commands whose cycle has come.
    pub(super) fn issue_due(&mut self, now: DramCycle, room: u32) {
        self.follow_timing(now);
        self.withdraw_offers(room, now);
        let due = self.commands.due(self.held(room), now);
        if due != 0 {
            self.issue(due, now, room);
        }
    }

    /// Issues one command per bus from these banks, whose cycle has come, and plans the next.
    #[inline(never)]
    fn issue(&mut self, due: BankSet, now: DramCycle, room: u32) {
        let reads_ended = self.service.reads_ended();
        if self.spec.dual_command_bus {
            let columns = self.commands.columns();
            if due & columns != 0 {
                self.issue_one(Pointer::ColumnBus, due & columns, now);
            }
            // The column command may have started the read that takes the last room, or ended the
            // write after which the channel serves reads. Banks whose decision this changes are no
            // longer due.
            let rows = due & !columns & self.commands.rows();
            if rows != 0 {
                let held = self.held(self.room_left(room, reads_ended));
                self.issue_one(Pointer::RowBus, rows & !held, now);
            }
        } else {
            self.issue_one(Pointer::RowBus, due, now);
        }
        self.follow_timing(now);
        let room = self.room_left(room, reads_ended);
        self.withdraw_offers(room, now);
        self.commands.replan(self.held(room), now + 1);
    }

    /// Returns the room left after the shares of the reads that have ended since `before`.
    fn room_left(&self, room: u32, before: u64) -> u32 {
        room.saturating_sub((self.service.reads_ended() - before) as u32)
    }

    /// Asks again for all idle banks, for schedulers whose choice depends on timing.
    fn follow_timing(&mut self, now: DramCycle) {
        if self.spec.traits.follows_timing {
            BankId::all(self.spec.banks).for_each(|bank| self.redecide(bank, now));
        }
    }

    /// Withdraws offered prefetches when there is no room for them, because requests behind them
    /// must not wait for room.
    #[inline]
    fn withdraw_offers(&mut self, room: u32, now: DramCycle) {
        if self.prefetch.offered() == 0 || room > self.service.reads() {
            return;
        }
        for bank in members(self.prefetch.offered()) {
            self.prefetch.leave_out_rest(bank);
            self.decide(bank, now);
        }
    }

    /// Returns the banks that may not issue their command regardless of timing.
    fn held(&self, room: u32) -> BankSet {
        self.commands.held(if self.lacks_room(room) { self.candidates.reads() } else { 0 })
    }

    /// Issues the command of one of the `due` banks: the first in the round robin among those of
    /// the lowest rank.
    fn issue_one(&mut self, bus: Pointer, due: BankSet, now: DramCycle) {
        let due = self.confirmed(due, now);
        let due = self.without_cached_lines(due, now);
        let due = self.prefetch.last(due, self.service.prefetching());
        let best = if self.spec.traits.ranks_banks { self.best_ranked(due, now) } else { due };
        let Some(bank) = self.round_robin.first(bus, best) else { return };
        let kind = self.commands.next_of(bank);
        // A column command of the same cycle may delay the row command.
        let follows_column = self.spec.dual_command_bus && matches!(bus, Pointer::RowBus);
        if follows_column && self.commands.timing().earliest(kind, bank) > now {
            return;
        }
        if best != due && self.round_robin.first(bus, due) != Some(bank) {
            self.notify(Event::Overtaken, now);
        }
        self.round_robin.issued(bus, bank, kind);
        if self.prefetch.offered() & one(bank) != 0 {
            self.begin_prefetch(bank, now);
        } else if let Some(candidate) = self.candidates.take(bank) {
            self.begin_service(bank, candidate, kind, now);
        }
        let kind = self.with_auto_precharge(bank, kind);
        self.commands.issue(kind, bank, now);
        match kind {
            Act => self.activate(bank, now),
            Pre => self.precharge(bank, now),
            RefPb => self.refresh_bank(bank, now),
            _ => self.transfer(bank, kind, now),
        }
        self.decide(bank, now);
    }

    /// Returns the due banks whose candidate still needs its command after asking the scheduler
    /// again, for schedulers that require it.
    fn confirmed(&mut self, due: BankSet, now: DramCycle) -> BankSet {
        if !self.spec.traits.repick_at_issue {
            return due;
        }
        let mut confirmed = due;
        for bank in members(due & !self.service.busy()) {
            let kind = self.commands.next_of(bank);
            self.decide(bank, now);
            confirmed &= !one(bank) | self.commands.wanting(kind);
        }
        confirmed
    }

    /// Returns the `due` banks without prefetches of lines that the L2 has received since.
    fn without_cached_lines(&mut self, mut due: BankSet, now: DramCycle) -> BankSet {
        for bank in members(due & self.prefetch.offered()) {
            if !self.has_lines_to_prefetch(bank) {
                self.decide(bank, now);
                due &= !one(bank);
            }
        }
        due
    }

    /// Returns the `due` banks of the lowest rank. Prefetches have no rank and join the best.
    #[inline(never)]
    fn best_ranked(&self, due: BankSet, now: DramCycle) -> BankSet {
        let unranked = due & (self.prefetch.offered() | self.service.prefetching());
        let (mut best, mut of) = (0, u64::MAX);
        for bank in members(due & !unranked) {
            let rank = self.scheduler.rank(&self.ready(bank, now));
            if rank < of {
                (best, of) = (0, rank);
            }
            if rank == of {
                best |= one(bank);
            }
        }
        best | unranked
    }

    /// Returns the command that the bank could issue.
    fn ready(&self, bank: BankId, now: DramCycle) -> Ready<'_> {
        let active = self.service.of(bank);
        let slot = self.candidates.of(bank).filter(|_| active.is_none());
        let waiting = slot.map(|slot| self.queues.of(self.drain.serving()).get(slot));
        let queued = active.map(|active| self.served(active)).or(waiting);
        Ready { now, kind: self.commands.next_of(bank), queued, slot }
    }

    /// Moves the bank's candidate from the queue into service; `kind` is its first command.
    fn begin_service(&mut self, bank: BankId, candidate: Slot, kind: CommandKind, now: DramCycle) {
        let serving = self.drain.serving();
        let queue = self.queues.of(serving);
        if self.spec.scheduled[serving] {
            let view = BankView {
                now,
                bank,
                queue,
                holds_channel_oldest: self.holds_oldest(bank),
                timing: self.commands.timing(),
            };
            self.scheduler.on_service(&view, candidate);
        }
        if !kind.is_column() {
            self.account.follow_streak(bank, queue, candidate);
        }
        let outcome = match kind {
            Act => RowOutcome::Miss,
            Pre => RowOutcome::Conflict,
            _ => RowOutcome::Hit,
        };
        let write = self.queues.begin_service(serving, candidate).request.write;
        self.service.begin(
            bank,
            Active {
                first_command: now,
                issued: 0,
                slot: candidate,
                queue: serving as u8,
                kind: if write { WRITES } else { READS } as u8,
                outcome,
            },
        );
        self.account.begin(bank, outcome, now);
        if !self.spec.traits.in_order_dispatch {
            self.queues.leave_order(serving);
        }
    }

    /// Issues the first command of the prefetch offered to the bank.
    #[inline(never)]
    fn begin_prefetch(&mut self, bank: BankId, now: DramCycle) {
        let Some(row) = self.rows.open_row(bank) else { return };
        let waiting = self.queues.of(READS).waiting(bank);
        let Some(request) = self.prefetch.begin(bank, row, waiting) else { return };
        let slot = self.queues.begin_prefetch(request, now);
        let (kind, outcome) = (PREFETCHES as u8, RowOutcome::Hit);
        let active = Active { first_command: now, issued: 0, slot, queue: kind, kind, outcome };
        self.service.begin(bank, active);
        self.account.begin_prefetch(bank, now);
    }

    /// Adds auto-precharge to the last column command of a request if the page policy asks for it.
    fn with_auto_precharge(&self, bank: BankId, kind: CommandKind) -> CommandKind {
        let closing = match kind {
            Rd => Rda,
            Wr => Wra,
            _ => return kind,
        };
        if !self.spec.auto_precharge {
            return kind;
        }
        let is_last = |active: Active| active.issued + 1 == self.served(active).request.bursts;
        if !self.service.of(bank).is_some_and(is_last) {
            return kind;
        }
        let mut row = self.page_view(bank);
        row.columns += 1;
        if self.page.closes_behind(&row) { closing } else { kind }
    }

    fn activate(&mut self, bank: BankId, now: DramCycle) {
        let Some(active) = self.service.of(bank) else { return };
        let DramRequest { id, row, .. } = self.served(active).request;
        self.prefetch.open(bank);
        self.rows.open(bank, row, now);
        self.queues.set_open_row(bank, Some(row));
        self.account.activate(bank, now);
        self.notify(Event::Activated { bank }, now);
        let command = Command::of_bank(now, Act, bank, row);
        self.log.record(Command { request: Some(id), ..command });
    }

    fn precharge(&mut self, bank: BankId, now: DramCycle) {
        let Some(row) = self.rows.open_row(bank) else { return };
        let request = self.service.of(bank).map(|active| self.served(active).request.id);
        let idle_until = request.is_none().then_some(now + self.spec.trp);
        self.account.precharge(bank, idle_until, now);
        self.close_row(bank);
        self.log.record(Command { request, ..Command::of_bank(now, Pre, bank, row) });
    }

    fn close_row(&mut self, bank: BankId) {
        self.rows.close(bank);
        self.queues.set_open_row(bank, None);
    }

    fn refresh_bank(&mut self, bank: BankId, now: DramCycle) {
        self.refresh.refresh_bank();
        self.plan_upkeep();
        self.log.record(Command::of_bank(now, RefPb, bank, RowId(0)));
    }

    fn transfer(&mut self, bank: BankId, kind: CommandKind, now: DramCycle) {
        let active = self.service.access(bank);
        let queued = self.queues.of(active.queue.into()).get(active.slot);
        let DramRequest { id, row, write, bursts, .. } = queued.request;
        self.rows.access(bank, now);
        self.account.access(bank, write);
        let last = active.issued == bursts;
        self.commands.transfer(write, last);
        if self.spec.scheduled[usize::from(active.queue)] {
            self.scheduler.on_column(queued, last, now);
        }
        let (burst, request) = (active.issued - 1, (id != DramRequest::PREFETCH).then_some(id));
        let command = Command::of_bank(now, kind, bank, row);
        self.log.record(Command { burst, request, ..command });
        if kind.closes_row() {
            self.close_behind(bank, now);
        }
        if last {
            self.finish(bank, active, now);
        }
    }

    /// Closes the row of the auto-precharge column command that has just issued.
    #[inline(never)]
    fn close_behind(&mut self, bank: BankId, now: DramCycle) {
        // The device precharges tRP before the next activation of the bank.
        let activates = self.commands.timing().of_bank(Act, bank);
        let closed = now + activates.saturating_since(now + self.spec.trp);
        self.account.auto_precharge(bank, closed);
        self.close_row(bank);
    }

    /// Decides again for the banks with lines to prefetch, which the prefetcher may now read.
    #[cold]
    fn offer_more(&mut self, now: DramCycle) {
        for bank in members(self.rows.open_banks()) {
            if self.prefetch.has_lines(bank) {
                self.redecide(bank, now);
            }
        }
    }

    /// Completes a request whose last column command has issued.
    fn finish(&mut self, bank: BankId, active: Active, now: DramCycle) {
        let queued = self.queues.leave(active.queue.into(), active.slot);
        let DramRequest { id, line, port, write, .. } = queued.request;
        let latency = self.spec.latencies[usize::from(write)];
        let data_end = now + latency + self.spec.burst;
        let kind = usize::from(active.kind);
        self.service.end(bank, kind);
        self.account.end(bank, data_end);
        self.completions.push(Completion {
            id,
            bank,
            line,
            port,
            write,
            arrived: queued.arrived,
            first_command: active.first_command,
            end: now + latency + self.spec.done_after,
            row_outcome: active.outcome,
        });
        if kind == PREFETCHES {
            self.account.end_prefetch(bank, active.issued);
            return;
        }
        self.prefetch.served(bank, line, write);
        self.account.leave(kind, self.queues.pending(), now);
        if self.prefetch.follows_completions() {
            self.offer_more(now);
        }
        if usize::from(active.queue) == WRITES {
            self.drain.write_left();
        }
        if self.choose_served_queue(now) {
            return;
        }
        if let Some(oldest) = self.queues.oldest_bank(self.drain.serving()) {
            self.decide(oldest, now);
        }
    }
}
