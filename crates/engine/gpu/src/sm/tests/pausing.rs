//! Pausing: the most recently launched CTAs beyond the limit do not issue.

use super::*;
use crate::testing::machine;
use warpmem_testing::{barrier, compute, load};
use warpmem_trace::OpClass::Integer;

/// Latency of an integer instruction, cycles.
const INTEGER: u64 = 6;

/// Runs CTAs and limits the issuing CTAs after the SM's step of given cycles.
fn run_limited(
    machine: &Machine,
    ctas: Vec<Vec<WarpSteps>>,
    limits: &[(u64, u32)],
    every_cycle: bool,
) -> Outcome {
    let mut rig = Rig::new(machine, MemoryStub::default());
    rig.every_cycle = every_cycle;
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
fn the_youngest_cta_pauses_until_an_older_one_ends() {
    let ctas = vec![one_warp(4), one_warp(4), one_warp(2)];
    let free = run_limited(&lrr(), ctas.clone(), &[], false);
    assert_eq!(free.order(), [0, 1, 2, 0, 1, 2, 0, 1, 0, 1]);
    let limited = run_limited(&lrr(), ctas, &[(START + 2, 2)], false);
    assert_eq!(limited.order(), [0, 1, 2, 0, 1, 0, 1, 0, 1, 2]);
    // An older CTA ends when its last instruction, the seventh overall, completes.
    let end = START + 7 + INTEGER;
    assert_eq!(limited.issues_of(2), [START + 2, end]);
    assert_eq!(limited.ended[0].cycle.number(), end);
}

/// The last CTA takes the CTA slot of the first.
#[test]
fn pausing_follows_launch_order_not_slot_order() {
    let mut rig = Rig::new(&lrr(), MemoryStub::default());
    let ctas = vec![one_warp(1), one_warp(40), one_warp(2)];
    rig.launch(&trace(&[TestKernel::new(ctas)]), START);
    let (late, limited) = (START + 20, START + 20);
    rig.launches[2].0 = late;
    rig.bench.sim.region.fabric.wake_cycle(rig.sm.unit(), late);
    rig.limit(limited, 1);
    let outcome = rig.run();
    let (first, second): (Vec<_>, Vec<_>) = (outcome.issues_of(0), outcome.issues_of(1));
    assert_eq!(first.len(), 3, "issues of two CTAs");
    assert!(first[2] > second[39], "{first:?} {second:?}");
}

#[test]
fn a_paused_cta_resumes_when_the_limit_rises() {
    let ctas = vec![one_warp(8), one_warp(3)];
    let outcome = run_limited(&lrr(), ctas, &[(START + 1, 1), (START + 4, 2)], false);
    assert_eq!(outcome.order(), [0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0]);
}

#[test]
fn loads_of_a_paused_cta_return() {
    let waits = vec![vec![load(&[0]).used_after(0), compute(Integer, &[])]];
    let ctas = vec![one_warp(300), waits];
    let outcome = run_limited(&lrr(), ctas, &[(START + 1, 1), (START + 250, 2)], false);
    assert_eq!(outcome.issues_of(1), [START + 1, START + 251]);
    assert_eq!(outcome.loads[0].load_time, MISS, "unaffected by the pause");
}

/// A ready warp of a paused CTA does not determine the category of a cycle.
#[test]
fn idle_cycles_ignore_paused_ctas() {
    let waits = vec![vec![load(&[0]).used_after(0), compute(Integer, &[])]];
    let ctas = vec![waits, one_warp(40)];
    let outcome = run_limited(&lrr(), ctas, &[(START, 1)], false);
    let r = &outcome.result;
    assert_eq!(r.memory_block_cycles, MISS - 1);
    // Each instruction is ready in its issue cycle; in the first cycle, before the limit, both
    // warps are ready.
    assert_eq!(r.ready_warp_cycles, 2 + 40 + 1);
    assert_eq!(r.structural_stall_cycles, 0);
    assert_eq!(r.active_cycles, 42);
}

#[test]
fn barriers_of_a_paused_cta_do_not_affect_others() {
    let both = || vec![vec![compute(Integer, &[]), barrier(0), compute(Integer, &[])]; 2];
    let outcome = run_limited(&lrr(), vec![both(), both()], &[(START, 1)], false);
    let ended: Vec<u32> = outcome.ended.iter().map(|end| end.cta).collect();
    assert_eq!(ended, [0, 1]);
    assert_eq!(outcome.order().len(), 12);
}

#[test]
fn a_cta_end_reports_its_issued_instructions() {
    let ctas = vec![one_warp(5), [one_warp(30), one_warp(2)].concat()];
    let mut rig = Rig::new(&lrr(), MemoryStub::default());
    rig.launch(&trace(&[TestKernel::new(ctas)]), START);
    let issued = rig.run().ended.iter().map(|end| (end.cta, end.issued)).collect::<Vec<_>>();
    let both = |warp| Issued { warp, thread: 32 * warp };
    assert_eq!(issued, [(0, both(5)), (1, both(32))]);
}

/// The second CTA issues while the first waits for data; then it pauses although ready, and the
/// first resumes.
#[test]
fn no_warp_scheduler_waits_for_a_paused_warp() {
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
fn pausing_needs_no_extra_steps() {
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
            let every = run_limited(&machine, ctas.clone(), &limits, true);
            assert_eq!(asked.issues, every.issues, "{scheduler} {limits:?}");
            assert_eq!(asked.result, every.result, "{scheduler} {limits:?}");
        }
    }
}
