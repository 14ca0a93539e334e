//! The configuration of a machine, unit by unit. Every key carries its unit in its name or its
//! comment; `docs/machines.md` is the user's copy of this page.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
    /// The scheduler that issues first in a core cycle is another in the next; else always the one with the lowest number.
    pub rotating_schedulers: bool,
    /// Core cycles between two issues of one scheduler (4 for a SIMT width of 8).
    pub issue_interval: u32,
    /// Warps that may fetch their next two instructions in a core cycle, once they have none left; 0: fetch is ideal.
    pub fetch_warps: u32,
    /// Core cycles from issue until the operands are read and a unit may start: dispatch, operand collection.
    pub operand_latency: u32,
    /// Core cycles from a unit's result, or from data that arrive, until an instruction that needs it may issue.
    pub writeback_latency: u32,
    /// Operand collectors of a scheduler, which instructions that wait for the load/store unit hold beyond the first; 0:
    /// no limit.
    pub collectors: u32,
    /// Memory instructions of a scheduler that have issued and with which the load/store unit has not begun.
    pub lsu_queue: u32,
    /// What atomics of several lanes become.
    pub atomic_requests: AtomicRequests,
    /// What a warp stalls on whose load is not back.
    pub stall: Stall,
    /// The order in which an instruction's requests go out.
    pub request_order: RequestOrder,
    /// Functional units, one of each class per scheduler.
    pub units: Units,
    pub shared: SharedMemory,
    /// Core cycles from issue of a constant-cache load to its result.
    pub constant_latency: u32,
    /// Requests of one SM that may be in the memory below L1 and not yet answered; 0: no limit.
    #[serde(default)]
    pub max_requests: u32,
}

/// Requests of an atomic whose lanes hit one sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtomicRequests {
    /// One, which takes the slice longer the more lanes hit one address.
    PerSector,
    /// As many as lanes hit one address, at most.
    PerConflict,
}

/// What a warp stalls on whose load, or atomic that returns, is not back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stall {
    /// The first instruction that needs the result: a scoreboard.
    Use,
    /// The load: nothing of the warp issues behind it (OWL 2013, section 2.1).
    Load,
}

/// The order of the requests of one memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestOrder {
    /// That in which lanes touch their sectors.
    Lanes,
    /// From the highest address down (GPGPU-Sim, `warp_inst_t::memory_coalescing_arch` and `accessq_back`).
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
    /// From the operands to the result.
    pub latency: u32,
    /// From an instruction to the next on the same unit.
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

/// Which line of a set gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    Lru,
    Fifo,
}

/// What a cache does with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Update the line if present, and send the store on.
    WriteThrough,
    /// Drop the line if present, and send the store on (Fermi, for global memory).
    WriteEvict,
    /// Keep the data in the line, marked dirty.
    WriteBack,
    /// Keep what belongs to local memory as under write-back, and send other stores on as under write-evict (GPGPU-Sim's
    /// letter L of an L1, `data_cache::wr_hit_global_we_local_wb`).
    LocalWriteBack,
}

impl WritePolicy {
    /// Whether a cache may have dirty lines.
    pub fn has_dirty_lines(self) -> bool {
        matches!(self, WritePolicy::WriteBack | WritePolicy::LocalWriteBack)
    }
}

/// What a store that misses does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteAllocate {
    /// Nothing is allocated.
    None,
    /// The line is allocated; what the store does not cover is fetched at once.
    FetchOnWrite,
    /// The store goes on, and the line is allocated and fetched, whatever the store covers; a store to a line on its way
    /// does the same and its read merges (LLC only; GPGPU-Sim 3).
    SendAndFetch,
    /// The line is allocated with the bytes written; a later read of other bytes fetches (Volta and later).
    LazyFetch,
}

/// When a read miss takes its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAllocate {
    /// Reserved at the miss.
    OnMiss,
    /// Taken at the fill: misses never fail for want of a line (streaming L1).
    OnFill,
}

/// How the set of a line is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexHash {
    Linear,
    /// XOR of successive groups of index bits.
    Xor,
    /// Polynomial hash (Rau 1991).
    Ipoly,
}

/// Geometry and miss handling common to L1 and LLC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    pub size_bytes: u32,
    /// Lines per set; 0 = fully associative.
    pub ways: u32,
    pub line_bytes: u32,
    /// Granule of fetch and of requests; equal to `line_bytes` where lines have no sectors.
    pub sector_bytes: u32,
    pub replacement: Replacement,
    pub write: WritePolicy,
    pub write_allocate: WriteAllocate,
    pub read_allocate: ReadAllocate,
    pub index: IndexHash,
    pub mshr_entries: u32,
    /// Requests that one MSHR entry can hold, the first included.
    pub mshr_merges: u32,
    /// Requests that wait to leave downwards.
    pub miss_queue: u32,
}

/// The first-level data cache of an SM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L1 {
    /// Off: global and local accesses go straight to the network.
    pub enabled: bool,
    pub cache: Cache,
    /// Core cycles from access to data on a hit.
    pub latency: u32,
    /// Banks, interleaved by sector: one access per bank and core cycle.
    pub banks: u32,
    /// Invalidated when a kernel ends.
    pub flush_between_kernels: bool,
    /// Async copies that say so (`LDGSTS.BYPASS`) pass L1 by; else all are looked up in it.
    pub async_bypass: bool,
    /// Sizes that shared memory may take out of a store of `unified_bytes`; the smallest that holds all
    /// resident CTAs is taken, the rest is L1, which keeps its sets and loses ways. Empty: L1 has its
    /// `size_bytes`, which otherwise is what the smallest option leaves.
    pub shared_options_bytes: Vec<u32>,
    /// Shared memory and L1 together; 0 = separate.
    pub unified_bytes: u32,
}

/// Which virtual channel a packet takes on its way (Yuan 2009, section 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VcAssignment {
    /// The first that is free.
    #[default]
    Dynamic,
    /// The number of its destination modulo the virtual channels.
    StaticDestination,
}

/// When a packet may go on to the next router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switching {
    /// As soon as there is room for a flit.
    #[default]
    Wormhole,
    /// Once there is room for all of it.
    CutThrough,
}

/// The request and reply networks between SMs and LLC slices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Bytes per flit and network cycle.
    pub flit_bytes: u32,
    /// Bytes of address and control in front of a packet; 0 = they ride along with the data.
    pub header_bytes: u32,
    /// Network cycles from a flit's arrival at a router until it leaves, without contention.
    pub router_latency: u32,
    /// Network cycles on the link behind each router.
    #[serde(default)]
    pub link_latency: u32,
    /// Virtual channels of every link, in topologies of routers.
    #[serde(default = "one")]
    pub virtual_channels: u32,
    /// Flits that a router holds for each virtual channel of an input.
    #[serde(default = "eight")]
    pub vc_buffer: u32,
    /// Which virtual channel a packet takes.
    #[serde(default)]
    pub vc_assignment: VcAssignment,
    /// When a packet may go on to the next router.
    #[serde(default)]
    pub switching: Switching,
    /// How routers match inputs and outputs: the name of an allocator.
    #[serde(default = "islip")]
    pub allocator: String,
    /// SMs that share a node: its way into the request network and out of the reply network.
    #[serde(default = "one")]
    pub sms_per_node: u32,
    /// Places of the LLC slices among the nodes of a mesh or ring; empty = spread evenly.
    #[serde(default)]
    pub memory_nodes: Vec<u32>,
    /// Packets that an input port may send in a network cycle, to different outputs in the order of their numbers.
    pub input_speedup: u32,
    /// Packets that an input port holds.
    pub input_buffer: u32,
    /// Packets that an output port holds.
    pub output_buffer: u32,
}

/// Which replies of a slice have the last room of its reply queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyOrder {
    /// Answers of fills, then hits.
    #[default]
    FillsFirst,
    /// Hits, then answers of fills.
    HitsFirst,
}

/// Last-level cache slices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Llc {
    /// Off: requests go straight on to DRAM and replies straight back.
    #[serde(default = "on")]
    pub enabled: bool,
    pub slices_per_channel: u32,
    /// One slice.
    pub cache: Cache,
    /// Requests that wait for the tags of a slice.
    pub queue: u32,
    /// Requests that a slice takes from the network in an LLC cycle; 0 = all that are there.
    #[serde(default = "one")]
    pub arrivals_per_cycle: u32,
    /// Core cycles from the network to the slice's queue.
    pub input_latency: u32,
    /// LLC cycles from the tags to the data on a hit.
    pub latency: u32,
    /// Bytes that pass a slice's data port in an LLC cycle, and its fill port: data that take several hold it for as
    /// many; 0 = no limit.
    #[serde(default)]
    pub port_bytes: u32,
    /// Replies that wait for the network.
    pub reply_queue: u32,
    /// Which replies have the last room of that queue.
    #[serde(default)]
    pub reply_order: ReplyOrder,
    /// Core cycles from the miss queue to the DRAM channel.
    pub to_dram_latency: u32,
    /// Requests on the way from one slice to the channel's queues, beyond what the latency holds.
    pub to_dram_queue: u32,
    /// Atomics to one address: one after the other, LLC cycles each; 0 = one request's cost whatever
    /// the lanes (optimistic).
    pub atomic_cycles: u32,
}

/// DRAM channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    pub standard: String,
    /// From where `standard` is a path: from the current directory where it is empty, as it is for a built-in one. No
    /// part of what the machine is: runs depend on what the file holds, not on where it lies.
    #[serde(skip)]
    pub standard_folder: PathBuf,
    pub channels: u32,
    /// Pseudo channels of one channel: each has a data bus, all share the command buses.
    #[serde(default = "one")]
    pub pseudo_channels: u32,
    /// Stacks (SIDs) of one pseudo channel.
    #[serde(default = "one")]
    pub stacks: u32,
    /// Banks of one channel, all its pseudo channels and stacks together.
    pub banks: u32,
    /// Bank groups of one stack.
    pub bank_groups: u32,
    /// Data bus of one pseudo channel.
    pub bus_bytes: u32,
    /// Transfers per column command.
    pub burst_length: u32,
    /// Transfers per command clock (2 = double, 4 = quad data rate, 8 = GDDR6 at its command clock).
    pub transfers_per_clock: u32,
    pub row_bytes: u32,
    /// Devices of one channel, side by side or stacked on its buses. Only energy depends on them.
    #[serde(default = "one")]
    pub devices: u32,
    /// Row and column commands have a bus each.
    pub dual_command_bus: bool,
    /// Requests waiting in a channel: reads, or both kinds where `write_queue` is 0.
    pub read_queue: u32,
    /// 0 = one queue for reads and writes.
    pub write_queue: u32,
    /// Writes waiting at which draining begins and ends (separate write queue only).
    pub write_high_watermark: u32,
    pub write_low_watermark: u32,
    /// Writes that a drain serves at least, once begun, while there are any.
    #[serde(default)]
    pub write_min_drain: u32,
    /// How the queues' places are shared among the banks.
    #[serde(default)]
    pub queue_organisation: QueueOrganisation,
    /// When rows are closed: the name of a page policy.
    #[serde(default = "open_page")]
    pub page: String,
    /// Requests that may be assigned to idle banks in one cycle; 0 = one for every bank.
    #[serde(default)]
    pub picks_per_cycle: u32,
    /// Finished reads that wait for the slice.
    pub return_queue: u32,
    pub timing: Timing,
    #[serde(default)]
    pub power: Power,
    pub address: Address,
}

/// How a channel's queue is shared among its banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueOrganisation {
    /// Any bank's requests may take any place.
    #[default]
    Channel,
    /// Every bank has an equal share of the places.
    PerBank,
}

fn on() -> bool {
    true
}

fn one() -> u32 {
    1
}

fn eight() -> u32 {
    8
}

fn islip() -> String {
    "islip".to_owned()
}

fn open_page() -> String {
    "open".to_owned()
}

/// DRAM timing, command clock cycles. `docs/machines.md` says which constraint each enters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// ACT to RD, same bank.
    pub trcd: u32,
    /// ACT to WR, same bank.
    pub trcdw: u32,
    /// ACT to PRE, same bank.
    pub tras: u32,
    /// PRE to ACT, same bank.
    pub trp: u32,
    /// ACT to ACT, same bank.
    pub trc: u32,
    /// Column command to column command, other bank group.
    pub tccds: u32,
    /// Column command to column command, same bank group.
    pub tccdl: u32,
    /// ACT to ACT, other bank group.
    pub trrds: u32,
    /// ACT to ACT, same bank group.
    pub trrdl: u32,
    /// Window that holds at most four ACTs; 0 = none.
    pub tfaw: u32,
    /// RD to first data.
    pub tcl: u32,
    /// WR to first data.
    pub twl: u32,
    /// End of write data to RD, other bank group (tCDLR).
    pub twtrs: u32,
    /// End of write data to RD, same bank group.
    pub twtrl: u32,
    /// RD to WR on the channel, beyond CL + burst - WL.
    pub trtw_gap: u32,
    /// End of write data to PRE, same bank.
    pub twr: u32,
    /// RD to PRE, same bank (tRTPL).
    pub trtp: u32,
    /// Between refreshes of all banks; 0 = no refresh.
    pub trefi: u32,
    /// REF to any command.
    pub trfc: u32,
    /// RD to RD, other stack of a pseudo channel.
    #[serde(default)]
    pub tccdr: u32,
    /// RD to WR, for standards that give it as such; others give `trtw_gap`.
    #[serde(default)]
    pub trtw: u32,
    /// Window that holds at most 32 ACTs; 0 = none.
    #[serde(default)]
    pub t32aw: u32,
    /// PRE to PRE, other bank.
    #[serde(default)]
    pub tppd: u32,
    /// Between refreshes of single banks; 0 = none.
    #[serde(default)]
    pub trefipb: u32,
    /// REFPB to any command, same bank.
    #[serde(default)]
    pub trfcpb: u32,
    /// REFPB to ACT or REFPB, other bank.
    #[serde(default)]
    pub trrefd: u32,
}

/// Supply and currents of one device, by the names of data sheets; 0 = not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Supply voltage, mV.
    pub vdd: u32,
    /// One bank opened and closed every tRC, mA.
    pub idd0: u32,
    /// Standby with all banks closed, mA.
    pub idd2n: u32,
    /// Standby with a row open, mA.
    pub idd3n: u32,
    /// Reading burst after burst, mA.
    pub idd4r: u32,
    /// Writing burst after burst, mA.
    pub idd4w: u32,
    /// Refresh of all banks, mA during tRFC.
    pub idd5ab: u32,
    /// Refresh of one bank, mA during tRFCpb.
    pub idd5pb: u32,
}

/// From an address to channel, slice, bank, row and column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// Which address bits select what: `field:bits` from the most significant down, a scheme
    /// (`RoBaRaCoCh`), or a mask of GPGPU-Sim; see [`Dram::layout`]. Bits above are ignored.
    pub map: String,
    /// Without a channel in the map, channels take turns every so many bytes and the map applies to the
    /// address within the channel; 0 where the map says where the channel is.
    pub interleave_bytes: u32,
    /// Hash of the bits above on (channel, low bank bits); gives channel and slice.
    pub partition_hash: IndexHash,
    /// Hash of the row on the bank.
    pub bank_hash: IndexHash,
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
    /// Kernels of different streams together when resources allow.
    pub concurrent_kernels: bool,
    /// Core cycles between the end of a kernel and the start of the next.
    pub launch_latency: u32,
    /// Note which CTAs use each DRAM row: `ctas_per_row` and `consecutive_cta_row_sharing` of the run.
    pub count_row_sharing: bool,
    /// SM that is the CTA scheduler's first. SMs are alike: what depends on it depends on the order of arbitration alone.
    pub first_sm: u32,
}
