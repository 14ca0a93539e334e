//! The configuration of a machine, unit by unit. Every key carries its unit in its name or its
//! comment; `docs/machines.md` is the user's copy of this page.

use serde::{Deserialize, Serialize};
use warpmem_cache::Cache;
use warpmem_dram::Dram;
use warpmem_network::Network;

/// A whole machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub name: String,
    pub description: String,
    pub clocks: Clocks,
    pub sm: Sm,
    pub l1: L1,
    pub network: Network,
    pub llc: Llc,
    pub dram: Dram,
    pub policy: Policies,
    pub run: Run,
}

/// Frequencies of the clock domains, MHz.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    pub core_mhz: u32,
    pub network_mhz: u32,
    pub llc_mhz: u32,
    /// The DRAM command clock.
    pub dram_mhz: u32,
}

/// Streaming multiprocessors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sm {
    pub count: u32,
    /// Residency limits of one SM.
    pub max_threads: u32,
    pub max_warps: u32,
    pub max_ctas: u32,
    pub registers: u32,
    pub shared_bytes: u32,
    /// CTAs that one SM may start in a core cycle.
    pub cta_launches_per_cycle: u32,
    /// Warp schedulers; warp w belongs to scheduler w mod schedulers.
    pub schedulers: u32,
    /// Which scheduler issues first rotates from one core cycle to the next; else it is always
    /// scheduler 0.
    pub rotating_schedulers: bool,
    /// Core cycles between two issues of one scheduler (4 for a SIMT width of 8).
    pub issue_interval: u32,
    /// Warps that may fetch in a core cycle. A warp fetches two instructions when it has none left.
    /// 0: fetch is ideal.
    pub fetch_warps: u32,
    /// Core cycles from issue until the operands are read and a unit may start: dispatch, operand
    /// collection.
    pub operand_latency: u32,
    /// Core cycles from a unit's result, or from the arrival of data, until an instruction that
    /// needs it may issue.
    pub writeback_latency: u32,
    /// Operand collectors of a scheduler. Memory instructions that wait for the load/store unit
    /// occupy them, except the first of each scheduler. 0: no limit.
    pub collectors: u32,
    /// Memory instructions of a scheduler that may have issued and still wait for the load/store
    /// unit.
    pub lsu_queue: u32,
    /// How many requests the lanes of an atomic make.
    pub atomic_requests: AtomicRequests,
    /// At which instruction a warp with an outstanding load stalls.
    pub stall: Stall,
    /// The order in which an instruction's requests are sent.
    pub request_order: RequestOrder,
    /// Functional units, one of each class per scheduler.
    pub units: Units,
    pub shared: SharedMemory,
    /// Core cycles from issue of a constant-cache load to its result.
    pub constant_latency: u32,
    /// Outstanding requests of one SM to the memory below L1; 0: no limit.
    #[serde(default)]
    pub max_requests: u32,
}

/// Requests of an atomic whose lanes access the same sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtomicRequests {
    /// One, which occupies the slice the longer the more lanes access the same address.
    PerSector,
    /// As many as the most lanes that access the same address.
    PerConflict,
}

/// At which instruction a warp stalls while a load, or an atomic that returns a value, is
/// outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stall {
    /// At the first instruction that needs the result (scoreboard).
    Use,
    /// At the load itself: the warp issues nothing after it (OWL 2013, section 2.1).
    Load,
}

/// The order of the requests of one memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestOrder {
    /// The order in which the lanes first access the sectors.
    Lanes,
    /// From the highest address down (GPGPU-Sim, `warp_inst_t::memory_coalescing_arch` and
    /// `accessq_back`).
    Descending,
}

/// Latency and initiation interval of each class of functional unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Units {
    pub integer: Unit,
    pub fp16: Unit,
    pub fp32: Unit,
    pub fp64: Unit,
    pub sfu: Unit,
    pub tensor: Unit,
    pub control: Unit,
    pub uniform: Unit,
    pub other: Unit,
}

/// One functional unit, core cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// Core cycles from the operands to the result.
    pub latency: u32,
    /// Core cycles from one instruction to the next on the same unit.
    pub interval: u32,
}

/// Shared memory of an SM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedMemory {
    /// Core cycles from the last pass to the result.
    pub latency: u32,
    pub banks: u32,
    pub bank_bytes: u32,
}

/// The first-level data cache of an SM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L1 {
    /// If false, global and local accesses go straight to the network.
    pub enabled: bool,
    pub cache: Cache,
    /// Core cycles from access to data on a hit.
    pub latency: u32,
    /// Banks, interleaved by sector: one access per bank and core cycle.
    pub banks: u32,
    /// L1 is invalidated when a kernel ends.
    pub flush_between_kernels: bool,
    /// Async copies with the bypass modifier (`LDGSTS.BYPASS`) bypass L1; else all async copies are
    /// looked up in it.
    pub async_bypass: bool,
    /// Sizes that shared memory may take of a unified store of `unified_bytes`. The smallest that
    /// is large enough for all resident CTAs is used. The rest is L1, which keeps its sets and
    /// loses ways; its `size_bytes` is the rest under the smallest option. Empty: L1 has its own
    /// `size_bytes`.
    pub shared_options_bytes: Vec<u32>,
    /// Shared memory and L1 together; 0 = separate.
    pub unified_bytes: u32,
}

/// Which replies of a slice get the last free entries of its reply queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyOrder {
    /// Replies of fills, then hits.
    #[default]
    FillsFirst,
    /// Hits, then replies of fills.
    HitsFirst,
}

/// Last-level cache slices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Llc {
    /// If false, requests go straight to DRAM and replies straight back.
    #[serde(default = "on")]
    pub enabled: bool,
    pub slices_per_channel: u32,
    /// The cache of one slice.
    pub cache: Cache,
    /// Requests that wait for the tags of a slice.
    pub queue: u32,
    /// Requests that a slice takes from the network per LLC cycle; 0 = all that have arrived.
    #[serde(default = "one")]
    pub arrivals_per_cycle: u32,
    /// Core cycles from the network to the slice's queue.
    pub input_latency: u32,
    /// LLC cycles from the tags to the data on a hit.
    pub latency: u32,
    /// Bytes per LLC cycle through a slice's data port, and through its fill port. Data that need
    /// several cycles occupy the port for all of them. 0 = no limit.
    #[serde(default)]
    pub port_bytes: u32,
    /// Replies that wait for the network.
    pub reply_queue: u32,
    /// Which replies get the last free entries of the reply queue.
    #[serde(default)]
    pub reply_order: ReplyOrder,
    /// Core cycles from the miss queue to the DRAM channel.
    pub to_dram_latency: u32,
    /// Requests between one slice and the channel's queues, in addition to those that the latency
    /// keeps in flight.
    pub to_dram_queue: u32,
    /// LLC cycles per lane of an atomic that accesses the same address as others, one after the
    /// other. 0 = an atomic costs as much as any request (optimistic).
    pub atomic_cycles: u32,
}

fn on() -> bool {
    true
}

fn one() -> u32 {
    1
}

/// The policy of every slot, as `name` or `name(key=value,...)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policies {
    pub dram_scheduler: String,
    pub warp_scheduler: String,
    pub cta_scheduler: String,
    pub llc_queue: String,
    pub topology: String,
    pub arbiter: String,
    pub prefetcher: String,
    pub ideal: String,
}

/// How a run is carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Kernels of different streams run concurrently when resources allow.
    pub concurrent_kernels: bool,
    /// Core cycles between the end of a kernel and the start of the next.
    pub launch_latency: u32,
    /// Record which CTAs use each DRAM row, for `ctas_per_row` and `consecutive_cta_row_sharing` of
    /// the run.
    pub count_row_sharing: bool,
    /// The SM that the CTA scheduler counts as its first. As all SMs are alike, it changes only the
    /// order of arbitration.
    pub first_sm: u32,
}
