//! The raw counts of a run, unit by unit. All are integers; ratios are derived from them in one
//! place.

mod fnv;
mod progress;
mod sample;
mod sink;
mod totals;

pub use crate::sampling::CyclesError;
pub use fnv::Fnv;
pub use progress::WarpProgress;
pub use sample::{ParseSampleError, RequestSample};
use serde::Serialize;
pub use sink::*;
use std::collections::BTreeMap;
use warpmem_cache::CacheCounts;
use warpmem_dram::{ChannelResult, SharedRows};
use warpmem_network::NetworkResult;
use warpmem_sim::{Histogram, Total};
use warpmem_trace::OpClass;
use warpmem_translation::TranslationResult;

/// A stage of a read request; the times in all stages sum to its latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Stage {
    /// From the coalescer to the departure from L1, of the request or of the one it merged into.
    L1,
    RequestNetwork,
    L2Queue,
    /// Tags and data of the slice, with the MSHR wait of merged requests.
    L2,
    L2ToDram,
    DramQueue,
    DramService,
    ReplyNetwork,
}

impl Stage {
    pub const COUNT: usize = 8;
    pub const NAMES: [&'static str; Stage::COUNT] = [
        "l1",
        "request_network",
        "l2_queue",
        "l2",
        "l2_to_dram",
        "dram_queue",
        "dram_service",
        "reply_network",
    ];
}

/// One SM over the run. Cycles are core cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SmResult {
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    pub warp_instructions_by_class: [u64; OpClass::COUNT],
    /// Active lanes of compute instructions, by class.
    #[serde(skip)]
    pub thread_instructions_by_class: [u64; OpClass::COUNT],
    pub memory_instructions: u64,
    /// Memory instructions that make requests, and the sums over them of the distinct channels and
    /// (channel, bank) pairs of their requests [Yuan Fig 14].
    pub requesting_instructions: u64,
    pub requested_channels: u64,
    pub requested_banks: u64,
    pub active_cycles: u64,
    /// No warp on the SM while the application runs.
    pub no_warp_cycles: u64,
    /// Nothing issued; every warp present waits for memory [OWL].
    pub memory_block_cycles: u64,
    /// Nothing issued; some warp waits for a compute result.
    pub dependency_stall_cycles: u64,
    /// Nothing issued; a ready warp finds its unit or the load/store queue busy, or the scheduler
    /// holds it back.
    pub structural_stall_cycles: u64,
    /// Part of these: no warp is ready with another than a memory instruction, or waits for a compute
    /// result.
    pub load_store_block_cycles: u64,
    /// Nothing issued; some warp waits at a barrier, the others for memory.
    pub barrier_cycles: u64,
    /// Ready warps, summed over the cycles with resident warps.
    pub ready_warp_cycles: u64,
    pub ctas: u64,
    /// Lines that missed in the instruction cache and in the constant cache; accesses to a line in
    /// flight do not count.
    #[serde(skip_serializing_if = "is_zero")]
    pub instruction_cache_misses: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub constant_cache_misses: u64,
    pub l1: CacheCounts,
    /// Cycles for which instructions take the data path of an L1 with wavefronts.
    #[serde(skip_serializing_if = "is_zero")]
    pub l1_wavefront_cycles: u64,
    /// Replies from the network, to stores and atomics too, and the sum of their ticks from the
    /// coalescer to the SM.
    #[serde(skip)]
    pub replies: u64,
    #[serde(skip)]
    pub reply_ticks: u64,
    pub shared_accesses: u64,
    /// Passes beyond the first of shared-memory instructions.
    pub shared_bank_conflict_cycles: u64,
    /// Messages to the shared memory of other SMs, and their bytes of data in both directions.
    pub messages: u64,
    pub message_bytes: u64,
    #[serde(skip_serializing_if = "TlbCounts::is_empty")]
    pub tlb: TlbCounts,
}

/// The first-level TLB of an SM over the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TlbCounts {
    /// Memory instructions that make requests, and the sum of their distinct pages.
    pub instructions: u64,
    pub pages: u64,
    /// Lookups, once per page of an instruction.
    pub lookups: u64,
    pub hits: u64,
    /// Pages asked for; lookups that neither hit nor asked merged.
    pub misses: u64,
    /// Requests that waited for a translation, and their core cycles until they left for the
    /// network.
    pub held_requests: u64,
    pub held_cycles: u64,
}

impl TlbCounts {
    /// Whether nothing was translated.
    fn is_empty(&self) -> bool {
        *self == TlbCounts::default()
    }
}

/// Whether a count of a mechanism that most machines lack is omitted.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Classes of Critical Fields, the most critical first: 1, 2, 3 to 4, 5 to 8, 9 to 32 [CaLRS Table
/// 2].
pub const CRITICAL_CLASSES: usize = 5;

/// Occupancy of the queue of an L2 slice, with the request at the tags. Cycles are L2 cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueLength {
    /// Requests, summed over cycles.
    pub length_cycles: u64,
    /// Cycles with a request.
    pub occupied_cycles: u64,
}

/// The queue of an L2 slice over the run. Cycles are L2 cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueResult {
    /// Arrivals, by the class of the Critical Field on arrival.
    pub arrivals: [u64; CRITICAL_CLASSES],
    /// Their Critical Fields.
    pub critical_fields: Histogram,
    /// Arrivals that found another request waiting.
    pub waiting_arrivals: u64,
    /// Wait from arrival to service at the tags, summed over requests, by class.
    pub wait_cycles: [u64; CRITICAL_CLASSES],
    pub length: QueueLength,
    /// Cycles in which the queue refused a request.
    pub refused_cycles: u64,
    /// Rotations of priorities.
    pub rotations: u64,
}

/// State of the MSHRs of a slice [Li Fig 5.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum MshrState {
    /// No entry.
    Idle,
    /// No entry with requests of two SMs or more.
    Unshared,
    /// An entry with requests of two SMs or more.
    Shared,
}

impl MshrState {
    pub const COUNT: usize = 3;
}

/// Lines that the channel of an L2 slice has prefetched, by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PrefetchCounts {
    /// All lines: the sum of the others.
    pub lines: u64,
    /// Hit by a request.
    pub used: u64,
    /// Arrived after a request for them had missed.
    pub late: u64,
    /// Arrived while they were present.
    pub redundant: u64,
    /// Dropped for lack of a victim.
    pub dropped: u64,
    pub evicted_unused: u64,
    /// Present and unused at the end of the run.
    pub unused: u64,
}

/// One L2 slice over the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SliceResult {
    pub cache: CacheCounts,
    /// L2 cycles in which a request waited for the tags while the queue to DRAM was full. It had
    /// not been looked up, so these are no [`CacheCounts::reservation_fails`].
    pub dram_queue_full_cycles: u64,
    pub mshr_merge_length: Histogram,
    /// L2 cycles by [`MshrState`]; none without a cache.
    pub mshr_cycles: [u64; MshrState::COUNT],
    pub queue: QueueResult,
    pub prefetches: PrefetchCounts,
}

/// One kernel launch. Cycles are core cycles from the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelResult {
    /// Number of the launch in the trace.
    #[serde(skip)]
    pub launch: u32,
    pub name: String,
    /// If only some of similar launches are simulated: the first launch similar to this one, and
    /// the number of launches that this one represents in the counts, itself included.
    #[serde(skip)]
    pub like: u32,
    #[serde(skip)]
    pub stands_for: u32,
    /// If only some of its CTAs are simulated: its cycles, extrapolated.
    #[serde(skip)]
    pub extrapolated_cycles: Option<u64>,
    /// Simulated CTAs.
    #[serde(skip)]
    pub simulated_ctas: u64,
    pub start_cycle: u64,
    pub end_cycle: u64,
    pub ctas: u64,
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    /// Core cycles from its start to that of the next kernel, or to the end of the run. None if
    /// another kernel ran concurrently.
    #[serde(skip)]
    pub period: Option<u64>,
    /// Counts of all units from its start to that of the next kernel, or to the end of the run,
    /// without retries. None if another kernel ran concurrently: units do not distinguish kernels.
    pub counts: Option<IntervalCounts>,
}

/// Latency of read requests not answered by L1, merged ones included, core cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LatencyResult {
    pub total: Histogram,
    /// Time in each [`Stage`], summed over requests, ticks.
    pub stage_ticks: [u128; Stage::COUNT],
    /// Time unit of `stage_ticks`: ticks per core cycle.
    pub ticks_per_core_cycle: u64,
}

impl Total for LatencyResult {
    fn add(&mut self, other: &LatencyResult) {
        let LatencyResult { total, stage_ticks, ticks_per_core_cycle } = other;
        self.total.add(total);
        self.stage_ticks.iter_mut().zip(stage_ticks).for_each(|(mine, theirs)| *mine += theirs);
        self.ticks_per_core_cycle = *ticks_per_core_cycle;
    }
}

/// Aggregates over the load rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoadResult {
    pub loads: u64,
    /// Over all loads, like the next three [CaLRS Fig 4; WMC Fig 3; Yuan Fig 14].
    pub requests: Histogram,
    pub offchip_requests: Histogram,
    pub channels: Histogram,
    pub banks: Histogram,
    /// Over loads with two or more off-chip requests, like the next two [WMC Fig 4 to 6].
    pub divergence: Histogram,
    pub in_mc_divergence: i128,
    pub load_time: Histogram,
    /// Loads with two or more waits for translations, and the sum of the differences between their
    /// longest and shortest one [Shin].
    #[serde(skip_serializing_if = "is_zero")]
    pub translation_divergent: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub translation_divergence: u64,
}

/// A counter of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CounterResult {
    /// Kind of the counted unit: `channel`, `slice`, `sm` or `machine`, and its number.
    pub unit: &'static str,
    pub index: u32,
    /// Name of the policy, without parameters.
    pub policy: String,
    pub counter: &'static str,
    pub value: u64,
}

/// All results of a run except its rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunResult {
    /// From the first CTA launch to the last CTA completion.
    pub core_cycles: u64,
    /// Error of `core_cycles` in a sampled run; none if it is unknown, or nothing was sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles_error: Option<CyclesError>,
    pub kernels: Vec<KernelResult>,
    pub sms: Vec<SmResult>,
    pub slices: Vec<SliceResult>,
    /// L2 cycles by [`MshrState`] of all slices together; none without a cache.
    pub mshr_cycles: [u64; MshrState::COUNT],
    pub channels: Vec<ChannelResult>,
    /// The request network and the reply network.
    pub networks: Vec<NetworkResult>,
    /// The shared part of address translation.
    #[serde(skip_serializing_if = "TranslationResult::is_empty")]
    pub translation: TranslationResult,
    pub latency: LatencyResult,
    pub loads: LoadResult,
    /// By kernel, in the order of the trace.
    pub progress: Vec<WarpProgress>,
    /// DRAM rows by the number of CTAs that used each; empty if not counted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub row_sharing: BTreeMap<u32, SharedRows>,
    /// Counters of policies; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<CounterResult>,
    /// Unit steps executed by the engine.
    pub steps: u64,
}

impl RunResult {
    /// Returns the fairness among the warps of a kernel, averaged over kernels and weighted by
    /// their warps; none without warps.
    pub fn warp_fairness(&self) -> Option<f64> {
        let of = |kernel: &WarpProgress| Some((kernel.warps as f64, kernel.fairness()?));
        let kernels = self.progress.iter().filter_map(of);
        let (warps, sum) = kernels
            .fold((0.0, 0.0), |(warps, sum), (own, fairness)| (warps + own, sum + own * fairness));
        (warps > 0.0).then(|| sum / warps)
    }

    /// Returns the 64-bit FNV-1a hash of all counts: equal fingerprints mean equal runs.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::new();
        serde_json::to_writer(&mut hash, self).expect("counts are JSON and hashing cannot fail");
        hash.finish()
    }
}
