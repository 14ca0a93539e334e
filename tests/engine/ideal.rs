//! Ideal machines: the remaining cost when a part is perfect, and that an ideal part never slows a
//! run.

use crate::closed_forms::{HOPS, Place, cache_op, chase, check_chases, load_time, slices};
use crate::trace::{Kernel, NO_REFRESH, UNTRANSLATED, loads, machine, mixed, run, write};
use warpmem::cache::CacheCounts;
use warpmem::dram::ChannelResult;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::gpu::results::RunResult;
use warpmem::machine::preset_names;
use warpmem_testing::is_sampled;

fn packets(result: &RunResult) -> u64 {
    result.networks.iter().map(|network| network.latency.count()).sum()
}

fn dram_commands(result: &RunResult) -> u64 {
    let banks = result.channels.iter().flat_map(|channel: &ChannelResult| &channel.banks);
    banks.map(|bank| bank.reads + bank.writes + bank.activations).sum()
}

/// Checks that every load of a chase through distinct DRAM rows hits at `found`.
fn check_found(ideal: &str, found: Place) {
    for (row, preset) in preset_names().enumerate() {
        let cases = ["", "l1.enabled=false", "l2.enabled=false"].into_iter().enumerate();
        for (_, off) in cases.filter(|(column, _)| is_sampled(row, *column, 3)) {
            let overrides: Vec<&str> =
                [ideal, UNTRANSLATED].into_iter().chain(off.split_terminator(' ')).collect();
            let machine = machine(preset, &overrides);
            let place = Place::RowConflict;
            let (rows, _) = chase(&machine, place, HOPS);
            for (row, slice) in rows.iter().zip(slices(&machine, place)) {
                let expected = load_time(&machine, found, cache_op(place), slice, row.issue_cycle);
                assert_eq!(row.load_time, expected, "{preset} {overrides:?}");
            }
        }
    }
}

#[test]
fn with_a_perfect_l1_every_load_costs_the_latency_of_l1() {
    check_found("policy.ideal=perfect-l1", Place::L1);
}

#[test]
fn with_a_perfect_l2_every_load_costs_the_round_trip_to_a_slice() {
    check_found("policy.ideal=perfect-l2", Place::L2);
}

#[test]
fn with_infinite_bandwidth_a_packet_costs_its_hops_and_one_cycle() {
    for preset in preset_names() {
        let ideal = ["policy.ideal=infinite-bandwidth-noc", UNTRANSLATED];
        check_chases(&machine(preset, &[&NO_REFRESH[..], &ideal].concat()), preset);
    }
}

#[test]
fn with_a_perfect_l1_nothing_leaves_an_sm() {
    for (row, preset) in preset_names().enumerate() {
        let schedulers = ["fr-fcfs", "wg-w", "mshr-s+a"].into_iter().enumerate();
        for (_, scheduler) in schedulers.filter(|(column, _)| is_sampled(row, *column, 3)) {
            let scheduler = format!("policy.dram_scheduler={scheduler}");
            let machine = machine(preset, &["policy.ideal=perfect-l1", &scheduler]);
            let result = run(&machine, &write(&[mixed(6, 10, 1 << 20)]).trace);
            assert_eq!((packets(&result), dram_commands(&result)), (0, 0), "{preset}");
            assert!(result.slices.iter().all(|slice| slice.cache == CacheCounts::default()));
        }
    }
}

#[test]
fn with_a_perfect_l2_nothing_goes_to_dram_and_every_packet_hits() {
    for (row, preset) in preset_names().enumerate() {
        let schedulers = SCHEDULERS.names().enumerate();
        for (_, scheduler) in schedulers.filter(|(column, _)| is_sampled(row, *column, 10)) {
            let scheduler = format!("policy.dram_scheduler={scheduler}");
            let machine = machine(preset, &["policy.ideal=perfect-l2", &scheduler]);
            let result = run(&machine, &write(&[mixed(6, 4, 1 << 20)]).trace);
            assert_eq!(dram_commands(&result), 0, "{preset}, {scheduler}");
            let hits = result.slices.iter().map(|s| s.cache.read_hits + s.cache.write_hits);
            assert_eq!(hits.sum::<u64>(), result.networks[0].latency.count());
        }
    }
}

/// Returns traces that are each limited by a part made ideal by some mode.
fn traces() -> [(&'static str, Kernel); 4] {
    let scattered = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20 & ((1 << 24) - 1) & !3;
    [
        ("streaming", loads([24, 4, 8], |warp, step, lane| (warp * 8 + step) * 128 + 4 * lane)),
        (
            "scattered",
            loads([24, 2, 4], |warp, step, lane| scattered(warp * 1024 + step * 32 + lane)),
        ),
        ("shared", loads([24, 4, 8], |_, step, lane| step * 4096 + 4 * lane)),
        ("mixed", mixed(24, 10, 1 << 18)),
    ]
}

/// Runs every trace on presets, as configured and with each ideal mode; `check` gets a label
/// and both cycle counts.
fn compare(ideals: &[&str], overrides: &[&str], check: impl Fn(&str, u64, u64)) {
    for (row, (name, kernel)) in traces().into_iter().enumerate() {
        let file = write(&[kernel]);
        let presets = preset_names().enumerate();
        for (_, preset) in presets.filter(|(column, _)| is_sampled(row, *column, 4)) {
            let cycles = |ideal: &str| {
                let ideal = format!("policy.ideal={ideal}");
                run(&machine(preset, &[overrides, &[&ideal]].concat()), &file.trace).core_cycles
            };
            let configured = cycles("none");
            for &ideal in ideals {
                check(&format!("{ideal}, {preset}, {name}"), configured, cycles(ideal));
            }
        }
    }
}

/// Excludes networks with contention, where earlier replies may conflict more:
/// `docs/policies/perfect-l2.md`.
#[test]
fn no_perfect_memory_is_slower_behind_a_network_without_contention() {
    let ideals = ["perfect-l1", "perfect-l2", "perfect-dram"];
    compare(&ideals, &["policy.topology=ideal"], |what, configured, perfect| {
        assert!(perfect < configured, "{what}: {perfect} cycles, {configured} as configured");
    });
}

/// Earlier requests reach DRAM in a different order, which may be slightly worse.
#[test]
fn ideal_network_loses_at_most_the_effect_of_dram_order() {
    compare(&["perfect-l1", "infinite-bandwidth-noc"], &[], |what, configured, ideal| {
        let bound = if what.starts_with("perfect-l1") { configured } else { configured * 21 / 20 };
        assert!(ideal <= bound, "{what}: {ideal} cycles, {configured} as configured");
    });
}
