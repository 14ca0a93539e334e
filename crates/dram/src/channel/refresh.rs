//! Refresh, of all banks together or one after the other.

use super::Channel;
use crate::Dram;
use crate::request::{Command, CommandKind};
use crate::sets::{BankSet, one};
use std::ops::Range;

/// What is due and when the next is.
pub(super) struct Refresh {
    /// Cycles between refreshes of all banks and of single ones; 0 = none.
    interval: [u64; 2],
    next: [u64; 2],
    /// A refresh of all banks is due: no request starts.
    due: bool,
    /// The pseudo channel whose banks are refreshed next, all together.
    pseudo_channel: usize,
    banks_per_pseudo_channel: usize,
    /// The bank that is refreshed next, and whether its refresh is due.
    bank: usize,
    bank_due: bool,
    pub all_banks: u64,
    pub single_banks: u64,
}

const ALL: usize = 0;
const SINGLE: usize = 1;

impl Refresh {
    pub fn new(dram: &Dram) -> Refresh {
        let interval = [dram.timing.trefi, dram.timing.trefipb].map(u64::from);
        let first = |interval| if interval > 0 { interval } else { u64::MAX };
        Refresh {
            interval,
            next: interval.map(first),
            due: false,
            pseudo_channel: 0,
            banks_per_pseudo_channel: (dram.banks / dram.pseudo_channels.max(1)) as usize,
            bank: 0,
            bank_due: false,
            all_banks: 0,
            single_banks: 0,
        }
    }

    /// Banks at which no request may start.
    fn waited_for(&self) -> BankSet {
        let single = if self.bank_due { one(self.bank) } else { 0 };
        if self.due { BankSet::MAX } else { single }
    }

    /// The banks of the pseudo channel that is refreshed next.
    fn banks(&self) -> Range<usize> {
        let first = self.pseudo_channel * self.banks_per_pseudo_channel;
        first..first + self.banks_per_pseudo_channel
    }

    fn finish_all(&mut self) {
        self.pseudo_channel = 0;
        self.due = false;
        self.next[ALL] += self.interval[ALL];
    }

    /// The next cycle at which one falls due that is not yet.
    pub fn next(&self) -> u64 {
        let all = if self.due { u64::MAX } else { self.next[ALL] };
        let single = if self.bank_due { u64::MAX } else { self.next[SINGLE] };
        all.min(single)
    }
}

impl Channel {
    /// Notes the refreshes that fall due.
    pub(super) fn begin_refreshes(&mut self, now: u64) {
        if now >= self.refresh.next[ALL] && !self.refresh.due {
            self.refresh.due = true;
            self.follow_refresh();
            self.decide_all(now);
        }
        if now >= self.refresh.next[SINGLE] && !self.refresh.bank_due {
            self.refresh.bank_due = true;
            self.follow_refresh();
            self.assigned &= !one(self.refresh.bank);
            self.redecide(self.refresh.bank, now);
        }
    }

    /// What is due, or when the next will be, has changed.
    fn follow_refresh(&mut self) {
        self.refreshing = self.refresh.waited_for();
        self.plan_upkeep();
    }

    /// What a bank needs whose refresh is due: its row closed, then its own refresh if it is not
    /// that of all.
    pub(super) fn before_refresh(&mut self, index: usize) -> Option<(CommandKind, u64)> {
        self.banks[index].candidate = None;
        let close = self.close(index, 0);
        if close.is_some() || self.refresh.due {
            return close;
        }
        let kind = CommandKind::RefPb;
        Some((kind, self.timing.of_bank(kind, index)))
    }

    /// A single bank's refresh has issued.
    pub(super) fn bank_refreshed(&mut self, index: usize, now: u64) {
        let refresh = &mut self.refresh;
        refresh.single_banks += 1;
        refresh.bank_due = false;
        refresh.bank = (refresh.bank + 1) % self.banks.len();
        refresh.next[SINGLE] += refresh.interval[SINGLE];
        self.follow_refresh();
        self.record(idle_command(now, CommandKind::RefPb, index as u16, 0));
    }

    /// A refresh is due and every bank is closed and idle.
    pub(super) fn may_refresh_all(&self) -> bool {
        self.refreshing != 0 && self.refresh.due && self.open_banks == 0 && self.busy == 0
    }

    pub(super) fn earliest_refresh(&self) -> u64 {
        let banks = self.refresh.banks().map(|bank| self.timing.earliest(CommandKind::Ref, bank));
        banks.max().unwrap_or(0)
    }

    /// Refreshes a pseudo channel if it can. True if nothing else may issue.
    pub(super) fn refreshes_all(&mut self, now: u64) -> bool {
        if !self.may_refresh_all() {
            return false;
        }
        if now >= self.earliest_refresh() {
            let first = self.refresh.banks().start;
            self.agenda.delay(self.timing.delayed_by(CommandKind::Ref));
            self.timing.issued(CommandKind::Ref, first, now);
            self.refresh.all_banks += 1;
            self.record(idle_command(now, CommandKind::Ref, first as u16, 0));
            self.refresh.pseudo_channel += 1;
            if self.refresh.banks().start == self.banks.len() {
                self.refresh.finish_all();
                self.follow_refresh();
                self.decide_all(now);
                self.replan(0, now + 1);
            }
        }
        true
    }
}

/// A command that serves no request.
pub(super) fn idle_command(cycle: u64, kind: CommandKind, bank: u16, row: u32) -> Command {
    Command { cycle, kind, bank, row, burst: 0, request: None }
}
