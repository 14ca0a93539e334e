//! CTAs that pause: those launched last, beyond the most that may issue.

use super::*;
use warpmem_testing::{barrier, compute, load, machine};
use warpmem_trace::OpClass::Integer;

/// Latency of an integer instruction, cycles.
const INTEGER: u64 = 6;

/// CTAs that start together on an SM that is told how many may issue: after its step of a cycle.
fn run_limited(
    machine: &Machine,
    ctas: Vec<Vec<WarpSteps>>,
    limits: &[(u64, u32)],
    restless: bool,
) -> Outcome {
    let mut rig = Rig::new(machine, Below::default());
    rig.restless = restless;
    rig.launch(&trace(&[TestKernel::new(ctas)]), START);
    limits.iter().for_each(|&(cycle, ctas)| rig.limit(cycle, ctas));
    rig.run()
}

fn one_warp(instructions: usize) -> Vec<WarpSteps> {
    vec![vec![compute(Integer, &[]); instructions]]
}

fn lrr() -> Machine {
    under("lrr")
}

fn under(scheduler: &str) -> Machine {
    let policy = format!("policy.warp_scheduler={scheduler}");
    machine(&[&policy, "sm.units.integer={latency=6,interval=1}", "l1.latency=30"])
}

#[test]
fn the_cta_launched_last_issues_nothing_until_an_older_one_has_ended() {
    let ctas = vec![one_warp(4), one_warp(4), one_warp(2)];
    let free = run_limited(&lrr(), ctas.clone(), &[], false);
    assert_eq!(free.order(), [0, 1, 2, 0, 1, 2, 0, 1, 0, 1]);
    let limited = run_limited(&lrr(), ctas, &[(START + 2, 2)], false);
    assert_eq!(limited.order(), [0, 1, 2, 0, 1, 0, 1, 0, 1, 2]);
    // The first of the others ends when its last instruction, the seventh of all after the start,
    // is done.
    let end = START + 7 + INTEGER;
    assert_eq!(limited.issues_of(2), [START + 2, end]);
    assert_eq!(limited.ended[0].cycle.number(), end);
}

/// The last CTA takes the place of the first among the CTAs of the SM.
#[test]
fn the_order_is_that_of_launches_whatever_place_a_cta_has() {
    let mut rig = Rig::new(&lrr(), Below::default());
    let ctas = vec![one_warp(1), one_warp(40), one_warp(2)];
    rig.launch(&trace(&[TestKernel::new(ctas)]), START);
    let (late, limited) = (START + 20, START + 20);
    rig.launches[2].0 = late;
    rig.bench.sim.region.fabric.wake_cycle(rig.sm.unit(), late);
    rig.limit(limited, 1);
    let outcome = rig.run();
    let (first, second): (Vec<_>, Vec<_>) = (outcome.issues_of(0), outcome.issues_of(1));
    assert_eq!(first.len(), 3, "of two CTAs");
    assert!(first[2] > second[39], "{first:?} {second:?}");
}

#[test]
fn it_goes_on_when_more_may_issue() {
    let ctas = vec![one_warp(8), one_warp(3)];
    let outcome = run_limited(&lrr(), ctas, &[(START + 1, 1), (START + 4, 2)], false);
    assert_eq!(outcome.order(), [0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0]);
}

#[test]
fn what_it_has_sent_comes_back_while_it_pauses() {
    let waits = vec![vec![load(&[0]).used_after(0), compute(Integer, &[])]];
    let ctas = vec![one_warp(300), waits];
    let outcome = run_limited(&lrr(), ctas, &[(START + 1, 1), (START + 250, 2)], false);
    assert_eq!(outcome.issues_of(1), [START + 1, START + 251]);
    assert_eq!(outcome.loads[0].load_time, MISS, "as ever");
}

/// Every cycle has its category: one warp that pauses is no reason for an idle cycle.
#[test]
fn idle_cycles_are_those_of_the_ctas_that_may_issue() {
    let waits = vec![vec![load(&[0]).used_after(0), compute(Integer, &[])]];
    let ctas = vec![waits, one_warp(40)];
    let outcome = run_limited(&lrr(), ctas, &[(START, 1)], false);
    let r = &outcome.result;
    assert_eq!(r.memory_block_cycles, MISS - 1);
    // Each instruction is ready in the cycle of its issue; in the first cycle, before the limit,
    // both warps are.
    assert_eq!(r.ready_warp_cycles, 2 + 40 + 1);
    assert_eq!(r.structural_stall_cycles, 0);
    assert_eq!(r.active_cycles, 42);
}

#[test]
fn barriers_of_a_cta_that_pauses_wait_for_it_and_for_nobody_else() {
    let both = || vec![vec![compute(Integer, &[]), barrier(0), compute(Integer, &[])]; 2];
    let outcome = run_limited(&lrr(), vec![both(), both()], &[(START, 1)], false);
    let ended: Vec<u32> = outcome.ended.iter().map(|end| end.cta).collect();
    assert_eq!(ended, [0, 1]);
    assert_eq!(outcome.order().len(), 12);
}

#[test]
fn a_cta_ends_with_what_it_has_issued() {
    let ctas = vec![one_warp(5), [one_warp(30), one_warp(2)].concat()];
    let mut rig = Rig::new(&lrr(), Below::default());
    rig.launch(&trace(&[TestKernel::new(ctas)]), START);
    let issued = rig.run().ended.iter().map(|end| (end.cta, end.issued)).collect::<Vec<_>>();
    let both = |warp| Issued { warp, thread: 32 * warp };
    assert_eq!(issued, [(0, both(5)), (1, both(32))]);
}

/// While the first CTA waits for its data, the second issues; then it pauses, ready as it is,
/// and the first goes on.
#[test]
fn no_warp_scheduler_waits_for_a_warp_that_pauses() {
    let few = ["two-level(warps=1)", "two-level-active(warps=1)", "cta-aware(min_warps=1)"];
    for scheduler in WARP_SCHEDULERS.names().chain(few) {
        let scheduler = format!("policy.warp_scheduler={scheduler}");
        let machine = machine(&[&scheduler, "l1.latency=30"]);
        let waits = vec![load(&[0]).used_after(0), compute(Integer, &[]), load(&[4096])];
        let long = [vec![load(&[8192])], vec![compute(Integer, &[]); 400]].concat();
        let outcome =
            run_limited(&machine, vec![vec![waits], vec![long]], &[(START + 20, 1)], false);
        let ended: Vec<u32> = outcome.ended.iter().map(|end| end.cta).collect();
        assert_eq!(ended, [0, 1], "{scheduler}");
        let back = START + MISS;
        let paused =
            outcome.issues_of(1).into_iter().filter(|cycle| (START + 21..=back).contains(cycle));
        assert_eq!(paused.count(), 0, "{scheduler}");
        assert!(outcome.issues_of(0)[1] <= back + 1, "{scheduler}");
    }
}

#[test]
fn pausing_needs_no_turn_that_the_sm_does_not_ask_for() {
    let mixed = || {
        let loads =
            vec![load(&[0, 512]).used_after(1), compute(Integer, &[]), compute(Integer, &[1])];
        vec![[loads.clone(), loads].concat(); 2]
    };
    let ctas = vec![mixed(), one_warp(9), mixed(), one_warp(3)];
    for scheduler in WARP_SCHEDULERS.names() {
        let machine = under(scheduler);
        for limits in [[(1, 1), (9, 2)], [(3, 2), (50, 1)], [(40, 1), (200, 3)], [(5, 3), (7, 1)]] {
            let asked = run_limited(&machine, ctas.clone(), &limits, false);
            let polled = run_limited(&machine, ctas.clone(), &limits, true);
            assert_eq!(asked.issues, polled.issues, "{scheduler} {limits:?}");
            assert_eq!(asked.result, polled.result, "{scheduler} {limits:?}");
        }
    }
}
