//! The stages around the units: fetch, operand collection, write-back, the places before the
//! load/store unit.

use super::*;
use warpmem_testing::{Step, barrier, compute, exit, fence, load, machine, memory, store};
use warpmem_trace::OpClass::{Fp64, Integer, Sfu};
use warpmem_trace::{Kind, Space};

/// Latencies of the units, cycles.
pub(super) const INTEGER: u64 = 6;
const DOUBLE: u64 = 9;
const SPECIAL: u64 = 20;
const SHARED: u64 = 17;
const CONSTANT: u64 = 11;

pub(super) fn simple(overrides: &[&str]) -> Machine {
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
pub(super) fn work(count: usize) -> WarpSteps {
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
    assert_eq!(first, [1 + 1, 1, 2], "two in the first cycle, from slot 1 on, one in the second");
}

#[test]
fn warps_fetch_in_turn() {
    let machine = simple(&["sm.fetch_warps=1", "sm.schedulers=4"]);
    let outcome = run(&machine, vec![work(6); 4]);
    // One fetch a cycle for four warps of which each needs one in four cycles. The first is that in
    // slot 1. Warp 1 has nothing left in cycle 3, and warp 0 never had: it is next.
    for (turn, warp) in [1, 2, 3, 0].into_iter().enumerate() {
        let expected: Vec<u64> = [0, 4, 8]
            .map(|round| round + turn as u64)
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

#[test]
fn schedulers_take_turns_at_issuing_first_in_cycles_in_which_there_are_ctas() {
    // The unit takes the load that issued first of those of a cycle. A kernel starts some cycles after
    // the last CTA of the one before has ended.
    let order = |rotating: bool, gap: u64| {
        let rotating = format!("sm.rotating_schedulers={rotating}");
        let machine = simple(&["l1.enabled=false", "sm.schedulers=4", &rotating]);
        let warp = |w: u64| vec![compute(Integer, &[]), load(&[w << 20]).needing(&[1])];
        let kernel = trace(&[TestKernel::new([(0..4).map(warp).collect()])]);
        let mut rig = Rig::new(&machine, Below::default());
        rig.launch(&kernel, START);
        let end = run(&machine, (0..4).map(warp).collect()).end_cycle();
        rig.launch(&kernel, end + gap);
        let sent: Vec<u64> = rig.run().sent.iter().map(|sent| sent.request.address >> 20).collect();
        (sent[..4].to_vec(), sent[4..].to_vec(), end - START + 1)
    };
    let from = |first: u64| (0..4).map(|at| (first + at) % 4).collect::<Vec<u64>>();
    let (first, second, _) = order(false, 10);
    assert_eq!([first, second], [from(0), from(0)]);
    for gap in [1, 10] {
        let (first, second, cycles) = order(true, gap);
        assert_eq!(first, from(INTEGER), "the load's cycle is so many after the first");
        assert_eq!(second, from(cycles + INTEGER), "cycles between do not count");
        assert_ne!(INTEGER % 4, (cycles + INTEGER) % 4);
    }
}
