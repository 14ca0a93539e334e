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

impl Sm {
    fn new(priority: Priority, min_warps: u32, ctas: &[u32]) -> Sm {
        let groups = Groups::new(priority, Idle::Wait, 1);
        let policy = CtaAware { min_warps, ctas: Vec::new(), groups };
        let mut sm = Sm { policy, next_slot: 0, present: 0 };
        ctas.iter().for_each(|&warps| sm.launch(warps));
        sm
    }

    fn launch(&mut self, warps: u32) {
        let warps: Vec<(u16, u32)> =
            (self.next_slot..).take(warps as usize).map(|s| (s, 1)).collect();
        launch(&mut self.policy, self.next_slot.into(), &warps);
        self.next_slot += warps.len() as u16;
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
    let sm = Sm::new(Priority::Equal, 5, &[2; 10]);
    let three = 0b11_1111;
    assert_eq!(sm.policy.groups.warps(), [three, three << 6, 0xff << 12]);
}

#[test]
fn groups_are_minimal_and_the_last_takes_the_remainder() {
    let groups = |min_warps, warps: u32, ctas: usize| {
        Sm::new(Priority::Equal, min_warps, &vec![warps; ctas]).groups()
    };
    assert_eq!(groups(8, 8, 4), [8, 8, 8, 8]);
    assert_eq!(groups(8, 4, 4), [8, 8]);
    assert_eq!(groups(8, 3, 8), [9, 15]);
    assert_eq!(groups(8, 16, 2), [16, 16]);
    assert_eq!(groups(1, 1, 3), [1, 1, 1]);
    assert_eq!(groups(5, 2, 2), [4], "fewer warps than a group needs");
    assert_eq!(groups(64, 6, 8), [48]);
}

#[test]
fn groups_are_rebuilt_at_cta_launch_and_end() {
    let mut sm = Sm::new(Priority::Equal, 4, &[2, 2, 2, 2]);
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
fn equal_priority_moves_on_when_all_warps_of_a_group_wait() {
    let mut sm = Sm::new(Priority::Equal, 2, &[2, 2, 2]);
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
    let mut sm = Sm::new(Priority::Equal, 2, &[2, 2]);
    assert_eq!(sm.pick(0, 0), Some(0));
    assert_eq!(sm.pick(0b01, 0b10), None, "slot 1 waits for a result");
    assert_eq!(sm.pick(0b01, 0), Some(1));
    sm.policy.groups = Groups::new(Priority::Equal, Idle::Lend, 1);
    sm.policy.form_groups();
    assert_eq!(sm.pick(0b01, 0b10), Some(2), "the group lends its issue slot");
    assert_eq!(sm.pick(0, 0), Some(0), "and stays current");
    assert_eq!(sm.policy.counters()[0].value, 0);
}

#[test]
fn locality_returns_to_the_first_group_when_its_data_are_back() {
    let mut sm = Sm::new(Priority::From(0), 2, &[2, 2, 2]);
    assert_eq!(sm.pick(0b0011, 0), Some(2));
    assert_eq!(sm.pick(0b1111, 0), Some(4));
    assert_eq!(sm.pick(0b0011, 0), Some(3), "the second group precedes the third");
    assert_eq!(sm.pick(0b0001, 0), Some(1));
    assert_eq!(sm.pick(0, 0), Some(0));
    sm.retire(0..2);
    assert_eq!(sm.pick(0, 0), Some(2), "the second group is first once the first has ended");
    sm.launch(2);
    assert_eq!(sm.pick(0, 0), Some(3), "younger CTAs form the last group");
}

#[test]
fn each_sm_starts_with_a_different_group_and_continues_in_order() {
    let order = |core| {
        let mut sm = Sm::new(Priority::From(core), 1, &[1, 1, 1]);
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
    let mut sm = Sm::new(Priority::Equal, 1, &[1, 1, 1, 1]);
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
    let mut policy = CtaAware {
        min_warps: 4,
        ctas: Vec::new(),
        groups: Groups::new(Priority::Equal, Idle::Wait, 2),
    };
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
        let mut sm = Sm::new(priority, 4, &[2; 8]);
        let mut served = 0u64;
        while sm.present != 0 {
            let slot = sm.pick(0, 0).unwrap();
            served |= 1 << slot;
            sm.retire(slot..slot + 1);
        }
        assert_eq!(served, 0xffff);
    }
}

#[test]
fn bad_parameters_are_refused() {
    let machine = warpmem_machine::load("owl2013", &[]).unwrap();
    let build = |text| WARP_SCHEDULERS.build(text, &SmContext::of(&machine, SmId(0)));
    assert!(build("cta-aware(min_warps=5,idle=lend)").is_ok());
    for text in ["cta-aware(min_warps=0)", "cta-aware-locality(idle=maybe)", "cta-aware(n=3)"] {
        assert!(build(text).is_err(), "{text}");
    }
}
