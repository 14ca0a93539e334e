//! Costs of kernels and CTAs beside their instructions, and the bound on dirty lines, in closed form
//! on whole machines.

use crate::trace::{Access, Kernel, Step, Warp, machine, run, write};
use warpmem::gpu::results::RunResult;
use warpmem_trace::{Kind, OpClass};

/// Runs `kernels` kernels of `ctas` CTAs of one warp with one instruction on one SM that holds one
/// CTA.
fn short_ctas(kernels: usize, ctas: usize, overrides: &[&str]) -> RunResult {
    let warp = vec![Step::Compute { class: OpClass::Integer, dest: 1, source: 2 }];
    let kernel = Kernel { ctas: vec![vec![warp]; ctas], ..Kernel::default() };
    let file = write(&vec![kernel; kernels]);
    let keys = ["sm.count=1", "sm.max_ctas=1", "clocks.core_mhz=1000"];
    run(&machine("li2015", &[&keys, overrides].concat()), &file.trace)
}

fn added(kernels: usize, ctas: usize, overrides: &[&str]) -> u64 {
    let (with, without) = (short_ctas(kernels, ctas, overrides), short_ctas(kernels, ctas, &[]));
    with.core_cycles - without.core_cycles
}

#[test]
fn every_cta_costs_its_launch_and_its_exit() {
    assert_eq!(added(1, 7, &["sm.cta_launch_latency=100"]), 700);
    assert_eq!(added(1, 7, &["sm.cta_exit_latency=50"]), 350);
    assert_eq!(added(2, 7, &["sm.cta_launch_latency=100", "sm.cta_exit_latency=50"]), 2 * 7 * 150);
    // Two resident CTAs overlap: seven are four one after another.
    let two = |latency| short_ctas(1, 7, &["sm.max_ctas=2", latency]).core_cycles;
    let added = two("sm.cta_launch_latency=1000") - two("sm.cta_launch_latency=0");
    assert!(added.abs_diff(4000) < 8, "{added}");
}

#[test]
fn the_dispatch_rate_of_the_gpu_bounds_short_ctas() {
    let overrides = ["sm.max_ctas=8", "sm.cta_dispatch_permille=20"];
    let cycles = short_ctas(1, 41, &overrides).core_cycles;
    let alone = short_ctas(1, 1, &overrides).core_cycles;
    assert_eq!(cycles, 40 * 50 + alone, "40 intervals and the last CTA");
}

#[test]
fn launches_cost_what_their_kind_says() {
    let costs = ["launch.graph_ns=1200", "launch.stream_ns=2500", "launch.profiled_cycles=700"];
    let added = |kind: &str| added(3, 2, &[&costs[..], &[kind]].concat());
    assert_eq!(added("run.launch=none"), 0);
    assert_eq!(added("run.launch=graph"), 2 * 1200, "between three kernels");
    assert_eq!(added("run.launch=stream"), 2 * 2500);
    assert_eq!(added("run.launch=profiled"), 3 * 700, "in each kernel");
    let cycles = |result: RunResult| -> Vec<u64> {
        result.kernels.iter().map(|kernel| kernel.end_cycle - kernel.start_cycle).collect()
    };
    let plain = cycles(short_ctas(3, 2, &[]));
    let stream = [&costs[..], &["run.launch=stream"]].concat();
    assert_eq!(cycles(short_ctas(3, 2, &stream)), plain, "gaps belong to no kernel");
    let profiled = [&costs[..], &["run.launch=profiled"]].concat();
    let within: Vec<u64> = plain.iter().map(|cycles| cycles + 700).collect();
    assert_eq!(cycles(short_ctas(3, 2, &profiled)), within);
}

/// Stores that fill L2 four times leave exactly the bound dirty.
#[test]
fn dirty_lines_at_the_end_are_the_bound() {
    let (sets, ways, lines) = (8, 16, 4 * 8 * 16);
    let store = |line: u64| Access { kind: Kind::Store, ..Access::load(4, vec![line * 128]) };
    let warp: Warp = (0..lines).map(|line| Step::Memory(store(line))).collect();
    let file = write(&[Kernel { ctas: vec![vec![warp]], ..Kernel::default() }]);
    for (bound, left) in [(0, ways), (1, 1), (ways / 2, ways / 2)] {
        let keys = [
            "dram.channels=1",
            "l2.slices_per_channel=1",
            "l2.cache.size_bytes=16384",
            "l2.cache.ways=16",
            "l2.cache.index=linear",
            "l2.cache.write_allocate=lazy-fetch",
            &format!("l2.dirty_ways={bound}"),
        ];
        let result = run(&machine("li2015", &keys), &file.trace);
        let cache = &result.slices[0].cache;
        assert_eq!(cache.early_writebacks > 0, bound > 0);
        assert_eq!(cache.early_writebacks + cache.writebacks, lines - sets * left, "{bound}");
    }
}
