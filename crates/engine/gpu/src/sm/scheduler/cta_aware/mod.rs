//! OWL's warp schedulers: groups of whole CTAs, of which one goes before the others.

#[cfg(test)]
mod tests;

use super::groups::{GroupOptions, Groups, Priority};
use super::{Counter, ResidentCta, SmContext, WarpEntry, WarpScheduler, WarpView};
use warpmem_params::{Given, PolicyError, PolicyInfo, params};
use warpmem_sim::WarpSlot;

const SOURCE: &str = "Jog et al., ASPLOS 2013 (OWL), Algorithm 1";

const EQUAL: PolicyInfo = PolicyInfo {
    name: "cta-aware",
    summary: "round robin within a group of CTAs; the next group when all its warps wait for memory or at barriers",
    source: SOURCE,
    params: Options::params,
};

const LOCALITY: PolicyInfo = PolicyInfo {
    name: "cta-aware-locality",
    summary: "cta-aware, but the group of the oldest CTAs resumes as soon as one of its warps has its data",
    source: SOURCE,
    params: Options::params,
};

const LOCALITY_BLP: PolicyInfo = PolicyInfo {
    name: "cta-aware-locality-blp",
    summary: "cta-aware-locality, but each SM begins with another group, so that SMs access rows of different banks",
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
        /// minimum of warps in a group, unless the SM has fewer
        min_warps: u32 = 8, in 1.., unit "warps";
        ..groups: GroupOptions;
    }
}

fn build(
    priority: Priority,
    context: &SmContext,
    params: &Given<'_>,
) -> Result<Box<dyn WarpScheduler>, PolicyError> {
    let Options { min_warps, groups: GroupOptions { idle } } = params.read();
    let groups = Groups::new(priority, idle, context.schedulers());
    Ok(Box::new(CtaAware { min_warps, ctas: Vec::new(), groups }))
}

/// The warp slots of a resident CTA, and those whose warps have not retired.
struct Resident {
    slots: u64,
    live: u64,
}

struct CtaAware {
    min_warps: u32,
    /// The oldest first.
    ctas: Vec<Resident>,
    groups: Groups,
}

impl CtaAware {
    /// Consecutive CTAs make a group once they have warps enough; what is left over joins the last
    /// (FORM_GROUPS).
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
