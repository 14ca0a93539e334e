//! DRAM without latency and without limits.

use super::{Ideal, IdealEntry};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "perfect-dram",
    summary: "a request that arrives at DRAM is ready at once",
    source: "Li 2015, Chapter 5",
    params: &[],
};

pub(super) const ENTRY: IdealEntry = IdealEntry {
    info: INFO,
    build: |_, params| params.none(&INFO).map(|()| Box::new(PerfectDram) as _),
};

struct PerfectDram;

impl Ideal for PerfectDram {
    fn perfect_dram(&self) -> bool {
        true
    }
}
