//! Every configuration key has an effect: each is changed once, and some count of a run must
//! change.

use crate::clusters::exchange;
use crate::trace::{Access, Kernel, Step, machine, mixed, run, write};
use std::collections::BTreeMap;
use warpmem::gpu::results::RunResult;
use warpmem::machine::Machine;
use warpmem::record::{RunKey, run_row_json};
use warpmem_trace::{Barrier, CacheOp, Eviction, Kind, L2Policy, OpClass, Space};

/// Keys that cannot change any count, with reasons; also listed in `docs/machines.md`.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("name", "a name for tables"),
    ("description", "a text for people"),
    ("dram.stacks", "no machine with stacks yet"),
    ("dram.timing.tccdr", "no machine with stacks yet"),
    (
        "vm.walk.l2_bypass",
        "walks hit more than data here; `translation` has a kernel where they do not",
    ),
];

/// Returns whether a key changes only energy.
fn is_of_energy(key: &str) -> bool {
    key == "dram.devices" || key.starts_with("dram.power.") || key.starts_with("energy.")
}

/// A change of one key: preset, overrides before and after it, and the change itself with required
/// companions.
struct Change {
    preset: &'static str,
    context: &'static str,
    change: &'static str,
}

const fn change(change: &'static str) -> Change {
    Change { preset: "li2015", context: "", change }
}

const fn within(context: &'static str, change: &'static str) -> Change {
    Change { preset: "li2015", context, change }
}

const fn of(preset: &'static str, change: &'static str) -> Change {
    Change { preset, context: "", change }
}

/// Prerequisites of per-bank refresh on li2015, which has none itself.
const REFRESHED_BANK_BY_BANK: &str =
    "dram.timing.trefipb=100 dram.timing.trfcpb=50 dram.timing.trrefd=10 dram.power.idd5pb=500";

/// Override required by sectored lines.
const SECTORED: &str = "l2.cache.write_allocate=fetch-on-write";

/// A machine with address translation, and small pages.
const TRANSLATED: &str = "vm.enabled=true vm.page_bytes=4096";

/// The same with TLBs of groups, and with tokens.
const GROUPED: &str = "vm.enabled=true vm.page_bytes=4096 vm.group.sms=2";
const TRANSLATED_WITH_TOKENS: &str =
    "vm.enabled=true vm.page_bytes=4096 vm.l2.entries=16 vm.tokens.epoch=1000 vm.tokens.percent=0";

/// Energies to scale.
const WITH_ENERGIES: &str = "energy.table=accelwattch-volta";

/// Changes; the first word of each names the key.
const CHANGES: &[Change] = &[
    change("clocks.core_mhz=1300"),
    change("clocks.network_mhz=1300"),
    change("clocks.l2_mhz=650"),
    change("clocks.dram_mhz=900"),
    change("sm.count=3"),
    change("sm.max_threads=128"),
    change("sm.max_warps=4 sm.max_threads=128"),
    change("sm.max_ctas=1"),
    change("sm.registers=4096"),
    change("sm.shared_bytes=16384"),
    within("sm.count=1", "sm.cta_launches_per_cycle=4"),
    change("sm.cta_dispatch_permille=40"),
    change("sm.cta_launch_latency=70"),
    change("sm.cta_exit_latency=70"),
    change("sm.schedulers=1"),
    change("sm.rotating_schedulers=true"),
    change("sm.issue_interval=4"),
    change("sm.fetch_warps=1"),
    change("sm.instruction_cache.size_bytes=2048"),
    within("sm.count=1 sm.instruction_cache.size_bytes=1024", "sm.instruction_cache.ways=1"),
    within("sm.instruction_cache.size_bytes=2048", "sm.instruction_cache.line_bytes=64"),
    within("sm.instruction_cache.size_bytes=2048", "sm.instruction_cache.miss_latency=90"),
    within("sm.instruction_cache.size_bytes=2048", "sm.instruction_bytes=8"),
    change("sm.operand_latency=9"),
    change("sm.writeback_latency=9"),
    within("sm.lsu_queue=8 sm.operand_latency=4", "sm.collectors=1"),
    within("sm.collectors=2 sm.operand_latency=4", "sm.register_banks=2"),
    within("sm.collectors=2 sm.operand_latency=4 sm.register_banks=4", "sm.bank_reads=2"),
    within("sm.units.control.interval=9", "sm.sync_unit=integer"),
    within("l1.enabled=false network.input_buffer=1", "sm.lsu_queue=4"),
    change("sm.atomic_requests=per-conflict"),
    change("sm.stall=load"),
    change("sm.atomics_stall=true"),
    change("sm.request_order=descending"),
    within("sm.units.sfu.interval=19", "sm.fp64_unit=sfu"),
    change("sm.constant_latency=50"),
    change("sm.constant_cache.size_bytes=2048"),
    within(
        "sm.constant_cache.size_bytes=256 sm.constant_cache.line_bytes=32",
        "sm.constant_cache.ways=1",
    ),
    within("sm.constant_cache.size_bytes=2048", "sm.constant_cache.line_bytes=512"),
    within("sm.constant_cache.size_bytes=2048", "sm.constant_cache.miss_latency=90"),
    change("sm.max_requests=4"),
    of("accelsim-qv100", "sm.replies_per_cycle=4"),
    of("accelsim-qv100", "sm.stores_outlive_warps=true"),
    change("sm.units.integer.latency=9"),
    change("sm.units.integer.interval=9"),
    change("sm.units.fp16.latency=9"),
    change("sm.units.fp16.interval=9"),
    change("sm.units.fp32.latency=9"),
    change("sm.units.fp32.interval=9"),
    change("sm.units.fp64.latency=19"),
    change("sm.units.fp64.interval=19"),
    change("sm.units.sfu.latency=9"),
    change("sm.units.sfu.interval=19"),
    change("sm.units.tensor.latency=9"),
    change("sm.units.tensor.interval=19"),
    change("sm.units.control.latency=9"),
    change("sm.units.control.interval=9"),
    change("sm.units.uniform.latency=9"),
    change("sm.units.uniform.interval=9"),
    change("sm.units.other.latency=9"),
    change("sm.units.other.interval=9"),
    change("sm.shared.latency=50"),
    change("sm.shared.banks=8"),
    change("sm.shared.bank_bytes=8"),
    change("l1.enabled=false"),
    change("l1.latency=50"),
    change("l1.banks=4"),
    of("accelsim-qv100", "l1.data_path=wavefronts"),
    of("v100", "l1.tags_per_cycle=1"),
    of("v100", "l1.tag_overhead=8"),
    of("accelsim-qv100", "l1.requests_per_cycle=4"),
    Change {
        preset: "accelsim-qv100",
        context: "sm.count=1 l1.shared_options_bytes=[0,98304] l1.cache.ways=4",
        change: "l1.shrinks=sets",
    },
    change("l1.flush_between_kernels=false"),
    change("l1.async_bypass=false"),
    Change {
        preset: "accelsim-qv100",
        context: "sm.count=1 sm.max_ctas=2",
        change: "l1.shared_options_bytes=[0,98304]",
    },
    Change {
        preset: "accelsim-qv100",
        context: "sm.count=1 sm.max_ctas=2 l1.shared_options_bytes=[0,98304]",
        change: "l1.unified_bytes=106496 l1.cache.size_bytes=106496 l1.cache.ways=208",
    },
    change("l1.cache.size_bytes=2048"),
    change("l1.cache.ways=1"),
    change(
        "l1.cache.line_bytes=64 l1.cache.sector_bytes=64 l2.cache.line_bytes=64 l2.cache.sector_bytes=64",
    ),
    within(SECTORED, "l1.cache.sector_bytes=64 l2.cache.sector_bytes=64"),
    within("l1.cache.size_bytes=8192", "l1.cache.replacement=fifo"),
    change("l1.cache.write=write-back"),
    within("l1.cache.write=write-back", "l1.cache.write_allocate=fetch-on-write"),
    within("l1.cache.size_bytes=1024", "l1.cache.read_allocate=on-fill"),
    within("l1.cache.size_bytes=2048", "l1.cache.index=linear"),
    change("l1.cache.mshr_entries=1"),
    change("l1.cache.mshr_merges=1"),
    within("l1.latency=1 network.input_buffer=1", "l1.cache.miss_queue=1"),
    within("l1.latency=1 network.input_buffer=1 l1.cache.miss_queue=2", "l1.read_reserve=1"),
    change("network.flit_bytes=16"),
    change("network.header_bytes=40"),
    change("network.router_latency=20"),
    change("network.link_latency=20"),
    change("network.input_speedup=4"),
    within("l1.latency=1 l1.cache.miss_queue=1", "network.input_buffer=1"),
    within("l2.queue=1", "network.output_buffer=1"),
    within("policy.topology=crossbar(form=router)", "network.allocator=pim"),
    within("policy.topology=mesh", "network.virtual_channels=4"),
    within("policy.topology=mesh", "network.vc_buffer=1"),
    within(
        "policy.topology=mesh network.virtual_channels=4",
        "network.vc_assignment=static-destination",
    ),
    within("policy.topology=mesh", "network.switching=cut-through"),
    within("policy.topology=mesh", "network.sms_per_node=3"),
    within("policy.topology=mesh", "network.memory_nodes=[0,1,2,3,4,5,6,7,8,9,10,11]"),
    change("l2.enabled=false"),
    change("l2.slices_per_channel=1"),
    change("l2.queue=1"),
    within("clocks.l2_mhz=350", "l2.arrivals_per_cycle=0"),
    change("l2.input_latency=60"),
    change("l2.latency=20"),
    change("l2.port_bytes=8"),
    within("network.flit_bytes=1 network.input_buffer=1", "l2.reply_queue=1"),
    within(
        "network.flit_bytes=1 network.input_buffer=1 l2.reply_queue=1",
        "l2.reply_order=hits-first",
    ),
    change("l2.fill_latency=2"),
    change("l2.reply_latency=2"),
    change("l2.to_dram_latency=60"),
    of("accelsim-qv100", "l2.to_dram_count=elapsed"),
    within("dram.read_queue=1", "l2.to_dram_queue=1"),
    within("network.flit_bytes=128", "l2.queue_reserve=6"),
    change("l2.to_dram_credits=129"),
    change("l2.atomic_cycles=5"),
    within("cluster.gpcs=2", "cluster.gpcs=5"),
    within("cluster.gpcs=2", "cluster.latency=50"),
    within("cluster.gpcs=2", "cluster.port_bytes=4"),
    within("cluster.gpcs=2", "cluster.barrier_latency=80"),
    within("l2.cache.size_bytes=4096", "l2.kept_ways=3"),
    change("l2.dirty_ways=1"),
    change("l2.copies=true"),
    within("l2.copies=true", "l2.copy_link_latency=50"),
    within("l2.copies=true", "l2.copy_link_interval=40"),
    change("l2.cache.size_bytes=2048"),
    within("l2.cache.size_bytes=4096", "l2.cache.ways=1"),
    change(
        "l2.cache.line_bytes=64 l1.cache.line_bytes=64 l1.cache.sector_bytes=64 l2.cache.sector_bytes=64",
    ),
    within(SECTORED, "l2.cache.sector_bytes=64 l1.cache.sector_bytes=64"),
    within("l2.cache.size_bytes=2048", "l2.cache.replacement=fifo"),
    change("l2.cache.write=write-through"),
    change("l2.cache.write_allocate=lazy-fetch"),
    within("l2.cache.size_bytes=2048 l2.cache.ways=2", "l2.cache.read_allocate=on-fill"),
    within("l2.cache.size_bytes=4096 l2.cache.ways=2", "l2.cache.index=xor"),
    change("l2.cache.mshr_entries=1"),
    change("l2.cache.mshr_merges=1"),
    within(
        "dram.read_queue=1 l2.to_dram_queue=1 l2.cache.size_bytes=2048 l2.cache.read_allocate=on-fill l2.cache.write_allocate=fetch-on-write",
        "l2.cache.miss_queue=1",
    ),
    change("dram.channels=5"),
    change("dram.banks=8 dram.address.map=row:13+bank:2+column:4+bank:1+column:2+burst:6"),
    change("dram.bank_groups=1"),
    change("dram.bus_bytes=4 dram.address.map=row:12+bank:3+column:5+bank:1+column:2+burst:5"),
    change("dram.burst_length=4 dram.address.map=row:12+bank:3+column:5+bank:1+column:2+burst:5"),
    change("dram.transfers_per_clock=8"),
    of("accelsim-qv100", "dram.standard=hbm2"),
    change(
        "dram.pseudo_channels=2 dram.address.map=row:12+pseudo:1+bank:2+column:4+bank:1+column:2+burst:6",
    ),
    change("dram.row_bytes=2048 dram.address.map=row:13+bank:3+column:3+bank:1+column:2+burst:6"),
    of("accelsim-qv100", "dram.dual_command_bus=false"),
    change("dram.read_queue=4"),
    within(
        "l2.cache.size_bytes=2048 dram.write_low_watermark=1 dram.write_high_watermark=4",
        "dram.write_queue=4",
    ),
    within("l2.cache.size_bytes=2048", "dram.write_high_watermark=4 dram.write_low_watermark=3"),
    within(
        "l2.cache.size_bytes=2048 dram.write_high_watermark=8 dram.write_low_watermark=7",
        "dram.write_low_watermark=1",
    ),
    within("network.flit_bytes=1 l2.reply_queue=1 network.input_buffer=1", "dram.return_queue=1"),
    change("dram.done_with=first-datum"),
    change("dram.return_latency=9"),
    change("dram.address.map=row:12+bank:4+column:6+burst:6"),
    change("dram.address.interleave_bytes=1024"),
    of("accelsim-qv100", "dram.address.partition_hash=linear dram.address.partition_hash_bits=[]"),
    of("accelsim-qv100", "dram.address.partition_hash_bits=[15,25]"),
    change("dram.address.bank_hash=xor"),
    change("dram.timing.trcd=20"),
    change("dram.timing.trcdw=20"),
    within("dram.timing.trc=70", "dram.timing.tras=55"),
    within("dram.timing.trc=60", "dram.timing.trp=30"),
    change("dram.timing.trc=90"),
    change("dram.timing.tccds=3"),
    change("dram.timing.tccdl=9"),
    within("dram.timing.trrdl=30", "dram.timing.trrds=30"),
    change("dram.timing.trrdl=30"),
    change("dram.timing.tfaw=80"),
    change("dram.timing.tcl=20"),
    change("dram.timing.twl=9"),
    within("dram.timing.twtrl=30", "dram.timing.twtrs=30"),
    change("dram.timing.twtrl=30"),
    change("dram.timing.trtw_gap=20"),
    change("dram.timing.twr=60"),
    change("dram.timing.trtp=40"),
    within("dram.timing.trefi=900 dram.timing.trfc=50", "dram.timing.trefi=500"),
    within("dram.timing.trefi=900 dram.timing.trfc=50", "dram.timing.trfc=200"),
    change("dram.timing.t32aw=2000"),
    change("dram.timing.tppd=20"),
    within(REFRESHED_BANK_BY_BANK, "dram.timing.trefipb=80"),
    within(REFRESHED_BANK_BY_BANK, "dram.timing.trfcpb=300"),
    within(REFRESHED_BANK_BY_BANK, "dram.timing.trrefd=90"),
    within("dram.standard=gddr7 dram.timing.trtw_gap=0", "dram.timing.trtw=60"),
    within("l2.cache.size_bytes=2048", "dram.write_min_drain=40"),
    change("dram.queue_organisation=per-bank"),
    change("dram.page=closed"),
    change("dram.picks_per_cycle=1"),
    within(
        "dram.write_queue=0 dram.write_high_watermark=0 dram.write_low_watermark=0",
        "dram.turnaround_limit=1",
    ),
    change("dram.devices=4"),
    change("dram.power.vdd=1400"),
    change("dram.power.idd0=500"),
    change("dram.power.idd2n=260"),
    change("dram.power.idd3n=440"),
    change("dram.power.idd4r=1000"),
    change("dram.power.idd4w=1000"),
    within("dram.timing.trefi=900 dram.timing.trfc=50", "dram.power.idd5ab=600"),
    within(REFRESHED_BANK_BY_BANK, "dram.power.idd5pb=600"),
    change("policy.dram_scheduler=fcfs"),
    change("policy.arbiter=hold-grant"),
    change("policy.cta_scheduler=depth-first"),
    change("policy.ideal=perfect-dram"),
    change("policy.prefetcher=opportunistic"),
    change("policy.warp_scheduler=lrr"),
    change("policy.l2_queue=none"),
    change("policy.topology=mesh"),
    within("vm.page_bytes=4096", "vm.enabled=true"),
    within(TRANSLATED, "vm.page_bytes=8192"),
    within(TRANSLATED, "vm.levels=2"),
    within(TRANSLATED, "vm.fragmentation=true"),
    within("vm.enabled=true vm.page_bytes=4096 vm.fragmentation=true", "vm.seed=2"),
    within(TRANSLATED, "vm.l1.entries=2"),
    within(TRANSLATED, "vm.l1.ways=1"),
    within("vm.enabled=true vm.page_bytes=4096 vm.l1.entries=2", "vm.l1.pages_per_entry=64"),
    within(TRANSLATED, "vm.l1.latency=50"),
    within(TRANSLATED, "vm.l1.misses=1"),
    within(TRANSLATED, "vm.l1.waiting=1"),
    within(TRANSLATED, "vm.l1.before_l1=true"),
    within("vm.enabled=true vm.page_bytes=4096 vm.l1.before_l1=true", "vm.l1.ports=1"),
    within(TRANSLATED, "vm.group.sms=2"),
    within(GROUPED, "vm.group.entries=2"),
    within(GROUPED, "vm.group.ways=1"),
    within(
        "vm.enabled=true vm.page_bytes=4096 vm.group.sms=2 vm.group.entries=2",
        "vm.group.pages_per_entry=64",
    ),
    within(GROUPED, "vm.group.latency=90"),
    within(GROUPED, "vm.group.link_latency=70"),
    within(GROUPED, "vm.group.lookups_per_cycle=4"),
    within(TRANSLATED, "vm.l2.warm=true"),
    within("vm.enabled=true vm.page_bytes=4096 vm.l2.entries=16", "vm.tokens.epoch=10"),
    within(TRANSLATED_WITH_TOKENS, "vm.tokens.percent=10"),
    within(TRANSLATED_WITH_TOKENS, "vm.tokens.bypass_entries=1"),
    within(TRANSLATED, "vm.l2.entries=16"),
    within("vm.enabled=true vm.page_bytes=4096 vm.l2.entries=64", "vm.l2.ways=1"),
    within("vm.enabled=true vm.page_bytes=4096 vm.l2.entries=16", "vm.l2.pages_per_entry=8"),
    within(TRANSLATED, "vm.l2.latency=90"),
    within(TRANSLATED, "vm.l2.link_latency=70"),
    within(TRANSLATED, "vm.l2.lookups_per_cycle=4"),
    within(TRANSLATED, "vm.l2.misses=2"),
    within(TRANSLATED, "vm.walk.walkers=1"),
    within(TRANSLATED, "vm.walk.cache_entries=0"),
    within(TRANSLATED, "vm.walk.memory=false"),
    within("vm.enabled=true vm.page_bytes=4096 vm.walk.memory=false", "vm.walk.latency=9"),
    within(TRANSLATED, "vm.walk.link_latency=90"),
    within("vm.enabled=true vm.page_bytes=4096 vm.walk.walkers=1", "policy.walk_scheduler=sjf"),
    change("run.concurrent_kernels=true"),
    change("run.cold_launches=true"),
    within("launch.stream_ns=1000", "run.launch=stream"),
    within("run.launch=graph", "launch.graph_ns=1000"),
    within("run.launch=stream", "launch.stream_ns=1000"),
    within("run.launch=profiled", "launch.profiled_cycles=500"),
    change("run.launch_latency=100"),
    change("run.launch_instructions=20"),
    change("run.error_permille=100"),
    change("run.fast_forward=1"),
    change("run.count_row_sharing=true"),
    change("run.first_sm=1"),
    change("run.page_offset=1"),
    change("energy.table=accelwattch-volta"),
    within(WITH_ENERGIES, "energy.chip_permille=500"),
    within(WITH_ENERGIES, "energy.dram_permille=500"),
    within(WITH_ENERGIES, "energy.static_permille=500"),
    within(WITH_ENERGIES, "energy.constant_permille=500"),
];

/// Makes instructions that [`mixed`] lacks: compute of every class, constant and shared loads,
/// lanes that reduce to one address, a copy that bypasses L1, evict-last lines, a barrier.
fn on_chip() -> Kernel {
    let access = |kind, space, stride: u64| {
        let load = Access::load(4, (0..32).map(|lane| lane * stride).collect());
        Step::Memory(Access {
            kind,
            space,
            dest: (kind == Kind::Load).then_some(2),
            source: Some(1),
            ..load
        })
    };
    let mut warp = Vec::new();
    for class in OpClass::ALL {
        // Two dependent instructions, and two independent ones.
        for (dest, source) in [(1, 1), (1, 1), (3, 8), (4, 8)] {
            warp.push(Step::Compute { class, dest, source });
        }
    }
    // Constant lines 0, 8, 0: in one set of a direct-mapped cache.
    for line in [0, 8, 0] {
        let load = Access::load(4, vec![line * 32; 32]);
        let (space, dest, source) = (Space::Constant, Some(2), Some(1));
        warp.push(Step::Memory(Access { space, dest, source, ..load }));
        warp.push(Step::Compute { class: OpClass::Integer, dest: 1, source: 2 });
    }
    warp.push(access(Kind::Load, Space::Shared, 32));
    warp.extend(vec![Step::Compute { class: OpClass::Integer, dest: 3, source: 8 }; 2]);
    warp.push(Step::Compute { class: OpClass::Integer, dest: 1, source: 2 });
    warp.push(Step::Barrier(Barrier::of_cta(0)));
    warp.push(access(Kind::Store, Space::Shared, 4));
    warp.push(access(Kind::Reduction, Space::Global, 0));
    let past = Access::load(4, vec![1 << 20]);
    let past = Access { kind: Kind::AsyncCopy, cache_op: CacheOp::Global, ..past };
    warp.push(Step::Memory(past));
    let kept = |line: u64| Access::load(4, vec![(1 << 21) + 128 * line]);
    let policy = L2Policy::of_all(Eviction::Last);
    warp.extend((0..24).map(|line| Step::L2(policy, kept(line % 8))));
    let compute = Step::Compute { class: OpClass::Control, dest: 1, source: 1 };
    warp.extend([compute.clone(), compute, Step::Fence]);
    let cta = vec![warp; 2];
    let ctas = vec![cta; 40];
    Kernel { stream: 1, shared_bytes: 12_000, registers: 32, ctas, ..Kernel::default() }
}

struct Outcome {
    counts: RunResult,
    /// Energy of DRAM, and of the GPU where known.
    energy: [Option<f64>; 2],
}

fn outcome(preset: &str, overrides: &str, trace: &warpmem_trace::Trace) -> Outcome {
    // Spaces separate overrides, so that `+` stands for those of an address map.
    let words: Vec<String> =
        overrides.split_whitespace().map(|word| word.replace('+', " ")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let machine = machine(preset, &words);
    let counts = RunResult { steps: 0, ..run(&machine, trace) };
    let row = run_row_json(&RunKey::new("", 0, machine, ""), &counts);
    let energy = ["energy_nj", "gpu_energy_nj"].map(|column| row[column].as_f64());
    assert!(energy[0].is_some(), "currents are known");
    Outcome { energy, counts }
}

#[test]
fn every_key_changes_some_count() {
    let near = Kernel { shared_bytes: 4096, ..mixed(8, 8, 1 << 16) };
    let file = write(&[mixed(12, 8, 1 << 22), on_chip(), near.clone(), near.clone()]);
    let alike = write(&vec![near; 20]);
    let in_clusters = write(&[exchange(20)]);
    let mut bases: BTreeMap<(&str, &str, bool), Outcome> = BTreeMap::new();
    let mut untested: Vec<String> = Machine::keys().into_iter().map(|key| key.path).collect();
    untested.retain(|key| WITHOUT_EFFECT.iter().all(|(other, _)| other != key));
    let mut dead = Vec::new();
    for Change { preset, context, change } in CHANGES {
        let (key, _) = change.split_once('=').unwrap();
        untested.retain(|other| other != key);
        let is_of_launches = key == "run.error_permille";
        let trace = match context.contains("cluster.") {
            true => &in_clusters.trace,
            false if is_of_launches => &alike.trace,
            false => &file.trace,
        };
        let base = bases.entry((preset, context, is_of_launches));
        let base = base.or_insert_with(|| outcome(preset, context, trace));
        let changed = outcome(preset, &format!("{context} {change}"), trace);
        let same_counts = changed.counts == base.counts;
        assert!(same_counts || !is_of_energy(key), "{change}");
        if same_counts && (changed.energy == base.energy || !is_of_energy(key)) {
            dead.push(*change);
        }
    }
    assert_eq!(untested, Vec::<String>::new(), "keys without a change here");
    assert_eq!(dead, Vec::<&str>::new(), "changes without effect");
}
