//! Prefetched lines of open rows.
//!
//! From its first to its last command a prefetch is in service like a request: it occupies its
//! bank, counts among the reads that may complete, and takes part in the round robin of the buses,
//! or yields them to other commands.
//! It never waits in a queue, and schedulers never see it.

use crate::prefetch::{Bus, OpenRow, Prefetcher, Trigger};
use crate::request::DramRequest;
use crate::sets::{BankSet, one};
use warpmem_params::Counter;
use warpmem_sim::{BankId, BankRow, CachedLines, LineSet, RowId};

/// Prefetch state of a channel.
#[derive(Default)]
pub(super) struct Prefetch {
    /// Banks whose next command is a prefetch.
    offered: BankSet,
    /// Prefetcher and row state; none without prefetching.
    lines: Option<Box<Lines>>,
}

/// The prefetcher of a channel and the state of its rows.
struct Lines {
    policy: Box<dyn Prefetcher>,
    /// Column commands per line.
    bursts: u16,
    /// All lines of a row.
    all: LineSet,
    /// Lines that the L2 holds, if they are skipped; otherwise empty.
    cached: CachedLines,
    /// Lines of the open row, by bank.
    rows: Box<[OpenLines]>,
    /// Lines prefetched while a request waited for another row of the bank.
    despite_requests: u64,
}

/// Lines of the row that a bank last opened.
#[derive(Clone, Copy, Default)]
struct OpenLines {
    /// Lines to prefetch: not skipped, and neither served nor prefetched since the row was opened.
    left: LineSet,
    prefetched: u32,
    /// Whether the row has served a request that triggers prefetching.
    triggered: bool,
}

impl Prefetch {
    /// Builds the prefetch state for rows of `lines` lines of `bursts` column commands each.
    pub fn new(
        policy: Box<dyn Prefetcher>,
        lines: u32,
        bursts: u16,
        cached: CachedLines,
        banks: usize,
    ) -> Prefetch {
        let all = LineSet::MAX >> (LineSet::BITS - lines);
        let rows = vec![OpenLines::default(); banks].into();
        let lines = Lines { policy, bursts, all, cached, rows, despite_requests: 0 };
        Prefetch { offered: 0, lines: Some(Box::new(lines)) }
    }

    /// Reports an arrival, which makes `pending` requests in the channel.
    #[inline]
    pub fn arrive(&mut self, pending: u32) {
        if let Some(lines) = &mut self.lines {
            lines.policy.on_arrival(pending);
        }
    }

    /// Resets the lines of a bank that has opened a row.
    #[inline]
    pub fn open(&mut self, bank: BankId) {
        if let Some(lines) = &mut self.lines {
            lines.rows[bank.index()] = OpenLines { left: lines.all, ..OpenLines::default() };
        }
    }

    /// Records a served request to a line of the bank's open row.
    #[inline]
    pub fn served(&mut self, bank: BankId, line: u16, write: bool) {
        let Some(lines) = &mut self.lines else { return };
        let row = &mut lines.rows[bank.index()];
        row.left &= !(1 << line);
        row.triggered |= !write || lines.policy.trigger() == Trigger::All;
    }

    /// Returns the banks whose next command is a prefetch.
    #[inline]
    pub fn offered(&self) -> BankSet {
        self.offered
    }

    /// Withdraws the bank's offer before a new decision.
    #[inline]
    pub fn clear(&mut self, bank: BankId) {
        self.offered &= !one(bank);
    }

    /// Returns whether the bank's open row has triggered prefetching and has lines left.
    #[inline]
    pub fn has_lines(&self, bank: BankId) -> bool {
        self.lines.as_ref().is_some_and(|lines| {
            let row = &lines.rows[bank.index()];
            row.left != 0 && row.triggered
        })
    }

    /// Returns whether the prefetcher continues while `waiting` requests wait for other rows of the
    /// bank and `pending` requests are in the channel.
    pub fn goes_on(&self, bank: BankId, waiting: u32, pending: u32) -> bool {
        self.lines.as_ref().is_some_and(|lines| {
            let prefetched = lines.rows[bank.index()].prefetched;
            lines.policy.goes_on(&OpenRow { waiting, prefetched, pending })
        })
    }

    /// Skips lines of the bank's open row that the L2 now holds; returns whether a line remains.
    pub fn leave_out_cached(&mut self, bank: BankId, row: RowId) -> bool {
        let Some(lines) = &mut self.lines else { return false };
        let left = &mut lines.rows[bank.index()].left;
        *left &= !lines.cached.of(BankRow { bank, row });
        *left != 0
    }

    /// Offers a prefetch to the bank.
    pub fn offer(&mut self, bank: BankId) {
        self.offered |= one(bank);
    }

    /// Skips the remaining lines of the bank's open row.
    pub fn leave_out_rest(&mut self, bank: BankId) {
        if let Some(lines) = &mut self.lines {
            lines.rows[bank.index()].left = 0;
        }
    }

    /// Starts the prefetch offered to the bank while `waiting` requests wait for the bank. Returns
    /// the request for the line.
    pub fn begin(&mut self, bank: BankId, row: RowId, waiting: u32) -> Option<DramRequest> {
        self.clear(bank);
        let lines = self.lines.as_mut()?;
        let open = &mut lines.rows[bank.index()];
        let line = open.left.trailing_zeros() as u16;
        open.left &= open.left - 1;
        open.prefetched += 1;
        lines.despite_requests += u64::from(waiting > 0);
        Some(prefetch_request(bank, row, line, lines.bursts))
    }

    /// Returns the `due` banks that may issue: without those that are `prefetching` or offered a
    /// prefetch, if prefetches come last and others are due.
    #[inline]
    pub fn last(&self, due: BankSet, prefetching: BankSet) -> BankSet {
        let Some(lines) = &self.lines else { return due };
        let others = due & !(self.offered | prefetching);
        if others != 0 && lines.policy.bus() == Bus::Last { others } else { due }
    }

    /// Returns whether banks are asked again after a completion.
    #[inline]
    pub fn follows_completions(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| lines.policy.follows_completions())
    }

    /// Starts no more prefetches.
    pub fn end(&mut self) {
        if let Some(lines) = &mut self.lines {
            lines.all = 0;
            lines.rows.fill(OpenLines::default());
        }
    }

    pub fn counters(&self) -> Vec<Counter> {
        let despite = |lines: &Lines| Counter {
            name: "lines_despite_requests",
            value: lines.despite_requests,
        };
        self.lines.as_deref().map(despite).into_iter().collect()
    }
}

/// Returns a read of a line that no request asked for.
fn prefetch_request(bank: BankId, row: RowId, line: u16, bursts: u16) -> DramRequest {
    DramRequest {
        bursts,
        line,
        sm: DramRequest::NO_SOURCE,
        warp: u32::MAX,
        cta: DramRequest::NO_CTA,
        ..DramRequest::read(DramRequest::PREFETCH, bank, row)
    }
}
