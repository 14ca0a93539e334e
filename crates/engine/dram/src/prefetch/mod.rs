//! Memory-side prefetchers: which lines of an open row a channel prefetches.
//!
//! A channel with a prefetcher reads the lines of an open row that have not been fetched, in row
//! order, as soon as no request waits for the row: see [`Channel::with_prefetcher`]. The prefetcher
//! decides when to stop. A policy is one file in this directory and one line of [`PREFETCHERS`].
//!
//! [`Channel::with_prefetcher`]: super::Channel::with_prefetcher

mod none;
mod opportunistic;
mod opportunistic_stop;

use warpmem_params::{Entry, PolicyError, PolicyInfo, Registry, choice, params};
use warpmem_sim::LineSet;

/// All prefetchers.
pub static PREFETCHERS: Registry<dyn Prefetcher, PrefetchContext> =
    Registry::new("prefetcher", &[none::ENTRY, opportunistic_stop::ENTRY, opportunistic::ENTRY]);

type PrefetchEntry = Entry<dyn Prefetcher, PrefetchContext>;

/// Most lines of a row: the channel keeps them in a bit set.
const MAX_LINES: u32 = LineSet::BITS;

choice! {
    /// Treatment of lines that the L2 holds.
    #[derive(PartialEq, Eq)]
    enum Cached {
        /// They are read like the others: the channel knows only the lines served since activation,
        /// as the bits of section 4.5 do (OWL 2013).
        Read = "read",
        /// They are skipped, as if "so far unfetched" (section 4.4) included lines fetched before.
        Skip = "skip",
    }
}

choice! {
    /// Commands of prefetches on the buses of the channel.
    #[derive(PartialEq, Eq)]
    pub enum Bus {
        /// They take part in the round robin over the banks.
        Shared = "shared",
        /// They issue in cycles in which no other command could.
        Last = "last",
    }
}

choice! {
    /// The request that triggers prefetching from a row.
    #[derive(PartialEq, Eq)]
    pub enum Trigger {
        /// A read: demand for data of the row.
        Reads = "reads",
        /// A read or a write, although write-backs express no demand.
        All = "all",
    }
}

params! {
    /// Parameters common to all prefetchers.
    #[derive(Clone, Copy)]
    struct Lines {
        /// lines that the L2 holds when their prefetch would issue: `read` reads them like the others,
        /// `skip` skips them
        cached: Cached = Cached::Read;
        /// request that triggers prefetching from a row once it has been served: a read (`reads`),
        /// or a read or a write (`all`)
        trigger: Trigger = Trigger::Reads;
        /// commands of prefetches share the command buses with those of requests, round robin over the
        /// banks (`shared`), or issue only when no other command could (`last`)
        bus: Bus = Bus::Shared;
    }
}

/// An open row without waiting requests and with lines left to prefetch.
#[derive(Clone, Copy, Debug)]
pub struct OpenRow {
    /// Servable requests that wait for other rows of its bank: reads only if writes have a separate
    /// queue.
    pub waiting: u32,
    /// Lines prefetched since activation.
    pub prefetched: u32,
    /// Requests in the channel, waiting or in service.
    pub pending: u32,
}

/// Decides how long a channel continues to prefetch. Each channel has its own.
pub trait Prefetcher: Send {
    /// Returns whether anything is ever prefetched. Constant.
    fn prefetches(&self) -> bool {
        true
    }

    /// Returns whether lines that the L2 holds when their prefetch would issue are skipped.
    /// Constant.
    fn skips_cached(&self) -> bool {
        false
    }

    /// Returns the request that triggers prefetching from a row. Constant.
    fn trigger(&self) -> Trigger {
        Trigger::Reads
    }

    /// Returns the priority of prefetches on the buses. Constant.
    fn bus(&self) -> Bus {
        Bus::Shared
    }

    /// Returns whether [`goes_on`](Prefetcher::goes_on) may become true because requests complete:
    /// the channel then also asks for every bank after each completion. Constant.
    fn follows_completions(&self) -> bool {
        false
    }

    /// Returns whether the next line of the row is read before a request to another row of the
    /// bank. The result depends on the row and on the arrivals so far, not on the number of calls:
    /// the channel asks at every decision of the bank, at least after each prefetched line and each
    /// arrival for the bank.
    fn goes_on(&self, row: &OpenRow) -> bool;

    /// Called after an arrival, which makes `pending` requests in the channel.
    fn on_arrival(&mut self, pending: u32) {
        let _ = pending;
    }
}

/// The properties of the machine that a prefetcher may use.
#[derive(Clone, Copy, Debug)]
pub struct PrefetchContext {
    pub l2_enabled: bool,
    pub l2_line_bytes: u32,
    pub row_bytes: u32,
}

/// Rejects machines in which no line can be prefetched.
fn fits(info: &PolicyInfo, machine: &PrefetchContext) -> Result<(), PolicyError> {
    let enabled = machine.l2_enabled;
    info.fits(enabled, "l2.enabled", enabled, || "true: lines need a cache".to_owned())?;
    let (row, line) = (machine.row_bytes, machine.l2_line_bytes);
    info.fits(row / line <= MAX_LINES, "dram.row_bytes", row, || {
        format!("at most {MAX_LINES} lines: `l2.cache.line_bytes` = {line}")
    })
}
