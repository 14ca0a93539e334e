//! Prefetching into the L2, in whole machines.

use crate::trace::{Kernel, loads, machine, mixed, run, write};
use warpmem::dram::checker;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, PrefetchCounts, RunResult};
use warpmem_testing::is_sampled;

const PREFETCHERS: [&str; 4] = [
    "opportunistic-stop",
    "opportunistic",
    "opportunistic(degree=exactly,lower=2,higher=9,bus=last)",
    "opportunistic-stop(cached=skip,bus=last)",
];

/// Makes warps that read two lines at a time, each time from another row; every line is read once.
fn rows_in_pieces() -> Kernel {
    loads([32, 4, 12], |warp, step, lane| {
        let line = (step * 128 + warp) * 2 + lane / 16;
        line.wrapping_mul(37) % 4096 * 128
    })
}

fn sum(result: &RunResult, of: fn(&PrefetchCounts) -> u64) -> u64 {
    result.slices.iter().map(|slice| of(&slice.prefetches)).sum()
}

fn with(prefetcher: &str, overrides: &[&str], kernel: &Kernel) -> RunResult {
    let prefetcher = format!("policy.prefetcher={prefetcher}");
    let overrides = [&[prefetcher.as_str()], overrides].concat();
    run(&machine("li2015", &overrides), &write(std::slice::from_ref(kernel)).trace)
}

#[test]
fn every_line_prefetched_is_accounted_for_once() {
    for (row, preset) in warpmem::machine::preset_names().enumerate() {
        let prefetchers = PREFETCHERS.into_iter().enumerate();
        for (_, prefetcher) in prefetchers.filter(|(column, _)| is_sampled(row, *column, 2)) {
            let policy = format!("policy.prefetcher={prefetcher}");
            let few_sms = ["sm.count=4", "network.memory_nodes=[]", "l2.enabled=true"];
            let machine = machine(preset, &[&few_sms[..], &[&policy]].concat());
            let result = run(&machine, &write(&[rows_in_pieces()]).trace);
            for (slice, result) in result.slices.iter().enumerate() {
                let PrefetchCounts {
                    lines,
                    used,
                    late,
                    redundant,
                    dropped,
                    evicted_unused,
                    unused,
                } = result.prefetches;
                let parts = used + late + redundant + dropped + evicted_unused + unused;
                assert_eq!(lines, parts, "{preset}, {prefetcher}, slice {slice}");
            }
            let banks = result.channels.iter().flat_map(|channel| &channel.banks);
            let [lines, reads] = banks.fold([0, 0], |[lines, reads], bank| {
                [lines + bank.prefetched_lines, reads + bank.prefetch_reads]
            });
            assert_eq!(sum(&result, |p| p.lines), lines, "{preset}, {prefetcher}");
            let bursts = machine.l2.cache.line_bytes / machine.dram.burst_bytes();
            assert_eq!(lines * u64::from(bursts), reads);
            assert!(sum(&result, |p| p.used) > 0, "{preset}, {prefetcher}: {lines} lines");
        }
    }
}

/// Demand hits on prefetched lines send nothing to DRAM.
#[test]
fn prefetched_lines_serve_later_demand_reads() {
    let kernel = rows_in_pieces();
    let none = with("none", &[], &kernel);
    let misses = |result: &RunResult| -> u64 {
        result.slices.iter().map(|s| s.cache.read_misses + s.cache.read_pending_hits).sum()
    };
    let activations = |result: &RunResult| -> u64 {
        result.channels.iter().flat_map(|c| &c.banks).map(|bank| bank.activations).sum()
    };
    assert_eq!(sum(&none, |p| p.lines), 0);
    for prefetcher in PREFETCHERS {
        let result = with(prefetcher, &[], &kernel);
        let used = sum(&result, |p| p.used);
        assert!(used > 0);
        assert_eq!(misses(&result) + used, misses(&none), "each line is asked for once");
        // Prefetches that come last are often too late to save an activation.
        let saves = activations(&result) < activations(&none);
        assert!(saves || prefetcher.contains("bus=last"), "{prefetcher}");
    }
}

/// Without the L2 filter the channel reads the same lines repeatedly.
#[test]
fn cached_skip_prefetches_no_lines_present_in_the_l2() {
    // Scattered lines: rows are opened repeatedly.
    let kernel = loads([16, 4, 12], |warp, step, lane| {
        (warp * 7919 + step * 104_729 + lane * 31_337) % 4096 * 128
    });
    let overrides = ["dram.channels=2", "l1.enabled=false"];
    let read = with("opportunistic", &overrides, &kernel);
    let skip = with("opportunistic(cached=skip)", &overrides, &kernel);
    let counts = |result| (sum(result, |p| p.lines), sum(result, |p| p.redundant));
    let ((read, again), (skipping, left)) = (counts(&read), counts(&skip));
    assert!(again > 0 && left < again && skipping < read, "{read} {again} {skipping} {left}");
}

/// Rows are far longer than the lines requested of each: the second of two neighbours is
/// prefetched.
#[test]
fn prefetches_stay_in_the_open_row() {
    let overrides = ["dram.channels=1", "sm.count=1", "sm.lsu_queue=1", "l1.cache.mshr_entries=1"];
    // The map has no bits as high as those of the second.
    for from in [0, 0x7f12_3400_0000] {
        // One warp reads consecutive lines of two rows, each when the previous one has returned.
        let kernel = loads([1, 1, 32], |_, step, _| from + step * 128);
        assert_prefetched_in_time(&with("opportunistic", &overrides, &kernel));
    }
}

/// Checks that of 32 reads of a line each, most hit a prefetched line.
fn assert_prefetched_in_time(result: &RunResult) {
    let banks = result.channels.iter().flat_map(|channel| &channel.banks);
    let [asked, prefetched] = banks.fold([0, 0], |[asked, prefetched], bank| {
        let requests = bank.row_hits + bank.row_misses + bank.row_conflicts;
        [asked + requests, prefetched + bank.prefetched_lines]
    });
    let hits: u64 = result.slices.iter().map(|slice| slice.cache.read_hits).sum();
    assert_eq!(asked + hits, 32);
    assert_eq!(sum(result, |p| p.used), hits, "what hit had been prefetched");
    assert!(hits > 16 && prefetched >= hits, "{hits} of {prefetched}");
}

#[test]
fn commands_are_legal_and_events_are_complete_under_every_scheduler() {
    let file = write(&[mixed(4, 6, 1 << 18)]);
    for (row, scheduler) in SCHEDULERS.names().enumerate() {
        let prefetchers = PREFETCHERS.into_iter().enumerate();
        for (_, prefetcher) in prefetchers.filter(|(column, _)| is_sampled(row, *column, 2)) {
            let policies = [
                format!("policy.dram_scheduler={scheduler}"),
                format!("policy.prefetcher={prefetcher}"),
            ];
            let overrides = ["sm.count=3", &policies[0], &policies[1], "l2.cache.size_bytes=8192"];
            let machine = machine("li2015", &overrides);
            let simulation = || Simulation::new(&machine, &file.trace);
            let (result, logs) = simulation().run_with_commands().unwrap();
            for log in &logs {
                assert_eq!(checker::check(&machine.dram, log), [], "{scheduler}, {prefetcher}");
            }
            assert!(sum(&result, |p| p.lines) > 0, "{scheduler}, {prefetcher}");
            let polled = simulation().every_cycle().run(&mut Discard).unwrap();
            let polled = RunResult { steps: result.steps, ..polled };
            assert!(result == polled, "{scheduler}, {prefetcher}");
        }
    }
}

#[test]
fn the_counter_of_the_policy_is_in_the_table() {
    let counted = |prefetcher: &str| -> u64 {
        let result = with(prefetcher, &[], &rows_in_pieces());
        let named = result.counters.iter().filter(|c| c.counter == "lines_despite_requests");
        let of_policy: Vec<u64> =
            named.filter(|c| c.policy == "opportunistic").map(|c| c.value).collect();
        assert_eq!(of_policy.len(), result.channels.len());
        of_policy.into_iter().sum()
    };
    assert!(counted("opportunistic") > 0);
    assert_eq!(counted("opportunistic(lower=0,higher=0)"), 0);
}

#[test]
fn a_degree_of_0_prefetches_nothing() {
    let none = with("opportunistic(lower=0,higher=0)", &[], &rows_in_pieces());
    assert_eq!(sum(&none, |p| p.lines), 0);
}

/// Lines of many rows of all banks are read at once, and then the run ends.
#[test]
fn no_unit_acts_after_the_last_cta() {
    let kernel = loads([1, 8, 1], |warp, _, lane| {
        (warp * 32 + lane).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 36 << 7
    });
    let file = write(&[kernel]);
    let machine = machine("li2015", &["sm.count=1", "policy.prefetcher=opportunistic"]);
    let result = run(&machine, &file.trace);
    let banks = result.channels.iter().flat_map(|channel| &channel.banks);
    let opened = banks.filter(|bank| bank.activations > 0).count() as u64;
    let prefetched = sum(&result, |p| p.lines);
    assert!(opened > 20 && prefetched > 0, "{opened} banks, {prefetched} lines");
    // In DRAM cycles: a line and its return path, not the rest of the rows.
    let (core, dram) = (u64::from(machine.clocks.core_mhz), u64::from(machine.clocks.dram_mhz));
    for channel in &result.channels {
        let after = channel.cycles - result.core_cycles * dram / core;
        assert!(after < 100, "{after} cycles");
    }
}

/// DRAM without rows opens none.
#[test]
fn perfect_dram_prefetches_nothing() {
    let result = with("opportunistic", &["policy.ideal=perfect-dram"], &rows_in_pieces());
    assert_eq!(sum(&result, |p| p.lines), 0);
}
