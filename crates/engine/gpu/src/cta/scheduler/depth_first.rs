//! Depth-first CTA scheduling: one SM after the other.

use super::{CtaEntry, CtaScheduler, DispatchView};
use warpmem_params::PolicyInfo;
use warpmem_sim::SmId;

const INFO: PolicyInfo = PolicyInfo {
    name: "depth-first",
    summary: "the lowest-numbered SM with room, which fills one SM before the next receives a CTA",
    source: "reference: the opposite extreme of round robin",
    params: Vec::new,
};

pub(super) const ENTRY: CtaEntry = CtaEntry { info: INFO, build: |_, _| Ok(Box::new(DepthFirst)) };

struct DepthFirst;

impl CtaScheduler for DepthFirst {
    /// Waits for the lowest-numbered SM with room if it has started its CTAs of this cycle.
    fn pick(&mut self, view: &DispatchView) -> Option<SmId> {
        let sm = SmId::all(view.sms()).find(|&sm| view.has_room_for(sm, 1))?;
        view.may_start(sm).then_some(sm)
    }
}
