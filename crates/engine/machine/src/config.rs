//! The configuration of a machine, unit by unit. A key is declared here once: its type, range, unit
//! and meaning. Errors and the tables of `docs/machines.md` are made from that.

use serde::Serialize;
use warpmem_cache::Cache;
use warpmem_dram::Dram;
use warpmem_energy::Energy;
use warpmem_network::Network;
use warpmem_params::limits::{CYCLES, ENTRIES};
use warpmem_params::{choice, section, serde_choice};

/// Highest frequency, MHz.
const MEGAHERTZ: u64 = 100_000;

section! {
    /// A whole machine.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Machine {
        /// Name in tables. A file with a `base` and no `name` is called after the file.
        name: String, in "text";
        /// One line for people.
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
        /// Last-level cache slices.
        l2: L2;
        /// DRAM channels.
        dram: Dram;
        /// Energies of the whole GPU.
        energy: Energy;
        /// The policy of every slot.
        policy: Policies;
        /// How a run is carried out.
        run: Run;
    }
}

section! {
    /// Frequencies of the clock domains, MHz.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Clocks {
        /// SMs and L1.
        core_mhz: u32, in 1..=MEGAHERTZ, unit "MHz";
        /// Request and reply networks.
        network_mhz: u32, in 1..=MEGAHERTZ, unit "MHz";
        /// L2 slices.
        l2_mhz: u32, in 1..=MEGAHERTZ, unit "MHz";
        /// DRAM command clock.
        dram_mhz: u32, in 1..=MEGAHERTZ, unit "MHz";
    }
}

section! {
    /// Streaming multiprocessors.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Sm {
        /// SMs.
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
        /// CTAs that an SM may start in a core cycle.
        cta_launches_per_cycle: u32 = 1, in 1..=64, unit "CTAs";
        /// Warp schedulers; warp w belongs to scheduler w mod schedulers.
        schedulers: u32, in 1..=64, unit "schedulers";
        /// `true`: the scheduler that issues first, and whose memory instructions go first, changes
        /// every core cycle in which the SM has CTAs, in round-robin order; `false`: scheduler 0 is
        /// always the first.
        rotating_schedulers: bool = false;
        /// Between two issues of one scheduler: 4 for a SIMT width of 8.
        issue_interval: u32 = 1, in 1..=64, unit "core cycles";
        /// Warps that may fetch in a core cycle, round robin over the slots, the first time from slot 1
        /// on. A warp that has no
        /// instruction left fetches two, usable in the next cycle; those of the last warp of a
        /// cycle are usable one cycle later. 0: fetch is ideal.
        fetch_warps: u32 = 0, in 0..=64, unit "warps";
        /// Cycles from the issue of an instruction until its operands are read and its unit may
        /// start (dispatch and operand collection).
        operand_latency: u32 = 0, in 0..=CYCLES, unit "core cycles";
        /// Cycles from a unit's result until an instruction that needs it may issue. Data from the
        /// network take twice as long: into the fill buffer, then into the register.
        writeback_latency: u32 = 0, in 0..=CYCLES, unit "core cycles";
        /// Operand collectors of a scheduler, which instructions of all classes share. An instruction
        /// issues into its class's dispatch register, be its unit free or not, and goes on to the first
        /// free collector and to its unit's register, a cycle each; the register takes the instruction
        /// of the first collector that has one for it, so the last waits while others keep coming.
        /// 0: no limit; instructions wait for their unit at the scheduler, and memory instructions
        /// behind it, in order of issue.
        collectors: u32 = 0, in 0..=ENTRIES, unit "collectors";
        /// Banks of a scheduler's registers, 1, 2 or 4; 0: an instruction has its operands a cycle
        /// after it comes into a collector. Needs collectors.
        register_banks: u32 = 0, in 0..=4, unit "banks";
        /// Reads of a register bank in a core cycle. What has its operands leaves its collector after
        /// any of them, not only at the end of a cycle.
        bank_reads: u32 = 1, in 1..=8, unit "reads";
        /// Memory instructions of a scheduler that may have issued and still wait for the
        /// load/store unit.
        lsu_queue: u32, in 1..=ENTRIES, unit "instructions";
        /// Requests of an atomic whose lanes access the same sector. `per-sector`: one, which
        /// occupies the slice longer the more lanes access the same address. `per-conflict`: as
        /// many as lanes access the same address, for the address with the most.
        atomic_requests: AtomicRequests = AtomicRequests::PerSector;
        /// Where a warp stalls while a load, or an atomic that returns a value, is outstanding.
        /// `use`: at the first instruction that needs the result (scoreboard). `load`: at the load
        /// itself, so that the warp issues nothing after it. Asynchronous copies never stall a
        /// warp.
        stall: Stall = Stall::Use;
        /// `true`: a warp issues nothing while an atomic or a reduction of it, also one of shared
        /// memory, is in flight. GPGPU-Sim (`shd_warp_t::waiting`) does so for the sake of its
        /// functional model.
        atomics_stall: bool = false;
        /// Order in which the requests of an instruction are sent. `lanes`: as its lanes first
        /// access the sectors. `descending`: from the highest address down, as in GPGPU-Sim.
        request_order: RequestOrder = RequestOrder::Lanes;
        /// Functional units, one of each class per scheduler.
        units: Units;
        /// The unit of barriers, fences and exits. `control`: as branches. `integer`: a cycle of the
        /// integer unit, as in Accel-Sim.
        sync_unit: SyncUnit = SyncUnit::Control;
        /// Shared memory.
        shared: SharedMemory;
        /// From the operands of a constant load to its result.
        constant_latency: u32, in 1..=CYCLES, unit "core cycles";
        /// Outstanding requests of an SM to the memory below L1: stores and atomics are counted,
        /// write-backs of dirty lines are not. At the limit no request leaves; the wait is counted
        /// as one for the miss queue. 0: no limit.
        max_requests: u32 = 0, in 0..=ENTRIES, unit "requests";
    }
}

choice! {
    /// Requests of an atomic whose lanes access the same sector.
    #[derive(Debug, PartialEq, Eq)]
    pub enum AtomicRequests {
        /// One, which occupies the slice the longer the more lanes access the same address.
        PerSector = "per-sector",
        /// As many as the most lanes that access the same address.
        PerConflict = "per-conflict",
    }
}

serde_choice!(AtomicRequests);

choice! {
    /// At which instruction a warp stalls while a load, or an atomic that returns a value, is
    /// outstanding.
    #[derive(Debug, PartialEq, Eq)]
    pub enum Stall {
        /// At the first instruction that needs the result (scoreboard).
        Use = "use",
        /// At the load itself: the warp issues nothing after it (OWL 2013, section 2.1).
        Load = "load",
    }
}

serde_choice!(Stall);

choice! {
    /// The unit of barriers, fences and exits.
    #[derive(Debug, PartialEq, Eq)]
    pub enum SyncUnit {
        /// That of branches.
        Control = "control",
        /// That of integers, for one cycle (Accel-Sim, `trace_config::set_latency` and
        /// `scheduler_unit::cycle`).
        Integer = "integer",
    }
}

serde_choice!(SyncUnit);

choice! {
    /// The order of the requests of one memory instruction.
    #[derive(Debug, PartialEq, Eq)]
    pub enum RequestOrder {
        /// The order in which the lanes first access the sectors.
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
        /// From the operands to the result.
        latency: u32, in 1..=CYCLES, unit "core cycles";
        /// From one instruction to the next on the same unit.
        interval: u32, in 1..=CYCLES, unit "core cycles";
    }
}

section! {
    /// Shared memory of an SM.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct SharedMemory {
        /// From the last bank-conflict pass to the result, which is then written back.
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
        /// Off: global and local accesses go straight to the network.
        enabled: bool = true;
        /// Its geometry and policies.
        cache: Cache;
        /// From entering a bank to the tags, where a hit has its data. A bank holds as many sectors
        /// as there are cycles.
        latency: u32, in 1..=CYCLES, unit "core cycles";
        /// Banks, interleaved by sector: each accepts one sector and looks one up in a core cycle.
        banks: u32, in 1..=64, unit "banks";
        /// Entries of the miss queue that a read leaves free unless it hits; stores may take them.
        read_reserve: u32 = 0, in 0..=ENTRIES, unit "requests";
        /// L1 is invalidated when a kernel ends.
        flush_between_kernels: bool = true;
        /// Async copies with the bypass modifier (`LDGSTS.BYPASS`) bypass L1, as in hardware; else
        /// all async copies are looked up in it, as in Accel-Sim.
        async_bypass: bool = true;
        /// Sizes that shared memory may take of the unified store. The smallest that is large
        /// enough for all resident CTAs is used; the rest is L1, which keeps its sets and loses
        /// ways. Empty: L1 has its own size.
        shared_options_bytes: Vec<u32> = &[], unit "bytes";
        /// Shared memory and L1 together; 0 = separate.
        unified_bytes: u32 = 0, in 0..=1 << 24, unit "bytes";
    }
}

choice! {
    /// Which replies of a slice get the last free entries of its reply queue.
    #[derive(Debug, PartialEq, Eq)]
    pub enum ReplyOrder {
        /// Replies of fills, then hits.
        FillsFirst = "fills-first",
        /// Hits, then replies of fills.
        HitsFirst = "hits-first",
    }
}

serde_choice!(ReplyOrder);

choice! {
    /// How a latency in core cycles between two cycles of DRAM is counted.
    #[derive(Debug, PartialEq, Eq)]
    pub enum LatencyCount {
        /// As time.
        Elapsed = "elapsed",
        /// As the difference between the numbers of the core cycles that end the two.
        Numbers = "numbers",
    }
}

serde_choice!(LatencyCount);

section! {
    /// Last-level cache slices.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct L2 {
        /// Off: no cache. A request goes through the slice's queue straight to DRAM, one per cycle,
        /// and its reply straight back: nothing is kept or merged.
        enabled: bool = true;
        /// Slices of one channel: a power of two, at most the banks.
        slices_per_channel: u32, in 1..=16, unit "slices";
        /// The cache of one slice.
        cache: Cache;
        /// Requests that wait for the tags of a slice. `calrs` divides the entries among its
        /// subqueues and needs 5; `calrs-ideal` and `none` do not use them.
        queue: u32, in 1..=ENTRIES, unit "requests";
        /// Entries of the queue that must be free for a request to be taken from the network, however many
        /// are in the delay before the queue; there they wait for an entry, which they get at the end of a
        /// cycle, and are served in the next at the earliest. 0: what is taken finds one when its delay is over,
        /// and may be served in that cycle.
        queue_reserve: u32 = 0, in 0..=ENTRIES, unit "requests";
        /// Requests that a slice takes from the network in an L2 cycle; 0 = all that have arrived.
        /// One is served per cycle.
        arrivals_per_cycle: u32 = 1, in 0..=ENTRIES, unit "requests";
        /// From the network to the slice's queue.
        input_latency: u32, in 0..=CYCLES, unit "core cycles";
        /// From the tags to the data on a hit; 0 is as 1 without `l2.reply_latency`.
        latency: u32, in 0..=CYCLES, unit "L2 cycles";
        /// Bytes per L2 cycle through a slice's data port, and through its fill port; 0 = no
        /// limit. A hit, or the eviction of a dirty line, occupies the tags for as many cycles as
        /// its data take; a fill delays the next fill.
        port_bytes: u32 = 0, in 0..=4096, unit "bytes";
        /// Replies that wait for the network.
        reply_queue: u32, in 1..=ENTRIES, unit "replies";
        /// Which replies take the last free entries of the reply queue: `fills-first` or
        /// `hits-first`. While there is room, one of each leaves per cycle.
        reply_order: ReplyOrder = ReplyOrder::FillsFirst;
        /// From the fill of a sector until its first answer enters the reply queue; with a cache only.
        fill_latency: u32 = 0, in 0..=CYCLES, unit "L2 cycles";
        /// In the reply queue, at least.
        reply_latency: u32 = 0, in 0..=CYCLES, unit "L2 cycles";
        /// From a slice's queue to DRAM until an item may enter the channel's queue.
        to_dram_latency: u32, in 0..=CYCLES, unit "core cycles";
        /// How this latency is counted: `elapsed`, as time; `numbers`, as in GPGPU-Sim, between the numbers of
        /// the core cycles that end the two cycles of DRAM, of which the first begins after the request has come.
        to_dram_count: LatencyCount = LatencyCount::Elapsed;
        /// Requests between one slice and the channel's queues, in addition to those that the
        /// latency keeps in flight. When it is full, a slice serves nothing, not even hits.
        to_dram_queue: u32, in 1..=ENTRIES, unit "requests";
        /// Requests that a channel may have taken from its slices while their data are not yet transferred,
        /// beside one of each slice; 0 = any number.
        to_dram_credits: u32 = 0, in 0..=ENTRIES, unit "requests";
        /// Cycles for each further lane of an atomic that accesses the same address; 0 = an atomic
        /// takes as long as any request (optimistic).
        atomic_cycles: u32, in 0..=CYCLES, unit "L2 cycles";
        /// Lines of a set that are kept at most, those used last, where accesses ask that their lines leave
        /// last (`evict_last`): a kept line leaves when all others of its set wait for data. 0: such
        /// accesses are as others.
        kept_ways: u32 = 0, in 0..=ENTRIES, unit "lines";
        /// The SMs and the slices are two partitions: SMs take turns, and of the slices the second half is
        /// the other. An SM asks the slices of its own only. For a line of the other partition, that is the
        /// twin of the slice where the line is at home: it keeps a copy. Without a cache there are none.
        copies: bool = false;
        /// On the link from a slice to its twin, one way.
        copy_link_latency: u32 = 0, in 0..=CYCLES, unit "network cycles";
        /// From one flit on this link to the next.
        copy_link_interval: u32 = 1, in 1..=CYCLES, unit "network cycles";
    }
}

section! {
    /// Clusters of CTAs, and the networks between the SMs of a GPC, on which they run.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Cluster {
        /// GPCs: groups of SMs, as even as whole pairs of SMs allow; one for each pair if it has fewer
        /// pairs. All CTAs of a cluster run in one, at the same time. 0: the machine has no clusters,
        /// and refuses kernels that do.
        gpcs: u32 = 0, in 0..=128, unit "GPCs";
        /// From the last byte that an SM sends to another to its arrival there.
        latency: u32 = 0, in 0..=CYCLES, unit "network cycles";
        /// Data that an SM sends to others, and takes from others, in a network cycle: as much of
        /// questions, and as much of answers.
        port_bytes: u32 = 32, in 1..=4096, unit "bytes";
        /// From the arrival of the last CTA at the barrier of a cluster until warps that wait there go
        /// on.
        barrier_latency: u32 = 1, in 1..=CYCLES, unit "core cycles";
    }
}

section! {
    /// The policy of every slot, as `name` or `name(key=value,...)`.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Policies {
        /// Which request and command a DRAM channel takes next.
        dram_scheduler: String = "fr-fcfs", in "policy";
        /// Which ready warp issues.
        warp_scheduler: String, in "policy";
        /// Which CTA goes to which SM.
        cta_scheduler: String = "round-robin", in "policy";
        /// Which waiting request a slice serves.
        l2_queue: String = "fifo", in "policy";
        /// Shape of the networks.
        topology: String = "crossbar", in "policy";
        /// Which input wins an output of the network.
        arbiter: String = "round-robin", in "policy";
        /// Memory-side prefetcher.
        prefetcher: String = "none", in "policy";
        /// Limit studies: parts made ideal.
        ideal: String = "none", in "policy";
    }
}

section! {
    /// How a run is carried out.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Run {
        /// Kernels of different streams run concurrently when resources allow.
        concurrent_kernels: bool = false;
        /// Between the end of a kernel and the start of the next.
        launch_latency: u32 = 0, in 0..=100_000_000, unit "core cycles";
        /// After so many warp instructions a kernel ends: no more of its CTAs start, and its warps
        /// end with the record they are at. 0: none. The papers stop after a number of instructions
        /// too.
        launch_instructions: u32 = 0, in 0..=4_000_000_000, unit "warp instructions";
        /// Launches that are simulated of those that are alike; the others count as these do
        /// ([approximate runs](sampling.md#approximate-runs)). 0: all; not 1.
        alike_launches: u32 = 0, in 0..=1_000_000, unit "launches";
        /// Record which CTAs use each DRAM row, for [`ctas_per_row` and
        /// `consecutive_cta_row_sharing`](metrics.md#ctas-that-share-a-row).
        count_row_sharing: bool = false;
        /// SM that the CTA scheduler counts as its first; below `sm.count`. As all SMs are alike,
        /// it changes only the order of arbitration; how far results move with it is [their
        /// noise](reproduce.md#verdicts).
        first_sm: u32 = 0, in 0..=255;
        /// Pages of 4 KiB by which all data of global and local memory lie further up. Where data
        /// lie is of no account to any policy; how far results move with it is [their
        /// noise](reproduce.md#verdicts).
        page_offset: u32 = 0, in 0..=16_777_216, unit "pages";
    }
}
