//! Round robin over the SMs.

use super::{CtaEntry, CtaScheduler, DispatchView, Turns};
use warpmem_params::PolicyInfo;
use warpmem_sim::SmId;

const INFO: PolicyInfo = PolicyInfo {
    name: "round-robin",
    summary: "CTA i to SM i mod SMs until all are full, then to the next SM with room",
    source: "common GPU baseline",
    params: Vec::new,
};

pub(super) const ENTRY: CtaEntry =
    CtaEntry { info: INFO, build: |_, _| Ok(Box::new(RoundRobin { turns: Turns::default() })) };

struct RoundRobin {
    turns: Turns,
}

impl CtaScheduler for RoundRobin {
    fn pick(&mut self, view: &DispatchView) -> Option<SmId> {
        self.turns.take(view.sms(), |sm| view.may_start(sm))
    }
}
