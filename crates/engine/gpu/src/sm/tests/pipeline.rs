//! Pipeline stages around the units: fetch, operand collection, write-back, and the load/store
//! queues.

use super::*;
use crate::testing::machine;
use warpmem_testing::{Step, barrier, compute, exit, fence, load, memory, store};
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

#[test]
fn a_warp_fetches_two_instructions_at_a_time() {
    // The only fetch of a cycle is its last, so its instructions can issue two cycles later. The
    // next pair is fetched when the second of a pair issues.
    assert_eq!(offsets(&simple(&["sm.fetch_warps=1"]), work(5)), [2, 3, 3 + 2, 5 + 1, 6 + 2]);
}

#[test]
fn only_the_last_fetch_of_a_cycle_takes_an_extra_cycle() {
    let machine = simple(&["sm.fetch_warps=2", "sm.schedulers=4"]);
    assert_eq!(issues(&machine, work(4)), [1, 2, 2 + 1, 3 + 1].map(|cycle| START + cycle));
    let outcome = run(&machine, vec![work(1), work(1), work(1)]);
    let first = [0, 1, 2].map(|warp| outcome.offsets_of(warp)[0]);
    assert_eq!(
        first,
        [1 + 1, 1, 2],
        "slots 1 and 2 fetch in the first cycle, slot 0 in the second"
    );
}

#[test]
fn warps_fetch_round_robin() {
    let machine = simple(&["sm.fetch_warps=1", "sm.schedulers=4"]);
    let outcome = run(&machine, vec![work(6); 4]);
    // One fetch per cycle serves four warps that need one every four cycles, starting at slot 1.
    // In cycle 3 both warps 1 and 0 are empty, and slot 0 is next.
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
fn fetched_instructions_wait_for_their_operands() {
    let machine = simple(&["sm.fetch_warps=1"]);
    let dependent = [work(2), vec![compute(Integer, &[1])]].concat();
    assert_eq!(offsets(&machine, dependent), [2, 3, 3 + INTEGER]);
    let uses = vec![compute(Integer, &[]), load(&[0]).used_after(0), compute(Integer, &[])];
    assert_eq!(offsets(&machine, uses), [2, 3, 3 + MISS]);
    let fenced = vec![store(&[0]), fence(), compute(Integer, &[])];
    assert_eq!(offsets(&machine, fenced), [2, 3, 2 + MISS]);
}

#[test]
fn warps_fetch_while_they_wait_at_a_barrier() {
    let machine = simple(&["sm.fetch_warps=1", "sm.schedulers=2"]);
    let round = |before| [work(before), vec![barrier(0)], work(1)].concat();
    // The barrier is the second instruction of its pair.
    assert_eq!(offsets(&machine, round(1)), [2, 3, 3 + 2]);
    let outcome = run(&machine, vec![round(1), round(20)]);
    let released = outcome.offsets_of(1)[20];
    assert_eq!(outcome.offsets_of(0)[2], released + 1);
    // Warp 1's barrier is the first of its pair.
    assert_eq!(outcome.offsets_of(1)[21], released + 1);
}

/// Operand latency 3, write-back latency 2.
fn piped(overrides: &[&str]) -> Machine {
    let stages = ["sm.operand_latency=3", "sm.writeback_latency=2"];
    simple(&[&stages, overrides].concat())
}

const OPERANDS: u64 = 3;
const WRITEBACK: u64 = 2;

#[test]
fn a_result_takes_operand_unit_and_write_back_latency() {
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
fn operand_collection_does_not_occupy_the_unit() {
    let doubles = vec![compute(Fp64, &[]), compute(Fp64, &[]), compute(Integer, &[])];
    assert_eq!(offsets(&piped(&[]), doubles), [0, 3, 4]);
}

#[test]
fn memory_instructions_reach_their_unit_after_operand_collection() {
    for step in [load(&[0]), store(&[0])] {
        let sent = run(&piped(&[]), vec![vec![step]]).sent[0];
        assert_eq!(sent.stamps.created.0, START + OPERANDS);
        assert_eq!(sent.stamps.l1_missed.0, START + OPERANDS + TO_MEMORY);
    }
    let sent = run(&piped(&[]), vec![vec![memory(Kind::Atomic, Space::Global, &[0])]]).sent[0];
    assert_eq!(sent.stamps.l1_missed.0, START + OPERANDS);
}

#[test]
fn each_kind_of_memory_result_has_its_write_back_latency() {
    let issue_of_use = |step: Step| offsets(&piped(&[]), vec![step.used_after(0), exit()])[1];
    // Replies are filled or buffered before they are written back.
    assert_eq!(issue_of_use(load(&[0])), OPERANDS + MISS + 2 * WRITEBACK);
    let atomic = memory(Kind::Atomic, Space::Global, &[0]);
    assert_eq!(issue_of_use(atomic), OPERANDS + 1 + MEMORY_LATENCY + 2 * WRITEBACK);
    let shared = memory(Kind::Load, Space::Shared, &[0]);
    assert_eq!(issue_of_use(shared), OPERANDS + SHARED + WRITEBACK);
    let constant = memory(Kind::Load, Space::Constant, &[0]);
    assert_eq!(issue_of_use(constant), OPERANDS + CONSTANT);
    let hit = vec![load(&[0]).used_after(0), load(&[0]).used_after(0), exit()];
    let issues = offsets(&piped(&[]), hit);
    assert_eq!(issues[2] - issues[1], OPERANDS + L1_LATENCY);
    // A store writes no register.
    let fenced = vec![store(&[0]), fence(), exit()];
    assert_eq!(offsets(&piped(&[]), fenced)[2], OPERANDS + MISS);
}

#[test]
fn schedulers_have_separate_load_store_queues() {
    let machine = simple(&["sm.schedulers=2", "sm.lsu_queue=1"]);
    let outcome = run(&machine, vec![vec![load(&lines(16)); 3]; 2]);
    // The unit takes 16 cycles each for the first loads of warps 0 and 1, then their second, then
    // their third. An entry is free one cycle after the unit takes its instruction.
    assert_eq!(outcome.offsets_of(0), [0, 1, 2 * 16 + 1]);
    assert_eq!(outcome.offsets_of(1), [0, 16 + 1, 3 * 16 + 1]);
}

#[test]
fn a_warp_retires_when_its_pipeline_has_drained() {
    let end = |machine: &Machine, warps| run(machine, warps).end_cycle() - START;
    let special_last = vec![compute(Integer, &[]), compute(Sfu, &[])];
    assert_eq!(end(&simple(&[]), vec![special_last]), 1 + SPECIAL);
    let special_first = vec![compute(Sfu, &[]), compute(Integer, &[])];
    assert_eq!(
        end(&simple(&[]), vec![special_first.clone()]),
        SPECIAL,
        "the longest latency counts"
    );
    assert_eq!(end(&piped(&[]), vec![special_first.clone()]), OPERANDS + SPECIAL + WRITEBACK);
    assert_eq!(
        end(&simple(&[]), vec![work(1), special_first]),
        1 + SPECIAL,
        "the last warp to drain"
    );
    assert_eq!(end(&simple(&[]), vec![vec![]]), 0, "an empty warp retires immediately");
}

#[test]
fn a_shared_memory_store_completes_after_its_passes_without_write_back() {
    let shared = |kind| memory(kind, Space::Shared, &[0]);
    let fenced = vec![shared(Kind::Store), fence(), exit()];
    assert_eq!(offsets(&piped(&[]), fenced)[2], OPERANDS + 1);
    // The load has the write-back port to itself in its cycle.
    let warp = vec![shared(Kind::Store), shared(Kind::Load).used_after(0), exit()];
    let issues = offsets(&piped(&[]), warp);
    assert_eq!(issues[2] - issues[1], OPERANDS + SHARED + WRITEBACK);
}

#[test]
fn rotating_schedulers_rotate_in_cycles_with_ctas() {
    // The unit takes the load that issued first in a cycle. The second kernel starts some cycles
    // after the end of the first.
    let order = |rotating: bool, gap: u64| {
        let rotating = format!("sm.rotating_schedulers={rotating}");
        let machine = simple(&["l1.enabled=false", "sm.schedulers=4", &rotating]);
        let warp = |w: u64| vec![compute(Integer, &[]), load(&[w << 20]).needing(&[1])];
        let kernel = trace(&[TestKernel::new([(0..4).map(warp).collect()])]);
        let mut rig = Rig::new(&machine, MemoryStub::default());
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
        assert_eq!(first, from(INTEGER), "loads issue INTEGER cycles after the first instruction");
        assert_eq!(second, from(cycles + INTEGER), "cycles without CTAs do not count");
        assert_ne!(INTEGER % 4, (cycles + INTEGER) % 4);
    }
}

const LINE_LATENCY: u64 = 40;

/// A machine whose instruction lines hold four instructions.
fn with_instruction_cache(overrides: &[&str]) -> Machine {
    let cache = "sm.instruction_cache={size_bytes=1024,line_bytes=64,miss_latency=40}";
    simple(&[&[cache, "sm.schedulers=4"], overrides].concat())
}

#[test]
fn a_warp_waits_for_each_line_of_its_code_once() {
    // Line n arrives LINE_LATENCY after the last instruction before it has issued.
    let machine = with_instruction_cache(&[]);
    let expected: Vec<u64> = (0..10).map(|n: u64| n + LINE_LATENCY * (1 + n / 4)).collect();
    let outcome = run(&machine, vec![work(10)]);
    assert_eq!(outcome.offsets_of(0), expected);
    assert_eq!(outcome.result.instruction_cache_misses, 3);
    let perfect = run(&simple(&["sm.schedulers=4"]), vec![work(10)]);
    assert_eq!(perfect.result.instruction_cache_misses, 0);
}

#[test]
fn warps_share_lines_of_the_instruction_cache() {
    let machine = with_instruction_cache(&[]);
    // The second warp starts with the first, and its lines are in flight; the third starts late.
    let mut rig = Rig::new(&machine, MemoryStub::default());
    let code = trace(&[TestKernel::new(vec![vec![work(10)]; 3])]);
    rig.launch(&code, START);
    rig.launches[2].0 = START + 1000;
    rig.bench.sim.region.fabric.wake_cycle(rig.sm.unit(), START + 1000);
    let outcome = rig.run();
    // The third warp takes the slot of the first.
    let cold = outcome.offsets_of(1);
    let warm: Vec<u64> = (1000..1010).collect();
    assert_eq!(outcome.offsets_of(0), [cold, warm].concat());
    assert_eq!(outcome.result.instruction_cache_misses, 3);
}

#[test]
fn a_limited_fetch_follows_the_arrival_of_the_line() {
    let machine = with_instruction_cache(&["sm.fetch_warps=1"]);
    let all = offsets(&machine, work(6));
    let warm = offsets(&simple(&["sm.fetch_warps=1", "sm.schedulers=4"]), work(6));
    // A line holds two fetches. A warp reads its next line in the cycle after its last issue, and
    // would otherwise fetch in that of the issue.
    let later = |n: u64| LINE_LATENCY + n / 4 * (LINE_LATENCY + 1);
    let expected: Vec<u64> = (0..6).map(|n| warm[n] + later(n as u64)).collect();
    assert_eq!(all, expected);
}

#[test]
fn a_warp_at_a_barrier_waits_for_its_line_meanwhile() {
    let machine = with_instruction_cache(&[]);
    let first = [work(3), vec![barrier(0)], work(1)].concat();
    let second = [work(3), vec![compute(Sfu, &[]), barrier(0)], work(1)].concat();
    let outcome = run(&machine, vec![first, second]);
    let last = |warp: u32| *outcome.offsets_of(warp).last().unwrap();
    assert!(last(0) >= 2 * LINE_LATENCY, "{}", last(0));
    assert_eq!(outcome.ended.len(), 1);
}

#[test]
fn a_constant_line_costs_its_miss_once() {
    let constant = |line: u64| memory(Kind::Load, Space::Constant, &[64 * line]).used_after(0);
    let warp = vec![constant(0), constant(0), constant(1), compute(Integer, &[])];
    let cached = "sm.constant_cache={size_bytes=1024,line_bytes=64,miss_latency=70}";
    let outcome = run(&simple(&[cached]), vec![warp.clone()]);
    let issues = outcome.offsets_of(0);
    let first = CONSTANT + 70;
    assert_eq!(issues, [0, first, first + CONSTANT, 2 * first + CONSTANT]);
    assert_eq!(outcome.result.constant_cache_misses, 2);
    let perfect = run(&simple(&[]), vec![warp]);
    assert_eq!(perfect.offsets_of(0), [0, CONSTANT, 2 * CONSTANT, 3 * CONSTANT]);
}

#[test]
fn double_precision_occupies_the_unit_of_special_functions_where_it_has_none() {
    let both = vec![compute(Fp64, &[]), compute(Sfu, &[]), compute(Fp64, &[]), compute(Sfu, &[])];
    assert_eq!(offsets(&simple(&[]), both.clone()), [0, 1, 3, 4]);
    let shared = ["sm.fp64_unit=sfu"];
    assert_eq!(offsets(&simple(&shared), both), [0, 3, 4, 7], "3 cycles each for double precision");
    // Alone, each kind takes as long as with units of its own.
    for class in [Fp64, Sfu] {
        let alone = vec![compute(class, &[]); 4];
        assert_eq!(offsets(&simple(&shared), alone.clone()), offsets(&simple(&[]), alone));
    }
    let uses = vec![compute(Fp64, &[]), compute(Integer, &[1])];
    assert_eq!(offsets(&simple(&shared), uses), [0, DOUBLE]);
}
