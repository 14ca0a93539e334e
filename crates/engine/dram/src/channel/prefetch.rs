//! Lines of open rows that are prefetched.
//!
//! From its first command to its last a prefetch is in service as a request is: it occupies its
//! bank, counts among the reads that may complete, and takes part in the round robin of the buses.
//! But it never waits in a queue, and schedulers do not see it.

use crate::prefetch::{OpenRow, Prefetcher, Trigger};
use crate::request::Request;
use crate::sets::{BankSet, one};
use warpmem_params::Counter;
use warpmem_sim::{BankId, BankRow, CachedLines, LineSet, RowId};

/// What a channel prefetches.
#[derive(Default)]
pub(super) struct Prefetch {
    /// Banks that go on with a prefetch.
    offered: BankSet,
    /// None where nothing is prefetched.
    lines: Option<Box<Lines>>,
}

/// A channel's prefetcher and what it knows of the rows.
struct Lines {
    policy: Box<dyn Prefetcher>,
    /// Column commands of a line.
    bursts: u16,
    /// All lines of a row.
    all: LineSet,
    /// Lines that the L2 has, if those are left out; else none.
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
    /// By `policy`, in rows of `lines` lines, of `bursts` column commands each.
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

    /// A request has entered the channel, in which are `pending` with it.
    #[inline]
    pub fn arrive(&mut self, pending: u32) {
        if let Some(lines) = &mut self.lines {
            lines.policy.on_arrival(pending);
        }
    }

    /// The bank has opened a row.
    #[inline]
    pub fn open(&mut self, bank: BankId) {
        if let Some(lines) = &mut self.lines {
            lines.rows[bank.index()] = OpenLines { left: lines.all, ..OpenLines::default() };
        }
    }

    /// A request for a line of the bank's open row has been served.
    #[inline]
    pub fn served(&mut self, bank: BankId, line: u16, write: bool) {
        let Some(lines) = &mut self.lines else { return };
        let row = &mut lines.rows[bank.index()];
        row.left &= !(1 << line);
        row.triggered |= !write || lines.policy.trigger() == Trigger::All;
    }

    /// Banks that go on with a prefetch.
    #[inline]
    pub fn offered(&self) -> BankSet {
        self.offered
    }

    /// The bank is decided again.
    #[inline]
    pub fn clear(&mut self, bank: BankId) {
        self.offered &= !one(bank);
    }

    /// Whether the bank's open row has lines left to prefetch, and has served what triggers that.
    #[inline]
    pub fn has_lines(&self, bank: BankId) -> bool {
        self.lines.as_ref().is_some_and(|lines| {
            let row = &lines.rows[bank.index()];
            row.left != 0 && row.triggered
        })
    }

    /// Whether the prefetcher goes on, with so many requests that wait for other rows of the bank,
    /// and so many in the channel.
    pub fn goes_on(&self, bank: BankId, waiting: u32, pending: u32) -> bool {
        self.lines.as_ref().is_some_and(|lines| {
            let prefetched = lines.rows[bank.index()].prefetched;
            lines.policy.goes_on(&OpenRow { waiting, prefetched, pending })
        })
    }

    /// Leaves out what the L2 has of the bank's open row by now; whether a line is left.
    pub fn leave_out_cached(&mut self, bank: BankId, row: RowId) -> bool {
        let Some(lines) = &mut self.lines else { return false };
        let left = &mut lines.rows[bank.index()].left;
        *left &= !lines.cached.of(BankRow { bank, row });
        *left != 0
    }

    /// The bank goes on with a prefetch.
    pub fn offer(&mut self, bank: BankId) {
        self.offered |= one(bank);
    }

    /// Leaves out the rest of the bank's open row.
    pub fn leave_out_rest(&mut self, bank: BankId) {
        if let Some(lines) = &mut self.lines {
            lines.rows[bank.index()].left = 0;
        }
    }

    /// The first command of the prefetch that the bank was offered issues, while `waiting` requests
    /// wait for the bank. Returns the request for the line.
    pub fn begin(&mut self, bank: BankId, row: RowId, waiting: u32) -> Option<Request> {
        self.clear(bank);
        let lines = self.lines.as_mut()?;
        let open = &mut lines.rows[bank.index()];
        let line = open.left.trailing_zeros() as u16;
        open.left &= open.left - 1;
        open.prefetched += 1;
        lines.despite_requests += u64::from(waiting > 0);
        Some(prefetch_request(bank, row, line, lines.bursts))
    }

    /// Begins no more.
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

/// A read of a line that no request has asked for.
fn prefetch_request(bank: BankId, row: RowId, line: u16, bursts: u16) -> Request {
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
