//! The metrics of a run with hand-chosen counts, against values computed by hand.

use super::fixture;
use crate::column::{Column, Getter};
use crate::file::StreamedRow;
use crate::run::FinishedRun;
use crate::tables::networks::{link_columns, network_columns, node_columns};
use crate::tables::rows::{BankRow, LinkRow, NodeRow, UnitRow};
use crate::tables::units::{
    bank_columns, channel_columns, kernel_columns, slice_columns, sm_columns,
};
use crate::{run_columns, run_row_json};
use serde_json::{Map, Value, json};
use std::borrow::Borrow;
use std::sync::Arc;
use warpmem_dram::{BankResult, ChannelResult};
use warpmem_gpu::results::{
    CyclesError, IntervalRow, KernelResult, RequestRow, RunResult, SliceResult, SmResult,
};
use warpmem_network::{LinkEnd, LinkResult, NetworkResult, NodeResult, StreamResult};

fn row() -> Map<String, Value> {
    run_row_json(&fixture::key(), &fixture::result())
}

/// Compares floats to 12 digits, as expected values are fractions.
#[track_caller]
fn expect(values: &[(&str, f64)]) {
    let row = row();
    for &(name, expected) in values {
        let value = row[name].as_f64().unwrap_or_else(|| panic!("{name} is {}", row[name]));
        assert!(
            (value - expected).abs() <= 1e-12 * expected.abs(),
            "{name}: {value} for {expected}"
        );
    }
}

#[test]
fn key_and_provenance_come_first_and_in_order() {
    let row = row();
    let names: Vec<&str> = row.keys().map(String::as_str).take(23).collect();
    let expected = [
        "run_id",
        "trace",
        "machine",
        "overrides",
        "dram_scheduler",
        "warp_scheduler",
        "cta_scheduler",
        "l2_queue",
        "topology",
        "arbiter",
        "prefetcher",
        "walk_scheduler",
        "ideal",
        "trace_hash",
        "engine_version",
        "command",
        "workload",
        "seed",
        "variant",
        "bound",
        "bound_ipc_thread",
        "parameters",
        "cycles",
    ];
    assert_eq!(names, expected);
    let policy = fixture::machine().policy;
    assert_eq!(row["trace"], "bfs.wmt");
    assert_eq!(row["machine"], "li2015");
    assert_eq!(row["dram_scheduler"], policy.dram_scheduler);
    assert_eq!(row["warp_scheduler"], policy.warp_scheduler);
    assert_eq!(row["cta_scheduler"], policy.cta_scheduler);
    assert_eq!(row["l2_queue"], policy.l2_queue);
    assert_eq!(row["topology"], policy.topology);
    assert_eq!(row["arbiter"], policy.arbiter);
    assert_eq!(row["prefetcher"], policy.prefetcher);
    assert_eq!(row["walk_scheduler"], policy.walk_scheduler);
    assert_eq!(row["ideal"], policy.ideal);
    assert_eq!(row["trace_hash"], "0000000000000abc");
    assert_eq!(row["command"], "warpmem run bfs.wmt");
    assert_eq!(row["workload"], "bfs.wmt");
    assert_eq!(row["seed"], Value::Null);
    assert_eq!(row["variant"], 0);
    assert_eq!(row["bound"], "");
    assert_eq!(row["bound_ipc_thread"], Value::Null);
    let version = row["engine_version"].as_str().unwrap();
    let source = version.strip_prefix(concat!(env!("CARGO_PKG_VERSION"), "+")).unwrap();
    assert!(source.len() == 8 && u32::from_str_radix(source, 16).is_ok(), "{version}");
}

#[test]
fn performance() {
    expect(&[
        ("cycles", 1000.0),
        ("warp_instructions", 600.0),
        ("thread_instructions", 15_000.0),
        ("ipc_warp", 0.6),
        ("ipc_thread", 15.0),
        ("kernels", 2.0),
        ("simulated_kernels", 2.0),
        ("simulated_ctas", 8.0),
        ("ctas", 7.0),
        ("memory_instructions", 180.0),
        ("warp_instructions_integer", 30.0),
        ("warp_instructions_fp32", 60.0),
        ("warp_instructions_fp64", 90.0),
        ("warp_instructions_sfu", 120.0),
        ("warp_instructions_tensor", 150.0),
        ("warp_instructions_control", 180.0),
        ("warp_instructions_uniform", 210.0),
        ("warp_instructions_other", 240.0),
        ("warp_instructions_fp16", 270.0),
        ("thread_instructions_integer", 960.0),
        ("thread_instructions_fp32", 1500.0),
        ("thread_instructions_fp64", 2400.0),
        ("thread_instructions_sfu", 2700.0),
        ("thread_instructions_tensor", 4800.0),
        ("thread_instructions_control", 180.0),
        ("thread_instructions_uniform", 210.0),
        ("thread_instructions_other", 240.0),
        ("thread_instructions_fp16", 300.0),
        // 120 instructions with 150 channels and 210 banks.
        ("requesting_instructions", 120.0),
        ("channels_per_instruction", 1.25),
        ("banks_per_instruction", 1.75),
        ("instruction_cache_misses", 39.0),
        ("constant_cache_misses", 9.0),
        ("l1_wavefront_cycles", 51.0),
        ("shared_accesses", 21.0),
        ("shared_bank_conflict_cycles", 27.0),
        ("cluster_messages", 33.0),
        ("cluster_message_bytes", 2112.0),
    ]);
}

#[test]
fn translation_is_counted_in_sms_and_in_the_unit_that_they_share() {
    expect(&[
        // Three times the counts of SM 1.
        ("pages_per_instruction", 2.25),
        ("tlb_lookups", 240.0),
        ("tlb_hit_rate", 0.75),
        ("tlb_misses", 36.0),
        ("translation_held_requests", 90.0),
        ("translation_held_cycles_mean", 200.0),
        ("translation_divergence_mean", 75.0),
        ("group_tlb_hit_rate", 0.5),
        ("l2_tlb_hit_rate", 0.4),
        ("l2_tlb_merges", 4.0),
        ("page_walks", 20.0),
        ("walks_diverted", 3.0),
        ("loads_per_walk", 2.5),
        ("walk_loads_offchip", 9.0),
        ("walk_loads_bypassing", 6.0),
        ("walk_queue_cycles_mean", 15.0),
        ("walk_cycles_mean", 60.0),
        ("walk_queue_length_mean", 3.5),
        ("walk_overtakes", 0.25),
    ]);
}

#[test]
fn cycles_without_issue_are_means_per_sm() {
    expect(&[
        ("active_cycles", 300.0),
        ("no_warp_cycles", 150.0),
        ("memory_block_cycles", 200.0),
        ("dependency_stall_cycles", 40.0),
        ("structural_stall_cycles", 50.0),
        ("load_store_block_cycles", 20.0),
        ("barrier_cycles", 160.0),
        ("inactive_cycles", 600.0),
        // 3 x 850 ready warps over (900 - 100) + (900 - 200) cycles with resident warps.
        ("schedulable_warps", 2550.0 / 1500.0),
        ("warp_fairness", (0.8 + 1.0) / 2.0),
    ]);
}

#[test]
fn divergence_and_load_time() {
    expect(&[
        ("loads", 200.0),
        ("requests_per_load", 4.0),
        ("offchip_per_load", 2.5),
        ("channels_per_load", 1.5),
        ("banks_per_load", 2.0),
        ("divergent_loads", 100.0),
        ("divergence_mean", 50.5),
        ("divergence_p50", 50.0),
        ("divergence_p90", 90.0),
        ("divergence_p99", 99.0),
        ("divergence_max", 100.0),
        // 1010 of the sum of 1 to 100.
        ("in_mc_fraction", 0.2),
        ("ex_mc_fraction", 0.8),
        ("load_time_mean", 150.5),
        ("load_time_p1", 101.0),
        ("load_time_p25", 125.0),
        // Above 128 a bucket is two wide.
        ("load_time_p50", 151.0),
        ("load_time_p75", 175.0),
        ("load_time_p99", 199.0),
        ("load_time_max", 200.0),
    ]);
}

#[test]
fn latency_and_its_stages() {
    expect(&[
        ("read_requests", 100.0),
        ("latency_mean", 50.5),
        // 60 replies with 96,000 ticks of a quarter of a core cycle.
        ("replies", 60.0),
        ("reply_latency_mean", 400.0),
        ("latency_p50", 50.0),
        ("latency_p90", 90.0),
        ("latency_p99", 99.0),
        ("latency_max", 100.0),
        // Ticks over 100 requests of 4 ticks per core cycle.
        ("latency_l1", 0.25),
        ("latency_request_network", 0.5),
        ("latency_l2_queue", 1.0),
        ("latency_l2", 2.0),
        ("latency_l2_to_dram", 2.5),
        ("latency_dram_queue", 5.0),
        ("latency_dram_service", 1.5),
        ("latency_reply_network", 12.5),
    ]);
}

#[test]
fn caches() {
    expect(&[
        ("l1_read_hits", 1500.0),
        ("l1_read_misses", 600.0),
        ("l1_read_sector_misses", 300.0),
        ("l1_read_pending_hits", 600.0),
        ("l1_write_hits", 450.0),
        ("l1_write_misses", 150.0),
        ("l1_write_sector_misses", 210.0),
        ("l1_atomics", 900.0),
        ("l1_atomic_hits", 360.0),
        ("l1_atomic_misses", 240.0),
        ("l1_atomic_pending_hits", 300.0),
        ("l1_bypasses", 60.0),
        ("l1_evictions", 330.0),
        ("l1_writebacks", 120.0),
        ("l1_write_fetches", 180.0),
        // 900 of 3000 reads; 1260 of 3810 reads and writes.
        ("l1_read_miss_rate", 0.3),
        ("l1_miss_rate", 1260.0 / 3810.0),
        ("l1_reservation_fails", 300.0),
        ("l1_reservation_fails_line_alloc", 30.0),
        ("l1_reservation_fails_miss_queue_full", 60.0),
        ("l1_reservation_fails_mshr_entry", 90.0),
        ("l1_reservation_fails_mshr_merge", 120.0),
        ("l2_read_hits", 150.0),
        ("l2_read_misses", 60.0),
        ("l2_read_sector_misses", 30.0),
        ("l2_read_pending_hits", 60.0),
        ("l2_write_hits", 45.0),
        ("l2_write_misses", 15.0),
        ("l2_write_sector_misses", 21.0),
        ("l2_bypasses", 6.0),
        ("l2_evictions", 33.0),
        ("l2_writebacks", 12.0),
        ("l2_early_writebacks", 27.0),
        ("l2_write_fetches", 18.0),
        ("l2_read_miss_rate", 0.3),
        ("l2_miss_rate", 126.0 / 381.0),
        ("l2_atomics", 90.0),
        ("l2_atomic_hits", 36.0),
        ("l2_atomic_misses", 24.0),
        ("l2_atomic_pending_hits", 30.0),
        ("l2_reservation_fails", 30.0),
        ("l2_reservation_fails_line_alloc", 3.0),
        ("l2_reservation_fails_miss_queue_full", 6.0),
        ("l2_reservation_fails_mshr_entry", 9.0),
        ("l2_reservation_fails_mshr_merge", 12.0),
        ("l2_dram_queue_full_cycles", 13.0),
        ("mshr_merge_length_mean", 2.0),
        ("mshr_merge_length_max", 4.0),
        ("prefetches", 297.0),
        ("prefetches_used", 22.0),
        ("prefetches_late", 33.0),
        ("prefetches_redundant", 44.0),
        ("prefetches_dropped", 55.0),
        ("prefetches_evicted_unused", 66.0),
        ("prefetches_unused", 77.0),
    ]);
}

#[test]
fn queues_of_slices() {
    expect(&[
        // 400 requests: 100 per slice, counted four times.
        ("waiting_ratio", 0.7),
        ("queue_length_mean", 5.0),
        ("queue_latency_class_0", 2.0),
        ("queue_latency_class_1", 3.0),
        ("queue_latency_class_3", 8.0),
        ("queue_latency_class_4", 13.0),
        ("critical_field_1", 0.4),
        ("critical_field_2", 0.2),
        ("critical_field_3_4", 0.0),
        ("critical_field_5_8", 0.3),
        ("critical_field_9_32", 0.1),
        ("critical_field_mean", 4.5),
        ("rotation_interval", 12.0),
        ("queue_refused_cycles", 60.0),
    ]);
    assert_eq!(row()["queue_latency_class_2"], Value::Null, "there were none");
}

#[test]
fn inter_core_locality_of_a_run_covers_any_slice() {
    expect(&[
        ("inter_core_locality", 140.0 / 800.0),
        ("no_inter_core_locality", 340.0 / 800.0),
        ("mshr_idle", 320.0 / 800.0),
    ]);
}

#[test]
fn dram() {
    // The banks' weights sum to 1 + 10 + 2 + 20 = 33, the channels' to 3.
    expect(&[
        ("reads", 396.0),
        ("writes", 132.0),
        ("activations", 132.0),
        ("precharges", 99.0),
        ("row_hits", 132.0),
        ("row_misses", 33.0),
        ("row_conflicts", 99.0),
        // Per request; a request takes two column commands.
        ("row_hit_rate", 0.5),
        ("row_locality", 2.0),
        ("prefetch_reads", 165.0),
        ("prefetched_lines", 66.0),
        // 132 hits of 264 requests, and 66 lines.
        ("row_hit_rate_with_prefetches", 0.6),
        ("row_locality_with_prefetches", 2.5),
        ("refreshes", 3.0),
        ("bank_refreshes", 48.0),
        ("open_cycles", 900.0),
        ("turnarounds", 15.0),
        ("write_drains", 6.0),
        ("dram_cycles", 1600.0),
        ("data_bus_busy_cycles", 300.0),
        ("pending_cycles", 900.0),
        ("bandwidth_utilization", 300.0 / 1600.0),
        ("dram_efficiency", 1.0 / 3.0),
        ("blp", 3.5),
        ("blp_busy", 2.0),
        ("queue_occupancy_mean", 3.0),
        // 528 column commands of 64 bytes in 800 cycles at 924 MHz.
        ("dram_bytes", 33_792.0),
        ("dram_bandwidth", 33.792 * 924.0 / 800.0),
    ]);
}

#[test]
fn row_streaks_and_their_breakers() {
    expect(&[
        ("row_switches", 330.0),
        ("stranded_switches", 264.0),
        ("streak_breakers_other_core", 198.0),
        ("streak_breakers_same_core_other_cta", 99.0),
        ("streak_breakers_same_cta", 33.0),
        ("streak_breaker_rate_other_core", 0.6),
        ("streak_breaker_rate_same_core_other_cta", 0.3),
        ("streak_breaker_rate_same_cta", 0.1),
    ]);
}

#[test]
fn network_metrics_of_runs() {
    expect(&[
        // 20 requests: 8 rows before, 10 after.
        ("row_locality_before", 2.5),
        ("row_locality_after", 2.0),
        ("row_locality_preserved", 0.8),
        ("request_network_latency_mean", 15.5),
        ("request_network_contention_mean", 3.5),
        ("reply_network_latency_mean", 9.0),
        ("reply_network_contention_mean", 0.0),
        // Of ten requests; three slices with 3, 2 and 1 are excluded.
        ("request_convoy", 0.1),
    ]);
}

#[test]
fn row_sharing_is_a_mean_over_rows() {
    expect(&[
        // Six rows of one CTA, two of four.
        ("ctas_per_row", 14.0 / 8.0),
        // None of the CTAs of six rows, on average three of four in two rows.
        ("consecutive_cta_row_sharing", 2.0 * 0.75 / 8.0),
    ]);
}

#[test]
fn ratios_over_zero_are_null_and_counts_of_nothing_are_zero() {
    let row = run_row_json(&fixture::key(), &RunResult::default());
    let nulls: Vec<&str> =
        row.iter().filter(|(_, value)| value.is_null()).map(|(name, _)| name.as_str()).collect();
    for name in ["row_locality_preserved", "reply_network_latency_mean", "ctas_per_row"] {
        assert!(nulls.contains(&name), "{name} is {}", row[name]);
    }
    for name in ["consecutive_cta_row_sharing", "ipc_warp", "in_mc_fraction", "latency_l1"] {
        assert!(nulls.contains(&name), "{name} is {}", row[name]);
    }
    for name in ["latency_p99", "row_hit_rate", "blp", "inter_core_locality", "rotation_interval"] {
        assert!(nulls.contains(&name), "{name} is {}", row[name]);
    }
    for name in ["cycles", "loads", "reads", "l1_read_hits", "dram_bytes"] {
        assert_eq!(row[name], json!(0), "{name}");
    }
}

/// A new metric needs a value in one of these files.
#[test]
fn every_metric_of_a_run_has_a_hand_computed_value() {
    let here = concat!(include_str!("tables.rs"), include_str!("energy.rs"));
    let columns = run_columns();
    let metrics = columns.iter().map(|column| &column.name).skip_while(|name| *name != "cycles");
    let without = metrics.filter(|name| !here.contains(&format!("\"{name}\""))).collect::<Vec<_>>();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn a_sampled_run_states_what_it_simulated_and_its_error() {
    let mut result = fixture::result();
    let row = |result: &RunResult| run_row_json(&fixture::key(), result);
    assert_eq!(row(&result)["cycles_error"], Value::Null, "nothing is estimated");
    (result.kernels[0].stands_for, result.kernels[1].simulated_ctas) = (7, 2);
    result.cycles_error = Some(CyclesError { standard: 20.0, half_interval: 50.0 });
    let row = row(&result);
    let got = ["kernels", "simulated_kernels", "simulated_ctas"].map(|key| row[key].as_u64());
    assert_eq!(got, [8, 2, 5].map(Some));
    assert_eq!((&row["cycles_error"], &row["cycles_interval"]), (&json!(0.02), &json!(0.05)));
}

/// Units with all counts zero.
fn idle_result() -> RunResult {
    let channel = ChannelResult { banks: vec![BankResult::default()], ..ChannelResult::default() };
    let node = || vec![NodeResult::default()];
    let link = LinkResult {
        from: LinkEnd::Source(0),
        to: LinkEnd::Router(0),
        flits: 0,
        buffer_flits: 0,
        buffer_flit_cycles: 0,
    };
    let network = NetworkResult {
        sources: node(),
        destinations: node(),
        links: vec![link],
        before: vec![StreamResult::default()],
        after: vec![StreamResult::default()],
        ..NetworkResult::default()
    };
    RunResult {
        kernels: vec![KernelResult::default()],
        sms: vec![SmResult::default()],
        slices: vec![SliceResult::default()],
        channels: vec![channel],
        networks: vec![network.clone(), network],
        ..RunResult::default()
    }
}

/// Counts of the whole machine during the first kernel; the second ran concurrently with another.
#[test]
fn kernels_have_the_counts_of_the_machine_or_null() {
    let run = Arc::new(FinishedRun::new(fixture::key(), fixture::result()));
    let rows: Vec<UnitRow> = UnitRow::kernels(&run).collect();
    let columns = kernel_columns();
    let value = |name: &str, row: usize| {
        let column = columns.iter().find(|column| column.name == name);
        column.unwrap_or_else(|| panic!("no column {name}")).json(&rows[row])
    };
    let mhz = f64::from(fixture::machine().clocks.dram_mhz);
    for (name, expected) in [
        ("active_cycles", json!(300)),
        ("schedulable_warps", json!(850.0 / 800.0)),
        // 10 times 50 hits, 20 misses, 10 sector misses, 20 merged.
        ("l1_read_miss_rate", json!(0.3)),
        ("l2_read_hits", json!(50)),
        ("queue_length_mean", json!(5.0)),
        ("read_requests", json!(30)),
        ("latency_mean", json!(50.0)),
        ("row_hits", json!(4)),
        ("dram_bytes", json!(16 * 64)),
        // Two channels have counted 800 cycles together.
        ("dram_bandwidth", json!(1024.0 / 400.0 * mhz / 1000.0)),
    ] {
        assert_eq!(value(name, 0), expected, "{name}");
        assert_eq!(value(name, 1), Value::Null, "{name}");
    }
    assert_eq!(value("cycles", 1), json!(600));
}

#[test]
fn empty_counts_are_null_in_every_table_and_never_nan() {
    for result in [RunResult::default(), idle_result(), fixture::result()] {
        let run = Arc::new(FinishedRun::new(fixture::key(), result));
        assert_finite(&run_columns(), [&*run]);
        assert_finite(&kernel_columns(), UnitRow::kernels(&run));
        assert_finite(&sm_columns(), UnitRow::sms(&run));
        assert_finite(&slice_columns(), UnitRow::slices(&run));
        assert_finite(&channel_columns(), UnitRow::channels(&run));
        assert_finite(&bank_columns(), BankRow::all(&run));
        assert_finite(&network_columns(), UnitRow::networks(&run));
        assert_finite(&node_columns(), NodeRow::all(&run));
        assert_finite(&link_columns(), LinkRow::all(&run));
    }
    assert_finite(&IntervalRow::columns(), [IntervalRow::default()]);
    assert_finite(&RequestRow::columns(), [fixture::request_row(0), fixture::request_row(1)]);
}

#[track_caller]
fn assert_finite<R>(columns: &[Column<R>], rows: impl IntoIterator<Item: Borrow<R>>) {
    for row in rows {
        for column in columns {
            // JSON has no NaN and would print null.
            if let Getter::Ratio(of) = &column.value {
                let value = of(row.borrow());
                assert!(value.is_none_or(f64::is_finite), "{}: {value:?}", column.name);
            }
        }
    }
}

#[test]
fn a_fingerprint_depends_on_every_count() {
    let base = fixture::result().fingerprint();
    assert_eq!(fixture::result().fingerprint(), base);
    let changes: [fn(&mut RunResult); 26] = [
        |r| r.steps += 1,
        |r| r.channels[0].occupancy_cycles[3] += 1,
        |r| r.loads.offchip_requests.record(1),
        |r| r.slices[1].cache.atomic_pending_hits += 1,
        |r| r.kernels[1].name.push('x'),
        |r| r.kernels[0].counts.as_mut().unwrap().banks.row_hits += 1,
        |r| r.sms[1].l1.reservation_fails[3] += 1,
        |r| r.slices[0].mshr_merge_length.record(3),
        |r| r.slices[0].dram_queue_full_cycles += 1,
        |r| r.slices[1].mshr_cycles[2] += 1,
        |r| r.mshr_cycles[0] += 1,
        |r| r.slices[1].queue.refused_cycles += 1,
        |r| r.slices[1].prefetches.evicted_unused += 1,
        |r| r.channels[1].banks[1].precharges += 1,
        |r| r.channels[1].banks[1].prefetch_reads += 1,
        |r| r.channels[1].open_cycles += 1,
        |r| r.channels[1].banks[0].streak_breakers[2] += 1,
        |r| r.networks[1].links[3].flits += 1,
        |r| r.networks[0].after[1].rows += 1,
        |r| r.channels[1].bank_refreshes += 1,
        |r| r.latency.stage_ticks[7] += 1,
        |r| r.translation.overtakes += 1,
        |r| r.sms[0].tlb.held_cycles += 1,
        |r| r.loads.in_mc_divergence -= 1,
        |r| r.row_sharing.get_mut(&4).unwrap().consecutive_ctas += 1,
        |r| r.counters[1].value += 1,
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut result = fixture::result();
        change(&mut result);
        assert_ne!(result.fingerprint(), base, "change {index}");
    }
}
