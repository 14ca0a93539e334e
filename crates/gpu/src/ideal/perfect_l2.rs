//! An LLC that has everything.

use super::{Ideal, IdealEntry};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "perfect-l2",
    summary: "every request that reaches an LLC slice hits there",
    source: "Jog et al., ASPLOS 2013 (Perfect-L2)",
    params: &[],
};

pub(super) const ENTRY: IdealEntry = IdealEntry {
    info: INFO,
    build: |_, params| params.none(&INFO).map(|()| Box::new(PerfectL2) as _),
};

struct PerfectL2;

impl Ideal for PerfectL2 {
    fn perfect_l2(&self) -> bool {
        true
    }
}
