//! What each bank does next.
//!
//! **Definition.** The next command of a bank is that of the first of these that there is:
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
//! The *candidate* is the request that the scheduler picks among those of the bank in the queue
//! that is served now. With `picks_per_cycle` = 0 every bank is given one at once; otherwise so
//! many banks in a cycle, round robin, are assigned one, which then stays theirs. With its first
//! command the candidate becomes the request in service.
//!
//! A decision stands in the [`Agenda`](crate::agenda::Agenda) until something happens that could
//! change it: a request arrives for the bank or completes, a command of the bank issues, the
//! channel changes between reads and writes, a refresh falls due, or the scheduler names the bank
//! (`tick`) or the cycle (`changes_at`). Only then is the bank decided again.

use super::{ASSIGNMENTS, Channel, READS, WRITES};
use crate::page::PageView;
use crate::queue::{Queue, Slot};
use crate::request::{CommandKind, Request};
use crate::scheduler::{BankView, ChannelView, next_command};
use crate::sets::{first_from, members, one};

impl Channel {
    /// Chooses between reads and writes: see [`Direction`]. True if that changed; then every bank
    /// has been decided again.
    pub(super) fn choose_served_queue(&mut self, now: u64) -> bool {
        let changed = self.spec.split && self.direction.choose(self.waiting);
        if changed {
            self.decide_all(now);
        }
        changed
    }

    pub(super) fn decide_all(&mut self, now: u64) {
        self.assigned = 0;
        for bank in 0..self.banks.len() {
            self.decide(bank, now);
        }
    }

    /// Decides again for a bank that has nothing in service.
    pub(super) fn redecide(&mut self, index: usize, now: u64) {
        if self.banks[index].active.is_none() {
            self.decide(index, now);
        }
    }

    /// Decides which command the bank needs next: see the head of this module.
    pub(super) fn decide(&mut self, index: usize, now: u64) {
        self.read_candidates &= !one(index);
        self.unassigned &= !one(index);
        self.offered &= !one(index);
        let next = match self.banks[index].active {
            Some(active) => Some(self.command_for(index, &self.served(active).request)),
            None if self.refreshing & one(index) != 0 => self.before_refresh(index),
            None => self.offer_prefetch(index).or_else(|| self.choose_candidate(index, now)),
        };
        self.agenda.set(index, next, &self.timing);
    }

    /// What the bank needs for its scheduler's choice, or to close a row that nothing waits for.
    fn choose_candidate(&mut self, index: usize, now: u64) -> Option<(CommandKind, u64)> {
        let candidate = self.candidate(index, now);
        let bank = &mut self.banks[index];
        bank.candidate = candidate;
        let Some(candidate) = candidate else { return self.close_idle(index) };
        let request = &self.queues[self.direction.serving].get(candidate).request;
        self.read_candidates |= if request.write { 0 } else { one(index) };
        Some(self.command_for(index, request))
    }

    fn candidate(&mut self, index: usize, now: u64) -> Option<Slot> {
        if self.spec.picks_per_cycle == 0 {
            return self.pick(index, now);
        }
        if self.assigned & one(index) != 0 {
            return self.banks[index].candidate;
        }
        if self.queues[self.direction.serving].waiting(index as u16) > 0 {
            self.unassigned |= one(index);
            self.upkeep = self.upkeep.min(self.next_assignment);
        }
        None
    }

    fn pick(&mut self, index: usize, now: u64) -> Option<Slot> {
        let serving = self.direction.serving;
        if self.queues[serving].waiting(index as u16) == 0 {
            return None;
        }
        let holds_channel_oldest = self.holds_oldest(index);
        let view = BankView {
            now,
            bank: index as u16,
            queue: &self.queues[serving],
            holds_channel_oldest,
            timing: &self.timing,
        };
        if !self.spec.scheduled[serving] {
            return Some(view.fr_fcfs());
        }
        let pick = self.scheduler.pick(&view);
        if let Some(ends) = self.scheduler.changes_at(&view) {
            self.choice_ends[index] = ends;
            self.choices_end = self.choices_end.min(ends);
        }
        pick
    }

    /// The bank holds the oldest request that may be served, and none is in service.
    pub(super) fn holds_oldest(&self, index: usize) -> bool {
        self.spec.traits.strictly_in_order
            && (self.spec.traits.in_order_dispatch || self.active == [0; 2])
            && self.order[self.direction.serving].front() == Some(&(index as u16))
    }

    /// The oldest request has left the order of arrival: the next may be dispatched to its bank.
    fn leave_order(&mut self, now: u64) {
        let order = &mut self.order[self.direction.serving];
        order.pop_front();
        if let Some(&bank) = order.front() {
            self.decide(usize::from(bank), now);
        }
    }

    /// The cycle of the scheduler's next tick.
    pub(super) fn next_tick(&self) -> u64 {
        if self.spec.scheduled[READS] { self.scheduler.next_tick() } else { u64::MAX }
    }

    /// Calls the scheduler's tick if it is due.
    pub(super) fn tick(&mut self, now: u64) {
        if self.next_tick() > now {
            return;
        }
        let asked = self.scheduler.tick(&ChannelView {
            now,
            queue: &self.queues[READS],
            full: self.entries_taken(READS) >= self.spec.capacity[READS],
            writes: self.waiting[WRITES],
            write_high_watermark: self.direction.high_watermark,
            busy: self.busy & !self.prefetching,
        });
        members(asked).for_each(|bank| self.redecide(bank, now));
    }

    /// Asks again for the banks whose choice may have changed with time.
    pub(super) fn end_choices(&mut self, now: u64) {
        if self.choices_end > now {
            return;
        }
        self.choices_end = u64::MAX;
        for bank in 0..self.banks.len() {
            let ends = self.choice_ends[bank];
            if ends > now {
                self.choices_end = self.choices_end.min(ends);
                continue;
            }
            self.choice_ends[bank] = u64::MAX;
            self.redecide(bank, now);
        }
    }

    /// Assigns requests to the next banks in the round, where only so many are in a cycle.
    pub(super) fn assign(&mut self, now: u64) {
        if self.unassigned == 0 || now < self.next_assignment {
            return;
        }
        let mut left = self.spec.picks_per_cycle;
        let mut banks = self.unassigned;
        while left > 0
            && let Some(index) = first_from(banks, self.round_robin[ASSIGNMENTS])
        {
            banks &= !one(index);
            let Some(slot) = self.pick(index, now) else {
                self.unassigned &= !one(index);
                continue;
            };
            if self.spec.traits.shared_round_robin {
                self.round_robin =
                    [(self.round_robin[ASSIGNMENTS] + 1) % self.banks.len() as u32; 3];
            } else {
                self.round_robin[ASSIGNMENTS] = index as u32 + 1;
            }
            self.banks[index].candidate = Some(slot);
            self.assigned |= one(index);
            self.decide(index, now);
            if self.spec.traits.in_order_dispatch {
                self.leave_order(now);
            }
            left -= 1;
        }
        self.next_assignment = now + 1;
    }

    /// The next command of a request, and its earliest cycle as far as the bank goes.
    fn command_for(&self, index: usize, request: &Request) -> (CommandKind, u64) {
        let kind = next_command(self.banks[index].open_row, request);
        (kind, self.timing.of_bank(kind, index))
    }

    /// Closing a row of an idle bank, as the page policy has it.
    fn close_idle(&self, index: usize) -> Option<(CommandKind, u64)> {
        if !self.spec.closes_idle_rows {
            return None;
        }
        let row = self.page_view(index);
        if row.hits > 0 {
            return None;
        }
        self.close(index, self.page.closes_at(&row)?)
    }

    pub(super) fn page_view(&self, index: usize) -> PageView {
        let (bank, queues) = (&self.banks[index], &self.queues[..self.spec.queues]);
        let sum =
            |of: fn(&Queue, u16) -> u32| queues.iter().map(|queue| of(queue, index as u16)).sum();
        PageView {
            hits: sum(Queue::hits),
            waiting: sum(Queue::waiting),
            columns: bank.columns,
            last_use: bank.last_use,
        }
    }

    /// Closing the bank's row, if one is open, no earlier than `from`.
    pub(super) fn close(&self, index: usize, from: u64) -> Option<(CommandKind, u64)> {
        self.banks[index].open_row?;
        let kind = CommandKind::Pre;
        Some((kind, self.timing.of_bank(kind, index).max(from)))
    }
}
