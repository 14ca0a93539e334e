//! OWL's warp schedulers: groups of whole CTAs with a priority order.

#[cfg(test)]
mod tests;

use super::groups::{GroupOptions, Groups, Priority};
use super::{Counter, ResidentCta, SmContext, WarpEntry, WarpScheduler, WarpView};
use warpmem_params::{Given, PolicyError, PolicyInfo, params};
use warpmem_sim::WarpSlot;

const SOURCE: &str = "Jog et al., ASPLOS 2013 (OWL), Algorithm 1";

const EQUAL: PolicyInfo = PolicyInfo {
    name: "cta-aware",
    summary: "round robin within a group of CTAs; moves to the next group when every warp of the current one waits for memory or at a barrier",
    source: SOURCE,
    params: Options::params,
};

const LOCALITY: PolicyInfo = PolicyInfo {
    name: "cta-aware-locality",
    summary: "cta-aware, but the group of the oldest CTAs regains priority as soon as one of its warps has its data",
    source: SOURCE,
    params: Options::params,
};

const LOCALITY_BLP: PolicyInfo = PolicyInfo {
    name: "cta-aware-locality-blp",
    summary: "cta-aware-locality, but each SM gives priority to a different group, so that SMs access rows of different banks",
    source: SOURCE,
    params: Options::params,
};

pub(super) const CTA_AWARE: WarpEntry =
    WarpEntry { info: EQUAL, build: |context, params| build(Priority::Equal, context, params) };

pub(super) const CTA_AWARE_LOCALITY: WarpEntry = WarpEntry {
    info: LOCALITY,
    build: |context, params| build(Priority::From(0), context, params),
};

pub(super) const CTA_AWARE_LOCALITY_BLP: WarpEntry = WarpEntry {
    info: LOCALITY_BLP,
    build: |context, params| build(Priority::From(context.id.index()), context, params),
};

params! {
    struct Options {
        /// minimum number of warps in a group, unless the SM has fewer
        min_warps: u32 = 8, in 1.., unit "warps";
        ..groups: GroupOptions;
    }
}

fn build(
    priority: Priority,
    context: &SmContext,
    params: &Given,
) -> Result<Box<dyn WarpScheduler>, PolicyError> {
    let Options { min_warps, groups: GroupOptions { idle } } = params.read();
    let groups = Groups::new(priority, idle, context.schedulers());
    Ok(Box::new(CtaAware { min_warps, ctas: Vec::new(), groups }))
}

/// Warp slots of a resident CTA, and those whose warps have not retired.
struct Resident {
    slots: u64,
    live: u64,
}

struct CtaAware {
    min_warps: u32,
    /// Oldest first.
    ctas: Vec<Resident>,
    groups: Groups,
}

impl CtaAware {
    /// Forms groups of consecutive CTAs with at least `min_warps` warps; the remainder joins the
    /// last group (FORM_GROUPS).
    fn form_groups(&mut self) {
        let mut groups = Vec::new();
        let mut group = 0u64;
        for cta in &self.ctas {
            group |= cta.slots;
            if group.count_ones() >= self.min_warps {
                groups.push(std::mem::take(&mut group));
            }
        }
        match groups.last_mut() {
            Some(last) => *last |= group,
            None => groups.push(group),
        }
        self.groups.form(groups);
    }
}

impl WarpScheduler for CtaAware {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        self.groups.choose(candidates, view)
    }

    fn launched(&mut self, cta: &ResidentCta) {
        let slots = cta.warps.iter().fold(0, |slots, &(slot, _)| slots | slot.bit());
        self.ctas.push(Resident { slots, live: slots });
        self.form_groups();
    }

    fn retired(&mut self, slot: WarpSlot) {
        self.ctas.iter_mut().for_each(|cta| cta.live &= !slot.bit());
        let resident = self.ctas.len();
        self.ctas.retain(|cta| cta.live != 0);
        if self.ctas.len() < resident {
            self.form_groups();
        }
    }

    fn counters(&self) -> Vec<Counter> {
        self.groups.counters()
    }
}
