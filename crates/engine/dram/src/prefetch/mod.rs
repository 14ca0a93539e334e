//! Memory-side prefetchers: which lines of an open row a channel prefetches.
//!
//! A channel with a prefetcher reads the lines of an open row that have not been fetched, in the
//! order of the row, as soon as no request waits for the row: see [`Channel::with_prefetcher`]. The
//! prefetcher says when to stop. A policy is one file here and one line of [`PREFETCHERS`].
//!
//! [`Channel::with_prefetcher`]: super::Channel::with_prefetcher

mod none;
mod opportunistic;
mod opportunistic_stop;

use warpmem_params::{Entry, PolicyError, PolicyInfo, Registry, choice, params};
use warpmem_sim::LineSet;

/// Every prefetcher.
pub static PREFETCHERS: Registry<dyn Prefetcher, PrefetchContext> = Registry {
    slot: "prefetcher",
    entries: &[none::ENTRY, opportunistic_stop::ENTRY, opportunistic::ENTRY],
};

type PrefetchEntry = Entry<dyn Prefetcher, PrefetchContext>;

/// Most lines that a row may have: the channel keeps them in a bit set.
const MAX_LINES: u32 = LineSet::BITS;

choice! {
    /// How lines that the L2 has are treated.
    #[derive(PartialEq, Eq)]
    enum Cached {
        /// They are left out: lines "so far unfetched" are prefetched (OWL 2013, section 4.4).
        Skip = "skip",
        /// They are read as others: the channel knows what was served since the row was opened alone,
        /// as the bits of section 4.5 do.
        Read = "read",
    }
}

choice! {
    /// What makes a channel prefetch from a row.
    #[derive(PartialEq, Eq)]
    pub enum Trigger {
        /// A read: somebody asks for data of the row.
        Reads = "reads",
        /// A write too, though write-backs are no demand.
        All = "all",
    }
}

params! {
    /// What the prefetchers have in common.
    #[derive(Clone, Copy)]
    struct Lines {
        /// lines that are in the L2 when their prefetch would issue: `skip` leaves them out,
        /// `read` reads them like the others
        cached: Cached = Cached::Skip;
        /// what must have been served from a row since it was opened: a read (`reads`), or a read
        /// or a write (`all`)
        trigger: Trigger = Trigger::Reads;
    }
}

/// An open row that no request waits for and that has lines left to prefetch.
#[derive(Clone, Copy, Debug)]
pub struct OpenRow {
    /// Requests that wait for other rows of its bank: of those that may be served now, so reads
    /// where writes have a queue of their own.
    pub waiting: u32,
    /// Lines prefetched since it was opened.
    pub prefetched: u32,
    /// Requests in the channel, waiting or in service.
    pub pending: u32,
}

/// Decides how long a channel goes on prefetching. Each channel has its own.
pub trait Prefetcher: Send {
    /// Whether anything is ever prefetched. Constant.
    fn prefetches(&self) -> bool {
        true
    }

    /// Whether lines that the L2 has when their prefetch would issue are left out. Constant.
    fn skips_cached(&self) -> bool {
        false
    }

    /// What makes the channel prefetch from a row. Constant.
    fn trigger(&self) -> Trigger {
        Trigger::Reads
    }

    /// Whether the next line of the row is read before a request to another row of the bank is
    /// served. Depends on the row and on the arrivals so far, not on how often it is asked: the
    /// channel asks whenever it chooses what the bank does next, at least when a line has been read
    /// and when a request arrives for the bank.
    fn goes_on(&self, row: &OpenRow) -> bool;

    /// A request has entered the channel, in which are `pending` with it.
    fn on_arrival(&mut self, pending: u32) {
        let _ = pending;
    }
}

/// What a prefetcher may know of the machine it works in.
#[derive(Clone, Copy, Debug)]
pub struct PrefetchContext {
    pub l2_enabled: bool,
    pub l2_line_bytes: u32,
    pub row_bytes: u32,
}

/// Refuses machines in which no line can be prefetched.
fn fits(info: &PolicyInfo, machine: &PrefetchContext) -> Result<(), PolicyError> {
    let enabled = machine.l2_enabled;
    info.fits(enabled, "l2.enabled", enabled, || "true: lines need a cache".to_owned())?;
    let (row, line) = (machine.row_bytes, machine.l2_line_bytes);
    info.fits(row / line <= MAX_LINES, "dram.row_bytes", row, || {
        format!("at most {MAX_LINES} lines: `l2.cache.line_bytes` = {line}")
    })
}
