//! Warp schedulers with groups or limits, on an SM.

use super::*;
use crate::testing::machine;
use warpmem_testing::{barrier, compute, load, memory};
use warpmem_trace::OpClass::Integer;
use warpmem_trace::{Kind, Space};

/// Integer results after 6 cycles.
fn with(policy: &str) -> Machine {
    let policy = format!("policy.warp_scheduler={policy}");
    machine(&["l1.latency=30", "sm.units.integer={latency=6,interval=1}", &policy])
}

/// `count` instructions, each dependent on its predecessor.
fn chain(count: usize) -> WarpSteps {
    [work(1), vec![compute(Integer, &[1]); count - 1]].concat()
}

/// Returns the order in which four CTAs of two warps issue, and how many have begun when the first
/// ends.
///
/// Each CTA computes for 80 cycles, waits [`MISS`] cycles for its data, and computes for 20.
fn order_of_four_ctas(policy: &str) -> (Vec<u32>, usize) {
    let warp = |line: u64| [work(39), vec![load(&[line * 128]).used_after(0)], work(10)].concat();
    let ctas = (0..4).map(|cta| vec![warp(2 * cta), warp(2 * cta + 1)]).collect();
    let outcome = run_ctas(&with(policy), ctas);
    let ctas: Vec<u32> = outcome.order().iter().map(|warp| warp / 2).collect();
    let last_of_first = ctas.iter().rposition(|&cta| cta == 0).unwrap();
    let begun = ctas[..last_of_first].iter().max().unwrap() + 1;
    let mut order = ctas;
    order.dedup();
    (order, begun as usize)
}

/// Figure 4 A of Jog et al. (ASPLOS 2013): the data of the first CTA return while the third
/// computes.
#[test]
fn cta_aware_continues_in_order_after_the_first_ctas_data_return() {
    let (order, begun) = order_of_four_ctas("cta-aware(min_warps=2)");
    assert_eq!(order, [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(begun, 4);
}

/// Figure 4 B.
#[test]
fn cta_aware_locality_returns_to_the_first_cta_when_its_data_return() {
    let (order, begun) = order_of_four_ctas("cta-aware-locality(min_warps=2)");
    assert_eq!(order[..4], [0, 1, 2, 0]);
    assert_eq!(begun, 3, "one CTA fewer shares L1");
}

/// The third group has priority on SM 2.
#[test]
fn cta_aware_locality_blp_gives_each_sm_its_first_group() {
    let machine = with("cta-aware-locality-blp(min_warps=1)");
    let mut rig = Rig::new(&machine, MemoryStub::default());
    let context = SmContext::of(&machine, SmId(2));
    let inner = WARP_SCHEDULERS.build(&machine.policy.warp_scheduler, &context).unwrap();
    rig.sm.issue.policy = Box::new(PickLogger { inner, picks: Arc::clone(&rig.picks) });
    rig.launch(&trace(&[TestKernel::new(vec![vec![work(2)]; 4])]), START);
    assert_eq!(rig.run().order(), [2, 2, 3, 3, 0, 0, 1, 1]);
}

#[test]
fn a_group_wastes_issue_slots_unless_it_lends_them() {
    let offsets = |policy| {
        let outcome = run_ctas(&with(policy), vec![vec![chain(3)], vec![work(3)]]);
        (outcome.offsets_of(0), outcome.offsets_of(1))
    };
    let first = vec![0, 6, 12];
    assert_eq!(offsets("cta-aware(min_warps=1)"), (first.clone(), vec![13, 14, 15]));
    assert_eq!(offsets("cta-aware(min_warps=1,idle=lend)"), (first.clone(), vec![1, 2, 3]));
    assert_eq!(offsets("two-level(warps=1)"), (first.clone(), vec![13, 14, 15]));
    assert_eq!(offsets("two-level-active(warps=1)"), (first.clone(), vec![13, 14, 15]));
    assert_eq!(offsets("swl(warps=1)"), (first, vec![13, 14, 15]));
}

/// The unit finishes the second load in the cycle after the four lines of the first, after that
/// cycle's issue: only the freed queue entry causes the scheduler to be asked again.
#[test]
fn a_held_decision_is_revisited_when_the_load_store_queue_has_room() {
    let loads = vec![load(&lines(4)), load(&lines(1)), load(&lines(1))];
    let policy = "policy.warp_scheduler=cta-aware(min_warps=1)";
    let machine = machine(&["l1.latency=30", "sm.lsu_queue=1", policy]);
    let outcome = run_ctas(&machine, vec![vec![loads], vec![work(2)]]);
    assert_eq!(outcome.offsets_of(0), [0, 1, 5]);
    assert_eq!(outcome.offsets_of(1), [6, 7]);
}

/// Pending warps become active in the order in which they stopped waiting.
#[test]
fn two_level_active_queues_warps_in_order_of_returning_data() {
    let load_of = |space| memory(Kind::Load, space, &[0]).used_after(0);
    let waits = |space| vec![load_of(space), compute(Integer, &[])];
    let ctas = vec![vec![waits(Space::Global), waits(Space::Shared), work(300)]];
    let outcome = run_ctas(&with("two-level-active(warps=1)"), ctas);
    let mut order = outcome.order();
    order.dedup();
    assert_eq!(order, [0, 1, 2, 1, 0], "shared memory returns first; the global data are back too");
}

#[test]
fn two_level_active_queues_warps_in_order_of_leaving_barriers() {
    let early = [vec![barrier(0)], work(1)].concat();
    let late = [work(5), vec![barrier(0)], work(1)].concat();
    let outcome =
        run_ctas(&with("two-level-active(warps=1)"), vec![vec![early, late], vec![work(2)]]);
    let mut order = outcome.order();
    order.dedup();
    assert_eq!(order, [0, 1, 2, 0], "warp 2 has been awake since its launch");
}

#[test]
fn schedulers_have_separate_current_groups() {
    let policy = "policy.warp_scheduler=cta-aware(min_warps=2)";
    let machine = machine(&["l1.latency=30", "sm.schedulers=2", policy]);
    // Slots 0 and 2 belong to the first scheduler, 1 and 3 to the second.
    let waits = vec![load(&[0]).used_after(0), compute(Integer, &[])];
    let ctas = vec![vec![waits, work(4)], vec![work(2), work(2)]];
    let outcome = run_ctas(&machine, ctas);
    assert_eq!(outcome.offsets_of(2), [1, 2], "the first group waits for a load on scheduler 0");
    assert_eq!(outcome.offsets_of(3), [4, 5], "but not on scheduler 1");
}

#[test]
fn no_warp_starves_at_a_barrier() {
    let part = |n: usize, line: u64| {
        [work(n), vec![load(&[line * 128]).used_after(0)], chain(3), vec![barrier(0)]].concat()
    };
    let warp = |w: u64| [part(w as usize, w), part(3, w + 9), work(1)].concat();
    let ctas: Vec<Vec<WarpSteps>> =
        (0..3).map(|cta| (0..4).map(|w| warp(4 * cta + w)).collect()).collect();
    for policy in [
        "oldest",
        "two-level(warps=1)",
        "two-level(warps=3)",
        "two-level-active(warps=1)",
        "two-level-active(warps=3)",
        "cta-aware(min_warps=1)",
        "cta-aware-locality(min_warps=5)",
        "cta-aware-locality(groups=slots,min_warps=1)",
        "cta-aware-locality(groups=residents,min_warps=1)",
        "cta-aware-locality-blp(min_warps=1)",
        "swl(warps=1)",
        "swl(warps=3)",
    ] {
        let mut rig = Rig::new(&with(policy), MemoryStub::default());
        let kernel = trace(&[TestKernel::new(ctas.clone())]);
        rig.launch(&kernel, START);
        // The second launch reuses the slots of the first.
        rig.launch(&kernel, START + 10_000);
        assert_eq!(rig.run().ended.len(), 6, "{policy}");
    }
}
