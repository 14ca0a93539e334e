//! Cycle accounting: every cycle of an SM has exactly one category.

use super::*;
use crate::testing::machine;
use warpmem_testing::{barrier, compute, load};
use warpmem_trace::OpClass::{Fp64, Integer};

/// Latencies of integer and double-precision instructions, cycles.
const INTEGER: u64 = 6;
const DOUBLE: u64 = 9;

fn simple(overrides: &[&str]) -> Machine {
    let units = [
        "sm.units.integer={latency=6,interval=1}",
        "sm.units.fp64={latency=9,interval=5}",
        "l1.latency=30",
    ];
    machine(&[&units, overrides].concat())
}

/// Returns active, no-warp, memory, dependency, structural and barrier cycles. The drain of the
/// pipeline after the last issue is a dependency; the cycle in which a warp retires has none.
fn account(outcome: &Outcome) -> [u64; 6] {
    let r = &outcome.result;
    let cycles = [
        r.active_cycles,
        r.no_warp_cycles,
        r.memory_block_cycles,
        r.dependency_stall_cycles,
        r.structural_stall_cycles,
        r.barrier_cycles,
    ];
    assert_eq!(cycles.iter().sum::<u64>(), outcome.end_cycle() + 1 - START);
    cycles
}

#[test]
fn waiting_for_a_result_is_a_dependency_stall() {
    let outcome = run(&simple(&[]), vec![vec![compute(Integer, &[]), compute(Integer, &[1])]]);
    assert_eq!(account(&outcome), [2, 1, 0, (INTEGER - 1) + (INTEGER - 1), 0, 0]);
}

#[test]
fn waiting_for_a_unit_is_a_structural_stall() {
    let outcome = run(&simple(&[]), vec![vec![compute(Fp64, &[]), compute(Fp64, &[])]]);
    assert_eq!(account(&outcome), [2, 1, 0, DOUBLE - 1, 4, 0]);
    assert_eq!(outcome.result.load_store_block_cycles, 0);
}

#[test]
fn waiting_for_a_load_is_a_memory_block() {
    let outcome = run(&simple(&[]), vec![vec![load(&[0]).used_after(0), compute(Integer, &[])]]);
    assert_eq!(account(&outcome), [2, 1, MISS - 1, INTEGER - 1, 0, 0]);
}

#[test]
fn waiting_for_a_full_load_queue_is_a_structural_stall() {
    // Sixteen lines each at one per cycle: one instruction is in the unit, two are queued, the
    // fourth stalls.
    let outcome = run(&simple(&["sm.lsu_queue=2"]), vec![vec![load(&lines(16)); 4]]);
    // The unit takes the second load after the 16 cycles of the first; its queue entry is free one
    // cycle later.
    assert_eq!(outcome.offsets_of(0), [0, 1, 2, 16 + 1]);
    assert_eq!(account(&outcome)[4], 16 + 1 - 3);
    assert_eq!(outcome.result.load_store_block_cycles, 16 + 1 - 3);
}

/// The second warp waits for a compute result for the first of the cycles in which the first waits
/// for the load/store queue.
#[test]
fn a_full_load_queue_blocks_the_sm_unless_a_warp_computes() {
    let loads = vec![load(&lines(32)); 4];
    let computes = vec![compute(Integer, &[]), compute(Integer, &[1])];
    let outcome = run(&simple(&["sm.lsu_queue=2"]), vec![loads, computes]);
    let result = &outcome.result;
    let blocked = result.load_store_block_cycles;
    assert!((1..result.structural_stall_cycles).contains(&blocked), "{blocked}");
}

#[test]
fn a_warp_at_a_barrier_makes_memory_stalls_barrier_cycles() {
    let waits = vec![barrier(0)];
    let loads = vec![load(&[0]).used_after(0), barrier(0)];
    let outcome = run(&simple(&[]), vec![waits, loads]);
    // Both are released when the second warp's barrier issues, without waiting for its drain.
    let control = 4;
    assert_eq!(account(&outcome), [3, 1, 0, control - 1, 0, MISS - 1]);
}

#[test]
fn cycles_before_the_first_cta_have_no_warp() {
    let mut rig = Rig::new(&simple(&[]), MemoryStub::default());
    rig.launch(&trace(&[TestKernel::new([vec![vec![compute(Integer, &[])]]])]), START);
    rig.sm.start_account(CoreCycle::ZERO);
    let result = rig.run().result;
    assert_eq!((result.no_warp_cycles, result.active_cycles), (START + 1, 1));
}

#[test]
fn an_issue_is_active_for_the_issue_interval() {
    let machine = simple(&["sm.issue_interval=4"]);
    let outcome = run(&machine, vec![vec![compute(Integer, &[]), compute(Integer, &[1])]]);
    // Issues at 0 and 6; each occupies four of the six cycles to its result.
    assert_eq!(account(&outcome), [4 + 4, 1, 0, 2 + 2, 0, 0]);
}

#[test]
fn ready_warps_are_summed_over_cycles() {
    let warps = (0..3).map(|_| vec![compute(Integer, &[])]).collect();
    assert_eq!(run(&simple(&[]), warps).result.ready_warp_cycles, 3 + 2 + 1);
    let stalled = vec![vec![compute(Fp64, &[]), compute(Fp64, &[])]];
    assert_eq!(
        run(&simple(&[]), stalled).result.ready_warp_cycles,
        6,
        "a warp waiting for a unit is ready"
    );
    let waiting = vec![vec![compute(Integer, &[]), compute(Integer, &[1])]];
    assert_eq!(
        run(&simple(&[]), waiting).result.ready_warp_cycles,
        2,
        "a warp waiting for a result is not"
    );
}
