//! An L1 that has everything.

use super::{Ideal, IdealEntry};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "perfect-l1",
    summary: "every access of an SM to global or local memory hits in L1",
    source: "Jog et al., ASPLOS 2013 (PMEM)",
    params: &[],
};

pub(super) const ENTRY: IdealEntry = IdealEntry {
    info: INFO,
    build: |_, params| params.none(&INFO).map(|()| Box::new(PerfectL1) as _),
};

struct PerfectL1;

impl Ideal for PerfectL1 {
    fn perfect_l1(&self) -> bool {
        true
    }
}
