//! `timeout`: a row that nothing used for n cycles is closed.

use super::{PageEntry, PagePolicy, PageView};
use serde::Deserialize;
use std::num::NonZeroU64;
use warpmem_params::{ParamInfo, PolicyInfo};

const INFO: PolicyInfo = PolicyInfo {
    name: "timeout",
    summary: "a row that nothing used for n cycles is closed",
    source: "Ramulator 1",
    params: &[ParamInfo {
        name: "n",
        default: "50",
        unit: "DRAM cycles",
        range: "from 1",
        summary: "cycles from the last use of a row to its closing",
    }],
};

pub(super) const ENTRY: PageEntry =
    PageEntry { info: INFO, build: |_, params| Ok(Box::new(params.parse::<Timeout>(&INFO)?)) };

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Timeout {
    n: NonZeroU64,
}

impl Default for Timeout {
    fn default() -> Timeout {
        Timeout { n: NonZeroU64::new(50).expect("not zero") }
    }
}

impl PagePolicy for Timeout {
    fn closes_at(&self, row: &PageView) -> Option<u64> {
        Some(row.last_use + self.n.get())
    }
}
