//! One SM after the other.

use super::{CtaEntry, CtaScheduler, DispatchView};
use warpmem_params::PolicyInfo;
use warpmem_sim::SmId;

const INFO: PolicyInfo = PolicyInfo {
    name: "depth-first",
    summary: "the lowest-numbered SM with room, so that one SM is full before the next receives a CTA",
    source: "reference: the other extreme to round robin",
    params: Vec::new,
};

pub(super) const ENTRY: CtaEntry = CtaEntry { info: INFO, build: |_, _| Ok(Box::new(DepthFirst)) };

struct DepthFirst;

impl CtaScheduler for DepthFirst {
    /// If the SM has room but has started its CTAs of this cycle, waits for it.
    fn pick(&mut self, view: &DispatchView) -> Option<SmId> {
        let sm = SmId::all(view.sms()).find(|&sm| view.has_room_for(sm, 1))?;
        view.may_start(sm).then_some(sm)
    }
}
