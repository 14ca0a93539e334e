//! Group formation (Algorithm 1) and priority.

use super::*;
use crate::sm::scheduler::groups::Idle;
use crate::sm::scheduler::plain::{self, launch, pick, retire};
use crate::sm::scheduler::{SchedulerId, WARP_SCHEDULERS};
use warpmem_sim::SmId;

/// A policy with CTAs of the given numbers of warps in consecutive slots.
struct Sm {
    policy: CtaAware,
    next_slot: u16,
    present: u64,
}

/// Builds a policy for `schedulers`.
fn policy(
    priority: Priority,
    formation: RankedGroups,
    min_warps: u32,
    idle: Idle,
    schedulers: usize,
) -> CtaAware {
    let options = Options { min_warps, common: GroupOptions { idle } };
    CtaAware::new(priority, formation, &options, schedulers)
}

impl Sm {
    fn new(priority: Priority, formation: RankedGroups, min_warps: u32, ctas: &[u32]) -> Sm {
        let policy = policy(priority, formation, min_warps, Idle::Wait, 1);
        let mut sm = Sm { policy, next_slot: 0, present: 0 };
        ctas.iter().for_each(|&warps| sm.launch(warps));
        sm
    }

    /// Makes an SM whose groups have equal priority.
    fn equal(min_warps: u32, ctas: &[u32]) -> Sm {
        Sm::new(Priority::Equal, RankedGroups::Slots, min_warps, ctas)
    }

    /// Launches a CTA into unused slots.
    fn launch(&mut self, warps: u32) {
        let from = self.next_slot;
        self.next_slot += warps as u16;
        self.relaunch(from..self.next_slot);
    }

    /// Launches a CTA into these warp slots, and the CTA slot of the first one's number.
    fn relaunch(&mut self, slots: std::ops::Range<u16>) {
        let warps: Vec<(u16, u32)> = slots.clone().map(|slot| (slot, 1)).collect();
        launch(&mut self.policy, slots.start.into(), &warps);
        self.present |= warps.iter().fold(0, |set, (slot, _)| set | 1 << slot);
    }

    fn retire(&mut self, slots: std::ops::Range<u16>) {
        for slot in slots {
            self.present &= !(1 << slot);
            retire(&mut self.policy, slot);
        }
    }

    /// Picks a warp while those in `waiting` wait for data and, of the others, all but `stalled`
    /// are ready.
    fn pick(&mut self, waiting: u64, stalled: u64) -> Option<u16> {
        let (own, present) = (u64::MAX, self.present);
        let view = WarpView { own, present, waiting, ..WarpView::default() };
        pick(&mut self.policy, view.awake() & !stalled, &view)
    }

    fn groups(&self) -> Vec<u32> {
        self.policy.groups.warps().iter().map(|warps| warps.count_ones()).collect()
    }
}

#[test]
fn the_example_of_the_paper_forms_groups_of_3_3_and_4_ctas() {
    let sm = Sm::equal(5, &[2; 10]);
    let three = 0b11_1111;
    assert_eq!(sm.policy.groups.warps(), [three, three << 6, 0xff << 12]);
}

#[test]
fn groups_are_minimal_and_the_last_takes_the_remainder() {
    let groups =
        |min_warps, warps: u32, ctas: usize| Sm::equal(min_warps, &vec![warps; ctas]).groups();
    assert_eq!(groups(8, 8, 4), [8, 8, 8, 8]);
    assert_eq!(groups(8, 4, 4), [8, 8]);
    assert_eq!(groups(8, 3, 8), [9, 15]);
    assert_eq!(groups(8, 16, 2), [16, 16]);
    assert_eq!(groups(1, 1, 3), [1, 1, 1]);
    assert_eq!(groups(5, 2, 2), [4], "fewer warps than a group needs");
    assert_eq!(groups(64, 6, 8), [48]);
}

#[test]
fn groups_of_residents_are_rebuilt_at_cta_launch_and_end() {
    let mut sm = Sm::new(Priority::Equal, RankedGroups::Residents, 4, &[2, 2, 2, 2]);
    assert_eq!(sm.policy.groups.warps(), [0x0f, 0xf0]);
    sm.retire(0..1);
    assert_eq!(sm.policy.groups.warps(), [0x0f, 0xf0], "one warp of the CTA is still resident");
    sm.retire(1..2);
    assert_eq!(sm.policy.groups.warps(), [0xfc], "the third CTA is the remainder");
    sm.launch(2);
    assert_eq!(sm.policy.groups.warps(), [0x3c, 0x3c0]);
    sm.launch(0);
    assert_eq!(sm.groups(), [4, 4], "a CTA without warps joins no group");
}

#[test]
fn groups_of_slots_remain_while_ctas_launch_and_end() {
    let mut sm = Sm::equal(4, &[2, 2, 2, 2]);
    sm.retire(0..2);
    assert_eq!(sm.policy.groups.warps(), [0x0f, 0xf0]);
    sm.relaunch(0..2);
    assert_eq!(sm.policy.groups.warps(), [0x0f, 0xf0]);
    sm.launch(2);
    assert_eq!(sm.policy.groups.warps(), [0x0f, 0x3f0], "a slot not used before");
    sm.retire(0..10);
    sm.relaunch(0..4);
    assert_eq!(sm.policy.groups.warps(), [0x0f], "the SM was empty");
}

/// A CTA of six warps launches into the warp slots of two ended ones and two unused slots.
#[test]
fn ctas_of_another_size_take_the_slots_of_ended_ones() {
    let mut sm = Sm::equal(2, &[2, 2, 2]);
    sm.retire(2..6);
    sm.relaunch(4..10);
    assert_eq!(sm.policy.groups.warps(), [0b11, 0b1100, 0x3f0]);
    sm.retire(0..2);
    sm.relaunch(0..4);
    assert_eq!(sm.policy.groups.warps(), [0b1111, 0x3f0]);
}

#[test]
fn equal_priority_moves_on_when_all_warps_of_a_group_wait() {
    let mut sm = Sm::equal(2, &[2, 2, 2]);
    assert_eq!([sm.pick(0, 0), sm.pick(0, 0), sm.pick(0, 0)], [0, 1, 0].map(Some));
    assert_eq!(sm.pick(0b01, 0), Some(1));
    assert_eq!(sm.pick(0b11, 0), Some(2), "the next group");
    assert_eq!(sm.pick(0, 0), Some(3), "although the first could issue");
    assert_eq!(sm.pick(0b00_1100, 0), Some(4), "the third group");
    assert_eq!(
        sm.pick(0b11_0000, 0),
        Some(0),
        "wraps around, after the slot that issued last from the group"
    );
}

#[test]
fn a_group_with_a_compute_stall_stays_current() {
    let mut sm = Sm::equal(2, &[2, 2]);
    assert_eq!(sm.pick(0, 0), Some(0));
    assert_eq!(sm.pick(0b01, 0b10), None, "slot 1 waits for a result");
    assert_eq!(sm.pick(0b01, 0), Some(1));
    sm.policy = policy(Priority::Equal, RankedGroups::Slots, 2, Idle::Lend, 1);
    sm.relaunch(0..2);
    sm.relaunch(2..4);
    assert_eq!(sm.pick(0b01, 0b10), Some(2), "the group lends its issue slot");
    assert_eq!(sm.pick(0, 0), Some(0), "and stays current");
    assert_eq!(sm.policy.counters()[0].value, 0);
}

/// Makes an SM with three CTAs of two warps, each a group.
fn three_groups(formation: RankedGroups) -> Sm {
    Sm::new(Priority::From(0), formation, 2, &[2, 2, 2])
}

const FORMATIONS: [RankedGroups; 3] =
    [RankedGroups::UntilEnd, RankedGroups::Slots, RankedGroups::Residents];

#[test]
fn locality_returns_to_the_first_group_when_its_data_are_back() {
    for formation in FORMATIONS {
        let mut sm = three_groups(formation);
        assert_eq!(sm.pick(0b0011, 0), Some(2));
        assert_eq!(sm.pick(0b1111, 0), Some(4));
        assert_eq!(sm.pick(0b0011, 0), Some(3), "the second group precedes the third");
        assert_eq!(sm.pick(0b0001, 0), Some(1));
        assert_eq!(sm.pick(0, 0), Some(0));
        sm.retire(0..2);
        assert_eq!(sm.pick(0, 0), Some(2), "the second group is first once the first has ended");
    }
}

/// A CTA launches into the slot of the first group, which has ended.
#[test]
fn formations_rank_the_successor_of_an_ended_cta_differently() {
    let order = |formation| {
        let mut sm = three_groups(formation);
        sm.retire(0..2);
        sm.relaunch(0..2);
        [0, 0b1100, 0b11_1100].map(|waiting| sm.pick(waiting, 0).unwrap() / 2)
    };
    assert_eq!(order(RankedGroups::UntilEnd), [1, 2, 0], "the next group is first");
    assert_eq!(order(RankedGroups::Residents), [1, 2, 0], "the youngest CTA is last");
    assert_eq!(order(RankedGroups::Slots), [0, 0, 0], "its group is first");
}

/// Groups of two CTAs of one warp. A CTA of the first group ends, and its successor does not keep
/// the group first beyond the end of the other.
#[test]
fn the_first_group_keeps_its_rank_until_its_ctas_have_ended() {
    let mut sm = Sm::new(Priority::From(0), RankedGroups::UntilEnd, 2, &[1; 6]);
    sm.retire(0..1);
    sm.relaunch(0..1);
    assert_eq!(sm.pick(0b10, 0), Some(0), "the successor has the rank of its group");
    assert_eq!(sm.pick(0, 0), Some(1));
    sm.retire(1..2);
    assert_eq!(sm.pick(0, 0), Some(2), "the second group is first");
    sm.retire(4..5);
    sm.retire(3..4);
    assert_eq!(sm.pick(0, 0), Some(2), "and stays first until both its CTAs have ended");
    sm.retire(2..3);
    assert_eq!(sm.pick(0, 0), Some(5), "the third");
    sm.retire(5..6);
    assert_eq!(sm.pick(0, 0), Some(0), "the first again, with the successor");
}

/// Groups of residents move up when an earlier group ends: on SM 1 of three groups the second is
/// first, and after the first has ended, what was the third.
#[test]
fn a_favoured_group_loses_its_rank_only_if_groups_are_rebuilt() {
    let first_after_an_end = |formation| {
        let mut sm = Sm::new(Priority::From(1), formation, 1, &[1, 1, 1]);
        assert_eq!(sm.pick(0, 0), Some(1));
        sm.retire(0..1);
        let without = sm.pick(0, 0).unwrap();
        sm.relaunch(0..1);
        [without, sm.pick(0, 0).unwrap()]
    };
    assert_eq!(FORMATIONS.map(first_after_an_end), [[1, 1], [1, 1], [2, 2]]);
}

#[test]
fn each_sm_starts_with_a_different_group_and_continues_in_order() {
    let order = |core| {
        let mut sm = Sm::new(Priority::From(core), RankedGroups::UntilEnd, 1, &[1, 1, 1]);
        let mut waiting = 0;
        [(); 3].map(|()| {
            let slot = sm.pick(waiting, 0).unwrap();
            waiting |= 1 << slot;
            slot
        })
    };
    assert_eq!([0, 1, 2, 3].map(order), [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]);
}

#[test]
fn the_current_group_follows_its_ctas_when_groups_are_rebuilt() {
    let mut sm = Sm::new(Priority::Equal, RankedGroups::Residents, 1, &[1, 1, 1, 1]);
    assert_eq!(sm.pick(0b0011, 0), Some(2));
    sm.retire(0..1);
    assert_eq!(sm.pick(0, 0), Some(2), "same CTA, lower group index");
    sm.retire(2..3);
    assert_eq!(sm.pick(0, 0), Some(3), "the next group once the current one has ended");
    sm.retire(3..4);
    assert_eq!(sm.pick(0, 0), Some(1), "wraps around");
}

#[test]
fn each_scheduler_has_its_own_current_group() {
    let mut policy = policy(Priority::Equal, RankedGroups::Slots, 4, Idle::Wait, 2);
    for first in [0, 4] {
        let warps = [0, 1, 2, 3].map(|warp| (first + warp, 1));
        launch(&mut policy, first.into(), &warps);
    }
    assert_eq!(policy.groups.warps(), [0x0f, 0xf0], "groups span schedulers");
    let mut pick = |scheduler: usize, waiting| {
        let own = [0x55, 0xaa][scheduler];
        let view = WarpView {
            scheduler: SchedulerId::new(scheduler),
            own,
            present: 0xff,
            waiting,
            ..WarpView::default()
        };
        plain::pick(&mut policy, view.awake(), &view).unwrap()
    };
    assert_eq!([pick(0, 0), pick(0, 0), pick(1, 0)], [0, 2, 1]);
    assert_eq!(pick(0, 0x05), 4, "all warps of scheduler 0 in the group wait");
    assert_eq!(pick(1, 0x05), 3, "those of scheduler 1 do not");
}

#[test]
fn every_group_issues_as_earlier_groups_end() {
    for priority in [Priority::Equal, Priority::From(0), Priority::From(3)] {
        for formation in FORMATIONS {
            let mut sm = Sm::new(priority, formation, 4, &[2; 8]);
            let mut served = 0u64;
            while sm.present != 0 {
                let slot = sm.pick(0, 0).unwrap();
                served |= 1 << slot;
                sm.retire(slot..slot + 1);
            }
            assert_eq!(served, 0xffff);
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    let machine = warpmem_machine::load("owl2013", &[]).unwrap();
    let build = |text| WARP_SCHEDULERS.build(text, &SmContext::of(&machine, SmId(0)));
    assert!(build("cta-aware(min_warps=5,idle=lend)").is_ok());
    assert!(build("cta-aware-locality(groups=slots,min_warps=3)").is_ok());
    for text in [
        "cta-aware(min_warps=0)",
        "cta-aware-locality(idle=maybe)",
        "cta-aware(n=3)",
        "cta-aware(groups=until-end)",
        "cta-aware-locality(groups=fixed)",
    ] {
        assert!(build(text).is_err(), "{text}");
    }
}
