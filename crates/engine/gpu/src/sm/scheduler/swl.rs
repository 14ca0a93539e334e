//! Static wavefront limiting.

use super::gto::{Gto, oldest};
use super::{ResidentCta, WarpEntry, WarpScheduler, WarpView};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::WarpSlot;

const INFO: PolicyInfo = PolicyInfo {
    name: "swl",
    summary: "static wavefront limiting: gto over the oldest warps of each scheduler, up to a fixed number",
    source: "Rogers et al., MICRO 2012",
    params: Params::params,
};

params! {
    struct Params {
        /// number of warps of a scheduler that may issue
        warps: u32 = 8, in 1.., unit "warps";
    }
}

pub(super) const ENTRY: WarpEntry = WarpEntry {
    info: INFO,
    build: |context, params| {
        let Params { warps } = params.read();
        Ok(Box::new(Swl::new(warps, context.schedulers())) as _)
    },
};

struct Swl {
    warps: u32,
    gto: Gto,
    allowed: Vec<Allowed>,
}

/// Warps of a scheduler that may issue, and the set from which they were chosen.
#[derive(Clone, Copy, Default)]
struct Allowed {
    from: u64,
    warps: u64,
}

impl Swl {
    fn new(warps: u32, schedulers: usize) -> Swl {
        Swl { warps, gto: Gto::new(schedulers), allowed: vec![Allowed::default(); schedulers] }
    }

    /// Returns the oldest warps of a scheduler. Warps at a barrier do not count, as they may wait
    /// for younger warps; neither do warps at the end of their trace.
    fn allowed(&mut self, view: &WarpView) -> u64 {
        let from = view.own & view.present & !(view.at_barrier | view.at_end);
        let allowed = &mut self.allowed[view.scheduler.index()];
        if allowed.from != from {
            *allowed = Allowed { from, warps: oldest_warps(self.warps, from, view.ages) };
        }
        allowed.warps
    }

    /// Discards the cached choices after the warp of a slot has changed.
    fn discard_choices(&mut self) {
        self.allowed.fill(Allowed::default());
    }
}

impl WarpScheduler for Swl {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let candidates = candidates & self.allowed(view);
        (candidates != 0).then(|| self.gto.choose(candidates, view))
    }

    fn launched(&mut self, _: &ResidentCta) {
        self.discard_choices();
    }

    fn retired(&mut self, slot: WarpSlot) {
        self.gto.forget(slot);
        self.discard_choices();
    }
}

/// Returns the `count` oldest of `warps`.
fn oldest_warps(count: u32, warps: u64, ages: &[u64]) -> u64 {
    if warps.count_ones() <= count {
        return warps;
    }
    let add = |chosen: u64, _| chosen | oldest(warps & !chosen, ages).bit();
    (0..count).fold(0, add)
}

#[cfg(test)]
mod tests {
    use super::super::SchedulerId;
    use super::super::plain::{pick, retire};
    use super::*;

    const AGES: [u64; 6] = [3, 1, 5, 0, 4, 2];
    /// Slots by age, oldest first.
    const BY_AGE: [u16; 6] = [3, 1, 5, 0, 4, 2];

    fn view(present: u64) -> WarpView<'static> {
        WarpView { own: u64::MAX, present, ages: &AGES, ..WarpView::default() }
    }

    #[test]
    fn only_the_oldest_warps_issue() {
        let mut swl = Swl::new(3, 1);
        let mut pick = |candidates| pick(&mut swl, candidates, &view(0b11_1111));
        assert_eq!(pick(0b11_0011), Some(1), "the oldest ready warp");
        assert_eq!(pick(0b11_1111), Some(1), "greedy");
        assert_eq!(pick(0b11_0001), Some(5), "the third oldest");
        assert_eq!(pick(0b01_0101), None, "only the fourth oldest and younger are ready");
        assert_eq!(pick(0b10_1000), Some(5), "`None` leaves the policy unchanged");
    }

    #[test]
    fn warps_at_barriers_or_at_their_end_free_their_share_and_warps_waiting_for_memory_keep_it() {
        let mut swl = Swl::new(2, 1);
        let all = view(0b11_1111);
        let youngest = 1 << BY_AGE[3];
        assert_eq!(pick(&mut swl, youngest, &all), None);
        let memory = WarpView { waiting: 0b11_1110, ..all };
        assert_eq!(pick(&mut swl, youngest, &memory), None);
        let barrier = WarpView { at_barrier: 1 << BY_AGE[0] | 1 << BY_AGE[1], ..all };
        assert_eq!(pick(&mut swl, youngest, &barrier), Some(BY_AGE[3]));
        let ended = WarpView { at_end: 1 << BY_AGE[0], at_barrier: 1 << BY_AGE[2], ..all };
        assert_eq!(pick(&mut swl, youngest, &ended), Some(BY_AGE[3]));
    }

    #[test]
    fn each_scheduler_has_its_own_limit() {
        let mut swl = Swl::new(1, 2);
        let of =
            |scheduler, own| WarpView { scheduler: SchedulerId(scheduler), own, ..view(0b11_1111) };
        let (even, odd) = (of(0, 0b01_0101), of(1, 0b10_1010));
        assert_eq!(pick(&mut swl, 0b01_0001, &even), Some(0), "the oldest of slots 0, 2 and 4");
        assert_eq!(pick(&mut swl, 0b01_0100, &even), None);
        assert_eq!(pick(&mut swl, 0b10_0000, &odd), None);
        assert_eq!(pick(&mut swl, 0b10_1010, &odd), Some(3));
    }

    #[test]
    fn the_limit_follows_the_age_of_a_new_warp_in_a_slot() {
        let mut swl = Swl::new(1, 1);
        assert_eq!(pick(&mut swl, 0b10, &view(0b11)), Some(1));
        retire(&mut swl, 1);
        let later = WarpView { ages: &[3, 8], ..view(0b11) };
        assert_eq!(pick(&mut swl, 0b11, &later), Some(0));
    }

    #[test]
    fn the_youngest_warp_issues_when_older_warps_have_retired() {
        let mut swl = Swl::new(2, 1);
        let mut present = 0b11_1111;
        let mut served = Vec::new();
        while present != 0 {
            let slot = pick(&mut swl, present, &view(present)).unwrap();
            served.push(slot);
            present &= !(1 << slot);
            retire(&mut swl, slot);
        }
        assert_eq!(served, BY_AGE);
    }
}
