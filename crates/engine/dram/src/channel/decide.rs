//! The decision which command each bank issues next.
//!
//! **Definition.** The next command of a bank follows from the first of these that applies:
//!
//! ```text
//!   a request in service ──────────────▶ PRE, ACT, RD or WR, as the open row demands
//!    │ none
//!   a refresh that is due ─────────────▶ PRE of an open row, then REFPB (REF waits for all banks)
//!    │ none
//!   a line to prefetch ────────────────▶ RD of the open row
//!    │ none
//!   a candidate ───────────────────────▶ PRE, ACT, RD or WR, as the open row demands
//!    │ none
//!   a row that the page policy closes ─▶ PRE
//!    │ none
//!   no command
//! ```
//!
//! The *candidate* is the request that the scheduler picks for the bank from the queue that the
//! channel currently serves, see [`Candidates`](super::candidates::Candidates). Its first command
//! puts it into service.
//!
//! A decision stays in the [`Agenda`](crate::agenda::Agenda) until an event may change it: a
//! request of the bank arrives or completes, a command of the bank issues, the channel switches
//! between reads and writes, a refresh becomes due, or the scheduler names the bank (`tick`) or the
//! cycle (`changes_at`). Only then is the bank decided again.

use super::Channel;
use super::commands::NextCommand;
use super::queues::READS;
use super::round_robin::Pointer;
use crate::page::PageView;
use crate::queue::Slot;
use crate::request::{CommandKind, DramRequest};
use crate::scheduler::{BankView, next_command};
use crate::sets::{BankSet, one};
use warpmem_sim::{BankId, DramCycle};

impl Channel {
    /// Chooses between reads and writes, see [`WriteDrain`](super::write_drain::WriteDrain).
    /// Returns whether the choice changed, in which case every bank has been decided again.
    pub(super) fn choose_served_queue(&mut self, now: DramCycle) -> bool {
        let changed = self.spec.split && self.drain.choose(self.queues.present());
        if changed {
            self.decide_all(now);
        }
        changed
    }

    /// Decides again for all banks and withdraws their assignments.
    pub(super) fn decide_all(&mut self, now: DramCycle) {
        self.candidates.withdraw(BankSet::MAX);
        for bank in BankId::all(self.spec.banks) {
            self.decide(bank, now);
        }
    }

    /// Decides again for a bank with nothing in service.
    pub(super) fn redecide(&mut self, bank: BankId, now: DramCycle) {
        if self.service.is_idle(bank) {
            self.decide(bank, now);
        }
    }

    /// Decides the next command of the bank, see the module documentation.
    pub(super) fn decide(&mut self, bank: BankId, now: DramCycle) {
        let next = match self.service.of(bank) {
            Some(active) => Some(self.command_for(bank, &self.served(active).request)),
            None => self.decide_idle(bank, now),
        };
        self.commands.set(bank, next);
    }

    /// Decides for a bank with nothing in service.
    #[inline]
    fn decide_idle(&mut self, bank: BankId, now: DramCycle) -> Option<NextCommand> {
        self.candidates.clear(bank);
        self.prefetch.clear(bank);
        if self.refresh.holds(bank) {
            return self.before_refresh(bank);
        }
        self.offer_prefetch(bank).or_else(|| self.choose_candidate(bank, now))
    }

    /// Returns the command that a bank needs for its due refresh: first PRE of an open row, then
    /// REFPB if the bank is refreshed by itself.
    #[cold]
    fn before_refresh(&self, bank: BankId) -> Option<NextCommand> {
        self.close(bank, DramCycle::ZERO).or_else(|| {
            let is_single = !self.refresh.is_all_due();
            is_single.then(|| self.commands.of(CommandKind::RefPb, bank))
        })
    }

    /// Offers the next line of the bank's open row if it is prefetched before any request.
    #[inline]
    fn offer_prefetch(&mut self, bank: BankId) -> Option<NextCommand> {
        if !self.prefetch.has_lines(bank) || !self.may_prefetch(bank) {
            return None;
        }
        let (waiting, pending) = (self.queues.of(READS).waiting(bank), self.queues.pending());
        let kind = CommandKind::Rd;
        if !self.prefetch.goes_on(bank, waiting, pending)
            || self.is_closed_by(bank, self.commands.timing().earliest(kind, bank))
            || !self.has_lines_to_prefetch(bank)
        {
            return None;
        }
        self.prefetch.offer(bank);
        Some(self.commands.of(kind, bank))
    }

    /// Returns whether the bank has an open row without waiting requests and no assigned request.
    fn may_prefetch(&self, bank: BankId) -> bool {
        self.drain.serving() == READS
            && self.rows.open_banks() & !self.candidates.assigned() & one(bank) != 0
            && self.queues.of(READS).hits(bank) == 0
    }

    /// Returns whether the page policy closes the bank's row at or before `cycle`.
    fn is_closed_by(&self, bank: BankId, cycle: DramCycle) -> bool {
        let closes_at = || self.page.closes_at(&self.page_view(bank));
        self.spec.closes_idle_rows && closes_at().is_some_and(|closes| closes <= cycle)
    }

    /// Skips lines of the bank's open row that the L2 now holds; returns whether a line to prefetch
    /// remains.
    pub(super) fn has_lines_to_prefetch(&mut self, bank: BankId) -> bool {
        let open_row = self.rows.open_row(bank);
        open_row.is_some_and(|row| self.prefetch.leave_out_cached(bank, row))
    }

    /// Decides from the scheduler's choice, or else closes a row without waiting requests.
    fn choose_candidate(&mut self, bank: BankId, now: DramCycle) -> Option<NextCommand> {
        let Some(candidate) = self.candidate(bank, now) else { return self.close_idle(bank) };
        let request = &self.queues.of(self.drain.serving()).get(candidate).request;
        self.candidates.set(bank, candidate, request.write);
        Some(self.command_for(bank, request))
    }

    fn candidate(&mut self, bank: BankId, now: DramCycle) -> Option<Slot> {
        if self.spec.picks_per_cycle == 0 {
            return self.pick(bank, now);
        }
        let assigned = self.candidates.of(bank);
        if assigned.is_none() && self.queues.of(self.drain.serving()).waiting(bank) > 0 {
            self.candidates.wait(bank);
            self.upkeep = self.upkeep.min(self.candidates.next_assignment());
        }
        assigned
    }

    /// Returns the request that the scheduler picks for the bank.
    #[inline]
    fn pick(&mut self, bank: BankId, now: DramCycle) -> Option<Slot> {
        let serving = self.drain.serving();
        if self.spec.scheduled[serving] {
            return self.ask_scheduler(bank, now);
        }
        let queue = self.queues.of(serving);
        queue.oldest_hit(bank).or_else(|| queue.oldest(bank))
    }

    #[inline(never)]
    fn ask_scheduler(&mut self, bank: BankId, now: DramCycle) -> Option<Slot> {
        let queue = self.queues.of(self.drain.serving());
        if queue.waiting(bank) == 0 {
            return None;
        }
        let view = BankView {
            now,
            bank,
            queue,
            holds_channel_oldest: self.holds_oldest(bank),
            timing: self.commands.timing(),
        };
        let pick = self.scheduler.pick(&view);
        if let Some(end) = self.scheduler.changes_at(&view) {
            self.pick_expiry.set(bank, end);
        }
        pick
    }

    /// Returns whether the bank holds the oldest servable request while none is in service.
    pub(super) fn holds_oldest(&self, bank: BankId) -> bool {
        self.queues.oldest_bank(self.drain.serving()) == Some(bank)
            && (self.spec.traits.in_order_dispatch || self.service.requests() == 0)
    }

    /// Assigns requests to the next banks of the round robin, up to the limit per cycle.
    pub(super) fn assign(&mut self, now: DramCycle) {
        if self.candidates.next_assignment() > now {
            return;
        }
        let mut left = self.spec.picks_per_cycle;
        let mut banks = self.candidates.unassigned();
        while left > 0
            && let Some(bank) = self.round_robin.first(Pointer::Assignment, banks)
        {
            banks &= !one(bank);
            let Some(slot) = self.pick(bank, now) else {
                self.candidates.pass(bank);
                continue;
            };
            self.round_robin.assigned(bank);
            self.candidates.assign(bank, slot);
            self.decide(bank, now);
            if self.spec.traits.in_order_dispatch {
                self.leave_order(now);
            }
            left -= 1;
        }
        self.candidates.end_assignments(now);
    }

    /// Removes the oldest request from the order of arrival, so that the next may be dispatched.
    fn leave_order(&mut self, now: DramCycle) {
        let serving = self.drain.serving();
        self.queues.leave_order(serving);
        if let Some(bank) = self.queues.oldest_bank(serving) {
            self.decide(bank, now);
        }
    }

    /// Returns the next command of a request and its earliest cycle under the constraints of the
    /// bank.
    fn command_for(&self, bank: BankId, request: &DramRequest) -> NextCommand {
        self.commands.of(next_command(self.rows.open_row(bank), request), bank)
    }

    /// Returns the PRE of an idle bank that the page policy asks for.
    fn close_idle(&self, bank: BankId) -> Option<NextCommand> {
        if !self.spec.closes_idle_rows {
            return None;
        }
        let row = self.page_view(bank);
        if row.hits > 0 {
            return None;
        }
        self.close(bank, self.page.closes_at(&row)?)
    }

    /// Returns the PRE of the bank's open row, if any, no earlier than `from`.
    fn close(&self, bank: BankId, from: DramCycle) -> Option<NextCommand> {
        self.rows.open_row(bank)?;
        let (kind, cycle) = self.commands.of(CommandKind::Pre, bank);
        Some((kind, cycle.max(from)))
    }

    /// Returns the bank's open row as the page policy sees it.
    pub(super) fn page_view(&self, bank: BankId) -> PageView {
        PageView {
            hits: self.queues.hits(bank),
            waiting: self.queues.waiting(bank),
            columns: self.rows.columns(bank),
            last_use: self.rows.last_use(bank),
        }
    }
}
