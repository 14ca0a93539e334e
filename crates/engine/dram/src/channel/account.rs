//! The statistics of a channel. They observe every event, and no decision depends on them.

use super::streak::Streak;
use crate::by_bank::ByBank;
use crate::durations::{Busy, Occupancy, Span};
use crate::queue::{Queue, Slot};
use crate::request::RowOutcome;
use crate::{BankResult, ChannelResult};
use warpmem_sim::{BankId, DramCycle};

/// Statistics of one bank.
#[derive(Clone, Default)]
#[repr(C)]
struct BankAccount {
    /// Counts without the durations, which are in `busy`.
    count: BankResult,
    streak: Streak,
    busy: Busy,
}

impl BankAccount {
    /// Returns the counts, with the durations up to `now`.
    fn counts(&self, now: DramCycle) -> BankResult {
        BankResult {
            outstanding_cycles: self.busy.pending.cycles(now),
            busy_cycles: self.busy.service.cycles(now),
            ..self.count.clone()
        }
    }
}

/// Statistics of a channel. They observe every event, and no decision depends on them.
pub(super) struct Account {
    /// Reads and writes that have completed.
    left: [u64; 2],
    busy: Busy,
    /// Time with at least one open row.
    open: Span,
    occupancy: Occupancy,
    accounts: ByBank<BankAccount>,
    /// Number of banks of the channel.
    banks: usize,
}

impl Account {
    /// Builds empty statistics. `capacity` is the most requests that the channel may hold.
    pub fn new(banks: usize, capacity: usize) -> Account {
        Account {
            left: [0; 2],
            busy: Busy::default(),
            open: Span::default(),
            occupancy: Occupancy::new(capacity),
            accounts: ByBank::new(BankAccount::default()),
            banks,
        }
    }

    /// Counts the arrival of a request, which makes `pending` requests in the channel.
    #[inline]
    pub fn arrive(&mut self, bank: BankId, pending: u32, now: DramCycle) {
        self.accounts[bank].busy.pending.open(now);
        self.busy.pending.open(now);
        self.occupancy.set(now, pending as usize);
    }

    /// Follows the row streak of a bank: the request in `slot` of `queue`, where it still waits, is
    /// served next and needs a row command.
    pub fn follow_streak(&mut self, bank: BankId, queue: &Queue, slot: Slot) {
        let BankAccount { streak, count, .. } = &mut self.accounts[bank];
        streak.serve(queue, slot, count);
    }

    /// Counts the first command of a request.
    #[inline]
    pub fn begin(&mut self, bank: BankId, outcome: RowOutcome, now: DramCycle) {
        let BankAccount { count, busy, .. } = &mut self.accounts[bank];
        match outcome {
            RowOutcome::Hit => count.row_hits += 1,
            RowOutcome::Miss => count.row_misses += 1,
            RowOutcome::Conflict => count.row_conflicts += 1,
        }
        busy.service.open(now);
        self.busy.service.open(now);
    }

    /// Counts the first command of a prefetch.
    pub fn begin_prefetch(&mut self, bank: BankId, now: DramCycle) {
        for busy in [&mut self.accounts[bank].busy, &mut self.busy] {
            busy.pending.open(now);
            busy.service.open(now);
        }
    }

    /// Counts an ACT.
    #[inline]
    pub fn activate(&mut self, bank: BankId, now: DramCycle) {
        self.accounts[bank].count.activations += 1;
        self.open.open(now);
    }

    /// Counts a PRE; that of an idle bank occupies the bank until `idle_until`.
    #[inline]
    pub fn precharge(&mut self, bank: BankId, idle_until: Option<DramCycle>, now: DramCycle) {
        let BankAccount { count, busy, .. } = &mut self.accounts[bank];
        count.precharges += 1;
        if let Some(end) = idle_until {
            busy.service.add(now, end);
            self.busy.service.add(now, end);
        }
        self.open.close(now);
    }

    /// Counts a column command that closes its row at `closed`.
    pub fn auto_precharge(&mut self, bank: BankId, closed: DramCycle) {
        self.accounts[bank].count.auto_precharges += 1;
        self.open.close(closed);
    }

    /// Counts a column command.
    #[inline]
    pub fn access(&mut self, bank: BankId, is_write: bool) {
        let BankResult { reads, writes, .. } = &mut self.accounts[bank].count;
        *(if is_write { writes } else { reads }) += 1;
    }

    /// Ends the service of a request or a prefetch whose last command has issued and whose data end
    /// at `data_end`.
    #[inline]
    pub fn end(&mut self, bank: BankId, data_end: DramCycle) {
        self.accounts[bank].busy.close(data_end);
        self.busy.close(data_end);
    }

    /// Counts the completion of a request of this kind, which leaves `pending` requests in the
    /// channel.
    #[inline]
    pub fn leave(&mut self, kind: usize, pending: u32, now: DramCycle) {
        self.left[kind] += 1;
        self.occupancy.set(now, pending as usize);
    }

    /// Counts the completion of a prefetch of `bursts` column commands.
    pub fn end_prefetch(&mut self, bank: BankId, bursts: u16) {
        let count = &mut self.accounts[bank].count;
        count.prefetched_lines += 1;
        count.prefetch_reads += u64::from(bursts);
    }

    /// Returns the counts up to `now`. Each column command occupies one of `data_buses` for `burst`
    /// cycles.
    pub fn counts(&self, burst: u64, data_buses: u64, now: DramCycle) -> ChannelResult {
        let banks: Vec<BankResult> =
            BankId::all(self.banks).map(|bank| self.accounts[bank].counts(now)).collect();
        let sum = |of: fn(&BankResult) -> u64| banks.iter().map(of).sum::<u64>();
        let [read_requests, write_requests] = self.left;
        let pending_cycles = self.busy.pending.cycles(now);
        ChannelResult {
            cycles: now.number(),
            read_requests,
            write_requests,
            data_bus_busy_cycles: sum(BankResult::columns) * burst / data_buses,
            pending_cycles,
            bank_outstanding_cycles: sum(|bank| bank.outstanding_cycles),
            any_bank_outstanding_cycles: pending_cycles,
            bank_busy_cycles: sum(|bank| bank.busy_cycles),
            any_bank_busy_cycles: self.busy.service.cycles(now),
            occupancy_cycles: self.occupancy.histogram(now),
            open_cycles: self.open.cycles(now),
            banks,
            ..ChannelResult::default()
        }
    }
}
