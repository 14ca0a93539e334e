//! `timeout`: a row is closed after n cycles without a use.

use super::{PageEntry, PagePolicy, PageView};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::DramCycle;

const INFO: PolicyInfo = PolicyInfo {
    name: "timeout",
    summary: "a row is closed after n cycles without a use",
    source: "Ramulator 1",
    params: Timeout::params,
};

pub(super) const ENTRY: PageEntry =
    PageEntry { info: INFO, build: |_, params| Ok(Box::new(params.read::<Timeout>())) };

params! {
    struct Timeout {
        /// cycles from the last use of a row to its closing
        n: u64 = 50, in 1.., unit "DRAM cycles";
    }
}

impl PagePolicy for Timeout {
    fn closes_at(&self, row: &PageView) -> Option<DramCycle> {
        Some(row.last_use + self.n)
    }
}
