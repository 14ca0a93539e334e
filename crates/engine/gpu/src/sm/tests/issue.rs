//! Issue: dependences, functional units, schedulers.

use super::*;
use crate::testing::machine;
use warpmem_testing::{compute, exit, fence, load, memory, store};
use warpmem_trace::OpClass::*;
use warpmem_trace::{Kind, Space};

/// Integer latency 6, fp64 latency 9 and interval 3, L1 hit latency 30.
fn simple(overrides: &[&str]) -> Machine {
    let units = [
        "sm.units.integer={latency=6,interval=1}",
        "sm.units.fp32={latency=4,interval=1}",
        "sm.units.fp64={latency=9,interval=3}",
        "sm.units.control={latency=5,interval=1}",
        "l1.latency=30",
    ];
    machine(&[&units, overrides].concat())
}

#[test]
fn independent_instructions_issue_back_to_back() {
    let warp = vec![compute(Integer, &[]), compute(Integer, &[]), compute(Fp32, &[])];
    assert_eq!(offsets(&simple(&[]), warp), [0, 1, 2]);
}

#[test]
fn a_dependent_instruction_waits_for_the_latency_of_its_producer() {
    let warp = vec![
        compute(Integer, &[]),
        compute(Fp64, &[1]),
        compute(Integer, &[1]),
        compute(Integer, &[3]),
    ];
    // The last needs only the first integer, long done, but issues in order.
    assert_eq!(offsets(&simple(&[]), warp), [0, 6, 15, 16]);
}

#[test]
fn the_latest_producer_determines_the_issue() {
    let producers = [compute(Fp64, &[]), compute(Integer, &[]), compute(Fp32, &[])];
    let last_three = [&producers[..], &[compute(Integer, &[1, 2, 3])]].concat();
    assert_eq!(offsets(&simple(&[]), last_three).last(), Some(&9), "the double of cycle 0");
    let last_two = [&producers[..], &[compute(Integer, &[1, 2])]].concat();
    assert_eq!(offsets(&simple(&[]), last_two).last(), Some(&7), "the integer of cycle 1");
}

#[test]
fn dependences_reach_across_records() {
    let warp = vec![compute(Fp64, &[]), load(&[0]).needing(&[1]), exit(), compute(Integer, &[1])];
    assert_eq!(offsets(&simple(&[]), warp), [0, 9, 10, 15]);
}

#[test]
fn the_longest_dependence_distance_is_honoured() {
    let mut warp = vec![compute(Sfu, &[])];
    warp.extend((0..63).map(|_| compute(Integer, &[])));
    warp.push(compute(Integer, &[64]));
    let machine = simple(&["sm.units.sfu={latency=200,interval=4}"]);
    assert_eq!(offsets(&machine, warp).last(), Some(&200));
}

#[test]
fn a_unit_takes_one_instruction_per_interval_and_others_are_unaffected() {
    let doubles = vec![compute(Fp64, &[]), compute(Fp64, &[]), compute(Integer, &[])];
    assert_eq!(offsets(&simple(&[]), doubles), [0, 3, 4]);
    let two = run(
        &simple(&["policy.warp_scheduler=lrr"]),
        vec![vec![compute(Fp64, &[]); 2], vec![compute(Fp64, &[]), compute(Integer, &[])]],
    );
    // Warp 1's integer issues before warp 0's second double, which waits for the unit.
    let expected = [(0, 0), (3, 1), (4, 1), (6, 0)].map(|(cycle, warp)| (START + cycle, warp));
    assert_eq!(two.issues, expected);
}

#[test]
fn a_scheduler_issues_once_per_issue_interval() {
    let warp = vec![compute(Integer, &[]); 3];
    assert_eq!(offsets(&simple(&["sm.issue_interval=4"]), warp), [0, 4, 8]);
}

/// Returns the issue offsets of `between` instructions after a load that hits in L1, relative to
/// the load.
fn use_of_a_hit(distance: Option<u32>, between: usize) -> Vec<u64> {
    let mut second = load(&[4]);
    if let Some(distance) = distance {
        second = second.used_after(distance);
    }
    let mut warp = vec![load(&[0]).used_after(0), second];
    warp.extend((0..between).map(|_| compute(Integer, &[])));
    let issues = issues(&simple(&[]), warp);
    issues[2..].iter().map(|cycle| cycle - issues[1]).collect()
}

#[test]
fn a_warp_stalls_on_use_not_on_the_load() {
    assert_eq!(use_of_a_hit(Some(0), 2), [30, 31], "used by the next instruction");
    assert_eq!(use_of_a_hit(Some(3), 5), [1, 2, 3, 30, 31], "used by the fourth instruction");
    assert_eq!(use_of_a_hit(None, 3), [1, 2, 3], "never used");
}

#[test]
fn stall_on_load_blocks_the_warp_until_the_data_return() {
    let machine = simple(&["sm.stall=load"]);
    for used_after in [None, Some(0), Some(2)] {
        let hit = load(&[4]);
        let hit = if let Some(distance) = used_after { hit.used_after(distance) } else { hit };
        let warp = vec![load(&[0]), hit, compute(Integer, &[]), compute(Integer, &[])];
        let got = issues(&machine, warp);
        let offsets: Vec<u64> = got[1..].iter().map(|cycle| cycle - got[0]).collect();
        assert_eq!(offsets, [MISS, MISS + 30, MISS + 31], "{used_after:?}");
    }
    // Stores do not stall, and other warps issue their loads.
    let stores = vec![store(&[0]), compute(Integer, &[])];
    assert_eq!(offsets(&machine, stores), [0, 1]);
    let two = run(&machine, vec![vec![load(&[0]), exit()], vec![load(&[4096]), exit()]]);
    assert_eq!(two.issues_of(1)[0], START + 1);
}

#[test]
fn a_warp_stalls_at_the_first_use_of_any_load() {
    // The second load is a hit used two instructions later; the first, a miss, is used after that.
    let warp = vec![
        load(&[0]).used_after(0),
        load(&[4096]).used_after(3),
        load(&[4]).used_after(1),
        compute(Integer, &[]),
        compute(Integer, &[]),
        compute(Integer, &[]),
    ];
    let got = issues(&simple(&[]), warp);
    let [miss, hit, free, uses_hit, uses_miss] = got[1..] else { panic!("{got:?}") };
    assert_eq!((hit - miss, free - miss), (1, 2));
    assert_eq!(uses_hit - hit, 30);
    assert_eq!(uses_miss - miss, MISS);
}

#[test]
fn loads_of_one_warp_overlap() {
    let warp = vec![load(&[0]).used_after(1), load(&[4096]).used_after(0), compute(Integer, &[])];
    let outcome = run(&simple(&[]), vec![warp]);
    let sent: Vec<u64> = outcome.sent.iter().map(|s| s.cycle).collect();
    let expected = [START + TO_MEMORY, START + 1 + TO_MEMORY];
    assert_eq!(sent, expected, "sent without waiting for the first");
    assert_eq!(outcome.issues_of(0)[2], START + 1 + MISS);
}

#[test]
fn overwriting_a_loads_destination_waits_for_the_load() {
    // A write after write is encoded in the trace as the first use.
    let warp = vec![load(&[0]).used_after(0), load(&[0]).used_after(0), compute(Integer, &[])];
    assert_eq!(offsets(&simple(&[]), warp), [0, MISS, MISS + L1_LATENCY]);
}

#[test]
fn a_fence_blocks_issue_until_stores_are_acknowledged() {
    let warp = vec![store(&[0]), fence(), compute(Integer, &[]), compute(Integer, &[])];
    assert_eq!(offsets(&simple(&[]), warp), [0, 1, MISS, MISS + 1]);
    let without = vec![store(&[0]), compute(Integer, &[]), compute(Integer, &[])];
    assert_eq!(offsets(&simple(&[]), without), [0, 1, 2]);
    let load_only = vec![load(&[0]), fence(), compute(Integer, &[])];
    assert_eq!(offsets(&simple(&[]), load_only), [0, 1, 2], "loads are not posted");
}

#[test]
fn a_fence_waits_only_for_earlier_stores() {
    let warp = vec![store(&[0]), fence(), store(&[0]), compute(Integer, &[])];
    assert_eq!(offsets(&simple(&[]), warp), [0, 1, MISS, MISS + 1]);
}

#[test]
fn constant_loads_take_their_latency_without_traffic() {
    let constant = memory(Kind::Load, Space::Constant, &[64]).used_after(0);
    let outcome = run(&simple(&["sm.constant_latency=17"]), vec![vec![constant, exit()]]);
    assert_eq!(outcome.issues_of(0), [START, START + 17]);
    assert!(outcome.sent.is_empty() && outcome.loads.is_empty());
}

#[test]
fn a_warp_retires_when_its_last_memory_instruction_completes() {
    for last in [load(&[0]), store(&[0])] {
        let outcome = run(&simple(&[]), vec![vec![last]]);
        assert_eq!(outcome.end_cycle(), START + MISS);
    }
}

#[test]
fn lrr_alternates_and_gto_is_greedy() {
    let warps = || (0..3).map(|_| vec![compute(Integer, &[]); 3]).collect::<Vec<_>>();
    let order = |policy: &str| run(&simple(&[policy]), warps()).order();
    assert_eq!(order("policy.warp_scheduler=lrr"), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    // A warp is ready in the cycle after its issue, so the greedy warp always continues.
    assert_eq!(order("policy.warp_scheduler=gto"), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
}

#[test]
fn gto_issues_the_oldest_when_its_warp_stalls() {
    let stalls = vec![compute(Integer, &[]), compute(Integer, &[1])];
    let warps = vec![stalls, vec![compute(Integer, &[]); 4], vec![compute(Integer, &[]); 2]];
    let order = run(&simple(&["policy.warp_scheduler=gto"]), warps).order();
    // Warp 0 stalls until cycle 6; warp 1 finishes in cycle 4; warp 2 has two more instructions.
    assert_eq!(order, [0, 1, 1, 1, 1, 2, 2, 0]);
}

#[test]
fn gto_is_not_greedy_for_a_new_warp_in_the_same_slot() {
    let stalls = vec![vec![compute(Integer, &[]), compute(Integer, &[1])]];
    let waits = vec![vec![load(&[0]).used_after(0), compute(Integer, &[])]];
    let mut rig = Rig::new(&simple(&["policy.warp_scheduler=gto"]), MemoryStub::default());
    rig.launch(&trace(&[TestKernel::new([stalls.clone(), waits])]), START);
    // Warp 0 issued last and retires before warp 1, which issued during its stall, has its data.
    rig.launch(&trace(&[TestKernel::new([stalls])]), START + 1 + MISS);
    assert_eq!(rig.run().order(), [0, 1, 0, 1, 0, 0]);
}

#[test]
fn schedulers_have_separate_warps_and_units() {
    let machine = simple(&["sm.schedulers=2"]);
    let outcome = run(&machine, (0..4).map(|_| vec![compute(Fp64, &[])]).collect());
    let expected = [(0, 0), (0, 1), (3, 2), (3, 3)].map(|(cycle, warp)| (START + cycle, warp));
    assert_eq!(outcome.issues, expected, "two doubles in parallel on two units");
    let one_sided = (0..3).map(|w| if w == 1 { vec![] } else { vec![compute(Integer, &[])] });
    let outcome = run(&machine, one_sided.collect());
    let expected = [(0, 0), (1, 2)].map(|(cycle, warp)| (START + cycle, warp));
    assert_eq!(outcome.issues, expected, "slots 0 and 2 share a scheduler");
}

#[test]
fn instructions_and_lanes_are_counted_by_class() {
    let warp = vec![compute(Integer, &[]), compute(Fp64, &[]), load(&[0, 4, 8]), exit()];
    let result = run(&simple(&[]), vec![warp]).result;
    assert_eq!((result.warp_instructions, result.memory_instructions), (4, 1));
    let classes = [Integer, Fp64, Control].map(|c| result.warp_instructions_by_class[c as usize]);
    assert_eq!(classes, [1, 1, 1]);
    let lanes = [Integer, Fp64, Control].map(|c| result.thread_instructions_by_class[c as usize]);
    assert_eq!(lanes, [32, 32, 0], "an exit is not a compute instruction");
    assert_eq!(result.thread_instructions, 3 * 32 + 3);
}
