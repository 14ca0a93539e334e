//! Networks without limits.

use super::{Ideal, IdealEntry};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "infinite-bandwidth-noc",
    summary: "a packet takes the routers and links of its way, whatever its size and the others",
    source: "limit study",
    params: &[],
};

pub(super) const ENTRY: IdealEntry = IdealEntry {
    info: INFO,
    build: |_, params| params.none(&INFO).map(|()| Box::new(InfiniteBandwidthNoc) as _),
};

struct InfiniteBandwidthNoc;

impl Ideal for InfiniteBandwidthNoc {
    fn infinite_bandwidth_noc(&self) -> bool {
        true
    }
}
