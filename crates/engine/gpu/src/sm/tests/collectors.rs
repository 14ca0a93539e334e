//! Operand collectors: contention in the collectors, dispatch registers and unit registers.

use super::pipeline::{INTEGER, simple};
use super::*;
use crate::sm::collectors::FINDS_PATHS;
use proptest::prelude::*;
use warpmem_testing::{Step, barrier, compute, exit, load};
use warpmem_trace::OpClass::{Fp32, Fp64, Integer};
use warpmem_trace::{Compute, OpClass, Operands};

/// Cycles of operand collection: to a collector, to the unit's register, to the unit, and into it.
const OPERANDS: u64 = 4;

/// Returns a machine with operand collectors.
fn collecting(overrides: &[&str]) -> Machine {
    let all = ["sm.operand_latency=4", "sm.lsu_queue=4", "sm.collectors=2"];
    simple(&[&all, overrides].concat())
}

#[test]
fn instructions_issue_to_a_busy_unit_until_registers_and_collectors_are_full() {
    // The unit takes the first in cycle 3 and then one every 10 cycles. Its register, two
    // collectors and the dispatch register fill up; the sixth instruction stalls until they
    // advance.
    let machine = collecting(&["sm.units.integer.interval=10"]);
    assert_eq!(offsets(&machine, work(8)), [0, 1, 2, 3, 4, 13, 23, 33]);
    let one = collecting(&["sm.units.integer.interval=10", "sm.collectors=1"]);
    assert_eq!(offsets(&one, work(7)), [0, 1, 2, 3, 13, 23, 33], "one collector less");
    let none = collecting(&["sm.units.integer.interval=10", "sm.collectors=0"]);
    assert_eq!(offsets(&none, work(4)), [0, 10, 20, 30], "stalled at issue");
}

#[test]
fn a_result_is_ready_one_latency_after_its_unit_takes_the_instruction() {
    let machine = collecting(&["sm.units.integer.interval=10"]);
    let second = [work(2), vec![compute(Integer, &[1])]].concat();
    // It issues in cycle 1, and the unit takes it in cycle 3 + 10.
    assert_eq!(offsets(&machine, second), [0, 1, 13 + 1 + INTEGER]);
    let third = [work(3), vec![compute(Fp64, &[1])]].concat();
    assert_eq!(offsets(&machine, third), [0, 1, 2, 23 + 1 + INTEGER]);
    let end = |steps: WarpSteps| run(&machine, vec![steps]).end_cycle() - START;
    assert_eq!(end(work(3)), 23 + 1 + INTEGER, "the warp ends with its last result");
}

#[test]
fn instructions_waiting_for_their_unit_block_collectors_for_other_classes() {
    let doubles = vec![compute(Fp64, &[]); 4];
    let machine = collecting(&["sm.units.fp64.interval=20"]);
    // The third double waits in the first collector until cycle 23, the fourth in the second.
    let beside = |doubles: &WarpSteps| {
        let last = vec![compute(Integer, &[]), compute(Integer, &[1])];
        offsets(&machine, [doubles.clone(), last].concat())[doubles.len() + 1]
    };
    assert_eq!(beside(&doubles[..3].to_vec()), 3 + OPERANDS + INTEGER, "one collector is free");
    // The integer gets the first collector when the third double leaves it in cycle 23; its unit
    // takes it in 25.
    assert_eq!(beside(&doubles), 23 + 2 + 1 + INTEGER);
    // A load does the same; its unit starts one cycle later.
    let sent = run(&machine, vec![[doubles.clone(), vec![load(&[0])]].concat()]).sent[0];
    assert_eq!(sent.stamps.created.0, START + 23 + 3);
}

#[test]
fn collectors_are_granted_to_fp32_then_memory_then_integers() {
    // Two doubles hold both collectors; when one becomes free, three instructions wait for it.
    let machine =
        collecting(&["sm.units.fp64.interval=20", "sm.units.fp32={latency=6,interval=1}"]);
    let doubles = vec![compute(Fp64, &[]); 4];
    let needs = |class, distance| compute(class, &[distance]);
    let all = vec![compute(Integer, &[]), load(&[0]), compute(Fp32, &[])];
    let uses = vec![needs(Fp64, 1), needs(Fp64, 4)];
    let outcome = run(&machine, vec![[doubles, all, uses].concat()]);
    let issues = outcome.offsets_of(0);
    assert_eq!(issues[4..7], [4, 5, 6], "one dispatch register per class");
    assert_eq!(issues[7], 23 + 2 + 1 + 6, "fp32 holds the collector from 23 to 24");
    let sent = outcome.sent[0];
    assert_eq!(sent.stamps.created.0, START + 24 + 3, "then the load");
    assert_eq!(issues[8], 25 + 2 + 1 + INTEGER, "then the integer");
}

#[test]
fn an_instruction_without_a_collector_blocks_younger_ones_of_its_class_in_other_schedulers() {
    // Warp 0 belongs to scheduler 0. Its doubles hold both collectors until cycle 23, and its
    // integer waits.
    let machine = collecting(&["sm.units.fp64.interval=20", "sm.schedulers=2"]);
    let holding = [vec![compute(Fp64, &[]); 4], work(1)].concat();
    let younger = |before: usize| {
        [vec![compute(Fp32, &[]); before], work(1), vec![compute(Fp64, &[1])]].concat()
    };
    let result = |before: usize| {
        let outcome = run(&machine, vec![holding.clone(), younger(before)]);
        let issues = outcome.offsets_of(1);
        (issues[before], issues[before + 1])
    };
    assert_eq!(result(3), (3, 3 + OPERANDS + INTEGER), "older than the waiting integer");
    assert_eq!(result(5), (5, 23 + 2 + 1 + INTEGER), "younger than the waiting integer");
}

#[test]
fn released_warps_issue_in_the_same_cycle_if_their_scheduler_issues_later() {
    // Warps 0 and 2 belong to the scheduler that issues first in every cycle. The last arrival is
    // that of warp 0 or 1, in cycle 6, after the other warp of its scheduler.
    let after = |keys: &[&str], late: usize| {
        let machine = collecting(&[&["sm.schedulers=2"], keys].concat());
        let warp = |w: usize| {
            let before = if w == late { work(5) } else { Vec::new() };
            [before, vec![barrier(0)], work(1)].concat()
        };
        let outcome = run(&machine, (0..4).map(warp).collect());
        [0, 1, 2, 3].map(|w| *outcome.offsets_of(w).last().unwrap())
    };
    assert_eq!(after(&[], 0), [8, 6, 7, 7]);
    assert_eq!(after(&[], 1), [7, 8, 8, 7], "no scheduler issues later");
    let none = ["sm.collectors=0"];
    assert_eq!(after(&none, 0), [8, 7, 7, 8], "without collectors all wait for the next cycle");
}

/// An integer instruction that reads `registers`, and one that needs its result.
fn reading(registers: &[u16]) -> WarpSteps {
    let operands = Operands::of(registers.iter().copied());
    let first = Step::Compute(Compute { class: Integer, deps: Vec::new(), operands });
    vec![first, compute(Integer, &[1])]
}

#[test]
fn bank_reads_bound_the_reads_of_a_register_bank_per_cycle() {
    let used = |banks: u32, reads: u32, registers: &[u16]| {
        let keys = [format!("sm.register_banks={banks}"), format!("sm.bank_reads={reads}")];
        offsets(&collecting(&[&keys[0], &keys[1]]), reading(registers))[1] - OPERANDS - INTEGER
    };
    for registers in [&[][..], &[8], &[0, 4, 8, 12]] {
        assert_eq!(used(0, 2, registers), 0, "no banks");
    }
    // With two reads per cycle, no operands save a cycle and three reads of one bank cost a cycle.
    let early = OPERANDS + INTEGER - 1;
    let none = offsets(&collecting(&["sm.register_banks=4", "sm.bank_reads=2"]), reading(&[]))[1];
    assert_eq!(none, early);
    for registers in [&[8][..], &[0, 4], &[0, 1, 2, 3], &[0, 1, 2, 3, 4, 5]] {
        assert_eq!(used(4, 2, registers), 0, "{registers:?}");
    }
    assert_eq!(used(4, 2, &[0, 4, 8]), 1);
    assert_eq!(used(4, 2, &[0, 2, 4]), 0);
    assert_eq!(used(2, 2, &[0, 2, 4]), 1, "three reads in one of two banks");
    assert_eq!(used(1, 2, &[0, 1, 2]), 1);
    assert_eq!(used(4, 1, &[8]), 1, "read in the cycle after collection");
    assert_eq!(used(4, 1, &[0, 4, 8]), 3);
    assert_eq!(used(4, 3, &[0, 4, 8]), 0);
}

#[test]
fn sync_unit_selects_the_unit_of_barriers_and_exits() {
    let end = |unit: &str| {
        let unit = format!("sm.sync_unit={unit}");
        let machine = collecting(&["sm.units.integer.interval=10", &unit]);
        run(&machine, vec![[work(2), vec![exit()]].concat()]).end_cycle() - START
    };
    assert_eq!(end("control"), 13 + 1 + INTEGER, "ends with the second integer");
    assert_eq!(end("integer"), 23 + 1 + 1, "the exit follows both integers");
    let machine = collecting(&["sm.units.integer.interval=10", "sm.sync_unit=integer"]);
    let counts = run(&machine, vec![[work(2), vec![exit()]].concat()]).result;
    let by_class = counts.warp_instructions_by_class;
    assert_eq!([by_class[OpClass::Integer as usize], by_class[OpClass::Control as usize]], [2, 1]);
}

/// A warp of the kernel `prologue`, which computes addresses from thread indices and exits.
fn prologue() -> WarpSteps {
    let integer = |registers: &[u16], deps: &[u8]| {
        let operands = Operands::of(registers.iter().copied());
        Step::Compute(Compute { class: Integer, deps: deps.to_vec(), operands })
    };
    let numbers = vec![integer(&[], &[]); 5];
    let products = [
        integer(&[0, 3], &[3, 4]),
        integer(&[4, 6], &[2, 3]),
        integer(&[0], &[2]),
        integer(&[4], &[2]),
        integer(&[], &[]),
        integer(&[4, 0], &[4, 5]),
        integer(&[7, 5], &[1, 2]),
        integer(&[7], &[2]),
        integer(&[10, 5], &[1, 4]),
        exit(),
    ];
    [numbers, products.to_vec()].concat()
}

#[test]
fn a_kernel_without_memory_accesses_issues_as_in_accel_sim() {
    // Issue cycles in Accel-Sim's SM7_QV100 of some of the 24 warps of three CTAs, relative to the
    // first issue.
    let reference = [
        (0, [7, 19, 31, 43, 55, 67, 79, 91, 103, 115, 127, 170, 171, 179, 180]),
        (1, [1, 7, 19, 31, 43, 55, 67, 79, 91, 103, 115, 127, 139, 151, 163]),
        (4, [2, 9, 21, 33, 45, 57, 69, 81, 93, 105, 117, 129, 139, 149, 159]),
        (17, [5, 15, 27, 39, 51, 63, 75, 87, 99, 111, 123, 135, 147, 159, 170]),
        (23, [6, 17, 29, 41, 53, 65, 77, 89, 101, 113, 125, 137, 149, 161, 171]),
    ];
    let machine = warpmem_machine::load("accelsim-qv100", &[]).unwrap();
    let outcome = run_ctas(&machine, vec![vec![prologue(); 8]; 3]);
    for (warp, cycles) in reference {
        assert_eq!(outcome.offsets_of(warp), cycles, "warp {warp}");
    }
}

/// Returns the issue cycles of a warp of `loads` loads of 16 lines and of a warp of independent
/// integers; the two alternate from cycle 0 on.
fn beside_loads(loads: usize, overrides: &[&str]) -> (Vec<u64>, Vec<u64>) {
    let machine = simple(&[&["sm.operand_latency=4", "sm.lsu_queue=4"], overrides].concat());
    let outcome = run(&machine, vec![vec![load(&lines(16)); loads], work(8)]);
    (outcome.offsets_of(0), outcome.offsets_of(1))
}

#[test]
fn loads_with_collected_operands_hold_collectors_until_the_unit_is_free() {
    // The unit takes the first load in cycle 3 and the second in 19. The third holds the collector
    // until then; an integer waits in the dispatch register, and the next at issue.
    let (loads, integers) = beside_loads(3, &["sm.collectors=1"]);
    assert_eq!(loads, [0, 2, 4]);
    assert_eq!(integers[..5], [1, 3, 5, 2 + 16 + 1, 2 + 16 + 2]);
    // A fourth load is then in the dispatch register and gets the collector before an integer.
    let (loads, integers) = beside_loads(4, &["sm.collectors=1"]);
    assert_eq!(loads, [0, 2, 4, 6]);
    assert_eq!(integers[..4], [1, 3, 5, 2 + 2 * 16 + 1]);
    let (_, integers) = beside_loads(3, &["sm.collectors=2"]);
    assert_eq!(integers[..5], [1, 3, 5, 6, 7], "room for three instructions");
    let (_, integers) = beside_loads(3, &["sm.collectors=0"]);
    assert_eq!(integers[..5], [1, 3, 5, 6, 7], "no limit");
}

#[test]
fn collectors_are_private_to_a_scheduler() {
    let (_, integers) = beside_loads(4, &["sm.collectors=1", "sm.schedulers=2"]);
    assert_eq!(integers, [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// Returns the warps in the order in which the unit sends their loads, each of two lines; the load
/// of warp 0 keeps the unit busy for 16 cycles.
fn load_order(warps: u64, overrides: &[&str]) -> Vec<u64> {
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
fn a_load_in_the_last_collector_starves_while_loads_use_the_first() {
    // During the load of warp 0, the loads of warps 1 to 4 are in the unit's register, in both
    // collectors and in the dispatch register. Warp 3, which came while 2 held the first
    // collector, has the second. The first is free for 4 when 2 leaves it, and for 5 when 4 does.
    assert_eq!(load_order(9, &["sm.collectors=2"]), [0, 1, 2, 4, 5, 6, 7, 8, 3]);
    let in_order = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(load_order(9, &["sm.collectors=1"]), in_order, "a single collector is FIFO");
    assert_eq!(load_order(9, &["sm.collectors=0"]), in_order, "no limit");
}

/// Instructions of three warps: a class or a load, the registers that it reads, and how far back the
/// compute instruction lies whose result it needs, 0 for none.
fn programs() -> impl Strategy<Value = Vec<WarpSteps>> {
    let class = prop::sample::select(vec![Integer, Fp32, Fp64]);
    let compute = (class, prop::collection::vec(0u16..8, 0..4), 0u8..4).prop_map(
        |(class, registers, distance)| {
            let deps = if distance == 0 { Vec::new() } else { vec![distance] };
            let operands = Operands::of(registers);
            Step::Compute(Compute { class, deps, operands })
        },
    );
    let memory = (1u64..3, 0u64..64)
        .prop_map(|(count, line)| load(&(0..count).map(|at| (line + at) << 7).collect::<Vec<_>>()));
    let step = prop_oneof![4 => compute, 1 => memory];
    prop::collection::vec(prop::collection::vec(step, 1..24), 3)
}

proptest! {
    /// Paths found at issue compared with paths found step by step.
    #[test]
    fn known_paths_are_those_of_stepped_collectors(
        warps in programs(),
        (collectors, banks, reads) in (1u32..4, prop::sample::select(vec![0, 1, 2, 4]), 1u32..4),
        (schedulers, interval) in (1u32..4, 1u32..5),
    ) {
        let keys = [
            format!("sm.collectors={collectors}"),
            format!("sm.register_banks={banks}"),
            format!("sm.bank_reads={reads}"),
            format!("sm.schedulers={schedulers}"),
            format!("sm.units.integer.interval={interval}"),
        ];
        let machine = collecting(&keys.each_ref().map(String::as_str));
        let outcome = |finds: bool| {
            FINDS_PATHS.set(finds);
            let outcome = run(&machine, warps.clone());
            let sent: Vec<_> =
                outcome.sent.iter().map(|sent| (sent.request.address, sent.stamps.created)).collect();
            (outcome.issues.clone(), sent, outcome.end_cycle())
        };
        let (stepped, known) = (outcome(false), outcome(true));
        prop_assert_eq!(stepped, known);
    }
}
