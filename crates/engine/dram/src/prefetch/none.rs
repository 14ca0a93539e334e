//! No prefetching.

use super::{OpenRow, PrefetchEntry, Prefetcher};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo =
    PolicyInfo { name: "none", summary: "no prefetching", source: "baseline", params: Vec::new };

pub(super) const ENTRY: PrefetchEntry =
    PrefetchEntry { info: INFO, build: |_, _| Ok(Box::new(None)) };

struct None;

impl Prefetcher for None {
    fn prefetches(&self) -> bool {
        false
    }

    fn goes_on(&self, _: &OpenRow) -> bool {
        false
    }
}
