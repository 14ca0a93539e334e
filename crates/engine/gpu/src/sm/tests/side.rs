//! Side information of requests for DRAM schedulers, and the Critical Fields of instructions.

use super::*;
use crate::side::SideChannels;
use crate::testing::machine;
use warpmem_sim::Needs;
use warpmem_testing::{exit, load, memory, store};
use warpmem_trace::{CacheOp, Kind, Space};

/// L1 takes one sector per cycle, and misses arrive at the stub two cycles later.
fn run_for(needs: &Needs, warps: Vec<WarpSteps>) -> Outcome {
    let machine = machine(&["dram.channels=1", "l1.latency=1"]);
    let mut rig = Rig::new(&machine, MemoryStub::default());
    rig.bench.side = SideChannels::new(&machine, needs, false);
    rig.launch(&trace(&[TestKernel::new([warps])]), START);
    rig.run()
}

fn load_ends() -> Needs {
    Needs { load_ends: true, ..Needs::default() }
}

fn numbers(outcome: &Outcome) -> Vec<u32> {
    outcome.sent.iter().map(|sent| sent.request.load).collect()
}

#[test]
fn a_request_is_critical_if_the_waiting_warps_exceed_the_share() {
    let warp = |n: u64| vec![load(&[n * 128]).used_after(0), exit()];
    let critical = |share| -> Vec<bool> {
        let needs = Needs { critical_share: share, ..Needs::default() };
        let outcome = run_for(&needs, (0..4).map(warp).collect());
        outcome.sent.iter().map(|sent| sent.request.critical).collect()
    };
    // Each warp waits from the issue of its load.
    assert_eq!(critical(Some(0.5)), [false, false, true, true]);
    assert_eq!(critical(Some(0.75)), [false, false, false, true]);
    assert_eq!(critical(None), [false; 4]);
}

#[test]
fn only_loads_are_numbered() {
    let warp = |n: u64| {
        let atomic = memory(Kind::Atomic, Space::Global, &[n * 4096 + 2048]);
        vec![load(&[n * 4096, n * 4096 + 128]), store(&[n * 4096 + 1024]), atomic, exit()]
    };
    let outcome = run_for(&load_ends(), vec![warp(0), warp(1)]);
    let mut of_loads = Vec::new();
    for sent in &outcome.sent {
        match sent.request.kind {
            RequestKind::Read => of_loads.push((sent.request.address / 4096, sent.request.load)),
            _ => assert_eq!(sent.request.load, u32::MAX, "{:?}", sent.request.kind),
        }
    }
    of_loads.sort_unstable();
    assert!(of_loads[0] == of_loads[1] && of_loads[2] == of_loads[3], "{of_loads:?}");
    assert_ne!(of_loads[0].1, of_loads[2].1);
    let without = run_for(&Needs::default(), vec![warp(0)]);
    assert_eq!(numbers(&without), [u32::MAX; 4]);
}

#[test]
fn a_load_ends_with_its_last_request() {
    let outcome = run_for(&load_ends(), vec![vec![load(&[0, 128, 256]), exit()]]);
    assert_eq!(numbers(&outcome), [0, 0, 0]);
    assert_eq!(outcome.load_ends, [(outcome.sent[2].cycle, 0)]);
}

#[test]
fn a_load_ends_with_an_l1_hit_or_merge_after_its_last_request() {
    // Line 0 is in L1, or pending.
    for wait in [true, false] {
        let first = load(&[0]);
        let first = if wait { first.used_after(0) } else { first };
        let outcome =
            run_for(&load_ends(), vec![vec![first, load(&[128, 256, 384, 512, 0]), exit()]]);
        let l1 = &outcome.result.l1;
        assert_eq!((l1.read_hits, l1.read_pending_hits), (u64::from(wait), u64::from(!wait)));
        let last = outcome.sent[4];
        let &(cycle, load) = outcome.load_ends.last().unwrap();
        assert_eq!(load, last.request.load);
        // It is looked up in the cycle in which the last request is already at the stub.
        assert_eq!(cycle, last.cycle + 1);
        assert_eq!(outcome.load_ends.len(), 2);
    }
}

#[test]
fn a_load_ended_by_a_hit_wakes_its_channel() {
    let warm = load(&[0, 128, 256, 384, 512, 640, 768]).used_after(0);
    // One miss, and hits while it is in flight.
    let hits = load(&[1024, 0, 128, 256, 384, 512, 640, 768]);
    let outcome = run_for(&load_ends(), vec![vec![warm, hits, exit()]]);
    let missed = outcome.sent[7];
    let &(cycle, load) = outcome.load_ends.last().unwrap();
    assert_eq!(load, missed.request.load);
    // The last hit is looked up seven cycles after the miss, which takes one cycle to arrive; the
    // channel steps one cycle later.
    assert_eq!(cycle, missed.cycle - 1 + 7 + 1);
}

#[test]
fn bypassing_loads_are_tracked() {
    let past = load(&[0, 128]).with(|i| i.cache_op = CacheOp::Global);
    let outcome = run_for(&load_ends(), vec![vec![past, exit()]]);
    assert_eq!(outcome.load_ends, [(outcome.sent[1].cycle, 0)]);
}

#[test]
fn numbers_of_completed_loads_are_reused() {
    let steps = (0..5).map(|n| load(&[n * 128]).used_after(0)).chain([exit()]);
    let outcome = run_for(&load_ends(), vec![steps.collect()]);
    assert_eq!(numbers(&outcome), [0; 5]);
}

/// Returns line and Critical Field of each request at its arrival at the stub.
fn critical_fields(machine: &Machine, warps: Vec<WarpSteps>) -> Vec<(u64, u8)> {
    let sent = run(machine, warps).sent;
    sent.iter().map(|sent| (sent.request.address / 128, sent.critical_field)).collect()
}

#[test]
fn hits_lower_the_critical_field_of_requests_in_flight() {
    let machine = machine(&[]);
    let warp = vec![load(&[0]).used_after(0), load(&[128, 0, 256, 384]), exit()];
    // The hit is at the tags one cycle after the request before it has left them, and two before
    // the next arrives at the stub.
    assert_eq!(critical_fields(&machine, vec![warp]), [(0, 1), (1, 4), (2, 3), (3, 3)]);
    let warp = vec![load(&[0]).used_after(0), load(&[0, 4, 8]).used_after(0), load(&[128])];
    assert_eq!(critical_fields(&machine, vec![warp]), [(0, 1), (1, 1)], "lanes of one line");
}

#[test]
fn requests_that_merge_in_l1_lower_no_critical_field() {
    let warps = vec![vec![load(&[0]), exit()], vec![load(&[0, 128, 256]), exit()]];
    assert_eq!(critical_fields(&machine(&[]), warps), [(0, 1), (1, 3), (2, 3)]);
}

#[test]
fn stores_lower_the_critical_field_if_l1_keeps_them() {
    let warp = vec![load(&[0]).used_after(0), store(&[0, 128]), exit()];
    let back = machine(&["l1.cache.write=write-back", "l1.cache.write_allocate=none"]);
    assert_eq!(critical_fields(&back, vec![warp.clone()]), [(0, 1), (1, 1)]);
    let through = machine(&["l1.cache.write=write-through", "l1.cache.write_allocate=none"]);
    assert_eq!(critical_fields(&through, vec![warp]), [(0, 1), (0, 2), (1, 2)]);
}

#[test]
fn bypassing_requests_have_the_full_critical_field() {
    let atomic = memory(Kind::Atomic, Space::Global, &[0, 4, 128, 256]);
    let past = load(&lines(2)).with(|i| i.cache_op = CacheOp::Global);
    let sent = critical_fields(&machine(&[]), vec![vec![atomic, past, exit()]]);
    assert_eq!(sent, [(0, 3), (1, 3), (2, 3), (0, 2), (1, 2)]);
}
