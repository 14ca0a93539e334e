//! Warp schedulers that throttle memory instructions, on an SM.

use super::*;
use crate::testing::machine;
use warpmem_testing::{Step, barrier, compute, load, store};
use warpmem_trace::OpClass::{Integer, Sfu};

/// Runs the CTA under a policy and checks that stepping the SM in every cycle changes nothing.
fn under(policy: &str, overrides: &[&str], warps: Vec<WarpSteps>) -> Outcome {
    let policy = format!("policy.warp_scheduler={policy}");
    let machine = machine(&[&["l1.latency=30", &policy], overrides].concat());
    let trace = trace(&[TestKernel::new([warps])]);
    let [asked, every] = [false, true].map(|every_cycle| {
        let mut rig = Rig::new(&machine, MemoryStub::default());
        rig.every_cycle = every_cycle;
        rig.launch(&trace, START);
        rig.run()
    });
    assert_eq!(asked.issues, every.issues);
    assert_eq!(asked.counters, every.counters);
    asked
}

fn count(outcome: &Outcome, name: &str) -> u64 {
    outcome.counters.iter().find(|(counter, _)| *counter == name).unwrap().1
}

const ONE_LINE: [&str; 2] = ["l1.cache.size_bytes=128", "l1.cache.ways=1"];

/// Warp 0 reads line 0 twice; in between, warp 1 evicts it from L1. Then warp 0 runs `then`, and
/// warp 1 issues another load and waits at a barrier.
fn one_loses_its_line(then: &[Step]) -> Vec<WarpSteps> {
    let first = [&[load(&[0]).used_after(0), load(&[0]).used_after(0)], then].concat();
    let second = vec![load(&[128]).used_after(0), load(&[256]), barrier(0), compute(Integer, &[])];
    vec![first, second]
}

/// Returns the cycle in which warp 0 misses its lost line.
fn loss(outcome: &Outcome) -> u64 {
    // A read leaves the SM in the cycle after its miss.
    outcome.sent.iter().filter(|sent| sent.request.address == 0).nth(1).unwrap().cycle - 1
}

#[test]
fn a_held_load_issues_when_the_scores_have_decayed() {
    // Keeps warp 0 resident.
    let chain = [vec![compute(Sfu, &[1]); 100], vec![barrier(0)]].concat();
    for schedulers in ["sm.schedulers=1", "sm.schedulers=2"] {
        let overrides = [&ONE_LINE[..], &[schedulers]].concat();
        let outcome = under("ccws", &overrides, one_loses_its_line(&chain));
        // 1 loss / 3 instructions x 8 x (2 x 100) = 533 points for warp 0; with the 100 of warp 1
        // they fall to 200 in 433 cycles.
        assert_eq!(outcome.issues_of(1)[1], loss(&outcome) + 433);
        assert_eq!(count(&outcome, "victim_tag_hits"), 1);
        let free = under("gto", &overrides, one_loses_its_line(&chain));
        assert!(free.issues_of(1)[1] < loss(&outcome) + 200, "ready much earlier");
    }
}

#[test]
fn a_warp_at_a_barrier_holds_no_load_back() {
    let warps = || one_loses_its_line(&[barrier(0), compute(Integer, &[])]);
    for schedulers in ["sm.schedulers=1", "sm.schedulers=2"] {
        let overrides = [&ONE_LINE[..], &[schedulers]].concat();
        let outcome = under("ccws(throttle=1000000)", &overrides, warps());
        assert_eq!(count(&outcome, "victim_tag_hits"), 1);
        assert!(outcome.end_cycle() < loss(&outcome) + 1000, "{}", outcome.end_cycle());
    }
}

/// Free MSHR entries never exceed the headroom.
const SATURATED: &str = "l1.cache.mshr_entries=2";

fn three_warps() -> Vec<WarpSteps> {
    let [c, dependent] = [compute(Integer, &[]), compute(Integer, &[1])];
    vec![
        vec![load(&[0]), c.clone(), dependent, load(&[128]).used_after(0), c.clone()],
        vec![load(&[256]), load(&[384]).used_after(0), c.clone()],
        vec![c.clone(), c.clone(), c, load(&[512])],
    ]
}

#[test]
fn one_warp_owns_saturated_memory_until_it_waits() {
    let outcome = under("mascar", &[SATURATED], three_warps());
    // While the owner waits for operands, warp 2 computes; the loads of the others wait.
    assert_eq!(outcome.offsets_of(0)[..4], [0, 1, 5, 6]);
    assert_eq!(outcome.offsets_of(2), [2, 3, 4, 9]);
    assert_eq!(outcome.offsets_of(1)[..2], [7, 8]);
    assert_eq!((count(&outcome, "owners"), count(&outcome, "saturated_issues")), (3, 12));
    let free = under("mascar", &["l1.cache.mshr_entries=32"], three_warps());
    assert_eq!(free.issues, under("gto", &[], three_warps()).issues);
    assert_eq!(free.offsets_of(1)[..2], [2, 3], "as soon as warp 0 waits for operands");
}

#[test]
fn an_owner_at_a_barrier_causes_no_deadlock() {
    let warp = |line: u64| {
        let [before, after] = [line, line + 1].map(|line| load(&[line * 128]).used_after(0));
        vec![load(&[line * 128]), barrier(0), before, store(&[line * 128]), barrier(0), after]
    };
    for schedulers in ["sm.schedulers=1", "sm.schedulers=2"] {
        let warps = (0..5).map(|n| warp(4 * n)).collect();
        let outcome = under("mascar", &[SATURATED, schedulers], warps);
        assert_eq!(outcome.issues.len(), 30);
    }
}

/// Mixes busy warps, warps that lose their lines to each other and warps at barriers: every warp
/// must retire, at the latest once the others have.
#[test]
fn every_warp_retires_under_every_scheduler() {
    let busy = || vec![compute(Integer, &[]); 60];
    let losing = |line| vec![load(&[line]).used_after(0), barrier(0), load(&[line]).used_after(0)];
    let ctas =
        || vec![vec![busy(), busy()], vec![losing(0), losing(128)], vec![losing(256), busy()]];
    let instructions: usize = ctas().iter().flatten().map(Vec::len).sum();
    for scheduler in WARP_SCHEDULERS.names() {
        for schedulers in ["sm.schedulers=1", "sm.schedulers=2"] {
            let policy = format!("policy.warp_scheduler={scheduler}");
            let machine = machine(&[&ONE_LINE[..], &[&policy, schedulers]].concat());
            let outcome = run_ctas(&machine, ctas());
            assert_eq!(outcome.issues.len(), instructions, "{scheduler}");
            assert_eq!(outcome.ended.len(), 3, "{scheduler}");
        }
    }
}
