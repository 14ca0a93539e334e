//! Two levels: round robin over fetch groups, and over the warps within one.

use super::groups::{GroupOptions, Groups, Priority};
use super::{Counter, SmContext, WarpEntry, WarpScheduler, WarpView};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::WarpSlot;

const INFO: PolicyInfo = PolicyInfo {
    name: "two-level",
    summary: "round robin within a fetch group; moves to the next group when every warp of the current one waits for memory or at a barrier",
    source: "Narasiman et al., MICRO 2011",
    params: Params::params,
};

params! {
    struct Params {
        /// warp slots of each scheduler in a group
        warps: u32 = 8, in 1.., unit "warp slots";
        ..groups: GroupOptions;
    }
}

pub(super) const ENTRY: WarpEntry = WarpEntry {
    info: INFO,
    build: |context, params| {
        let Params { warps, groups: GroupOptions { idle } } = params.read();
        let mut groups = Groups::new(Priority::Equal, idle, context.schedulers());
        groups.form(fetch_groups(warps, context));
        Ok(Box::new(TwoLevel { groups }) as _)
    },
};

/// Forms groups of `warps` consecutive slots of each scheduler; slot w is number w / schedulers of
/// its scheduler.
fn fetch_groups(warps: u32, context: &SmContext) -> Vec<u64> {
    let group = |slot: u32| (slot / context.sm.schedulers / warps) as usize;
    let mut groups = vec![0; 1 + group(context.sm.max_warps - 1)];
    (0..context.sm.max_warps).for_each(|slot| groups[group(slot)] |= 1 << slot);
    groups
}

struct TwoLevel {
    groups: Groups,
}

impl WarpScheduler for TwoLevel {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        self.groups.choose(candidates, view)
    }

    fn counters(&self) -> Vec<Counter> {
        self.groups.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::pick;
    use super::*;
    use warpmem_sim::SmId;

    fn context(schedulers: u32, max_warps: u32) -> SmContext {
        let overrides = [
            format!("sm.schedulers={schedulers}"),
            format!("sm.max_warps={max_warps}"),
            format!("sm.max_threads={}", 32 * max_warps),
        ];
        SmContext::of(&warpmem_machine::load("li2015", &overrides).unwrap(), SmId(0))
    }

    fn build(text: &str, context: &SmContext) -> Box<dyn WarpScheduler> {
        super::super::WARP_SCHEDULERS.build(text, context).unwrap()
    }

    /// All slots of one scheduler have a warp; the warps in `waiting` wait for memory.
    fn view(waiting: u64) -> WarpView<'static> {
        WarpView { own: u64::MAX, present: u64::MAX, waiting, ..WarpView::default() }
    }

    #[test]
    fn fetch_groups_hold_the_configured_number_of_slots() {
        assert_eq!(fetch_groups(8, &context(1, 24)), [0xff, 0xff00, 0xff_0000]);
        assert_eq!(fetch_groups(8, &context(1, 12)), [0xff, 0xf00]);
        assert_eq!(
            fetch_groups(2, &context(2, 8)),
            [0x0f, 0xf0],
            "two slots of each of two schedulers"
        );
        assert_eq!(fetch_groups(99, &context(2, 64)), [u64::MAX]);
    }

    #[test]
    fn the_next_group_follows_when_all_warps_of_the_current_one_wait() {
        let context = context(1, 8);
        let mut policy = build("two-level(warps=2)", &context);
        let mut pick = |waiting: u64| pick(&mut *policy, 0xff & !waiting, &view(waiting)).unwrap();
        assert_eq!([pick(0), pick(0), pick(0)], [0, 1, 0]);
        assert_eq!(pick(0b10), 0, "slot 1 waits");
        assert_eq!([pick(0b11), pick(0), pick(0)], [2, 3, 2], "the second group stays current");
        assert_eq!(pick(0b1100), 4);
        assert_eq!(
            pick(0b1111_0000),
            1,
            "wraps around, after the slot that issued last from the group"
        );
        assert_eq!(policy.counters()[0].value, 3);
    }

    #[test]
    fn barriers_and_trace_ends_release_a_group_but_compute_stalls_do_not() {
        let context = context(1, 8);
        let mut policy = build("two-level(warps=2)", &context);
        let barrier = WarpView { at_barrier: 0b11, ..view(0) };
        assert_eq!(pick(&mut *policy, 0xfc, &barrier), Some(2));
        let ended = WarpView { at_end: 0b1100, ..view(0) };
        assert_eq!(pick(&mut *policy, 0xf0, &ended), Some(4));
        assert_eq!(
            pick(&mut *policy, 0xcf, &view(0)),
            None,
            "slots 4 and 5 wait for compute results"
        );
        assert_eq!(pick(&mut *policy, 0xef, &view(0)), Some(5));
        let mut lends = build("two-level(warps=2,idle=lend)", &context);
        assert_eq!(pick(&mut *lends, 0xfc, &view(0)), Some(2));
        assert_eq!(pick(&mut *lends, 0xff, &view(0)), Some(0));
    }

    #[test]
    fn every_group_issues_as_warps_begin_to_wait() {
        let context = context(1, 64);
        let mut policy = build("two-level", &context);
        let mut waiting = 0u64;
        for _ in 0..64 {
            waiting |= 1 << pick(&mut *policy, !waiting, &view(waiting)).unwrap();
        }
        assert_eq!(waiting, u64::MAX);
    }

    #[test]
    fn empty_groups_are_refused() {
        let context = context(1, 8);
        assert!(super::super::WARP_SCHEDULERS.build("two-level(warps=0)", &context).is_err());
    }
}
