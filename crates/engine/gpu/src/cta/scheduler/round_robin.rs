//! Round-robin CTA scheduling over the SMs.

use super::{CtaEntry, CtaScheduler, DispatchView, RoundRobinPointer};
use warpmem_params::PolicyInfo;
use warpmem_sim::SmId;

const INFO: PolicyInfo = PolicyInfo {
    name: "round-robin",
    summary: "CTA i goes to SM i mod SMs until all SMs are full, then each CTA to the next SM with room",
    source: "common GPU baseline",
    params: Vec::new,
};

pub(super) const ENTRY: CtaEntry = CtaEntry {
    info: INFO,
    build: |_, _| Ok(Box::new(RoundRobin { pointer: RoundRobinPointer::default() })),
};

struct RoundRobin {
    pointer: RoundRobinPointer,
}

impl CtaScheduler for RoundRobin {
    fn pick(&mut self, view: &DispatchView) -> Option<SmId> {
        self.pointer.pick(view, |sm| view.may_start(sm))
    }
}
