//! `closed-cap`: as `closed`; in addition a row is closed after n column commands even if requests
//! wait for it.

use super::{PageEntry, PagePolicy, PageView};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::DramCycle;

const INFO: PolicyInfo = PolicyInfo {
    name: "closed-cap",
    summary: "as `closed`; in addition a row is closed after n column commands even if requests wait for it",
    source: "Ramulator 2.1",
    params: ClosedCap::params,
};

pub(super) const ENTRY: PageEntry =
    PageEntry { info: INFO, build: |_, params| Ok(Box::new(params.read::<ClosedCap>())) };

params! {
    struct ClosedCap {
        /// column commands that a row may serve before it is closed
        n: u32 = 4, in 1.., unit "column commands";
    }
}

impl PagePolicy for ClosedCap {
    fn precharges_automatically(&self) -> bool {
        true
    }

    fn closes_behind(&self, row: &PageView) -> bool {
        row.hits == 0 || row.columns >= self.n
    }

    fn closes_at(&self, row: &PageView) -> Option<DramCycle> {
        Some(row.last_use)
    }
}
