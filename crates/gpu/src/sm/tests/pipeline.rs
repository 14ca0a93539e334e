//! The stages around the units: fetch, operand collection, write-back, the places before the
//! load/store unit.

use super::*;
use warpmem_testing::{Step, barrier, compute, exit, fence, load, machine, memory, store};
use warpmem_trace::OpClass::{Fp64, Integer, Sfu};
use warpmem_trace::{Kind, Space};

/// Latencies of the units, cycles.
const INTEGER: u64 = 6;
const DOUBLE: u64 = 9;
const SPECIAL: u64 = 20;
const SHARED: u64 = 17;
const CONSTANT: u64 = 11;

fn simple(overrides: &[&str]) -> Machine {
    let units = [
        "sm.units.integer={latency=6,interval=1}",
        "sm.units.fp64={latency=9,interval=3}",
        "sm.units.sfu={latency=20,interval=1}",
        "sm.units.control={latency=5,interval=1}",
        "sm.shared.latency=17",
        "sm.constant_latency=11",
        "l1.latency=30",
        "policy.warp_scheduler=lrr",
    ];
    machine(&[&units, overrides].concat())
}

/// `count` independent instructions.
fn work(count: usize) -> WarpSteps {
    vec![compute(Integer, &[]); count]
}

#[test]
fn a_warp_with_no_instruction_left_fetches_two() {
    // The only fetch of a cycle is its last, two cycles before what it brings can issue. The next
    // pair is fetched in the cycle in which the second of a pair issues.
    assert_eq!(offsets(&simple(&["sm.fetch_warps=1"]), work(5)), [2, 3, 3 + 2, 5 + 1, 6 + 2]);
}

#[test]
fn only_the_last_fetch_of_a_cycle_is_a_cycle_later() {
    let machine = simple(&["sm.fetch_warps=2", "sm.schedulers=4"]);
    assert_eq!(issues(&machine, work(4)), [1, 2, 2 + 1, 3 + 1].map(|cycle| START + cycle));
    let outcome = run(&machine, vec![work(1), work(1), work(1)]);
    let first = [0, 1, 2].map(|warp| outcome.offsets_of(warp)[0]);
    assert_eq!(first, [1, 2, 1 + 1], "two in the first cycle, one in the second");
}

#[test]
fn warps_fetch_in_turn() {
    let machine = simple(&["sm.fetch_warps=1", "sm.schedulers=4"]);
    let outcome = run(&machine, vec![work(6); 4]);
    // One fetch a cycle for four warps of which each needs one in four cycles. Warp 0 has nothing
    // left in cycle 3, and warp 3 never had: it is next.
    for warp in 0..4u32 {
        let expected: Vec<u64> = [0, 4, 8]
            .map(|round| round + u64::from(warp))
            .iter()
            .flat_map(|fetched| [fetched + 2, fetched + 3])
            .collect();
        assert_eq!(outcome.offsets_of(warp), expected, "warp {warp}");
    }
}

#[test]
fn what_was_fetched_waits_for_its_operands() {
    let machine = simple(&["sm.fetch_warps=1"]);
    let dependent = [work(2), vec![compute(Integer, &[1])]].concat();
    assert_eq!(offsets(&machine, dependent), [2, 3, 3 + INTEGER]);
    let uses = vec![compute(Integer, &[]), load(&[0]).used_after(0), compute(Integer, &[])];
    assert_eq!(offsets(&machine, uses), [2, 3, 3 + MISS]);
    let fenced = vec![store(&[0]), fence(), compute(Integer, &[])];
    assert_eq!(offsets(&machine, fenced), [2, 3, 2 + MISS]);
}

#[test]
fn a_warp_let_go_from_a_barrier_has_to_fetch_and_one_that_waits_there_has_fetched() {
    let machine = simple(&["sm.fetch_warps=1", "sm.schedulers=2"]);
    let round = |before| [work(before), vec![barrier(0)], work(1)].concat();
    // The barrier is the second of its pair.
    assert_eq!(offsets(&machine, round(1)), [2, 3, 3 + 2]);
    let outcome = run(&machine, vec![round(1), round(20)]);
    let released = outcome.offsets_of(1)[20];
    assert_eq!(outcome.offsets_of(0)[2], released + 1);
    // The other's barrier is the first of its pair.
    assert_eq!(outcome.offsets_of(1)[21], released + 1);
}

/// Operands take three cycles, write-back two.
fn piped(overrides: &[&str]) -> Machine {
    let stages = ["sm.operand_latency=3", "sm.writeback_latency=2"];
    simple(&[&stages, overrides].concat())
}

const OPERANDS: u64 = 3;
const WRITEBACK: u64 = 2;

#[test]
fn a_result_is_there_after_operands_unit_and_write_back() {
    let warp = vec![
        compute(Integer, &[]),
        compute(Fp64, &[1]),
        compute(Integer, &[1]),
        compute(Integer, &[2]),
    ];
    let integer = OPERANDS + INTEGER + WRITEBACK;
    let double = OPERANDS + DOUBLE + WRITEBACK;
    let expected = [0, integer, integer + double, integer + double + 1];
    assert_eq!(offsets(&piped(&[]), warp), expected);
}

#[test]
fn the_way_to_a_unit_does_not_occupy_it() {
    let doubles = vec![compute(Fp64, &[]), compute(Fp64, &[]), compute(Integer, &[])];
    assert_eq!(offsets(&piped(&[]), doubles), [0, 3, 4]);
}

#[test]
fn memory_instructions_reach_their_unit_when_their_operands_are_read() {
    for step in [load(&[0]), store(&[0])] {
        let sent = run(&piped(&[]), vec![vec![step]]).sent[0];
        assert_eq!(sent.stamps.created.0, START + OPERANDS);
        assert_eq!(sent.stamps.l1_missed.0, START + OPERANDS + LEAVES);
    }
    let sent = run(&piped(&[]), vec![vec![memory(Kind::Atomic, Space::Global, &[0])]]).sent[0];
    assert_eq!(sent.stamps.l1_missed.0, START + OPERANDS);
}

#[test]
fn each_kind_of_memory_result_has_its_way_back() {
    let issue_of_use = |step: Step| offsets(&piped(&[]), vec![step.used_after(0), exit()])[1];
    // What comes from below is filled in or buffered before it is written.
    assert_eq!(issue_of_use(load(&[0])), OPERANDS + MISS + 2 * WRITEBACK);
    let atomic = memory(Kind::Atomic, Space::Global, &[0]);
    assert_eq!(issue_of_use(atomic), OPERANDS + 1 + BELOW + 2 * WRITEBACK);
    let shared = memory(Kind::Load, Space::Shared, &[0]);
    assert_eq!(issue_of_use(shared), OPERANDS + SHARED + WRITEBACK);
    let constant = memory(Kind::Load, Space::Constant, &[0]);
    assert_eq!(issue_of_use(constant), OPERANDS + CONSTANT);
    let hit = vec![load(&[0]).used_after(0), load(&[0]).used_after(0), exit()];
    let issues = offsets(&piped(&[]), hit);
    assert_eq!(issues[2] - issues[1], OPERANDS + L1_LATENCY);
    // Nothing is written for a store.
    let fenced = vec![store(&[0]), fence(), exit()];
    assert_eq!(offsets(&piped(&[]), fenced)[2], OPERANDS + MISS);
}

#[test]
fn each_scheduler_has_its_places_before_the_load_store_unit() {
    let machine = simple(&["sm.schedulers=2", "sm.lsu_queue=1"]);
    let outcome = run(&machine, vec![vec![load(&lines(16)); 3]; 2]);
    // The unit takes 16 cycles each for the first loads of warps 0 and 1, their second, their
    // third. A place is free in the cycle after that in which the unit begins with what was there.
    assert_eq!(outcome.offsets_of(0), [0, 1, 2 * 16 + 1]);
    assert_eq!(outcome.offsets_of(1), [0, 16 + 1, 3 * 16 + 1]);
}

/// Cycles in which a warp of independent integers issues beside one of `loads` loads of 16 lines;
/// the two take turns from cycle 0 on, and operands take two cycles.
fn beside_loads(loads: usize, overrides: &[&str]) -> (Vec<u64>, Vec<u64>) {
    let machine = simple(&[&["sm.operand_latency=2", "sm.lsu_queue=4"], overrides].concat());
    let outcome = run(&machine, vec![vec![load(&lines(16)); loads], work(8)]);
    (outcome.offsets_of(0), outcome.offsets_of(1))
}

#[test]
fn loads_that_wait_with_their_operands_hold_the_collectors() {
    // The unit begins with the first load in cycle 2. The second waits from 4, the third from 6 on:
    // both collectors are taken until the unit begins with the second, 16 cycles after the first.
    let (loads, integers) = beside_loads(3, &["sm.collectors=1"]);
    assert_eq!(loads, [0, 2, 4]);
    assert_eq!(integers[..5], [1, 3, 5, 2 + 16 + 1, 2 + 16 + 2]);
    // A fourth load issues in spite of it, and has them held until the unit begins with the third.
    let (loads, integers) = beside_loads(4, &["sm.collectors=1"]);
    assert_eq!(loads, [0, 2, 4, 6]);
    assert_eq!(integers[..4], [1, 3, 5, 2 + 2 * 16 + 1]);
    let (_, integers) = beside_loads(3, &["sm.collectors=2"]);
    assert_eq!(integers[..5], [1, 3, 5, 6, 7], "three have room");
    let (_, integers) = beside_loads(3, &["sm.collectors=0"]);
    assert_eq!(integers[..5], [1, 3, 5, 6, 7], "no limit");
}

#[test]
fn each_scheduler_has_its_collectors() {
    let (_, integers) = beside_loads(4, &["sm.collectors=1", "sm.schedulers=2"]);
    assert_eq!(integers, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_warp_ends_when_its_last_result_has_left_the_pipeline() {
    let end = |machine: &Machine, warps| run(machine, warps).end_cycle() - START;
    let special_last = vec![compute(Integer, &[]), compute(Sfu, &[])];
    assert_eq!(end(&simple(&[]), vec![special_last]), 1 + SPECIAL);
    let special_first = vec![compute(Sfu, &[]), compute(Integer, &[])];
    assert_eq!(end(&simple(&[]), vec![special_first.clone()]), SPECIAL, "whatever comes after it");
    assert_eq!(end(&piped(&[]), vec![special_first.clone()]), OPERANDS + SPECIAL + WRITEBACK);
    assert_eq!(end(&simple(&[]), vec![work(1), special_first]), 1 + SPECIAL, "the last warp's");
    assert_eq!(end(&simple(&[]), vec![vec![]]), 0, "nothing was in it");
}

#[test]
fn a_store_to_shared_memory_is_done_when_it_has_passed_and_writes_nothing() {
    let shared = |kind| memory(kind, Space::Shared, &[0]);
    let fenced = vec![shared(Kind::Store), fence(), exit()];
    assert_eq!(offsets(&piped(&[]), fenced)[2], OPERANDS + 1);
    // The load's data have the port to themselves in their cycle.
    let warp = vec![shared(Kind::Store), shared(Kind::Load).used_after(0), exit()];
    let issues = offsets(&piped(&[]), warp);
    assert_eq!(issues[2] - issues[1], OPERANDS + SHARED + WRITEBACK);
}

/// Warps in the order in which the unit sends their loads, one of two lines each, but that of warp
/// 0, which keeps it busy for 16 cycles.
fn sent_in_turn(warps: u64, overrides: &[&str]) -> Vec<u64> {
    let all = ["l1.enabled=false", "sm.operand_latency=4", "sm.lsu_queue=4"];
    let machine = simple(&[&all, overrides].concat());
    let two = |w: u64| vec![w << 20, (w << 20) + 128];
    let warp = |w: u64| vec![load(&if w == 0 { lines(16) } else { two(w) })];
    let outcome = run(&machine, (0..warps).map(warp).collect());
    let mut sent: Vec<u64> = outcome.sent.iter().map(|sent| sent.request.address >> 20).collect();
    sent.dedup();
    sent
}

#[test]
fn what_is_in_the_last_collector_waits_as_long_as_others_come() {
    // While the unit works for warp 0, the loads of 1 to 4 are in its register, in both collectors,
    // and before them: 2, which came while 1 was in the first collector, has the second. The first
    // is free for 4 when 3 leaves it, for 5 when 4 does.
    assert_eq!(sent_in_turn(9, &["sm.collectors=2"]), [0, 1, 3, 4, 5, 6, 7, 8, 2]);
    let in_order = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(sent_in_turn(9, &["sm.collectors=1"]), in_order, "the first is the last");
    assert_eq!(sent_in_turn(9, &["sm.collectors=0"]), in_order, "no limit");
}

#[test]
fn schedulers_take_turns_at_issuing_first() {
    // The unit takes the load that issued first of those of a cycle.
    let order = |overrides: &[&str]| {
        let all = ["l1.enabled=false", "sm.schedulers=4"];
        let machine = simple(&[&all, overrides].concat());
        let warp = |w: u64| vec![load(&[w << 20])];
        let outcome = run(&machine, (0..4).map(warp).collect());
        outcome.sent.iter().map(|sent| sent.request.address >> 20).collect::<Vec<u64>>()
    };
    assert_eq!(order(&["sm.rotating_schedulers=false"]), [0, 1, 2, 3]);
    let first = START % 4;
    let turn: Vec<u64> = (0..4).map(|at| (first + at) % 4).collect();
    assert_eq!(order(&["sm.rotating_schedulers=true"]), turn);
    assert_ne!(first, 0, "another scheduler's turn than that of the lowest number");
}
