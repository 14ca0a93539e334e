//! Two levels: round robin over fetch groups, and over the warps within one.

use super::groups::{GroupOptions, Groups, Priority};
use super::{Counter, SmContext, WarpEntry, WarpScheduler, WarpView};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::WarpSlot;

const INFO: PolicyInfo = PolicyInfo {
    name: "two-level",
    summary: "round robin within a fetch group of warps; the next group when all its warps wait for memory or at barriers",
    source: "Narasiman et al., MICRO 2011",
    params: Params::params,
};

params! {
    struct Params {
        /// warp slots of a scheduler in a group
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

/// Slot w is the (w / schedulers)th of its scheduler; so many of each make a group.
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

    /// All slots of one scheduler have a warp, of which those in `waiting` wait for memory.
    fn view(waiting: u64) -> WarpView<'static> {
        WarpView { own: u64::MAX, present: u64::MAX, waiting, ..WarpView::default() }
    }

    #[test]
    fn slots_of_a_scheduler_make_groups_of_so_many() {
        assert_eq!(fetch_groups(8, &context(1, 24)), [0xff, 0xff00, 0xff_0000]);
        assert_eq!(fetch_groups(8, &context(1, 12)), [0xff, 0xf00]);
        assert_eq!(fetch_groups(2, &context(2, 8)), [0x0f, 0xf0], "two of each of two");
        assert_eq!(fetch_groups(99, &context(2, 64)), [u64::MAX]);
    }

    #[test]
    fn round_robin_in_the_group_and_the_next_when_all_wait() {
        let context = context(1, 8);
        let mut policy = build("two-level(warps=2)", &context);
        let mut pick = |waiting: u64| pick(&mut *policy, 0xff & !waiting, &view(waiting)).unwrap();
        assert_eq!([pick(0), pick(0), pick(0)], [0, 1, 0]);
        assert_eq!(pick(0b10), 0, "one is left");
        assert_eq!([pick(0b11), pick(0), pick(0)], [2, 3, 2], "the next keeps its turn");
        assert_eq!(pick(0b1100), 4);
        assert_eq!(pick(0b1111_0000), 1, "and round: behind the one that issued last of the group");
        assert_eq!(policy.counters()[0].value, 3);
    }

    #[test]
    fn a_group_at_a_barrier_waits_and_one_that_computes_does_not() {
        let context = context(1, 8);
        let mut policy = build("two-level(warps=2)", &context);
        let barrier = WarpView { at_barrier: 0b11, ..view(0) };
        assert_eq!(pick(&mut *policy, 0xfc, &barrier), Some(2));
        let ended = WarpView { at_end: 0b1100, ..view(0) };
        assert_eq!(pick(&mut *policy, 0xf0, &ended), Some(4));
        assert_eq!(
            pick(&mut *policy, 0xcf, &view(0)),
            None,
            "both of slots 4 and 5 wait for results"
        );
        assert_eq!(pick(&mut *policy, 0xef, &view(0)), Some(5));
        let mut lends = build("two-level(warps=2,idle=lend)", &context);
        assert_eq!(pick(&mut *lends, 0xfc, &view(0)), Some(2));
        assert_eq!(pick(&mut *lends, 0xff, &view(0)), Some(0));
    }

    #[test]
    fn every_group_gets_its_turn_when_warps_come_to_wait() {
        let context = context(1, 64);
        let mut policy = build("two-level", &context);
        let mut waiting = 0u64;
        for _ in 0..64 {
            waiting |= 1 << pick(&mut *policy, !waiting, &view(waiting)).unwrap();
        }
        assert_eq!(waiting, u64::MAX);
    }

    #[test]
    fn no_group_is_empty() {
        let context = context(1, 8);
        assert!(super::super::WARP_SCHEDULERS.build("two-level(warps=0)", &context).is_err());
    }
}
