//! OWL's warp schedulers: groups of whole CTAs with a priority order.

#[cfg(test)]
mod tests;

use super::groups::{GroupOptions, Groups, Priority};
use super::{Counter, CtaSlot, ResidentCta, SmContext, WarpEntry, WarpScheduler, WarpView};
use warpmem_params::{PolicyInfo, choice, params};
use warpmem_sim::WarpSlot;

const SOURCE: &str = "Jog et al., ASPLOS 2013 (OWL), Algorithm 1";

const EQUAL: PolicyInfo = PolicyInfo {
    name: "cta-aware",
    summary: "round robin within a group of CTAs; moves to the next group when every warp of the current one waits for memory or at a barrier",
    source: SOURCE,
    params: EqualOptions::params,
};

const LOCALITY: PolicyInfo = PolicyInfo {
    name: "cta-aware-locality",
    summary: "cta-aware, but the first group regains priority as soon as one of its warps has its data; once its CTAs have ended, the next group is first",
    source: SOURCE,
    params: RankedOptions::params,
};

const LOCALITY_BLP: PolicyInfo = PolicyInfo {
    name: "cta-aware-locality-blp",
    summary: "cta-aware-locality, but each SM gives priority to a different group, so that SMs access rows of different banks",
    source: SOURCE,
    params: RankedOptions::params,
};

pub(super) const CTA_AWARE: WarpEntry = WarpEntry {
    info: EQUAL,
    build: |context, params| {
        let EqualOptions { common, groups } = params.read();
        Ok(Box::new(CtaAware::new(Priority::Equal, groups.into(), &common, context.schedulers())))
    },
};

pub(super) const CTA_AWARE_LOCALITY: WarpEntry =
    WarpEntry { info: LOCALITY, build: |context, params| Ok(ranked(0, context, params.read())) };

pub(super) const CTA_AWARE_LOCALITY_BLP: WarpEntry = WarpEntry {
    info: LOCALITY_BLP,
    build: |context, params| Ok(ranked(context.id.index(), context, params.read())),
};

params! {
    struct Options {
        /// minimum number of warps in a group, unless the SM has fewer
        min_warps: u32 = 8, in 1.., unit "warps";
        ..common: GroupOptions;
    }
}

params! {
    struct EqualOptions {
        /// how groups form: of CTA slots, once (`slots`), or again of the resident CTAs, oldest first,
        /// whenever one launches or ends (`residents`)
        groups: EqualGroups = EqualGroups::Slots;
        ..common: Options;
    }
}

params! {
    struct RankedOptions {
        /// how groups form and which is first: groups of CTA slots, the next one first once the CTAs
        /// that made the present one first have ended (`until-end`), or always the same one first
        /// (`slots`); or groups formed again of the resident CTAs, oldest first, whenever one launches
        /// or ends (`residents`)
        groups: RankedGroups = RankedGroups::UntilEnd;
        ..common: Options;
    }
}

choice! {
    /// Groups without an order of priority.
    enum EqualGroups {
        Slots = "slots",
        Residents = "residents",
    }
}

choice! {
    /// Groups with an order of priority.
    #[derive(PartialEq, Eq)]
    enum RankedGroups {
        /// "If all warps belonging to group 1 have completed their execution, the next group is
        /// chosen and is always prioritized" (section 4.2).
        UntilEnd = "until-end",
        /// The priorities of Algorithm 1, assigned once.
        Slots = "slots",
        /// Only the relative age of CTAs matters.
        Residents = "residents",
    }
}

impl From<EqualGroups> for RankedGroups {
    fn from(groups: EqualGroups) -> RankedGroups {
        match groups {
            EqualGroups::Slots => RankedGroups::Slots,
            EqualGroups::Residents => RankedGroups::Residents,
        }
    }
}

/// Builds a policy whose first group is number `first`, modulo the number of groups.
fn ranked(first: usize, context: &SmContext, options: RankedOptions) -> Box<dyn WarpScheduler> {
    let RankedOptions { common, groups } = options;
    Box::new(CtaAware::new(Priority::From(first), groups, &common, context.schedulers()))
}

/// A CTA slot.
struct Member {
    slot: CtaSlot,
    /// Warp slots of the CTA that launched into it last, and those whose warps have not retired.
    warps: u64,
    live: u64,
    /// Whether that CTA must end before the first group does.
    founds_first: bool,
}

impl Member {
    fn is_resident(&self) -> bool {
        self.live != 0
    }
}

struct CtaAware {
    min_warps: u32,
    /// Priority among groups when they form.
    priority: Priority,
    formation: RankedGroups,
    /// In order of launch: the resident CTAs (`residents`), or the slots used since the SM was last
    /// empty.
    members: Vec<Member>,
    groups: Groups,
}

impl CtaAware {
    fn new(
        priority: Priority,
        formation: RankedGroups,
        options: &Options,
        schedulers: usize,
    ) -> CtaAware {
        let &Options { min_warps, common: GroupOptions { idle } } = options;
        let groups = Groups::new(priority, idle, schedulers);
        CtaAware { min_warps, priority, formation, members: Vec::new(), groups }
    }

    /// Forms groups of consecutive CTAs with at least `min_warps` warps; the remainder joins the
    /// last group (FORM_GROUPS).
    fn form_groups(&mut self) {
        let mut groups = Vec::new();
        let mut group = 0u64;
        for member in &self.members {
            group |= member.warps;
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

    /// Forms groups with a new member, and assigns their priorities.
    fn join(&mut self, member: Member) {
        self.members.push(member);
        self.form_groups();
        self.groups.set_priority(self.priority);
        self.found_first();
    }

    /// Makes the resident CTAs of the first group those that must end before it does.
    fn found_first(&mut self) {
        let first = self.groups.first();
        for member in &mut self.members {
            member.founds_first = member.is_resident() && member.warps & first != 0;
        }
    }

    /// Makes the next group with a resident CTA the first once the CTAs of the first have ended.
    fn end_first(&mut self) {
        if self.members.iter().any(|member| member.founds_first && member.is_resident()) {
            return;
        }
        let live = self.members.iter().fold(0, |live, member| live | member.live);
        self.groups.rotate_to(live);
        self.found_first();
    }
}

impl WarpScheduler for CtaAware {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        self.groups.choose(candidates, view)
    }

    fn launched(&mut self, cta: &ResidentCta) {
        let warps = cta.warps.iter().fold(0, |slots, &(slot, _)| slots | slot.bit());
        let launched = Member { slot: cta.slot, warps, live: warps, founds_first: false };
        if warps == 0 {
            return;
        }
        if !self.members.iter().any(Member::is_resident) {
            self.members.clear();
        }
        // An ended CTA of another kernel may have had warp slots of this one.
        let keeps = |member: &Member| member.slot == cta.slot || member.warps & warps == 0;
        self.members.retain(|member| member.is_resident() || keeps(member));
        match self.members.iter_mut().find(|member| member.slot == cta.slot) {
            Some(member) => {
                *member = launched;
                self.form_groups();
            }
            None => self.join(launched),
        }
    }

    fn retired(&mut self, slot: WarpSlot) {
        let is_its = |member: &&mut Member| member.live & slot.bit() != 0;
        let Some(member) = self.members.iter_mut().find(is_its) else { return };
        member.live &= !slot.bit();
        if member.is_resident() {
            return;
        }
        match self.formation {
            RankedGroups::UntilEnd => self.end_first(),
            RankedGroups::Slots => {}
            RankedGroups::Residents => {
                self.members.retain(Member::is_resident);
                self.form_groups();
            }
        }
    }

    fn counters(&self) -> Vec<Counter> {
        self.groups.counters()
    }
}
