//! Every cycle of an SM has one category.

use super::*;
use crate::testing::{barrier, compute, load, machine};
use warpmem_trace::OpClass::{Fp64, Integer};

fn simple(overrides: &[&str]) -> Machine {
    let units = [
        "sm.units.integer={latency=6,interval=1}",
        "sm.units.fp64={latency=9,interval=5}",
        "l1.latency=30",
    ];
    machine(&[&units, overrides].concat())
}

/// Active, no warp, memory, dependency, structural, barrier.
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
    assert_eq!(account(&outcome), [2, 0, 0, 5, 0, 0]);
}

#[test]
fn waiting_for_a_unit_is_a_structural_stall() {
    let outcome = run(&simple(&[]), vec![vec![compute(Fp64, &[]), compute(Fp64, &[])]]);
    assert_eq!(account(&outcome), [2, 0, 0, 0, 4, 0]);
}

#[test]
fn waiting_for_a_load_is_a_memory_block() {
    let outcome = run(&simple(&[]), vec![vec![load(&[0]).used_after(0), compute(Integer, &[])]]);
    assert_eq!(account(&outcome), [2, 0, 30 + BELOW - 1, 0, 0, 0]);
}

#[test]
fn waiting_for_a_full_load_queue_is_a_structural_stall() {
    // Sixteen lines each, one a cycle: one instruction is worked on, one waits, the third finds no room.
    let lines: Vec<u64> = (0..16).map(|n| n * 128).collect();
    let outcome = run(&simple(&["sm.lsu_queue=2"]), vec![vec![load(&lines); 3]]);
    // The first instruction leaves the queue in its 16th cycle; the third can issue in the next.
    assert_eq!(outcome.issues_of(0), [START, START + 1, START + 16]);
    assert_eq!(account(&outcome)[4], 14);
}

#[test]
fn warps_at_a_barrier_or_waiting_for_memory_are_barrier_cycles() {
    let waits = vec![barrier(0)];
    let loads = vec![load(&[0]).used_after(0), barrier(0)];
    let outcome = run(&simple(&[]), vec![waits, loads]);
    assert_eq!(account(&outcome), [3, 0, 0, 0, 0, 30 + BELOW - 1]);
}

#[test]
fn cycles_before_the_first_cta_have_no_warp() {
    let mut rig = Rig::new(&simple(&[]), Below::default());
    rig.launch(&trace(&[TestKernel::new([vec![vec![compute(Integer, &[])]]])]), START);
    rig.sm.start_account(0);
    let result = rig.run().result;
    assert_eq!((result.no_warp_cycles, result.active_cycles), (START, 1));
}

#[test]
fn an_issue_occupies_its_interval() {
    let machine = simple(&["sm.issue_interval=4"]);
    let outcome = run(&machine, vec![vec![compute(Integer, &[]), compute(Integer, &[1])]]);
    // Issues at 0 and 6: four cycles taken, two of waiting, and one until the end of the CTA.
    assert_eq!(account(&outcome), [5, 0, 0, 2, 0, 0]);
}

#[test]
fn ready_warps_are_summed_over_cycles() {
    let warps = (0..3).map(|_| vec![compute(Integer, &[])]).collect();
    assert_eq!(run(&simple(&[]), warps).result.ready_warp_cycles, 3 + 2 + 1);
    let stalled = vec![vec![compute(Fp64, &[]), compute(Fp64, &[])]];
    assert_eq!(
        run(&simple(&[]), stalled).result.ready_warp_cycles,
        6,
        "waiting for a unit is ready"
    );
    let waiting = vec![vec![compute(Integer, &[]), compute(Integer, &[1])]];
    assert_eq!(
        run(&simple(&[]), waiting).result.ready_warp_cycles,
        2,
        "waiting for a result is not"
    );
}
