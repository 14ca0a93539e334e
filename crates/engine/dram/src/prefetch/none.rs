//! No prefetching.

use super::{OpenRow, PrefetchEntry, Prefetcher};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo =
    PolicyInfo { name: "none", summary: "no prefetching", source: "baseline", params: Vec::new };

pub(super) const ENTRY: PrefetchEntry = PrefetchEntry {
    info: INFO,
    build: |_, params| params.none(&INFO).map(|()| Box::new(None) as _),
};

struct None;

impl Prefetcher for None {
    fn prefetches(&self) -> bool {
        false
    }

    fn goes_on(&self, _: &OpenRow) -> bool {
        false
    }
}
