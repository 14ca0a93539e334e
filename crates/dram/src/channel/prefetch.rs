//! Lines of open rows that are prefetched.
//!
//! From its first command to its last a prefetch is in service as a request is: it occupies its
//! bank, counts among the reads that may complete, and takes part in the round robin of the buses.
//! But it never waits in a queue, and schedulers do not see it.

use super::{Active, Channel, PREFETCHES, READS};
use crate::prefetch::{OpenRow, Prefetcher, Trigger};
use crate::queue::{Queue, Queued};
use crate::request::{CommandKind, Request, RowOutcome};
use crate::sets::{BankSet, members, one};
use warpmem_params::Counter;
use warpmem_sim::{BankId, BankRow, CachedLines, LineSet, RowId};

/// A channel's prefetcher and what it knows of the rows.
pub(super) struct Prefetch {
    policy: Box<dyn Prefetcher>,
    /// Column commands of a line.
    bursts: u16,
    /// All lines of a row.
    all: LineSet,
    /// Lines that the LLC has, if those are left out; else none.
    cached: CachedLines,
    /// By bank.
    rows: Box<[OpenLines]>,
    /// Lines read while a request waited for another row of the bank.
    despite_requests: u64,
}

/// The lines of the row that a bank last opened.
#[derive(Clone, Copy, Default)]
struct OpenLines {
    /// Lines to prefetch: not left out, and neither served nor prefetched since the row was opened.
    left: LineSet,
    prefetched: u32,
    /// A request that triggers prefetching has been served from the row.
    triggered: bool,
}

impl Prefetch {
    /// A request has entered the channel, in which are `pending` with it.
    pub fn arrived(&mut self, pending: u32) {
        self.policy.on_arrival(pending);
    }

    /// The bank has opened a row.
    pub fn opened(&mut self, bank: usize) {
        self.rows[bank] = OpenLines { left: self.all, ..OpenLines::default() };
    }

    /// A request for a line of the bank's open row has been served.
    pub fn served(&mut self, bank: usize, line: u16, write: bool) {
        let lines = &mut self.rows[bank];
        lines.left &= !(1 << line);
        lines.triggered |= !write || self.policy.trigger() == Trigger::All;
    }

    /// Leaves out what the LLC has of the bank's open row by now; whether a line is left.
    fn leaves_lines(&mut self, bank: usize, row: u32) -> bool {
        let left = &mut self.rows[bank].left;
        *left &= !self.cached.of(BankRow { bank: BankId::new(bank), row: RowId(row) });
        *left != 0
    }
}

impl Channel {
    /// The same channel with a prefetcher, where rows have `lines` lines, at most 128, of `bursts`
    /// column commands each. Then [`Request::line`] must be below `lines`. Lines of `cached` when
    /// their prefetch would issue are left out.
    ///
    /// As long as no request that may be served now waits for the open row of a bank, the lines of
    /// the row that nothing has read or written since it was opened are read, first line first,
    /// until the prefetcher stops or there is no room for one more to complete: once the row has
    /// served what triggers the prefetcher. A line that has begun is finished. A row that the page
    /// policy closes before the next line could be read is closed.
    #[must_use]
    pub fn with_prefetcher(
        mut self,
        policy: Box<dyn Prefetcher>,
        lines: u32,
        bursts: u16,
        cached: CachedLines,
    ) -> Channel {
        if policy.prefetches() {
            let banks = self.banks.len();
            let (all, rows) = (LineSet::MAX >> (LineSet::BITS - lines), Default::default());
            let rows = vec![rows; banks].into();
            let prefetch = Prefetch { policy, bursts, all, cached, rows, despite_requests: 0 };
            self.prefetch = Some(Box::new(prefetch));
            self.queues[PREFETCHES] = Queue::new(banks, banks);
        }
        self
    }

    /// Begins no more prefetches, from `now` on. Step the channel afterwards.
    pub fn end_prefetching(&mut self, now: u64) {
        let Some(prefetch) = &mut self.prefetch else { return };
        prefetch.all = 0;
        prefetch.rows.fill(OpenLines::default());
        members(self.offered).for_each(|index| self.decide(index, now));
    }

    /// Whether something is being prefetched.
    #[inline]
    pub fn is_prefetching(&self) -> bool {
        self.active_prefetches != 0
    }

    /// What the prefetcher did, beside what is in [`Channel::counts`].
    pub fn prefetch_counters(&self) -> Vec<Counter> {
        let despite = |prefetch: &Prefetch| Counter {
            name: "lines_despite_requests",
            value: prefetch.despite_requests,
        };
        self.prefetch.as_deref().map(despite).into_iter().collect()
    }

    /// The next line of the bank's open row, if it is to be read before anything else.
    #[inline]
    pub(super) fn offer_prefetch(&mut self, index: usize) -> Option<(CommandKind, u64)> {
        let prefetch = self.prefetch.as_ref()?;
        let lines = prefetch.rows[index];
        if lines.left == 0 || !lines.triggered || !self.may_prefetch(index) {
            return None;
        }
        let row = OpenRow {
            waiting: self.queues[READS].waiting(index as u16),
            prefetched: lines.prefetched,
            pending: self.waiting.iter().sum(),
        };
        let kind = CommandKind::Rd;
        if !prefetch.policy.goes_on(&row)
            || self.is_closed_by(index, self.timing.earliest(kind, index))
        {
            return None;
        }
        if !self.has_lines_to_prefetch(index) {
            return None;
        }
        self.banks[index].candidate = None;
        self.offered |= one(index);
        Some((kind, self.timing.of_bank(kind, index)))
    }

    /// Leaves out what the LLC has of the bank's open row by now; whether a line is left to
    /// prefetch.
    fn has_lines_to_prefetch(&mut self, index: usize) -> bool {
        let (Some(prefetch), Some(row)) = (&mut self.prefetch, self.banks[index].open_row) else {
            return false;
        };
        prefetch.leaves_lines(index, row)
    }

    /// The `due` banks without those that were to prefetch lines which the LLC has been given
    /// since.
    pub(super) fn without_fetched_lines(&mut self, mut due: BankSet, now: u64) -> BankSet {
        for index in members(due & self.offered) {
            if !self.has_lines_to_prefetch(index) {
                self.decide(index, now);
                due &= !one(index);
            }
        }
        due
    }

    /// A row is open that nothing waits for, and no request has been assigned to the bank.
    fn may_prefetch(&self, index: usize) -> bool {
        self.direction.serving == READS
            && self.open_banks & !self.assigned & one(index) != 0
            && self.queues[READS].hits(index as u16) == 0
    }

    /// The page policy closes the bank's row no later than `cycle`.
    fn is_closed_by(&self, index: usize, cycle: u64) -> bool {
        let closes_at = || self.page.closes_at(&self.page_view(index));
        self.spec.closes_idle_rows && closes_at().is_some_and(|closes| closes <= cycle)
    }

    /// Withdraws offered prefetches when there is no room for them: requests behind them must not
    /// wait for room.
    #[inline]
    pub(super) fn withdraw_offers(&mut self, room: u32, now: u64) {
        if self.offered == 0 || room > self.reads_in_service() {
            return;
        }
        for index in members(self.offered) {
            if let Some(prefetch) = &mut self.prefetch {
                prefetch.rows[index].left = 0;
            }
            self.decide(index, now);
        }
    }

    /// The first command of the prefetch that the bank was offered issues.
    pub(super) fn begin_prefetch(&mut self, index: usize, now: u64) {
        let (Some(prefetch), Some(row)) = (&mut self.prefetch, self.banks[index].open_row) else {
            return;
        };
        let lines = &mut prefetch.rows[index];
        let line = lines.left.trailing_zeros() as u16;
        lines.left &= lines.left - 1;
        lines.prefetched += 1;
        prefetch.despite_requests += u64::from(self.queues[READS].waiting(index as u16) > 0);
        let request = prefetch_request(index as u16, row, line, prefetch.bursts);
        let slot = self.queues[PREFETCHES].push(Queued { request, arrived: now, order: u64::MAX });
        self.queues[PREFETCHES].take(slot);
        let (queue, outcome) = (PREFETCHES as u8, RowOutcome::Hit);
        let active = Active { first_command: now, issued: 0, slot, queue, outcome };
        let bank = &mut self.banks[index];
        bank.active = Some(active);
        self.busy |= one(index);
        self.prefetching |= one(index);
        self.active_prefetches += 1;
        for time in [&mut bank.busy, &mut self.busy_time] {
            time.pending.open(now);
            time.service.open(now);
        }
    }

    /// The last command of a prefetch has issued.
    pub(super) fn end_prefetch(&mut self, index: usize) {
        let Some(prefetch) = &self.prefetch else { return };
        self.prefetching &= !one(index);
        self.active_prefetches -= 1;
        let count = &mut self.banks[index].count;
        count.prefetched_lines += 1;
        count.prefetch_reads += u64::from(prefetch.bursts);
    }
}

/// A read of a line that no request has asked for.
fn prefetch_request(bank: u16, row: u32, line: u16, bursts: u16) -> Request {
    Request {
        id: Request::PREFETCH,
        bank,
        row,
        write: false,
        bursts,
        line,
        sm: Request::NO_SOURCE,
        warp: u32::MAX,
        cta: Request::NO_CTA,
        pc: 0,
        load: u32::MAX,
        critical: false,
        hit_prone: false,
        merges: 1,
        age: 0,
    }
}
