//! `closed-adaptive`: a row is precharged as soon as no request waits for it.

use super::{PageEntry, PagePolicy, PageView};
use warpmem_params::PolicyInfo;
use warpmem_sim::DramCycle;

const INFO: PolicyInfo = PolicyInfo {
    name: "closed-adaptive",
    summary: "a row is precharged as soon as no request waits for it",
    source: "gem5, close_adaptive",
    params: Vec::new,
};

pub(super) const ENTRY: PageEntry =
    PageEntry { info: INFO, build: |_, _| Ok(Box::new(ClosedAdaptive)) };

struct ClosedAdaptive;

impl PagePolicy for ClosedAdaptive {
    fn closes_at(&self, row: &PageView) -> Option<DramCycle> {
        Some(row.last_use)
    }
}
