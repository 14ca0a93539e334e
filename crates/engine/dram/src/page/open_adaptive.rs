//! `open-adaptive`: a row is closed when no request waits for it and one waits for another row.

use super::{PageEntry, PagePolicy, PageView};
use warpmem_params::PolicyInfo;
use warpmem_sim::DramCycle;

const INFO: PolicyInfo = PolicyInfo {
    name: "open-adaptive",
    summary: "a row is closed when no request waits for it and one waits for another row",
    source: "gem5, open_adaptive",
    params: Vec::new,
};

pub(super) const ENTRY: PageEntry =
    PageEntry { info: INFO, build: |_, _| Ok(Box::new(OpenAdaptive)) };

struct OpenAdaptive;

impl PagePolicy for OpenAdaptive {
    fn precharges_automatically(&self) -> bool {
        true
    }

    fn closes_behind(&self, row: &PageView) -> bool {
        row.hits == 0 && row.waiting > 0
    }

    fn closes_at(&self, row: &PageView) -> Option<DramCycle> {
        (row.waiting > 0).then_some(row.last_use)
    }
}
