//! The counts of the GPU's units that add up.

use super::{
    IntervalCounts, LatencyResult, LoadResult, PrefetchCounts, QueueLength, QueueResult,
    SliceResult, SmResult, TlbCounts,
};
use warpmem_sim::{add_fields, count_fields, weigh_fields};

count_fields!(SmResult {
    warp_instructions,
    thread_instructions,
    warp_instructions_by_class,
    thread_instructions_by_class,
    memory_instructions,
    requesting_instructions,
    requested_channels,
    requested_banks,
    active_cycles,
    no_warp_cycles,
    memory_block_cycles,
    dependency_stall_cycles,
    structural_stall_cycles,
    load_store_block_cycles,
    barrier_cycles,
    ready_warp_cycles,
    ctas,
    instruction_cache_misses,
    constant_cache_misses,
    l1,
    l1_wavefront_cycles,
    replies,
    reply_ticks,
    shared_accesses,
    shared_bank_conflict_cycles,
    messages,
    message_bytes,
    tlb,
});

count_fields!(TlbCounts { instructions, pages, lookups, hits, misses, held_requests, held_cycles });

add_fields!(SliceResult {
    cache,
    dram_queue_full_cycles,
    mshr_merge_length,
    mshr_cycles,
    queue,
    prefetches,
});

add_fields!(QueueResult {
    arrivals,
    critical_fields,
    waiting_arrivals,
    wait_cycles,
    length,
    refused_cycles,
    rotations,
});

count_fields!(QueueLength { length_cycles, occupied_cycles });

add_fields!(PrefetchCounts { lines, used, late, redundant, dropped, evicted_unused, unused });

weigh_fields!(LatencyResult { total, stage_ticks } keep { ticks_per_core_cycle });

add_fields!(LoadResult {
    loads,
    requests,
    offchip_requests,
    channels,
    banks,
    divergence,
    in_mc_divergence,
    load_time,
    translation_divergent,
    translation_divergence,
});

count_fields!(IntervalCounts { sms, read_requests, read_latency, l2, l2_queues, channels, banks });
