//! Page policies: when to close a row that no request in service needs.
//!
//! A policy is one file in this directory and one line of [`PAGE_POLICIES`].

mod closed;
mod closed_adaptive;
mod closed_cap;
mod open;
mod open_adaptive;
mod timeout;

use crate::Dram;
use warpmem_params::{Entry, Registry};
use warpmem_sim::DramCycle;

/// All page policies.
pub static PAGE_POLICIES: Registry<dyn PagePolicy, Dram> = Registry::new(
    "page",
    &[
        open::ENTRY,
        closed::ENTRY,
        timeout::ENTRY,
        closed_cap::ENTRY,
        open_adaptive::ENTRY,
        closed_adaptive::ENTRY,
    ],
);

type PageEntry = Entry<dyn PagePolicy, Dram>;

/// An open row, as a page policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct PageView {
    /// Queued requests to the row, of both kinds.
    pub hits: u32,
    /// Queued requests to the bank, of both kinds.
    pub waiting: u32,
    /// Column commands since the row was opened.
    pub columns: u32,
    /// Cycle of the last column command or the activation.
    pub last_use: DramCycle,
}

/// Decides when rows are closed.
pub trait PagePolicy: Send {
    /// Returns whether [`closes_behind`](PagePolicy::closes_behind) is ever true. Constant.
    fn precharges_automatically(&self) -> bool {
        false
    }

    /// Returns whether the last column command of a request closes the row (auto-precharge). `row`
    /// is the state after that command.
    fn closes_behind(&self, row: &PageView) -> bool {
        let _ = row;
        false
    }

    /// Returns whether [`closes_at`](PagePolicy::closes_at) ever returns a cycle. Constant.
    fn closes_idle_rows(&self) -> bool {
        true
    }

    /// Returns the cycle from which the row is closed while its bank is idle and no request waits
    /// for the row; `None` keeps it open.
    fn closes_at(&self, row: &PageView) -> Option<DramCycle> {
        let _ = row;
        None
    }
}
