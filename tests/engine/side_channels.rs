//! Side channels from SMs and slices to DRAM schedulers, and perfect DRAM.

use crate::trace::{Kernel, Step, loads, machine, run, write};
use warpmem::gpu::results::RunResult;
use warpmem_trace::OpClass;

/// Makes a kernel in which four SMs read the same random lines at about the same time, each line
/// once.
fn shared_lines() -> Kernel {
    loads([30, 4, 20], |warp, step, lane| {
        let line = (warp % 32 * 128 + step * 4 + lane / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (line >> 44) * 128
    })
}

/// Makes random loads of four lines each, some of which other warps have read.
fn divergent() -> Kernel {
    loads([30, 4, 12], |warp, step, lane| {
        let line = (warp / 3 * 64 + step * 4 + lane / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 46;
        line * 128
    })
}

/// Makes loads as [`divergent`] does, but warps use the loaded data immediately, and half of them compute first
/// while the others wait.
fn waiting() -> Kernel {
    let mut kernel = divergent();
    let compute = |dest, source| Step::Compute { class: OpClass::Integer, dest, source };
    for (index, warp) in kernel.ctas.iter_mut().flatten().enumerate() {
        let needed = |mut step| {
            let Step::Memory(access) = &mut step else { panic!("a load") };
            access.dest = Some(1);
            [step, compute(2, 1)]
        };
        let first = vec![compute(3, 3); index % 2 * 500];
        let loads = std::mem::take(warp).into_iter().flat_map(needed);
        *warp = first.into_iter().chain(loads).collect();
    }
    kernel
}

fn with(overrides: &[&str], kernel: Kernel) -> RunResult {
    run(&machine("li2015", overrides), &write(&[kernel]).trace)
}

/// Sums a policy counter over channels.
fn counter(result: &RunResult, policy: &str, name: &str) -> u64 {
    let named = |c: &&warpmem::gpu::results::CounterResult| c.policy == policy && c.counter == name;
    let found: Vec<u64> = result.counters.iter().filter(named).map(|c| c.value).collect();
    assert_eq!(found.len(), result.channels.len(), "{policy} {name} in {:?}", result.counters);
    found.iter().sum()
}

#[test]
fn schedulers_without_side_channels_leave_no_counters() {
    assert_eq!(with(&[], shared_lines()).counters, []);
}

#[test]
fn late_merge_messages_increase_with_latency() {
    let merged = |latency: u32| {
        let latency = format!("l2.to_dram_latency={latency}");
        let result = with(&["policy.dram_scheduler=mshr-s", &latency], shared_lines());
        let sent = counter(&result, "mshr-s", "dummy_requests_sent");
        (counter(&result, "mshr-s", "dummy_requests"), sent)
    };
    let ((soon, early), (late, tardy)) = (merged(0), merged(100));
    assert!(late > 0 && soon <= early, "{soon} of {early}");
    let shares = [soon as f64 / early as f64, late as f64 / tardy as f64];
    assert!(shares[1] < 0.8 * shares[0], "{soon} of {early}, {late} of {tardy} met their request");
}

#[test]
fn all_requests_of_a_load_arrive_before_service() {
    let result = with(&["policy.dram_scheduler=wg"], divergent());
    let groups = counter(&result, "wg", "groups_selected");
    let incomplete = counter(&result, "wg", "incomplete_groups");
    let requests = counter(&result, "wg", "grouped_requests");
    assert!(groups > 0 && requests > groups, "{requests} requests in {groups} groups");
    assert!(incomplete * 4 < groups, "{incomplete} of {groups} groups were taken before their end");
}

#[test]
fn waiting_warps_make_requests_critical() {
    let critical = |share: &str| {
        let scheduler = format!("policy.dram_scheduler=core-criticality(critical_share={share})");
        counter(&with(&[&scheduler], waiting()), "core-criticality", "critical_requests")
    };
    let (most, few) = (critical("0.1"), critical("0.6"));
    assert!(most > few && few > 0, "{most}, {few}");
}

#[test]
fn missing_warps_bypass_the_l2() {
    let scheduler = "policy.dram_scheduler=medic(warm_up=4,bypass=";
    let result = |bypass: &str| with(&[&format!("{scheduler}{bypass})")], divergent());
    let evictions = |r: &RunResult| r.slices.iter().map(|s| s.cache.evictions).sum::<u64>();
    let (passing, kept) = (result("true"), result("false"));
    assert!(counter(&passing, "medic", "l2_bypasses") > 0);
    assert_eq!(counter(&kept, "medic", "l2_bypasses"), 0);
    assert!(counter(&kept, "medic", "l2_oldest_insertions") > 0);
    assert!(evictions(&passing) <= evictions(&kept));
}

#[test]
fn no_scheduler_is_faster_than_perfect_dram() {
    let perfect = with(&["policy.ideal=perfect-dram"], divergent());
    let configured = with(&[], divergent());
    assert!(perfect.core_cycles < configured.core_cycles);
    let misses: u64 = perfect.slices.iter().map(|slice| slice.cache.read_misses).sum();
    assert_eq!(counter(&perfect, "perfect-dram", "perfect_reads"), misses);
    let activations = perfect.channels.iter().flat_map(|c| &c.banks).map(|b| b.activations);
    assert_eq!(activations.sum::<u64>(), 0);
}

/// In every L2 cycle the machine's state is that of its busiest slice.
#[test]
fn one_slice_with_shared_misses_feeds_the_machine() {
    let result = with(&["sm.max_requests=2"], shared_lines());
    let [idle, unshared, shared] = result.mshr_cycles;
    let slices = || result.slices.iter().map(|slice| slice.mshr_cycles);
    assert!(slices().all(|cycles| cycles.iter().sum::<u64>() == idle + unshared + shared));
    assert!(slices().all(|[of_slice, ..]| idle <= of_slice));
    assert!(slices().all(|[.., of_slice]| shared > of_slice), "{shared}: some other shares too");
    assert!(shared <= slices().map(|[.., of_slice]| of_slice).sum());
    assert_eq!(with(&["l2.enabled=false"], shared_lines()).mshr_cycles, [0; 3]);
}
