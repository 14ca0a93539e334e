//! Warp schedulers that hold warps back.

use super::*;
use warpmem_testing::{barrier, compute, load, machine, memory};
use warpmem_trace::OpClass::Integer;
use warpmem_trace::{Kind, Space};

/// Integer results after 6 cycles.
fn with(policy: &str) -> Machine {
    let policy = format!("policy.warp_scheduler={policy}");
    machine(&["l1.latency=30", "sm.units.integer={latency=6,interval=1}", &policy])
}

/// `count` independent instructions.
fn work(count: usize) -> WarpSteps {
    vec![compute(Integer, &[]); count]
}

/// `count` instructions, each of which needs the result of the one before it.
fn chain(count: usize) -> WarpSteps {
    [work(1), vec![compute(Integer, &[1]); count - 1]].concat()
}

/// The CTAs of two warps that an SM turns to, one after the other, and how many have begun when the
/// first ends.
///
/// Each computes for 80 cycles, waits for its data for [`MISS`], and computes for 20.
fn turns_of_four_ctas(policy: &str) -> (Vec<u32>, usize) {
    let warp = |line: u64| [work(39), vec![load(&[line * 128]).used_after(0)], work(10)].concat();
    let ctas = (0..4).map(|cta| vec![warp(2 * cta), warp(2 * cta + 1)]).collect();
    let outcome = run_ctas(&with(policy), ctas);
    let ctas: Vec<u32> = outcome.order().iter().map(|warp| warp / 2).collect();
    let last_of_first = ctas.iter().rposition(|&cta| cta == 0).unwrap();
    let begun = ctas[..last_of_first].iter().max().unwrap() + 1;
    let mut turns = ctas;
    turns.dedup();
    (turns, begun as usize)
}

/// Figure 4 A of Jog et al. (ASPLOS 2013): the data of the first CTA are back while the third
/// computes.
#[test]
fn cta_aware_goes_on_in_turn_though_the_first_ctas_data_is_back() {
    let (turns, begun) = turns_of_four_ctas("cta-aware(min_warps=2)");
    assert_eq!(turns, [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(begun, 4);
}

/// Figure 4 B.
#[test]
fn cta_aware_locality_goes_back_to_the_first_cta_when_its_data_is_back() {
    let (turns, begun) = turns_of_four_ctas("cta-aware-locality(min_warps=2)");
    assert_eq!(turns[..4], [0, 1, 2, 0]);
    assert_eq!(begun, 3, "one CTA fewer shares L1 meanwhile");
}

/// The third CTA of SM 0 is the first of SM 2.
#[test]
fn cta_aware_locality_blp_begins_where_the_sms_number_says() {
    let machine = with("cta-aware-locality-blp(min_warps=1)");
    let mut rig = Rig::new(&machine, Below::default());
    let context = SmContext::of(&machine, SmId(2));
    let inner = WARP_SCHEDULERS.build(&machine.policy.warp_scheduler, &context).unwrap();
    rig.sm.policy = Box::new(Spy { inner, picks: Arc::clone(&rig.picks) });
    rig.launch(&trace(&[TestKernel::new(vec![vec![work(2)]; 4])]), START);
    assert_eq!(rig.run().order(), [2, 2, 3, 3, 0, 0, 1, 1]);
}

#[test]
fn a_group_keeps_the_issue_slots_that_it_cannot_use_unless_it_lends() {
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

/// The unit begins with the second load, and is done with it, in the cycle after the four lines of
/// the first, behind the issue of that cycle: nothing but the room for the third says that the
/// scheduler is to be asked again.
#[test]
fn a_scheduler_that_holds_is_asked_again_when_the_load_store_unit_has_room() {
    let loads = vec![load(&lines(4)), load(&lines(1)), load(&lines(1))];
    let policy = "policy.warp_scheduler=cta-aware(min_warps=1)";
    let machine = machine(&["l1.latency=30", "sm.lsu_queue=1", policy]);
    let outcome = run_ctas(&machine, vec![vec![loads], vec![work(2)]]);
    assert_eq!(outcome.offsets_of(0), [0, 1, 5]);
    assert_eq!(outcome.offsets_of(1), [6, 7]);
}

/// Places go to warps in the order in which they stopped waiting.
#[test]
fn the_queue_of_two_level_active_is_in_the_order_of_the_data() {
    let load_of = |space| memory(Kind::Load, space, &[0]).used_after(0);
    let waits = |space| vec![load_of(space), compute(Integer, &[])];
    let ctas = vec![vec![waits(Space::Global), waits(Space::Shared), work(300)]];
    let outcome = run_ctas(&with("two-level-active(warps=1)"), ctas);
    let mut order = outcome.order();
    order.dedup();
    assert_eq!(
        order,
        [0, 1, 2, 1, 0],
        "shared memory is the faster, global memory's data are back too"
    );
}

#[test]
fn the_queue_of_two_level_active_is_in_the_order_of_leaving_barriers() {
    let early = [vec![barrier(0)], work(1)].concat();
    let late = [work(5), vec![barrier(0)], work(1)].concat();
    let outcome =
        run_ctas(&with("two-level-active(warps=1)"), vec![vec![early, late], vec![work(2)]]);
    let mut order = outcome.order();
    order.dedup();
    assert_eq!(order, [0, 1, 2, 0], "warp 2 has been awake since it came");
}

#[test]
fn warps_of_two_schedulers_have_turns_of_their_own() {
    let policy = "policy.warp_scheduler=cta-aware(min_warps=2)";
    let machine = machine(&["l1.latency=30", "sm.schedulers=2", policy]);
    // Slots 0 and 2 are of the first scheduler, 1 and 3 of the second.
    let waits = vec![load(&[0]).used_after(0), compute(Integer, &[])];
    let ctas = vec![vec![waits, work(4)], vec![work(2), work(2)]];
    let outcome = run_ctas(&machine, ctas);
    assert_eq!(
        outcome.offsets_of(2),
        [1, 2],
        "the first group of its scheduler waits for its load"
    );
    assert_eq!(outcome.offsets_of(3), [4, 5], "that of the other does not");
}

#[test]
fn nobody_waits_for_ever_at_a_barrier() {
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
        "cta-aware-locality-blp(min_warps=1)",
        "swl(warps=1)",
        "swl(warps=3)",
    ] {
        let mut rig = Rig::new(&with(policy), Below::default());
        let kernel = trace(&[TestKernel::new(ctas.clone())]);
        rig.launch(&kernel, START);
        // The next come to the slots of the first.
        rig.launch(&kernel, START + 10_000);
        assert_eq!(rig.run().ended.len(), 6, "{policy}");
    }
}
