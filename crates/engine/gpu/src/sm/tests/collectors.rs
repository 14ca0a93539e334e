//! The operand collectors: what waits in them, in front of them and behind them.

use super::pipeline::{INTEGER, simple, work};
use super::*;
use warpmem_testing::{Step, barrier, compute, exit, load};
use warpmem_trace::OpClass::{Fp32, Fp64, Integer};
use warpmem_trace::{Compute, OpClass, Operands};

/// Operands take four cycles: to a collector, to the unit's register, to the unit, and into it.
const OPERANDS: u64 = 4;

/// A machine with collectors, with `overrides`.
fn collecting(overrides: &[&str]) -> Machine {
    let all = ["sm.operand_latency=4", "sm.lsu_queue=4", "sm.collectors=2"];
    simple(&[&all, overrides].concat())
}

#[test]
fn instructions_issue_while_their_unit_is_busy_until_registers_and_collectors_are_full() {
    // The unit takes the first in cycle 3 and then one every 10 cycles. Behind it are its register,
    // two collectors and the dispatch register, which the sixth finds taken until they move on.
    let machine = collecting(&["sm.units.integer.interval=10"]);
    assert_eq!(offsets(&machine, work(8)), [0, 1, 2, 3, 4, 13, 23, 33]);
    let one = collecting(&["sm.units.integer.interval=10", "sm.collectors=1"]);
    assert_eq!(offsets(&one, work(7)), [0, 1, 2, 3, 13, 23, 33], "one less");
    let none = collecting(&["sm.units.integer.interval=10", "sm.collectors=0"]);
    assert_eq!(offsets(&none, work(4)), [0, 10, 20, 30], "they wait at the scheduler");
}

#[test]
fn a_result_is_there_a_latency_after_the_unit_has_taken_the_instruction() {
    let machine = collecting(&["sm.units.integer.interval=10"]);
    let second = [work(2), vec![compute(Integer, &[1])]].concat();
    // It issues in cycle 1, but the unit takes it in 3 + 10.
    assert_eq!(offsets(&machine, second), [0, 1, 13 + 1 + INTEGER]);
    let third = [work(3), vec![compute(Fp64, &[1])]].concat();
    assert_eq!(offsets(&machine, third), [0, 1, 2, 23 + 1 + INTEGER]);
    let end = |steps: WarpSteps| run(&machine, vec![steps]).end_cycle() - START;
    assert_eq!(end(work(3)), 23 + 1 + INTEGER, "the warp ends with its last result");
}

#[test]
fn instructions_that_wait_for_their_unit_hold_collectors_that_others_need() {
    let doubles = vec![compute(Fp64, &[]); 4];
    let machine = collecting(&["sm.units.fp64.interval=20"]);
    // The third waits in the first collector until 23, the fourth in the second.
    let beside = |doubles: &WarpSteps| {
        let last = vec![compute(Integer, &[]), compute(Integer, &[1])];
        offsets(&machine, [doubles.clone(), last].concat())[doubles.len() + 1]
    };
    assert_eq!(beside(&doubles[..3].to_vec()), 3 + OPERANDS + INTEGER, "one is free");
    // The integer gets the first when the third double leaves it in 23, and its unit takes it in 25.
    assert_eq!(beside(&doubles), 23 + 2 + 1 + INTEGER);
    // So does a load, which the unit works on a cycle later.
    let sent = run(&machine, vec![[doubles.clone(), vec![load(&[0])]].concat()]).sent[0];
    assert_eq!(sent.stamps.created.0, START + 23 + 3);
}

#[test]
fn a_collector_goes_to_single_precision_then_memory_then_integers() {
    // Two doubles in both collectors; in the cycle in which one is free, three wait for it.
    let machine =
        collecting(&["sm.units.fp64.interval=20", "sm.units.fp32={latency=6,interval=1}"]);
    let doubles = vec![compute(Fp64, &[]); 4];
    let needs = |class, distance| compute(class, &[distance]);
    let all = vec![compute(Integer, &[]), load(&[0]), compute(Fp32, &[])];
    let uses = vec![needs(Fp64, 1), needs(Fp64, 4)];
    let outcome = run(&machine, vec![[doubles, all, uses].concat()]);
    let issues = outcome.offsets_of(0);
    assert_eq!(issues[4..7], [4, 5, 6], "each in its own dispatch register");
    assert_eq!(issues[7], 23 + 2 + 1 + 6, "the single is in a collector from 23 to 24");
    let sent = outcome.sent[0];
    assert_eq!(sent.stamps.created.0, START + 24 + 3, "then the load");
    assert_eq!(issues[8], 25 + 2 + 1 + INTEGER, "then the integer");
}

#[test]
fn one_that_finds_no_collector_stops_younger_ones_of_its_class_in_other_schedulers() {
    // Warp 0 is scheduler 0's. Its doubles hold both collectors until 23, and its integer waits.
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
    assert_eq!(result(3), (3, 3 + OPERANDS + INTEGER), "older than the one that waits");
    assert_eq!(result(5), (5, 23 + 2 + 1 + INTEGER), "as late as the one that waits");
}

#[test]
fn warps_that_leave_a_barrier_issue_at_once_if_their_scheduler_comes_later_in_the_cycle() {
    // Warps 0 and 2 are of the scheduler that is first in every cycle. The last to come is warp 0 or 1, in
    // cycle 6: in between, the other of its scheduler has come.
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
    assert_eq!(after(&[], 1), [7, 8, 8, 7], "nobody comes later");
    let none = ["sm.collectors=0"];
    assert_eq!(after(&none, 0), [8, 7, 7, 8], "without collectors nobody does");
}

/// An integer that reads these registers, and one that needs its result.
fn reading(registers: &[u16]) -> WarpSteps {
    let operands = Operands::of(registers.iter().copied());
    let first = Step::Compute(Compute { class: Integer, deps: Vec::new(), operands });
    vec![first, compute(Integer, &[1])]
}

#[test]
fn a_register_bank_is_read_so_many_times_a_cycle() {
    let used = |banks: u32, reads: u32, registers: &[u16]| {
        let keys = [format!("sm.register_banks={banks}"), format!("sm.bank_reads={reads}")];
        offsets(&collecting(&[&keys[0], &keys[1]]), reading(registers))[1] - OPERANDS - INTEGER
    };
    for registers in [&[][..], &[8], &[0, 4, 8, 12]] {
        assert_eq!(used(0, 2, registers), 0, "no banks");
    }
    // With two reads a cycle: nothing to read saves a cycle, three reads of a bank cost one.
    let early = OPERANDS + INTEGER - 1;
    let none = offsets(&collecting(&["sm.register_banks=4", "sm.bank_reads=2"]), reading(&[]))[1];
    assert_eq!(none, early);
    for registers in [&[8][..], &[0, 4], &[0, 1, 2, 3], &[0, 1, 2, 3, 4, 5]] {
        assert_eq!(used(4, 2, registers), 0, "{registers:?}");
    }
    assert_eq!(used(4, 2, &[0, 4, 8]), 1);
    assert_eq!(used(4, 2, &[0, 2, 4]), 0);
    assert_eq!(used(2, 2, &[0, 2, 4]), 1, "in one of two banks");
    assert_eq!(used(1, 2, &[0, 1, 2]), 1);
    assert_eq!(used(4, 1, &[8]), 1, "read in the cycle after it is collected");
    assert_eq!(used(4, 1, &[0, 4, 8]), 3);
    assert_eq!(used(4, 3, &[0, 4, 8]), 0);
}

#[test]
fn barriers_and_exits_take_a_cycle_of_the_integer_unit_or_are_branches() {
    let end = |unit: &str| {
        let unit = format!("sm.sync_unit={unit}");
        let machine = collecting(&["sm.units.integer.interval=10", &unit]);
        run(&machine, vec![[work(2), vec![exit()]].concat()]).end_cycle() - START
    };
    assert_eq!(end("control"), 13 + 1 + INTEGER, "that of the second integer");
    assert_eq!(end("integer"), 23 + 1 + 1, "the exit comes after both");
    let machine = collecting(&["sm.units.integer.interval=10", "sm.sync_unit=integer"]);
    let counts = run(&machine, vec![[work(2), vec![exit()]].concat()]).result;
    let by_class = counts.warp_instructions_by_class;
    assert_eq!([by_class[OpClass::Integer as usize], by_class[OpClass::Control as usize]], [2, 1]);
}

/// A warp of `prologue`, a kernel that computes addresses from its thread's numbers and ends.
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
    // Cycles of Accel-Sim's SM7_QV100 for some of the 24 warps of three CTAs, from its first issue on.
    let reference = [
        (0, [7, 19, 31, 43, 55, 67, 79, 91, 103, 115, 127, 170, 171, 179, 180]),
        (1, [1, 7, 19, 31, 43, 55, 67, 79, 91, 103, 115, 127, 139, 151, 163]),
        (4, [2, 9, 21, 33, 45, 57, 69, 81, 93, 105, 117, 129, 139, 149, 159]),
        (17, [5, 15, 27, 39, 51, 63, 75, 87, 99, 111, 123, 135, 147, 159, 170]),
        (23, [6, 17, 29, 41, 53, 65, 77, 89, 101, 113, 125, 137, 149, 161, 171]),
    ];
    let machine = warpmem_machine::load("v100", &[]).unwrap();
    let outcome = run_ctas(&machine, vec![vec![prologue(); 8]; 3]);
    for (warp, cycles) in reference {
        assert_eq!(outcome.offsets_of(warp), cycles, "warp {warp}");
    }
}

/// Cycles in which a warp of independent integers issues beside one of `loads` loads of 16 lines;
/// the two take turns from cycle 0 on.
fn beside_loads(loads: usize, overrides: &[&str]) -> (Vec<u64>, Vec<u64>) {
    let machine = simple(&[&["sm.operand_latency=4", "sm.lsu_queue=4"], overrides].concat());
    let outcome = run(&machine, vec![vec![load(&lines(16)); loads], work(8)]);
    (outcome.offsets_of(0), outcome.offsets_of(1))
}

#[test]
fn loads_that_wait_with_their_operands_hold_the_collectors() {
    // The unit takes the first load in cycle 3 and the second in 19. The third holds the collector
    // until then; an integer waits for it in the dispatch register, and others for that.
    let (loads, integers) = beside_loads(3, &["sm.collectors=1"]);
    assert_eq!(loads, [0, 2, 4]);
    assert_eq!(integers[..5], [1, 3, 5, 2 + 16 + 1, 2 + 16 + 2]);
    // A fourth load is in the dispatch register by then, and gets the collector before an integer.
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
    // and before them: 3, which came while 2 was in the first collector, has the second. The first
    // is free for 4 when 2 leaves it, for 5 when 4 does.
    assert_eq!(sent_in_turn(9, &["sm.collectors=2"]), [0, 1, 2, 4, 5, 6, 7, 8, 3]);
    let in_order = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(sent_in_turn(9, &["sm.collectors=1"]), in_order, "the first is the last");
    assert_eq!(sent_in_turn(9, &["sm.collectors=0"]), in_order, "no limit");
}
