//! Random kernels on machines with minimal queues, caches and miss registers: no run deadlocks,
//! every invariant holds, and no unit needs a step that it did not request.

use crate::clusters::exchange;
use crate::mbarriers::pipeline;
use crate::recording::{Everything, bandwidth_over_peak};
use crate::trace::{ALL, Access, Kernel, Step, Warp, machine as load, mixed, write};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use std::fmt::Debug;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult, RunSink};
use warpmem::machine;
use warpmem::machine::Machine;
use warpmem_testing::cases;
use warpmem_trace::{Barrier, CacheOp, ClusterAddress, Eviction, Kind, L2Policy, OpClass, Space};

/// Pattern of the lanes' addresses.
#[derive(Clone, Debug)]
enum Pattern {
    Stride { base: u64, stride: u64 },
    Scattered { seed: u64, span: u64 },
}

impl Pattern {
    fn addresses(&self, lanes: u32, width: u64) -> Vec<u64> {
        let lane_address = |lane: u64| match *self {
            Pattern::Stride { base, stride } => base + lane * stride,
            // A multiplicative hash of the lane: irregular but deterministic.
            Pattern::Scattered { seed, span } => {
                ((seed + lane).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % span
            }
        };
        (0..u64::from(lanes)).map(|lane| lane_address(lane) / width * width).collect()
    }
}

fn pattern() -> impl Strategy<Value = Pattern> {
    // Spans: a few lines, more than the small caches hold, many rows.
    let base = select(vec![0u64, 64, 4096, 1 << 16, 1 << 20]);
    let stride = select(vec![0u64, 4, 8, 64, 128, 4096]);
    prop_oneof![
        (base, stride).prop_map(|(base, stride)| Pattern::Stride { base, stride }),
        (0u64..64, select(vec![512u64, 8192, 1 << 22]))
            .prop_map(|(seed, span)| Pattern::Scattered { seed, span }),
    ]
}

fn operation() -> impl Strategy<Value = (Kind, Space)> {
    use Kind::{AsyncCopy, Atomic, Load, Prefetch, Reduction, Store};
    use Space::{Cluster, Constant, Global, Local, Shared, Texture};
    prop_oneof![
        6 => select(vec![(Load, Global), (Load, Local), (Load, Texture)]),
        4 => select(vec![(Store, Global), (Store, Local)]),
        2 => select(vec![(Atomic, Global), (Reduction, Global)]),
        2 => select(vec![(Load, Shared), (Store, Shared), (Load, Constant)]),
        1 => select(vec![(AsyncCopy, Global), (Prefetch, Global)]),
        2 => select(vec![(Load, Cluster), (Store, Cluster), (Atomic, Cluster), (AsyncCopy, Cluster)]),
    ]
}

/// CTAs per cluster, where there are clusters.
const CLUSTER: u64 = 2;

/// Maps to an address in the shared memory of a cluster.
fn in_cluster(address: u64) -> u64 {
    let offset = (address >> 4) as u32 % (12 << 10);
    ClusterAddress { rank: (address >> 2 & (CLUSTER - 1)) as u32, offset: offset / 16 * 16 }
        .encode()
}

/// Bytes per lane of a bulk copy: a few sectors, the last partial.
const BULK: u32 = 400;

fn access() -> impl Strategy<Value = Access> {
    let mask = prop_oneof![4 => Just(ALL), 2 => any::<u32>(), 1 => select(vec![0, 1, 1 << 31])];
    let cache_op = select(vec![CacheOp::Default, CacheOp::Default, CacheOp::Global]);
    let registers = (prop::option::of(0u16..4), prop::option::of(0u16..4));
    let width = prop_oneof![9 => select(vec![1u32, 4, 8, 16]), 1 => Just(BULK)];
    (operation(), pattern(), mask, width, cache_op, registers).prop_map(
        |((kind, space), pattern, mask, width, cache_op, (dest, source))| {
            let returns = matches!(kind, Kind::Load | Kind::Atomic);
            let is_bulk = space == Space::Global && !returns
                || space == Space::Cluster && kind == Kind::AsyncCopy;
            let width = if is_bulk { width } else { width.min(16) };
            let mut addresses = pattern.addresses(mask.count_ones(), width.into());
            if space == Space::Cluster {
                addresses.iter_mut().for_each(|address| *address = in_cluster(*address));
            }
            Access {
                kind,
                space,
                cache_op,
                width,
                mask,
                dest: dest.filter(|_| returns),
                source,
                addresses,
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let compute = (select(OpClass::ALL.to_vec()), 0u16..4, 0u16..4)
        .prop_map(|(class, dest, source)| Step::Compute { class, dest, source });
    let copy = (0u16..1 << CLUSTER, access()).prop_map(|(destinations, access)| {
        let (kind, space) = (Kind::AsyncCopy, Space::Global);
        Step::CopyTo(destinations, Access { kind, space, dest: None, ..access })
    });
    let eviction = || select(Eviction::ALL.map(|(_, eviction)| eviction).to_vec());
    let policy = (eviction(), 1u8..=16, eviction())
        .prop_map(|(primary, sixteenths, secondary)| L2Policy { primary, sixteenths, secondary });
    let with_policy = (policy, access()).prop_map(|(policy, access)| match access.space {
        Space::Global => Step::L2(policy, access),
        _ => Step::Memory(access),
    });
    prop_oneof![
        8 => access().prop_map(Step::Memory),
        2 => with_policy,
        1 => copy,
        3 => compute,
        1 => select(vec![Step::Fence, Step::WaitAsync]),
    ]
}

/// Number of barriers between the stretches of a warp's steps.
const BETWEEN: usize = 3;

/// Whether the CTAs of a kernel synchronize at the cluster barrier there, instead of their own.
type Meetings = [bool; BETWEEN];

/// Role of a warp at a barrier for some warps of its CTA.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Waits,
    Arrives,
    None,
}

/// A warp: its stretches of steps, and its role at the partial barriers between them.
type Stretches = (Vec<Vec<Step>>, [Part; BETWEEN]);

fn stretches() -> impl Strategy<Value = Stretches> {
    let stretch = prop::collection::vec(step(), 0..6);
    let part = select(vec![Part::Waits, Part::Arrives, Part::None]);
    (prop::collection::vec(stretch, 1..=BETWEEN), prop::array::uniform(part))
}

/// Returns the step of a warp at a partial barrier, whose id is its position between the stretches.
fn at_barrier_for_some(id: usize, warps: &[Stretches], part: Part) -> Option<Step> {
    let takes_part =
        |(stretches, parts): &&Stretches| stretches.len() > id && parts[id] != Part::None;
    let count = warps.iter().filter(takes_part).count();
    let barrier = Barrier::of_warps(id as u8, count as u8);
    match part {
        Part::Waits => Some(Step::Barrier(barrier)),
        Part::Arrives => Some(Step::BarrierArrive(barrier)),
        Part::None => None,
    }
}

/// Generates a CTA: warps whose stretches of steps lie between barriers; a warp with fewer
/// stretches ends early. Barriers without an id are partial.
fn cta(meetings: Meetings) -> impl Strategy<Value = Vec<Warp>> {
    let barriers = prop::array::uniform(prop::option::of(0u8..16));
    (prop::collection::vec(stretches(), 1..5), barriers, any::<bool>()).prop_map(
        move |(warps, barriers, exits): (Vec<Stretches>, [Option<u8>; BETWEEN], bool)| {
            let flatten = |(stretches, parts): &Stretches| {
                let mut warp: Warp = Vec::new();
                for (at, stretch) in stretches.iter().enumerate() {
                    match barriers[at] {
                        _ if at == 0 => {}
                        _ if meetings[at] => {
                            warp.extend([Step::ClusterArrive, Step::ClusterWait]);
                        }
                        Some(id) => warp.push(Step::Barrier(Barrier::of_cta(id))),
                        None => warp.extend(at_barrier_for_some(at, &warps, parts[at])),
                    }
                    warp.extend_from_slice(stretch);
                }
                if exits {
                    warp.push(Step::Exit);
                }
                warp
            };
            warps.iter().map(flatten).collect()
        },
    )
}

/// Generates a kernel of a few distinct CTAs, each repeated; an even number may form clusters.
fn kernel() -> impl Strategy<Value = Kernel> {
    let ctas =
        any::<Meetings>().prop_flat_map(|meetings| prop::collection::vec(cta(meetings), 1..3));
    let shared_bytes = select(vec![0u32, 16 << 10]);
    (0u64..3, shared_bytes, ctas, 1usize..4, any::<[bool; 2]>()).prop_map(
        |(stream, shared_bytes, ctas, copies, [in_clusters, resets_l2])| {
            let ctas: Vec<_> = std::iter::repeat_n(ctas, copies).flatten().collect();
            let is_even = ctas.len().is_multiple_of(CLUSTER as usize);
            let cluster = (in_clusters && is_even).then_some([CLUSTER as u32, 1, 1]);
            let registers = 16;
            let kernel = Kernel {
                stream,
                shared_bytes,
                registers,
                cluster,
                resets_l2,
                ctas,
                ..Kernel::default()
            };
            if cluster.is_some() { kernel } else { alone(kernel) }
        },
    )
}

/// Makes the CTAs of a kernel independent of each other.
fn alone(mut kernel: Kernel) -> Kernel {
    kernel.cluster = None;
    for step in kernel.ctas.iter_mut().flatten().flatten() {
        match step {
            Step::CopyTo(_, access) => *step = Step::Memory(access.clone()),
            Step::Memory(access) if access.space == Space::Cluster => {
                let own = |address: u64| ClusterAddress { rank: 0, ..ClusterAddress::of(address) };
                access.addresses.iter_mut().for_each(|address| *address = own(*address).encode());
            }
            _ => {}
        }
    }
    kernel
}

/// Groups of overrides; at most one line of each group is used.
const SHAPES: &[&[&str]] = &[
    &["sm.count=1", "sm.count=2"],
    &["sm.max_ctas=1", "sm.max_ctas=2 sm.cta_launches_per_cycle=2"],
    &["sm.schedulers=1", "sm.issue_interval=4"],
    &["sm.rotating_schedulers=false", "sm.rotating_schedulers=true"],
    &["sm.fetch_warps=0", "sm.fetch_warps=1", "sm.fetch_warps=4"],
    &[
        "sm.cta_dispatch_permille=30",
        "sm.cta_dispatch_permille=456",
        "sm.cta_dispatch_permille=1500",
    ],
    &[
        "sm.cta_launch_latency=1 sm.cta_exit_latency=1",
        "sm.cta_launch_latency=90 sm.cta_exit_latency=70",
    ],
    &[
        "sm.instruction_cache.size_bytes=64 sm.instruction_cache.line_bytes=32 sm.instruction_cache.miss_latency=1",
        "sm.instruction_cache.size_bytes=64 sm.instruction_cache.line_bytes=64 sm.instruction_cache.miss_latency=150",
        "sm.instruction_cache.size_bytes=4096 sm.instruction_cache.ways=2 sm.instruction_cache.miss_latency=30",
    ],
    &[
        "sm.constant_cache.size_bytes=256 sm.constant_cache.ways=1 sm.constant_cache.line_bytes=64 sm.constant_cache.miss_latency=40",
    ],
    &["sm.fp64_unit=sfu", "sm.fp64_unit=own"],
    &[
        "sm.collectors=0 sm.register_banks=0 sm.operand_latency=0",
        "sm.collectors=0 sm.register_banks=0 sm.operand_latency=5",
        "sm.collectors=1 sm.register_banks=0 sm.operand_latency=4",
        "sm.collectors=1 sm.register_banks=2 sm.operand_latency=4 sm.bank_reads=1",
        "sm.collectors=2 sm.register_banks=4 sm.operand_latency=5 sm.bank_reads=2",
    ],
    &["sm.sync_unit=control", "sm.sync_unit=integer"],
    &["sm.writeback_latency=0", "sm.writeback_latency=3"],
    &["sm.lsu_queue=1", "sm.lsu_queue=3"],
    &["sm.atomic_requests=per-sector", "sm.atomic_requests=per-conflict"],
    &["sm.request_order=lanes", "sm.request_order=descending"],
    &["sm.max_requests=1", "sm.max_requests=5"],
    &["sm.replies_per_cycle=1", "sm.replies_per_cycle=3"],
    &[
        "sm.stores_outlive_warps=false",
        "sm.stores_outlive_warps=true l1.cache.write_allocate=lazy-fetch",
    ],
    &["l1.requests_per_cycle=1", "l1.requests_per_cycle=3"],
    &["l1.data_path=sectors"],
    &["l1.tags_per_cycle=1 l1.tag_overhead=0", "l1.tags_per_cycle=3 l1.tag_overhead=9"],
    &["l1.enabled=false"],
    &["l1.latency=1", "l1.latency=7"],
    &["l1.banks=1", "l1.banks=3"],
    &["l1.cache.mshr_entries=1", "l1.cache.mshr_entries=3"],
    &["l1.cache.mshr_merges=1", "l1.cache.mshr_merges=2"],
    // Too few entries for a write-back cache.
    &["l1.cache.miss_queue=1 l1.read_reserve=0 l1.cache.write=write-through"],
    &[
        "l1.shared_options_bytes=[] l1.unified_bytes=0 l1.cache.size_bytes=512 l1.cache.ways=2",
        "l1.shared_options_bytes=[] l1.unified_bytes=0 l1.cache.size_bytes=128 l1.cache.ways=1",
    ],
    &[
        "l1.cache.write=write-through",
        "l1.cache.write=write-evict",
        // A miss may evict a dirty line: the minimum that is valid, regardless of the choice above.
        "l1.cache.write=write-back l1.cache.miss_queue=2",
        "l1.cache.write=local-write-back l1.cache.miss_queue=2",
    ],
    &[
        "l1.cache.write_allocate=none",
        "l1.cache.write_allocate=fetch-on-write sm.stores_outlive_warps=false",
        "l1.cache.write_allocate=lazy-fetch",
    ],
    &["l1.cache.read_allocate=on-miss", "l1.cache.read_allocate=on-fill"],
    &["l1.flush_between_kernels=false"],
    &["l1.async_bypass=false", "l1.async_bypass=true"],
    &["network.input_buffer=1", "network.input_buffer=2"],
    &["network.output_buffer=1", "network.output_buffer=2"],
    &["network.router_latency=1", "network.router_latency=9"],
    &["network.input_speedup=1", "network.input_speedup=2", "network.input_speedup=64"],
    &["network.flit_bytes=16"],
    &[
        "policy.topology=ideal",
        "policy.topology=crossbar(form=router) network.allocator=pim(iterations=2)",
        "policy.topology=partitioned-crossbar(link_latency=7,link_width=1) network.sms_per_node=1",
        "policy.topology=partitioned-crossbar(link_latency=0,link_width=2) network.sms_per_node=1 \
         policy.arbiter=hold-grant",
        "policy.topology=mesh network.vc_buffer=1 policy.arbiter=hold-grant",
        "policy.topology=mesh network.switching=cut-through network.vc_buffer=16 network.virtual_channels=2 \
         network.vc_assignment=static-destination policy.arbiter=row-matching-hold-grant",
        "policy.topology=ring network.vc_buffer=2 network.virtual_channels=2 policy.arbiter=oldest-first \
         network.allocator=oldest-first",
        "policy.topology=butterfly(radix=2) network.sms_per_node=2 network.virtual_channels=4 policy.arbiter=random \
         network.allocator=round-robin",
    ],
    // Prefetchers need a cache.
    &[
        "l2.enabled=false",
        "l2.enabled=false l1.enabled=false",
        "l2.enabled=true policy.prefetcher=opportunistic-stop",
        "l2.enabled=true policy.prefetcher=opportunistic",
        "l2.enabled=true policy.prefetcher=opportunistic(lower=2,higher=9,threshold=3)",
        "l2.enabled=true policy.prefetcher=opportunistic(cached=skip)",
        "l2.enabled=true policy.prefetcher=opportunistic(degree=exactly,lower=0,higher=3,threshold=4,bus=last)",
    ],
    &[
        "l2.queue=1 l2.queue_reserve=0",
        "l2.queue=1 l2.queue_reserve=1",
        "l2.queue=2 l2.queue_reserve=0",
    ],
    &[
        "policy.l2_queue=calrs-ideal",
        "policy.l2_queue=none",
        "policy.l2_queue=none(entries=0)",
        // The minimum that is valid, regardless of the choice above.
        "policy.l2_queue=calrs l2.queue=5",
        "policy.l2_queue=calrs(emptied=served,rotate=previous) l2.queue=13",
        "policy.l2_queue=calrs(emptied=highest-served,classes=algorithm-1) l2.queue=13",
        "policy.l2_queue=calrs-ideal(rotation=highest)",
    ],
    &["l2.reply_queue=1"],
    // The minimum that is valid for this write policy, or for those below.
    &["l2.to_dram_queue=1 l2.cache.miss_queue=1 l2.cache.write_allocate=none"],
    &["l2.to_dram_latency=0"],
    &["l2.input_latency=0"],
    &["l2.arrivals_per_cycle=0", "l2.arrivals_per_cycle=2"],
    &["l2.reply_order=hits-first", "l2.reply_order=fills-first"],
    &["l2.latency=0", "l2.latency=5"],
    &["l2.port_bytes=0", "l2.port_bytes=8"],
    &["l2.atomic_cycles=0", "l2.atomic_cycles=3"],
    &["l2.copies=false l2.cache.mshr_entries=1", "l2.cache.mshr_entries=3"],
    &["l2.cache.mshr_merges=1", "l2.cache.mshr_merges=2"],
    &["l2.cache.size_bytes=512 l2.cache.ways=2", "l2.cache.size_bytes=128 l2.cache.ways=1"],
    &["l2.cache.write=write-through", "l2.cache.write=write-evict", "l2.cache.write=write-back"],
    &[
        "l2.cache.write_allocate=none",
        "l2.cache.write_allocate=fetch-on-write",
        "l2.cache.write_allocate=lazy-fetch",
    ],
    &["l2.cache.read_allocate=on-miss", "l2.cache.read_allocate=on-fill"],
    &["l2.dirty_ways=1", "l2.dirty_ways=3"],
    // The minimum that is valid, regardless of the choice above.
    &[
        "l2.enabled=true l2.copies=true l2.cache.mshr_entries=9",
        "l2.enabled=true l2.copies=true l2.cache.mshr_entries=9 l2.cache.size_bytes=128 l2.cache.ways=1 \
         l2.cache.read_allocate=on-miss l2.copy_link_latency=50",
        "l2.enabled=true l2.copies=true l2.cache.mshr_entries=2 l2.copy_link_latency=50 l2.copy_link_interval=7",
        "l2.enabled=true l2.copies=true l2.cache.mshr_entries=3 network.input_buffer=1 network.output_buffer=1 l2.copy_link_interval=30",
        "l2.enabled=true l2.copies=true l2.cache.mshr_entries=2 l2.queue=5 l2.cache.size_bytes=512 l2.cache.ways=2",
    ],
    &["dram.return_queue=1", "dram.return_queue=3"],
    &["dram.read_queue=16", "dram.read_queue=17"],
    &[
        "dram.write_queue=0 dram.write_high_watermark=0 dram.write_low_watermark=0",
        "dram.write_queue=0 dram.write_high_watermark=0 dram.write_low_watermark=0 l2.to_dram_credits=1",
        "dram.write_queue=1 dram.write_high_watermark=1 dram.write_low_watermark=0",
        "dram.write_queue=4 dram.write_high_watermark=3 dram.write_low_watermark=1",
        "dram.write_queue=4 dram.write_high_watermark=3 dram.write_low_watermark=1 l2.to_dram_credits=5",
        "dram.write_queue=16 dram.write_high_watermark=16 dram.write_low_watermark=8",
    ],
    // All-bank refresh, regardless of the preset.
    &[
        "dram.timing.trefi=300 dram.timing.trfc=60 dram.timing.trefipb=0 dram.timing.trfcpb=0 dram.timing.trrefd=0",
    ],
    &[
        "policy.dram_scheduler=mshr-s",
        "policy.dram_scheduler=mshr-s+a(count=inter-core,early_merges=lost)",
        "policy.dram_scheduler=wg",
        "policy.dram_scheduler=wg-w",
        "policy.dram_scheduler=core-criticality(critical_share=0.3)",
        "policy.dram_scheduler=medic(warm_up=3,resample=500)",
        "policy.dram_scheduler=fcfs",
        // An entry per bank, regardless of the choice above.
        "policy.dram_scheduler=banked-fifo dram.read_queue=64",
        "policy.dram_scheduler=fr-fcfs(page=closed)",
        "policy.dram_scheduler=fr-fcfs(banks=stepping,picks_per_cycle=1)",
        "policy.dram_scheduler=fr-fcfs(row_hit_cap=1)",
        "policy.dram_scheduler=fr-fcfs(starvation_limit=50)",
        "policy.dram_scheduler=most-pending",
        "policy.dram_scheduler=mshr-m(early_merges=carried,tie=lowest-row)",
        "policy.dram_scheduler=mshr-s+a",
        "policy.dram_scheduler=div-first(wet_latency=7)",
        "policy.dram_scheduler=delay(requests=20,cycles=300,first=3)",
        "policy.dram_scheduler=delay(requests=50,cycles=40,every=2,locality=without)",
        "policy.dram_scheduler=warped-mc",
        "policy.dram_scheduler=warped-mc(wat_bits=2,wet_latency=7,picks_per_cycle=1)",
        "policy.dram_scheduler=warped-mc(high=left,medium=row,pools=three,pending=served)",
        "policy.dram_scheduler=warped-mc(medium=hit,pools=medium,identity=warp,wet_latency=3)",
        "policy.dram_scheduler=div-first(urgent=last,pending=served)",
    ],
    &[
        "policy.ideal=perfect-dram",
        "policy.ideal=perfect-l1",
        "policy.ideal=perfect-l2",
        "policy.ideal=infinite-bandwidth-noc",
    ],
    &[
        "policy.warp_scheduler=lrr",
        "policy.warp_scheduler=gto",
        "policy.warp_scheduler=oldest",
        "policy.warp_scheduler=two-level(warps=2)",
        "policy.warp_scheduler=two-level(warps=2,idle=lend)",
        "policy.warp_scheduler=two-level-active(warps=2)",
        "policy.warp_scheduler=cta-aware(min_warps=3)",
        "policy.warp_scheduler=cta-aware(min_warps=1,idle=lend)",
        "policy.warp_scheduler=cta-aware-locality(min_warps=3)",
        "policy.warp_scheduler=cta-aware-locality-blp(min_warps=1)",
        "policy.warp_scheduler=cta-aware(groups=residents,min_warps=1)",
        "policy.warp_scheduler=cta-aware-locality(groups=slots,min_warps=1)",
        "policy.warp_scheduler=cta-aware-locality-blp(groups=residents,min_warps=2)",
        "policy.warp_scheduler=swl(warps=1)",
        "policy.warp_scheduler=ccws(base=7,throttle=30,victims=2)",
        "policy.warp_scheduler=ccws",
        "policy.warp_scheduler=caws",
        "policy.warp_scheduler=mascar",
        "policy.warp_scheduler=mascar(headroom=0)",
    ],
    &[
        "policy.cta_scheduler=depth-first",
        "policy.cta_scheduler=block-clustered(ctas=3)",
        "policy.cta_scheduler=lazy-cta",
        "policy.cta_scheduler=dyncta(period=7,t_idle=3,t_mem_low=0,t_mem_high=2)",
        "policy.cta_scheduler=dyncta(period=300,t_idle=20,t_mem_low=40,t_mem_high=80)",
    ],
    &[
        "cluster.latency=37 cluster.barrier_latency=60",
        "cluster.port_bytes=1",
        "cluster.port_bytes=8 cluster.latency=9 network.input_buffer=1 network.output_buffer=1",
    ],
    &["run.concurrent_kernels=true", "run.cold_launches=true"],
    &["run.launch_latency=40"],
    &[
        "run.launch=stream launch.stream_ns=70",
        "run.launch=graph launch.graph_ns=70",
        "run.launch=profiled launch.profiled_cycles=90",
    ],
    &["run.launch_instructions=30", "run.launch_instructions=200"],
    &["clocks.l2_mhz=300", "clocks.l2_mhz=2000"],
    &["clocks.dram_mhz=500", "clocks.dram_mhz=3000"],
    &["clocks.network_mhz=700"],
];

/// A preset and overrides.
#[derive(Clone, Debug)]
struct Small {
    preset: &'static str,
    overrides: Vec<String>,
}

/// Generates a preset with some shapes; in each group, none is as likely as all of its lines
/// together.
fn small_machine() -> impl Strategy<Value = Small> {
    let choices = prop::collection::vec(prop::option::weighted(0.3, any::<Index>()), SHAPES.len());
    (select(machine::preset_names().collect::<Vec<_>>()), choices).prop_map(|(preset, choices)| {
        let chosen = SHAPES
            .iter()
            .zip(choices)
            .filter_map(|(lines, at)| Some(lines[at?.index(lines.len())]));
        let few_sms = std::iter::once("sm.count=4 network.memory_nodes=[] cluster.gpcs=1");
        let overrides: Vec<String> =
            few_sms.chain(chosen).flat_map(str::split_whitespace).map(str::to_owned).collect();
        Small { preset, overrides }
    })
}

/// Returns the counts in which two results differ, except the number of unit steps.
fn differences(one: &RunResult, other: &RunResult) -> Vec<String> {
    let json = |result| serde_json::to_value(result).unwrap();
    let mut found = Vec::new();
    compare("", &json(one), &json(other), &mut found);
    found.retain(|line| !line.starts_with(".steps:"));
    found
}

fn compare(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter()
                .for_each(|(key, value)| compare(&format!("{path}.{key}"), value, &b[key], found));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.for_each(|(at, (a, b))| compare(&format!("{path}.{at}"), a, b, found));
        }
        (a, b) if a != b => found.push(format!("{path}: {a} / {b}")),
        _ => {}
    }
}

/// Fails if the run deadlocks, if a second, fully recorded one differs, if the recording does not
/// add up or DRAM exceeds its bandwidth, or if the result differs on several threads or when every
/// unit is stepped in every cycle.
fn check(machine: &Machine, kernels: &[Kernel], threads: &[usize]) -> Result<(), TestCaseError> {
    let file = write(kernels);
    let simulation = || Simulation::new(machine, &file.trace);
    let run = |sink: &mut dyn RunSink| simulation().run(sink);
    let asked = run(&mut Discard).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let mut rows = Everything::of(100);
    prop_assert!(asked == run(&mut rows).unwrap(), "the second run differs");
    rows.check(&asked, kernels);
    let share = bandwidth_over_peak(machine, &asked);
    prop_assert!(share <= 1.0, "{} of the peak bandwidth", share);
    let mut polled_rows = Everything::of(100);
    let polled = simulation().every_cycle().run(&mut polled_rows).unwrap();
    prop_assert!(asked.steps <= polled.steps);
    prop_assert_eq!(differences(&asked, &polled), Vec::<String>::new());
    for &threads in threads {
        let mut sink = Everything::but_requests(100);
        let result = simulation().threads(threads).run(&mut sink);
        prop_assert!(asked == result.unwrap(), "with {} threads", threads);
        check_rows("loads of threads", &rows.loads, &sink.loads)?;
        check_rows("intervals of threads", &rows.intervals, &sink.intervals)?;
        check_rows("warps of threads", &rows.warps, &sink.warps)?;
    }
    let (rows, polled_rows) = (rows.without_retries(), polled_rows.without_retries());
    check_rows("loads", &rows.loads, &polled_rows.loads)?;
    check_rows("requests", &rows.requests, &polled_rows.requests)?;
    check_rows("intervals", &rows.intervals, &polled_rows.intervals)?;
    check_rows("warps", &rows.warps, &polled_rows.warps)
}

/// Fails if the run deadlocks, if weighted counts do not add up, or if the result differs on
/// several threads or when every unit is stepped in every cycle.
fn check_weighed(machine: &Machine, kernels: &[Kernel]) -> Result<(), TestCaseError> {
    let file = write(kernels);
    let simulation = || Simulation::new(machine, &file.trace);
    let asked =
        simulation().run(&mut Discard).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let launches: u32 = asked.kernels.iter().map(|kernel| kernel.stands_for).sum();
    prop_assert_eq!(launches as usize, kernels.len());
    if machine.run.launch_instructions == 0 {
        let expected: u64 = file.trace.kernels().iter().map(|k| k.warp_instructions).sum();
        let issued: u64 = asked.sms.iter().map(|sm| sm.warp_instructions).sum();
        prop_assert!(issued.abs_diff(expected) * 20 <= expected, "{} for {}", issued, expected);
    }
    let polled = simulation().every_cycle().run(&mut Discard).unwrap();
    prop_assert_eq!(differences(&asked, &polled), Vec::<String>::new());
    let threads = simulation().threads(2).run(&mut Discard);
    prop_assert!(asked == threads.unwrap(), "with threads");
    Ok(())
}

/// Fails with the first differing rows.
fn check_rows<R: PartialEq + Debug>(
    table: &str,
    asked: &[R],
    polled: &[R],
) -> Result<(), TestCaseError> {
    let differing = asked.iter().zip(polled).find(|(asked, polled)| asked != polled);
    prop_assert!(differing.is_none(), "{table}: {differing:?}");
    prop_assert_eq!(asked.len(), polled.len(), "{}", table);
    Ok(())
}

#[test]
fn units_request_every_step_on_each_small_machine() {
    let kernels = [mixed(3, 3, 1 << 18), exchange(2), pipeline(2)];
    for line in SHAPES.concat() {
        let base = ["sm.count=2", "cluster.gpcs=1"];
        let overrides: Vec<&str> = base.into_iter().chain(line.split(' ')).collect();
        let result = check(&load("li2015", &overrides), &kernels, &[2]);
        result.unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(6)))]

    #[test]
    fn units_request_every_step_that_they_need(
        small in small_machine(),
        kernels in prop::collection::vec(kernel(), 1..3),
    ) {
        let machine = machine::load(small.preset, &small.overrides).unwrap();
        // A single SM may have no room for a cluster.
        let kernels = if machine.sm.count > 1 { kernels } else { kernels.into_iter().map(alone).collect() };
        check(&machine, &kernels, &[2, 3])?;
    }

    #[test]
    fn extrapolated_launches_do_not_depend_on_stepping(
        small in small_machine(),
        kernels in prop::collection::vec(kernel().prop_map(alone), 1..3),
        times in 3usize..6,
        most in 2u32..4,
    ) {
        let most = format!("run.alike_launches={most}");
        let mut overrides = small.overrides;
        overrides.retain(|text| text != "run.concurrent_kernels=true");
        overrides.push(most);
        let machine = machine::load(small.preset, &overrides).unwrap();
        check_weighed(&machine, &vec![kernels; times].concat())?;
    }
}
