//! `closed`: the last column command of a request closes the row (auto-precharge) unless another
//! request waits for it.

use super::{PageEntry, PagePolicy, PageView};
use warpmem_params::PolicyInfo;
use warpmem_sim::DramCycle;

const INFO: PolicyInfo = PolicyInfo {
    name: "closed",
    summary: "the last column command of a request closes the row (auto-precharge) unless another request waits for it",
    source: "common DRAM controllers",
    params: Vec::new,
};

pub(super) const ENTRY: PageEntry = PageEntry { info: INFO, build: |_, _| Ok(Box::new(Closed)) };

struct Closed;

impl PagePolicy for Closed {
    fn precharges_automatically(&self) -> bool {
        true
    }

    fn closes_behind(&self, row: &PageView) -> bool {
        row.hits == 0
    }

    fn closes_at(&self, row: &PageView) -> Option<DramCycle> {
        Some(row.last_use)
    }
}
