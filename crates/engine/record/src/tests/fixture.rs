//! A small run with hand-chosen counts.

use crate::{Bound, RunKey};
use std::collections::BTreeMap;
use warpmem_cache::CacheCounts;
use warpmem_dram::{BankResult, ChannelResult, SharedRows};
use warpmem_gpu::results::*;
use warpmem_machine::{self as machine, Machine};
use warpmem_network::*;
use warpmem_sim::Histogram;
use warpmem_translation::TranslationResult;

/// Returns li2015 with a core clock of 1 GHz: 64 bytes per column command.
pub(crate) fn machine() -> Machine {
    machine::load("li2015", &["clocks.core_mhz=1000".to_owned()]).unwrap()
}

pub(crate) fn key() -> RunKey {
    RunKey::new("bfs.wmt", 0xabc, machine(), "warpmem run bfs.wmt")
}

/// Returns the key of another run: a variant of the same machine, a trace of a generator, and a bound.
pub(crate) fn other_key(trace_hash: u64) -> RunKey {
    let key = RunKey::new("spmv.wmt", trace_hash, machine(), "warpmem compare");
    let mut key = key.with_seed("spmv --rows 64", 7);
    key.variant = 2;
    key.bound = Some(Bound { ideal: "perfect-dram".to_owned(), ipc_thread: 12.5 });
    key
}

pub(crate) fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram {
    let mut histogram = Histogram::default();
    values.into_iter().for_each(|value| histogram.record(value));
    histogram
}

/// Returns a distribution with each value counted a number of times.
fn repeat<const N: usize>(values: [u64; N], times: u64) -> impl Iterator<Item = u64> {
    (0..times).flat_map(move |_| values)
}

/// Returns a result of two SMs, two slices, two channels with two banks, two kernels and two networks.
fn progress(warps: &[(u64, u64)]) -> WarpProgress {
    let mut progress = WarpProgress::default();
    warps.iter().for_each(|&(instructions, cycles)| progress.add(instructions, cycles));
    progress
}

pub(crate) fn result() -> RunResult {
    RunResult {
        core_cycles: 1000,
        cycles_error: None,
        kernels: vec![
            KernelResult {
                launch: 0,
                name: "first".into(),
                like: 0,
                stands_for: 1,
                period: Some(400),
                extrapolated_cycles: None,
                simulated_ctas: 3,
                start_cycle: 0,
                end_cycle: 400,
                ctas: 3,
                warp_instructions: 100,
                thread_instructions: 2000,
                counts: Some(first_kernel()),
            },
            KernelResult {
                launch: 1,
                name: "second".into(),
                like: 1,
                stands_for: 1,
                period: None,
                extrapolated_cycles: None,
                simulated_ctas: 5,
                start_cycle: 400,
                end_cycle: 1000,
                ctas: 5,
                warp_instructions: 500,
                thread_instructions: 13_000,
                counts: None,
            },
        ],
        progress: vec![progress(&[(3, 1), (1, 1)]), progress(&[(1, 2), (2, 4)])],
        sms: vec![sm(1), sm(2)],
        slices: vec![
            SliceResult {
                cache: cache(1),
                dram_queue_full_cycles: 9,
                mshr_merge_length: histogram([1, 1, 4]),
                mshr_cycles: [500, 200, 100],
                queue: queue(1),
                prefetches: prefetches(1),
            },
            SliceResult {
                cache: cache(2),
                dram_queue_full_cycles: 4,
                mshr_merge_length: histogram([2]),
                mshr_cycles: [400, 340, 60],
                queue: queue(3),
                prefetches: prefetches(10),
            },
        ],
        mshr_cycles: [320, 340, 140],
        networks: vec![request_network(), reply_network()],
        channels: vec![channel(1), channel(2)],
        translation: TranslationResult {
            group_lookups: 80,
            group_hits: 40,
            lookups: 40,
            hits: 16,
            merges: 4,
            walks: 20,
            diverted: 3,
            loads: 50,
            offchip_loads: 9,
            bypassing_loads: 6,
            queue_cycles: 300,
            walk_cycles: 1200,
            waiting: 70,
            overtakes: 5,
        },
        latency: LatencyResult {
            total: histogram(1..=100),
            stage_ticks: [100, 200, 400, 800, 1000, 2000, 600, 5000],
            ticks_per_core_cycle: 4,
        },
        loads: LoadResult {
            loads: 200,
            // 800 requests, 500 of them off-chip, to 300 channels and 400 banks.
            requests: histogram(repeat([1, 7], 100)),
            offchip_requests: histogram(repeat([0, 5], 100)),
            channels: histogram(repeat([1, 2], 100)),
            banks: histogram(repeat([1, 3], 100)),
            divergence: histogram(1..=100),
            in_mc_divergence: 1010,
            translation_divergent: 40,
            translation_divergence: 3000,
            load_time: histogram(101..=200),
        },
        row_sharing: BTreeMap::from([(1, shared_rows(6, 0)), (4, shared_rows(2, 6))]),
        counters: vec![counter(0, "hits", 7), counter(0, "ends", 8), counter(1, "hits", 9)],
        steps: 12_345,
    }
}

fn shared_rows(rows: u64, consecutive_ctas: u64) -> SharedRows {
    SharedRows { rows, consecutive_ctas }
}

fn counter(index: u32, counter: &'static str, value: u64) -> CounterResult {
    CounterResult { unit: "channel", index, policy: "fr-fcfs".to_owned(), counter, value }
}

/// Returns a network of two routers with buffers; the latencies sum to 155.
fn request_network() -> NetworkResult {
    use LinkEnd::{Destination, Router, Source};
    NetworkResult {
        cycles: 500,
        latency: histogram(11..=20),
        wait_cycles: 40,
        pipeline_cycles: 60,
        serialisation_cycles: 20,
        contention_cycles: 35,
        hops: 15,
        sources: vec![node(8, 16, 24), node(2, 4, 16)],
        destinations: vec![node(5, 12, 0), node(5, 8, 0)],
        links: vec![
            link(Source(0), Router(0), 16, 8, 400),
            link(Source(1), Router(0), 4, 8, 0),
            link(Router(0), Router(1), 12, 4, 500),
            link(Router(1), Destination(0), 12, 0, 0),
            link(Router(0), Destination(1), 8, 0, 0),
        ],
        crowded: vec![1, 2, 3, 0, 1],
        before: vec![stream(12, 3), stream(8, 5)],
        after: vec![stream(12, 4), stream(8, 6)],
    }
}

/// Returns a network of one router without buffers; one slice sends nothing.
fn reply_network() -> NetworkResult {
    use LinkEnd::{Destination, Router, Source};
    NetworkResult {
        cycles: 500,
        latency: histogram([9; 10]),
        pipeline_cycles: 40,
        serialisation_cycles: 50,
        hops: 10,
        sources: vec![node(10, 50, 0), node(0, 0, 0)],
        destinations: vec![node(4, 20, 0), node(6, 30, 0)],
        links: vec![
            link(Source(0), Router(0), 50, 0, 0),
            link(Source(1), Router(0), 0, 0, 0),
            link(Router(0), Destination(0), 20, 0, 0),
            link(Router(0), Destination(1), 30, 0, 0),
        ],
        ..NetworkResult::default()
    }
}

fn node(packets: u64, flits: u64, wait_cycles: u64) -> NodeResult {
    NodeResult { packets, flits, wait_cycles }
}

fn link(from: LinkEnd, to: LinkEnd, flits: u64, room: u64, waited: u64) -> LinkResult {
    LinkResult { from, to, flits, buffer_flits: room, buffer_flit_cycles: waited }
}

fn stream(requests: u64, rows: u64) -> StreamResult {
    StreamResult { requests, rows }
}

fn sm(n: u64) -> SmResult {
    SmResult {
        warp_instructions: 200 * n,
        thread_instructions: 5000 * n,
        warp_instructions_by_class: [
            10 * n,
            20 * n,
            30 * n,
            40 * n,
            50 * n,
            60 * n,
            70 * n,
            80 * n,
            90 * n,
        ],
        thread_instructions_by_class: [
            320 * n,
            500 * n,
            800 * n,
            900 * n,
            1600 * n,
            60 * n,
            70 * n,
            80 * n,
            100 * n,
        ],
        memory_instructions: 60 * n,
        requesting_instructions: 40 * n,
        requested_channels: 50 * n,
        requested_banks: 70 * n,
        replies: 20 * n,
        reply_ticks: 32_000 * n,
        active_cycles: 300,
        no_warp_cycles: 100 * n,
        memory_block_cycles: 200,
        dependency_stall_cycles: 40,
        structural_stall_cycles: 50,
        load_store_block_cycles: 20,
        barrier_cycles: 310 - 100 * n,
        ready_warp_cycles: 850 * n,
        ctas: 2 + n,
        instruction_cache_misses: 13 * n,
        constant_cache_misses: 3 * n,
        l1: cache(10 * n),
        l1_wavefront_cycles: 17 * n,
        shared_accesses: 7 * n,
        shared_bank_conflict_cycles: 9 * n,
        messages: 11 * n,
        message_bytes: 704 * n,
        tlb: TlbCounts {
            instructions: 40 * n,
            pages: 90 * n,
            lookups: 80 * n,
            hits: 60 * n,
            misses: 12 * n,
            held_requests: 30 * n,
            held_cycles: 6000 * n,
        },
    }
}

fn cache(n: u64) -> CacheCounts {
    CacheCounts {
        read_hits: 50 * n,
        read_misses: 20 * n,
        read_sector_misses: 10 * n,
        read_pending_hits: 20 * n,
        write_hits: 15 * n,
        write_misses: 5 * n,
        write_sector_misses: 7 * n,
        atomics: 30 * n,
        atomic_hits: 12 * n,
        atomic_misses: 8 * n,
        atomic_pending_hits: 10 * n,
        bypasses: 2 * n,
        writebacks: 4 * n,
        early_writebacks: 9 * n,
        write_fetches: 6 * n,
        evictions: 11 * n,
        reservation_fails: [n, 2 * n, 3 * n, 4 * n],
    }
}

fn queue(n: u64) -> QueueResult {
    QueueResult {
        arrivals: [40 * n, 20 * n, 0, 30 * n, 10 * n],
        // 450 n in all.
        critical_fields: histogram(
            [(40, 1), (20, 2), (30, 7), (10, 16)]
                .into_iter()
                .flat_map(|(count, field)| repeat([field], count * n)),
        ),
        waiting_arrivals: 70 * n,
        wait_cycles: [80 * n, 60 * n, 0, 240 * n, 130 * n],
        length: QueueLength { length_cycles: 600 * n, occupied_cycles: 120 * n },
        refused_cycles: 15 * n,
        rotations: 10 * n,
    }
}

fn prefetches(n: u64) -> PrefetchCounts {
    PrefetchCounts {
        lines: 27 * n,
        used: 2 * n,
        late: 3 * n,
        redundant: 4 * n,
        dropped: 5 * n,
        evicted_unused: 6 * n,
        unused: 7 * n,
    }
}

fn channel(n: u64) -> ChannelResult {
    ChannelResult {
        cycles: 800,
        data_bus_busy_cycles: 100 * n,
        pending_cycles: 300 * n,
        bank_outstanding_cycles: 700 * n,
        any_bank_outstanding_cycles: 200 * n,
        bank_busy_cycles: 250 * n,
        any_bank_busy_cycles: 125 * n,
        // 1600 n.
        occupancy_cycles: vec![800 - 400 * n, 0, 80 * n, 80 * n, 0, 240 * n],
        open_cycles: 300 * n,
        refreshes: n,
        bank_refreshes: 16 * n,
        turnarounds: 5 * n,
        write_drains: 2 * n,
        banks: vec![bank(n), bank(10 * n)],
        ..ChannelResult::default()
    }
}

fn bank(n: u64) -> BankResult {
    BankResult {
        reads: 12 * n,
        writes: 4 * n,
        activations: 4 * n,
        precharges: 3 * n,
        row_hits: 4 * n,
        row_misses: n,
        row_conflicts: 3 * n,
        prefetched_lines: 2 * n,
        prefetch_reads: 5 * n,
        row_switches: 10 * n,
        stranded_switches: 8 * n,
        streak_breakers: [6 * n, 3 * n, n],
        ..BankResult::default()
    }
}

/// Returns load rows that differ in every column, some without divergence.
pub(crate) fn load_row(index: u64) -> LoadRow {
    let small = |modulus: u64| u32::try_from(index % modulus).unwrap();
    let divergent = !index.is_multiple_of(3);
    LoadRow {
        kernel: small(5),
        cta: small(1000),
        warp_in_cta: small(32),
        sm: small(15),
        warp_slot: small(48),
        pc: 16 * (index % 100),
        issue_cycle: 3 * index + index % 7,
        load_time: 100 + index * 7919 % 1000,
        requests: 1 + small(32),
        offchip_requests: small(32),
        channels: small(6),
        banks: small(31),
        pages: 1 + small(9),
        translation_cycles: small(400),
        translation_divergence: divergent.then(|| small(300)),
        divergence: divergent.then_some(index * 104_729 % 500),
        in_mc_divergence: divergent.then(|| (index % 300).cast_signed() - 150),
    }
}

/// Returns requests of one warp, alternately on-chip and off-chip, at 4 ticks per core cycle; request
/// 3 is a load of a page walk.
pub(crate) fn request_row(index: u64) -> RequestRow {
    let at = |ticks: u64| ticks + 4 * index;
    let dram = DramTimes { entered: at(20), started: at(25), finished: at(30) };
    let offchip = index.is_multiple_of(2);
    let kind = match index {
        3 => AccessKind::Walk,
        _ if offchip => AccessKind::Read,
        _ => AccessKind::Write,
    };
    let requester = Requester { kernel: 1, cta: 2, warp_in_cta: 3, sm: 4, warp_slot: 5, pc: 64 };
    RequestRow {
        requester: (index != 3).then_some(requester),
        address: 128 * index,
        kind,
        slice: 1,
        channel: 0,
        bank: 7,
        row: 100 + index as u32,
        created: at(10),
        l1_missed: at(12),
        l2_arrived: at(13),
        l2_served: at(16),
        dram: offchip.then_some(dram),
        replied: at(32),
        returned: at(40),
        ticks_per_core_cycle: 4,
    }
}

/// Returns intervals with the counts of an SM, a cache and a channel; the first has a third of the
/// reads.
fn first_kernel() -> IntervalCounts {
    IntervalCounts {
        sms: sm(1),
        read_requests: 30,
        read_latency: 1500,
        l2: cache(1),
        l2_queues: QueueLength { length_cycles: 600, occupied_cycles: 120 },
        channels: ChannelResult { banks: Vec::new(), ..channel(1) },
        banks: bank(1),
    }
}

pub(crate) fn interval_row(index: u64) -> IntervalRow {
    let n = index + 1;
    let reads = if index == 0 { 20 } else { 0 };
    let counts = IntervalCounts {
        sms: sm(n),
        read_requests: reads,
        read_latency: 25 * reads,
        l2: cache(n),
        l2_queues: QueueLength { length_cycles: 30 * reads, occupied_cycles: 6 * reads },
        channels: ChannelResult { banks: Vec::new(), ..channel(n) },
        banks: bank(n),
    };
    IntervalRow {
        start_cycle: 1 + 100 * index,
        cycles: 100 / n,
        counts,
        resident_warps: 48 + index,
        requests_in_flight: 7 + index,
    }
}
