//! Nothing is ideal.

use super::{Ideal, IdealEntry};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "the machine as configured",
    source: "baseline",
    params: &[],
};

pub(super) const ENTRY: IdealEntry =
    IdealEntry { info: INFO, build: |_, params| params.none(&INFO).map(|()| Box::new(None) as _) };

struct None;

impl Ideal for None {}
