//! `closed-cap`: as `closed`, and after n column commands whatever waits for the row.

use super::{PageEntry, PagePolicy, PageView};
use serde::Deserialize;
use std::num::NonZeroU32;
use warpmem_params::{ParamInfo, PolicyInfo};

const INFO: PolicyInfo = PolicyInfo {
    name: "closed-cap",
    summary: "as `closed`, and after n column commands whatever waits for the row",
    source: "Ramulator 2.1",
    params: &[ParamInfo {
        name: "n",
        default: "4",
        unit: "column commands",
        range: "from 1",
        summary: "column commands that a row may serve before it is closed",
    }],
};

pub(super) const ENTRY: PageEntry =
    PageEntry { info: INFO, build: |_, params| Ok(Box::new(params.parse::<ClosedCap>(&INFO)?)) };

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ClosedCap {
    n: NonZeroU32,
}

impl Default for ClosedCap {
    fn default() -> ClosedCap {
        ClosedCap { n: NonZeroU32::new(4).expect("not zero") }
    }
}

impl PagePolicy for ClosedCap {
    fn precharges_automatically(&self) -> bool {
        true
    }

    fn closes_behind(&self, row: &PageView) -> bool {
        row.hits == 0 || row.columns >= self.n.get()
    }

    fn closes_at(&self, row: &PageView) -> Option<u64> {
        Some(row.last_use)
    }
}
