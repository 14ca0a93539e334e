//! The configuration of a machine, section by section. Each key is declared once, with its type,
//! default, range, unit and meaning; errors and the tables of `docs/machines.md` are generated from
//! the declarations.

use serde::Serialize;
use warpmem_cache::Cache;
use warpmem_dram::Dram;
use warpmem_energy::Energy;
use warpmem_network::Network;
use warpmem_params::limits::{CYCLES, ENTRIES};
use warpmem_params::{choice, section, serde_choice};
use warpmem_translation::Vm;

/// Highest frequency, MHz.
const MEGAHERTZ: u64 = 100_000;

section! {
    /// A whole machine.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Machine {
        /// Name in tables. A file with a `base` and no `name` has the name of the file.
        name: String, in "text";
        /// One line for readers.
        description: String, in "text";
        /// Frequencies of the clock domains.
        clocks: Clocks;
        /// Streaming multiprocessors.
        sm: Sm;
        /// Clusters of CTAs.
        cluster: Cluster;
        /// First-level data caches.
        l1: L1;
        /// Request and reply networks.
        network: Network;
        /// Slices of the last-level cache.
        l2: L2;
        /// DRAM channels.
        dram: Dram;
        /// Address translation.
        vm: Vm;
        /// Energies of the whole GPU.
        energy: Energy;
        /// The policy of every slot.
        policy: Policies;
        /// Costs of kernel launches.
        launch: LaunchCosts;
        /// Options of a run.
        run: Run;
    }
}

section! {
    /// Frequencies of the clock domains, MHz.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Clocks {
        /// Clock of SMs and L1.
        core_mhz: u32, in 1..=MEGAHERTZ, unit "MHz";
        /// Clock of the request and reply networks.
        network_mhz: u32, in 1..=MEGAHERTZ, unit "MHz";
        /// Clock of the L2 slices.
        l2_mhz: u32, in 1..=MEGAHERTZ, unit "MHz";
        /// Command clock of DRAM.
        dram_mhz: u32, in 1..=MEGAHERTZ, unit "MHz";
    }
}

section! {
    /// Streaming multiprocessors.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Sm {
        /// SMs of the GPU.
        count: u32, in 1..=256, unit "SMs";
        /// Threads resident on an SM; at most 32 per warp.
        max_threads: u32, in 32..=2048, unit "threads";
        /// Warps resident on an SM.
        max_warps: u32, in 1..=64, unit "warps";
        /// CTAs resident on an SM.
        max_ctas: u32, in 1..=64, unit "CTAs";
        /// Register file of an SM.
        registers: u32, in 1..=1 << 20, unit "32-bit registers";
        /// Shared memory of an SM.
        shared_bytes: u32, in 0..=1 << 20, unit "bytes";
        /// CTAs that an SM may start per core cycle.
        cta_launches_per_cycle: u32 = 1, in 1..=64, unit "CTAs";
        /// CTAs that all SMs together start per 1,000 core cycles, evenly spaced; 456 is one CTA
        /// every 2.19 cycles. 0: unlimited.
        cta_dispatch_permille: u32 = 0, in 0..=64_000, unit "CTAs per 1,000 core cycles";
        /// Latency from the dispatch of a CTA to the first fetch of its warps: set-up of
        /// parameters, registers and shared memory. Its resources are allocated at the dispatch.
        cta_launch_latency: u32 = 0, in 0..=CYCLES, unit "core cycles";
        /// Latency from the end of a CTA's last warp until its resources are free.
        cta_exit_latency: u32 = 0, in 0..=CYCLES, unit "core cycles";
        /// Warp schedulers; warp w belongs to scheduler w mod schedulers.
        schedulers: u32, in 1..=64, unit "schedulers";
        /// `true`: the scheduler that issues first, and whose memory instructions have priority,
        /// rotates in every core cycle in which the SM has CTAs. `false`: scheduler 0 is always
        /// first.
        rotating_schedulers: bool = false;
        /// Interval between two issues of a scheduler; 4 for a SIMT width of 8.
        issue_interval: u32 = 1, in 1..=64, unit "core cycles";
        /// Warps that may fetch per core cycle, round robin over the slots, starting at slot 1. A
        /// warp without instructions fetches two, usable in the next cycle, or one cycle later for
        /// the last warp of a cycle. 0: ideal fetch.
        fetch_warps: u32 = 0, in 0..=64, unit "warps";
        /// Instruction cache, read by fetch.
        instruction_cache: ReadOnlyCache;
        /// Size of an instruction in the instruction cache.
        instruction_bytes: u32 = 16, in 1..=32, unit "bytes";
        /// Latency from the issue of an instruction to the start of its unit (dispatch and operand
        /// collection).
        operand_latency: u32 = 0, in 0..=CYCLES, unit "core cycles";
        /// Latency from the result of a unit to the issue of a dependent instruction. Data from the
        /// network take twice as long: through the fill buffer, then into the register.
        writeback_latency: u32 = 0, in 0..=CYCLES, unit "core cycles";
        /// Operand collectors of a scheduler, shared by all instruction classes. An instruction
        /// issues into the dispatch register of its class even if its unit is busy, then takes one
        /// cycle each to the first free collector and to the register of its unit. The register
        /// takes from the lowest-numbered collector that holds an instruction for it, so a steady
        /// stream starves the last one. 0: unlimited; instructions wait for their unit at the
        /// scheduler, and memory instructions wait behind it in issue order.
        collectors: u32 = 0, in 0..=ENTRIES, unit "collectors";
        /// Register banks of a scheduler: 1, 2 or 4. 0: operands are read in the cycle after an
        /// instruction enters its collector. Banks need collectors.
        register_banks: u32 = 0, in 0..=4, unit "banks";
        /// Reads per register bank and core cycle. An instruction leaves its collector after the
        /// read that completes its operands, also in mid-cycle.
        bank_reads: u32 = 1, in 1..=8, unit "reads";
        /// Issued memory instructions of a scheduler that wait for the load/store unit.
        lsu_queue: u32, in 1..=ENTRIES, unit "instructions";
        /// Requests of an atomic to one sector. `per-sector`: one, which occupies the slice longer
        /// the more lanes access one address. `per-conflict`: one per lane of the most contended
        /// address.
        atomic_requests: AtomicRequests = AtomicRequests::PerSector;
        /// Instruction at which a warp stalls on an outstanding load or value-returning atomic.
        /// `use`: the first instruction that needs the result (scoreboard). `load`: the load
        /// itself. Asynchronous copies never stall a warp.
        stall: Stall = Stall::Use;
        /// `true`: a warp issues nothing while one of its atomics or reductions is in flight,
        /// including those to shared memory. GPGPU-Sim (`shd_warp_t::waiting`) does so for its
        /// functional model.
        atomics_stall: bool = false;
        /// Order of the requests of an instruction. `lanes`: by the first lane that accesses each
        /// sector. `descending`: from the highest address down, as in GPGPU-Sim.
        request_order: RequestOrder = RequestOrder::Lanes;
        /// Functional units, one of each class per scheduler.
        units: Units;
        /// Unit of barriers, fences and exits. `control`: the unit of branches. `integer`: one
        /// cycle of the integer unit, as in Accel-Sim.
        sync_unit: SyncUnit = SyncUnit::Control;
        /// Unit of double-precision instructions. `own`: their own. `sfu`: that of special
        /// functions, which they occupy for `sm.units.fp64.interval`, as in GPGPU-Sim without
        /// double-precision units.
        fp64_unit: Fp64Unit = Fp64Unit::Own;
        /// Shared memory.
        shared: SharedMemory;
        /// Latency of a constant load from operands to result.
        constant_latency: u32, in 1..=CYCLES, unit "core cycles";
        /// Constant cache, read by constant loads.
        constant_cache: ReadOnlyCache;
        /// Outstanding requests of an SM to the memory below L1. Stores and atomics count,
        /// write-backs of dirty lines do not. At the limit no request leaves; the stall is counted
        /// under the miss queue. 0: unlimited.
        max_requests: u32 = 0, in 0..=ENTRIES, unit "requests";
        /// `true`: a warp ends without the acknowledgements of its stores, which may arrive after the
        /// end of its kernel. `false`: it waits for them, as in GPGPU-Sim.
        stores_outlive_warps: bool = false;
        /// Replies that an SM takes from the network per core cycle, and data that its registers
        /// accept; a sector each.
        replies_per_cycle: u32 = 1, in 1..=16, unit "replies";
    }
}

choice! {
    /// Requests of an atomic to one sector.
    #[derive(Debug, PartialEq, Eq)]
    pub enum AtomicRequests {
        /// One, which occupies the slice longer the more lanes access one address.
        PerSector = "per-sector",
        /// One per lane of the most contended address.
        PerConflict = "per-conflict",
    }
}

serde_choice!(AtomicRequests);

choice! {
    /// The instruction at which a warp stalls on an outstanding load or value-returning atomic.
    #[derive(Debug, PartialEq, Eq)]
    pub enum Stall {
        /// The first instruction that needs the result (scoreboard).
        Use = "use",
        /// The load itself: the warp issues nothing after it (OWL 2013, section 2.1).
        Load = "load",
    }
}

serde_choice!(Stall);

choice! {
    /// The unit of barriers, fences and exits.
    #[derive(Debug, PartialEq, Eq)]
    pub enum SyncUnit {
        /// The unit of branches.
        Control = "control",
        /// The integer unit, for one cycle (Accel-Sim, `trace_config::set_latency` and
        /// `scheduler_unit::cycle`).
        Integer = "integer",
    }
}

serde_choice!(SyncUnit);

choice! {
    /// The unit of double-precision instructions.
    #[derive(Debug, PartialEq, Eq)]
    pub enum Fp64Unit {
        /// A unit of their own.
        Own = "own",
        /// The unit of special functions (GPGPU-Sim, `scheduler_unit::cycle`, without
        /// double-precision units).
        Sfu = "sfu",
    }
}

serde_choice!(Fp64Unit);

choice! {
    /// The order of the requests of one memory instruction.
    #[derive(Debug, PartialEq, Eq)]
    pub enum RequestOrder {
        /// By the first lane that accesses each sector.
        Lanes = "lanes",
        /// From the highest address down (GPGPU-Sim, `warp_inst_t::memory_coalescing_arch` and
        /// `accessq_back`).
        Descending = "descending",
    }
}

serde_choice!(RequestOrder);

section! {
    /// Latency and initiation interval of each class of functional unit.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Units {
        /// Integer
        integer: Unit;
        /// Packed half precision
        fp16: Unit;
        /// Single precision
        fp32: Unit;
        /// Double precision
        fp64: Unit;
        /// Special functions
        sfu: Unit;
        /// Tensor cores
        tensor: Unit;
        /// Branches and barriers
        control: Unit;
        /// Uniform datapath
        uniform: Unit;
        /// Everything else
        other: Unit;
    }
}

section! {
    /// One functional unit, core cycles.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct Unit {
        /// Latency from operands to result.
        latency: u32, in 1..=CYCLES, unit "core cycles";
        /// Initiation interval.
        interval: u32, in 1..=CYCLES, unit "core cycles";
    }
}

section! {
    /// A read-only cache of an SM with LRU replacement.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct ReadOnlyCache {
        /// Capacity; 0: every access hits.
        size_bytes: u32 = 0, in 0..=1 << 24, unit "bytes";
        /// Lines per set; 0 = fully associative.
        ways: u32 = 0, in 0..=ENTRIES, unit "lines";
        /// Size of a line: a power of two.
        line_bytes: u32 = 128, in 16..=4096, unit "bytes";
        /// Latency from a miss to the arrival of its line.
        miss_latency: u32 = 1, in 1..=CYCLES, unit "core cycles";
    }
}

section! {
    /// Shared memory of an SM.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct SharedMemory {
        /// Latency from the last bank-conflict pass to the result, before write-back.
        latency: u32, in 1..=CYCLES, unit "core cycles";
        /// Shared-memory banks.
        banks: u32, in 1..=64, unit "banks";
        /// Width of a bank: a power of two.
        bank_bytes: u32, in 1..=16, unit "bytes";
    }
}

section! {
    /// The first-level data cache of an SM.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct L1 {
        /// `false`: global and local accesses bypass L1 to the network.
        enabled: bool = true;
        /// Geometry and policies.
        cache: Cache;
        /// Latency from the entry of a bank to the tags, where a hit has its data. A bank holds one
        /// sector per cycle of it.
        latency: u32, in 1..=CYCLES, unit "core cycles";
        /// Banks, interleaved by sector; each accepts one sector and looks one up per core cycle.
        banks: u32, in 1..=64, unit "banks";
        /// How loads and stores occupy L1. `sectors`: banks of one sector per cycle, `l1.banks` of
        /// them. `wavefronts`: an instruction occupies the load/store unit for its data wavefronts
        /// or its tag wavefronts, whichever take longer. Data wavefronts are the passes over
        /// 32 banks of 4 bytes, at least one per 128 bytes that the lanes move.
        data_path: DataPath = DataPath::Sectors;
        /// Lines that the tags look up per cycle with `wavefronts`. An instruction of n lines takes
        /// (n + `l1.tag_overhead`) / this many cycles; fractions accumulate over instructions.
        tags_per_cycle: u32 = 4, in 1..=64, unit "lines";
        /// Lines that the tags could look up in the time that an instruction takes beyond that of its
        /// own lines.
        tag_overhead: u32 = 2, in 0..=64, unit "lines";
        /// Requests that leave the miss queue per core cycle.
        requests_per_cycle: u32 = 1, in 1..=16, unit "requests";
        /// Miss-queue entries that reads leave free for stores unless they hit.
        read_reserve: u32 = 0, in 0..=ENTRIES, unit "requests";
        /// `true`: the end of a kernel invalidates L1.
        flush_between_kernels: bool = true;
        /// `true`: asynchronous copies with the bypass modifier (`LDGSTS.BYPASS`) bypass L1, as in
        /// hardware. `false`: all asynchronous copies look up L1, as in Accel-Sim.
        async_bypass: bool = true;
        /// Shared-memory sizes of the unified store. The SM uses the smallest that holds the shared
        /// memory of all resident CTAs; the rest is L1. Empty: L1 has a fixed size.
        shared_options_bytes: Vec<u32> = &[], unit "bytes";
        /// Dimension in which L1 shrinks beside shared memory. `ways`: constant sets and fewer
        /// ways. `sets`: constant ways and fewer sets.
        shrinks: Shrinks = Shrinks::Ways;
        /// Capacity of shared memory and L1 together; 0: separate stores.
        unified_bytes: u32 = 0, in 0..=1 << 24, unit "bytes";
    }
}

choice! {
    /// How loads and stores occupy L1.
    #[derive(Debug, PartialEq, Eq)]
    pub enum DataPath {
        /// Banks of one sector per cycle.
        Sectors = "sectors",
        /// Data and tag wavefronts of whole instructions.
        Wavefronts = "wavefronts",
    }
}

serde_choice!(DataPath);

choice! {
    /// The dimension in which L1 shrinks beside shared memory.
    #[derive(Debug, PartialEq, Eq)]
    pub enum Shrinks {
        /// Constant sets and fewer ways (GPGPU-Sim, `cache_config::set_assoc`).
        Ways = "ways",
        /// Constant ways and fewer sets.
        Sets = "sets",
    }
}

serde_choice!(Shrinks);

choice! {
    /// The replies of a slice that take the last free entries of its reply queue.
    #[derive(Debug, PartialEq, Eq)]
    pub enum ReplyOrder {
        /// Replies of fills before hits.
        FillsFirst = "fills-first",
        /// Hits before replies of fills.
        HitsFirst = "hits-first",
    }
}

serde_choice!(ReplyOrder);

choice! {
    /// How a latency in core cycles between two DRAM cycles is counted.
    #[derive(Debug, PartialEq, Eq)]
    pub enum LatencyCount {
        /// As elapsed time.
        Elapsed = "elapsed",
        /// As the difference of the numbers of the core cycles that end the two DRAM cycles.
        Numbers = "numbers",
    }
}

serde_choice!(LatencyCount);

section! {
    /// Slices of the last-level cache.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct L2 {
        /// `false`: no cache. Requests pass through the queue of the slice to DRAM, one per cycle,
        /// and replies return directly; nothing is stored or merged.
        enabled: bool = true;
        /// Slices per channel: a power of two, at most the banks.
        slices_per_channel: u32, in 1..=16, unit "slices";
        /// Geometry and policies of a slice.
        cache: Cache;
        /// Requests that wait for the tags of a slice. `calrs` divides the entries among its
        /// subqueues and needs 5; `calrs-ideal` and `none` ignore them.
        queue: u32, in 1..=ENTRIES, unit "requests";
        /// Free queue entries required to take a request from the network, regardless of the
        /// requests in the input delay, which take an entry at the end of a cycle and are served in
        /// the next one at the earliest. 0: a request is taken only if an entry will be free after
        /// its delay, and may be served in that cycle.
        queue_reserve: u32 = 0, in 0..=ENTRIES, unit "requests";
        /// Requests that a slice takes from the network per L2 cycle; 0: all that have arrived. The
        /// slice serves one per cycle.
        arrivals_per_cycle: u32 = 1, in 0..=ENTRIES, unit "requests";
        /// Latency from the network to the queue of the slice.
        input_latency: u32, in 0..=CYCLES, unit "core cycles";
        /// Latency from the tags to the data on a hit; 0 equals 1 unless `l2.reply_latency` is
        /// above 0.
        latency: u32, in 0..=CYCLES, unit "L2 cycles";
        /// Width of the data port, and of the fill port, per L2 cycle; 0: unlimited. A hit or the
        /// eviction of a dirty line occupies the tags while its data pass; a fill delays the next
        /// fill.
        port_bytes: u32 = 0, in 0..=4096, unit "bytes";
        /// Replies that wait for the network.
        reply_queue: u32, in 1..=ENTRIES, unit "replies";
        /// Replies that take the last free entries of the reply queue: `fills-first` or
        /// `hits-first`. With space for both, one of each enters per cycle.
        reply_order: ReplyOrder = ReplyOrder::FillsFirst;
        /// Latency from the fill of a sector to the first reply in the reply queue; only with a
        /// cache.
        fill_latency: u32 = 0, in 0..=CYCLES, unit "L2 cycles";
        /// Minimum time in the reply queue.
        reply_latency: u32 = 0, in 0..=CYCLES, unit "L2 cycles";
        /// Latency from the queue of a slice to the queue of the channel.
        to_dram_latency: u32, in 0..=CYCLES, unit "core cycles";
        /// How `l2.to_dram_latency` is counted. `elapsed`: as time. `numbers`, as in GPGPU-Sim:
        /// between the numbers of the core cycles that end two DRAM cycles, the first of which
        /// begins after the arrival of the request.
        to_dram_count: LatencyCount = LatencyCount::Elapsed;
        /// Requests between a slice and the queues of its channel, beyond those in flight during
        /// the latency. When it is full, the slice serves nothing, not even hits.
        to_dram_queue: u32, in 1..=ENTRIES, unit "requests";
        /// Requests that a channel may take from its slices before their data are transferred,
        /// beyond one per slice; 0: unlimited.
        to_dram_credits: u32 = 0, in 0..=ENTRIES, unit "requests";
        /// Cycles per additional lane of an atomic that accesses the same address; 0: an atomic
        /// takes as long as any request (optimistic).
        atomic_cycles: u32, in 0..=CYCLES, unit "L2 cycles";
        /// Maximum of kept lines per set, the most recently used of the `evict_last` accesses. A
        /// kept line is evicted only when all other lines of its set wait for data. 0: `evict_last`
        /// has no effect.
        kept_ways: u32 = 0, in 0..=ENTRIES, unit "lines";
        /// Maximum of dirty lines per set. A store or an atomic that would exceed it writes back
        /// the dirty line of the set that was written least recently; that line stays valid. 0:
        /// unlimited.
        dirty_ways: u32 = 0, in 0..=ENTRIES, unit "lines";
        /// `true`: the L2 has two partitions. SMs alternate between them, and the second half of
        /// the slices is the other one. An SM accesses the slices of its own partition; for a line
        /// of the remote partition, the peer of the home slice keeps a copy. No effect without a
        /// cache.
        copies: bool = false;
        /// Latency of the link between peer slices, one way.
        copy_link_latency: u32 = 0, in 0..=CYCLES, unit "network cycles";
        /// Interval between flits on this link.
        copy_link_interval: u32 = 1, in 1..=CYCLES, unit "network cycles";
    }
}

section! {
    /// Clusters of CTAs, and the network between the SMs of a GPC.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Cluster {
        /// GPCs: groups of SMs of nearly equal size, in whole pairs of SMs, and one per pair if
        /// there are fewer pairs. All CTAs of a cluster run concurrently in one GPC. 0: the machine
        /// refuses kernels with clusters.
        gpcs: u32 = 0, in 0..=128, unit "GPCs";
        /// Latency from the last byte that an SM sends to another to its arrival.
        latency: u32 = 0, in 0..=CYCLES, unit "network cycles";
        /// Bytes that an SM sends to, and receives from, other SMs per network cycle, separately
        /// for requests and replies.
        port_bytes: u32 = 32, in 1..=4096, unit "bytes";
        /// Latency from the last arrival at a cluster barrier to the release of the waiting warps.
        barrier_latency: u32 = 1, in 1..=CYCLES, unit "core cycles";
    }
}

section! {
    /// The policy of every slot, as `name` or `name(key=value,...)`.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Policies {
        /// Order of the requests and commands of a DRAM channel.
        dram_scheduler: String = "fr-fcfs", in "policy";
        /// Ready warp that issues next.
        warp_scheduler: String, in "policy";
        /// Assignment of CTAs to SMs.
        cta_scheduler: String = "round-robin", in "policy";
        /// Order of the waiting requests of a slice.
        l2_queue: String = "fifo", in "policy";
        /// Topology of the networks.
        topology: String = "crossbar", in "policy";
        /// Arbitration of the outputs of the network.
        arbiter: String = "round-robin", in "policy";
        /// Memory-side prefetcher.
        prefetcher: String = "none", in "policy";
        /// Order of the pending page walks.
        walk_scheduler: String = "fcfs", in "policy";
        /// Limit study: the part of the machine that is ideal.
        ideal: String = "none", in "policy";
    }
}

section! {
    /// Costs of kernel launches, by the kind that `run.launch` selects.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct LaunchCosts {
        /// Time from the end of a kernel of a graph to the start of the next.
        graph_ns: u32 = 0, in 0..=1_000_000, unit "ns";
        /// Time from the end of a kernel in a stream to the start of the next.
        stream_ns: u32 = 0, in 0..=1_000_000, unit "ns";
        /// Cycles from the start of a profiled kernel to its first CTA. They belong to the kernel,
        /// as in `gpc__cycles_elapsed` of Nsight Compute.
        profiled_cycles: u32 = 0, in 0..=CYCLES, unit "core cycles";
    }
}

choice! {
    /// How the kernels of a run are launched.
    #[derive(Debug, PartialEq, Eq)]
    pub enum LaunchKind {
        /// Without cost.
        None = "none",
        /// As nodes of a graph.
        Graph = "graph",
        /// One by one in a stream.
        Stream = "stream",
        /// One by one under a profiler.
        Profiled = "profiled",
    }
}

serde_choice!(LaunchKind);

section! {
    /// Options of a run.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Run {
        /// `true`: kernels of different streams run concurrently when resources allow.
        concurrent_kernels: bool = false;
        /// How kernels are launched, which determines what a launch costs ([`launch`](#launch)).
        /// `none`: nothing. `graph`: as nodes of a graph. `stream`: one by one in a stream.
        /// `profiled`: one by one under a profiler.
        launch: LaunchKind = LaunchKind::None;
        /// `true`: every kernel starts with empty caches, as under a profiler that flushes them
        /// (Nsight Compute, `--cache-control all`). Dirty lines of L2 are written back between the
        /// kernels, outside all counts and times. Requires `run.concurrent_kernels` = false.
        cold_launches: bool = false;
        /// Latency from the end of a kernel to the start of the next, in addition to the cost of
        /// `run.launch`.
        launch_latency: u32 = 0, in 0..=100_000_000, unit "core cycles";
        /// Warp instructions after which a kernel terminates: no further CTA starts, and each warp
        /// ends at its current record. 0: unlimited. The papers truncate runs in the same way.
        launch_instructions: u32 = 0, in 0..=4_000_000_000, unit "warp instructions";
        /// Half of the 95 % interval of the cycles of a [sampled run](sampling.md#sampled-runs), in
        /// thousandths of the cycles: alike launches, and the CTAs of long launches, are represented by
        /// some of them. 0: everything is simulated.
        error_permille: u32 = 0, in 0..=200, unit "thousandths";
        /// Launches at the beginning that are not simulated: the run starts after them, with L2 as their
        /// accesses leave it ([fast forward](sampling.md#fast-forward)). They appear in no table.
        fast_forward: u32 = 0, in 0..=4_000_000_000, unit "launches";
        /// `true`: record the CTAs that use each DRAM row, for [`ctas_per_row` and
        /// `consecutive_cta_row_sharing`](metrics.md#ctas-that-share-a-row).
        count_row_sharing: bool = false;
        /// SM that the CTA scheduler numbers first, below `sm.count`. SMs are identical, so it
        /// changes only the order of arbitration; the resulting spread is the
        /// [noise](reproduce.md#verdicts) of a result.
        first_sm: u32 = 0, in 0..=255;
        /// Offset of all global and local data, in pages of 4 KiB. No policy depends on placement;
        /// the resulting spread is the [noise](reproduce.md#verdicts) of a result.
        page_offset: u32 = 0, in 0..=16_777_216, unit "pages";
    }
}
