//! Barriers of a CTA.

use super::*;
use crate::testing::machine;
use warpmem_testing::{barrier, barrier_arrive, barrier_of_warps, compute, load, store};
use warpmem_trace::OpClass::Integer;

fn lrr() -> Machine {
    machine(&["policy.warp_scheduler=lrr", "l1.latency=30"])
}

fn warp(parts: &[WarpSteps]) -> WarpSteps {
    parts.concat()
}

#[test]
fn all_warps_leave_a_barrier_after_the_last_arrival() {
    let warps = vec![
        warp(&[vec![barrier(0)], work(1)]),
        warp(&[work(5), vec![barrier(0)], work(1)]),
        warp(&[work(2), vec![barrier(0)], work(1)]),
    ];
    let outcome = run(&lrr(), warps);
    let last_arrival = outcome.issues_of(1)[5];
    for (w, after) in [(0, 1), (1, 6), (2, 3)] {
        assert!(outcome.issues_of(w)[after] > last_arrival, "warp {w}");
    }
    let first_after = outcome.issues.iter().find(|&&(cycle, _)| cycle > last_arrival).unwrap();
    assert_eq!(first_after.0, last_arrival + 1, "without delay");
}

#[test]
fn a_single_warp_does_not_wait() {
    let got = issues(&lrr(), warp(&[vec![barrier(0)], work(1)]));
    assert_eq!(got, [START, START + 1]);
}

#[test]
fn barriers_do_not_wait_for_retired_warps() {
    let warps = vec![warp(&[vec![barrier(0)], work(1)]), work(4)];
    let outcome = run(&lrr(), warps);
    let ended = outcome.issues_of(1)[3] + PIPELINE;
    assert_eq!(outcome.issues_of(0)[1], ended + 1);
    let empty = run(&lrr(), vec![warp(&[vec![barrier(0)], work(1)]), vec![]]);
    assert_eq!(empty.issues_of(0).len(), 2, "nor for warps without instructions");
}

#[test]
fn a_warp_with_a_load_in_flight_has_not_retired() {
    let warps = vec![warp(&[vec![barrier(0)], work(1)]), vec![load(&[0])]];
    let outcome = run(&lrr(), warps);
    let load_done = outcome.issues_of(1)[0] + MISS;
    assert_eq!(outcome.issues_of(0)[1], load_done + 1);
}

#[test]
fn warps_may_retire_at_a_barrier() {
    let ending = || warp(&[work(2), vec![barrier(0)]]);
    let outcome = run(&lrr(), vec![ending(), ending()]);
    assert_eq!(outcome.ended.len(), 1);
    assert_eq!(outcome.end_cycle(), outcome.issues.last().unwrap().0 + PIPELINE);
    let one_continues = run(&lrr(), vec![ending(), warp(&[ending(), work(3)])]);
    assert_eq!(one_continues.issues_of(1).len(), 6);
    // Warp 0 has drained before warp 1 arrives.
    let one_arrives_late = run(&lrr(), vec![ending(), warp(&[work(9), vec![barrier(0)]])]);
    assert_eq!(one_arrives_late.end_cycle(), one_arrives_late.issues.last().unwrap().0 + PIPELINE);
    let with_store = run(&lrr(), vec![vec![store(&[0]), barrier(0)], vec![barrier(0)]]);
    assert_eq!(with_store.end_cycle(), START + MISS, "waits for the store");
}

/// Two schedulers: both warps drain in the same cycle.
#[test]
fn two_warps_may_retire_at_a_barrier_in_one_cycle() {
    let two = machine(&["sm.schedulers=2", "policy.warp_scheduler=lrr"]);
    for warps in [[work(1), vec![barrier(0)]], [vec![barrier(0)], work(1)]] {
        let outcome = run(&two, warps.to_vec());
        assert_eq!((outcome.ended.len(), outcome.end_cycle()), (1, START + PIPELINE));
    }
}

#[test]
fn a_warp_waits_for_its_load_after_the_barrier() {
    let warps = vec![
        vec![load(&[0]).used_after(1), barrier(0), compute(Integer, &[])],
        vec![barrier(0), compute(Integer, &[])],
    ];
    let outcome = run(&lrr(), warps);
    assert_eq!(outcome.issues_of(0)[2], START + MISS, "the load's result");
    assert_eq!(
        outcome.issues_of(1)[1],
        outcome.issues_of(0)[1] + 1,
        "the other warp issues without delay"
    );
}

#[test]
fn a_load_may_return_while_its_warp_is_at_the_barrier() {
    let warps = vec![
        vec![load(&[0]).used_after(1), barrier(0), compute(Integer, &[])],
        warp(&[work(300), vec![barrier(0)], work(1)]),
    ];
    let outcome = run(&lrr(), warps);
    let arrival = outcome.issues_of(1)[300];
    assert!(arrival > START + MISS);
    assert!(outcome.issues_of(0)[2] > arrival);
}

#[test]
fn a_barrier_can_be_reused() {
    let rounds = |n: usize| (0..3).flat_map(|_| warp(&[work(n), vec![barrier(0)]])).collect();
    let outcome = run(&lrr(), vec![rounds(1), rounds(4)]);
    let (a, b) = (outcome.issues_of(0), outcome.issues_of(1));
    for round in 1..3 {
        assert!(a[2 * round] > b[5 * round - 1] && b[5 * round] > a[2 * round - 1]);
    }
}

#[test]
fn consecutive_barriers_do_not_mix() {
    // Warp 0 reaches barriers 1 and 2 early, warp 1 late: no warp passes barrier 1 while half of
    // the CTA is at 2.
    let pair = |n| warp(&[work(n), vec![barrier(1)], work(1), vec![barrier(2)], work(1)]);
    let outcome = run(&lrr(), vec![pair(0), pair(6)]);
    let (a, b) = (outcome.issues_of(0), outcome.issues_of(1));
    assert!(a[1] > b[6], "barrier 1");
    assert!(a[3] > b[8] && b[9] > a[2], "barrier 2");
}

/// Named barriers of part of a CTA, without participant counts in the trace.
#[test]
fn barriers_without_counts_are_released_together() {
    let group = |id, n| warp(&[work(n), vec![barrier(id)], work(1)]);
    let outcome = run(&lrr(), vec![group(1, 1), group(1, 3), group(2, 2), group(2, 8)]);
    assert_eq!(outcome.result.warp_instructions, 14 + 4 + 4);
    let last_arrival = outcome.issues_of(3)[8];
    assert!(outcome.issues_of(0)[2] > last_arrival, "released by the last arrival of the CTA");
}

#[test]
fn barriers_with_counts_wait_only_for_their_participants() {
    let group = |id, n| warp(&[work(n), vec![barrier_of_warps(id, 2)], work(1)]);
    let outcome = run(&lrr(), vec![group(1, 1), group(1, 3), group(2, 2), group(2, 60)]);
    let (second, last) = (outcome.issues_of(1)[3], outcome.issues_of(3)[60]);
    let passes = |w, after: usize| outcome.issues_of(w)[after];
    assert!(passes(0, 2) > second && passes(0, 2) < last && passes(1, 4) < last);
    assert!(passes(2, 3) > last && passes(3, 61) > last);
}

#[test]
fn arrivals_do_not_block_and_waits_end_with_the_last_arrival() {
    let producer = warp(&[work(9), vec![barrier_arrive(1, 2)], work(40)]);
    let consumer = warp(&[vec![barrier_of_warps(1, 2)], work(1)]);
    let outcome = run(&lrr(), vec![producer, consumer]);
    let arrival = outcome.issues_of(0)[9];
    assert_eq!(outcome.issues_of(1)[1], arrival + 1);
    assert!(outcome.issues_of(0)[10] <= arrival + 2, "alternating with the other warp");
    let early = vec![
        warp(&[vec![barrier_arrive(1, 2)], work(40)]),
        warp(&[work(9), vec![barrier_of_warps(1, 2)], work(1)]),
    ];
    let outcome = run(&lrr(), early);
    let issues = outcome.issues_of(1);
    assert!(issues[10] <= issues[9] + 2, "the early arrival counts");
}

#[test]
fn an_arrival_may_be_the_last_instruction_of_its_warp() {
    let consumer = warp(&[vec![barrier_of_warps(1, 2)], work(1)]);
    let outcome = run(&lrr(), vec![warp(&[work(9), vec![barrier_arrive(1, 2)]]), consumer]);
    assert_eq!(outcome.issues_of(1)[1], outcome.issues_of(0)[9] + 1);
}

/// Only a faulty trace has such a barrier; it must not deadlock the machine.
#[test]
fn a_barrier_is_released_when_no_participant_is_left() {
    let waits = || warp(&[vec![barrier_of_warps(1, 3)], work(1)]);
    let outcome = run(&lrr(), vec![waits(), waits(), work(20)]);
    let ended = outcome.issues_of(2)[19] + PIPELINE;
    assert_eq!(outcome.issues_of(0)[1], ended + 1);
}

#[test]
fn partial_barriers_are_private_to_a_cta() {
    let group = |n| warp(&[work(n), vec![barrier_of_warps(1, 2)], work(1)]);
    let outcome = run_ctas(&lrr(), vec![vec![group(0), group(60)], vec![group(0), group(2)]]);
    assert!(outcome.issues_of(0)[1] > outcome.issues_of(1)[60]);
    assert!(outcome.issues_of(2)[1] < outcome.issues_of(1)[60]);
}

#[test]
fn barriers_are_private_to_a_cta() {
    let early = vec![warp(&[vec![barrier(0)], work(1)]), warp(&[vec![barrier(0)], work(1)])];
    let late = vec![warp(&[vec![barrier(0)], work(1)]), warp(&[work(20), vec![barrier(0)]])];
    let outcome = run_ctas(&lrr(), vec![early, late]);
    let late_arrival = outcome.issues_of(3)[20];
    assert!(outcome.issues_of(0)[1] < late_arrival && outcome.issues_of(1)[1] < late_arrival);
    assert!(outcome.issues_of(2)[1] > late_arrival);
}
