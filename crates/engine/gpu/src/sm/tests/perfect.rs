//! Perfect L1: every access hits.

use super::memory::sectored;
use super::*;
use crate::side::SideChannels;
use warpmem_cache::CacheCounts;
use warpmem_sim::Needs;
use warpmem_testing::{compute, fence, load, memory, store};
use warpmem_trace::OpClass::Integer;
use warpmem_trace::{CacheOp, Kind, Space};

/// V100 layout: sectors of 32 bytes, four banks.
fn perfect(overrides: &[&str]) -> Machine {
    sectored(&[&["policy.ideal=perfect-l1"], overrides].concat())
}

/// Returns the cycles from the issue of an access to the issue of its first use.
fn latency(machine: &Machine, step: warpmem_testing::Step) -> u64 {
    let warp = vec![step.used_after(0), compute(Integer, &[])];
    let outcome = run(machine, vec![warp]);
    assert!(outcome.sent.is_empty());
    outcome.offsets_of(0)[1]
}

#[test]
fn every_load_takes_the_hit_latency() {
    for overrides in [&[][..], &["l1.enabled=false"], &["l1.cache.mshr_entries=1"]] {
        let machine = perfect(overrides);
        let past = load(&[4096]).with(|i| i.cache_op = CacheOp::Global);
        let local = memory(Kind::Load, Space::Local, &[1 << 20]);
        let atomic = memory(Kind::Atomic, Space::Global, &[0, 0, 0, 4]);
        for step in [load(&[0]), load(&[0, 32, 64, 96]), past, local, atomic] {
            assert_eq!(latency(&machine, step.clone()), L1_LATENCY, "{step:?}");
        }
        let four_of_a_bank = load(&lines(4));
        assert_eq!(
            latency(&machine, four_of_a_bank),
            L1_LATENCY + 3,
            "bank conflicts still serialise"
        );
    }
}

#[test]
fn a_fence_waits_the_hit_latency_for_stores_and_reductions() {
    for access in [store(&[0]), memory(Kind::Reduction, Space::Global, &[0, 0])] {
        let warp = vec![access, fence(), compute(Integer, &[])];
        let outcome = run(&perfect(&[]), vec![warp]);
        assert_eq!(outcome.offsets_of(0), [0, 1, L1_LATENCY]);
        assert!(outcome.sent.is_empty());
    }
}

#[test]
fn everything_counts_as_a_hit() {
    let past = load(&[4096]).with(|i| i.cache_op = CacheOp::Global);
    let atomic = memory(Kind::Atomic, Space::Global, &[0, 64]);
    let warp = vec![load(&[0, 64]), past, atomic, store(&[0, 32, 128])];
    let outcome = run(&perfect(&[]), vec![warp]);
    let hits = CacheCounts { read_hits: 2 + 1 + 2, write_hits: 3, ..CacheCounts::default() };
    assert_eq!(outcome.result.l1, hits);
    assert!(outcome.loads.iter().all(|load| load.offchip_requests == 0));
}

#[test]
fn loads_are_not_tracked_without_requests() {
    let machine = perfect(&[]);
    let mut rig = Rig::new(&machine, MemoryStub::default());
    rig.bench.side =
        SideChannels::new(&machine, &Needs { load_ends: true, ..Needs::default() }, false);
    rig.launch(&trace(&[TestKernel::new([vec![vec![load(&lines(3)); 2]]])]), START);
    let outcome = rig.run();
    assert_eq!((outcome.loads.len(), outcome.load_ends), (2, vec![]));
}
