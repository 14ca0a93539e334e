//! A whole small machine: the recorded requests and loads.

use super::bench::Rows;
use super::{Simulation, StepCounts, Steps};
use crate::results::{Discard, LatencyResult, LoadRow, RunResult, Stage};
use crate::testing::machine;
use warpmem_dram::BankResult;
use warpmem_machine::Machine;
use warpmem_network::NodeResult;
use warpmem_testing::{Step, TestKernel, exit, load, memory, trace};
use warpmem_trace::{CacheOp, Kind, Space, Trace};

/// Runs each warp of `warps` as a CTA of its own.
fn run(machine: &Machine, warps: Vec<Vec<Step>>) -> (RunResult, Vec<LoadRow>) {
    let kernel = TestKernel::new(warps.into_iter().map(|warp| vec![warp]));
    let mut rows = Rows::default();
    let result = Simulation::new(machine, &trace(&[kernel])).run(&mut rows).unwrap();
    (result, rows.loads)
}

/// Loads from a small set of lines, with and without a use, some of them bypassing L1.
fn mixed_warp(seed: u64) -> Vec<Step> {
    let line = |n: u64| (n * 37 + seed * 11) % 40 * 128;
    let steps = (0..60).map(|n| {
        let addresses: Vec<u64> = (0..1 + n % 4).map(|lane| line(n + lane)).collect();
        let step = load(&addresses);
        let step = if n % 3 == 0 { step.used_after(2) } else { step };
        step.with(|i| i.cache_op = if n % 5 == 0 { CacheOp::Global } else { CacheOp::Default })
    });
    steps.chain([exit()]).collect()
}

fn stage(latency: &LatencyResult, stage: Stage) -> u128 {
    latency.stage_ticks[stage as usize]
}

/// Ticks of all stages, and the sum of the requests' latencies in core cycles.
fn sums(latency: &LatencyResult) -> (u128, u128) {
    (latency.stage_ticks.iter().sum(), latency.total.sum())
}

#[test]
fn stages_add_up_to_the_latency_of_every_request() {
    let machine = machine(&["sm.count=3", "l1.cache.size_bytes=2048"]);
    let (result, _) = run(&machine, (0..6).map(mixed_warp).collect());
    let l1 = |of: fn(&warpmem_cache::CacheCounts) -> u64| -> u64 {
        result.sms.iter().map(|sm| of(&sm.l1)).sum()
    };
    let l2 = |of: fn(&warpmem_cache::CacheCounts) -> u64| -> u64 {
        result.slices.iter().map(|slice| of(&slice.cache)).sum()
    };
    assert!(l1(|c| c.read_pending_hits) > 0, "merged in L1");
    assert!(l2(|c| c.read_pending_hits) > 0, "merged in the L2");
    assert!(l2(|c| c.read_hits) > 0 && l2(|c| c.read_misses) > 0);
    let requests = l1(|c| c.read_misses + c.read_pending_hits + c.bypasses);
    assert_eq!(result.latency.total.count(), requests, "one latency for each request");
    let (stages, total) = sums(&result.latency);
    assert_eq!(stages, total, "all clocks alike: a tick is a cycle");
}

#[test]
fn stages_add_up_at_odd_clock_ratios() {
    let clocks = ["clocks.core_mhz=1400", "clocks.network_mhz=1132", "clocks.l2_mhz=700"];
    let machine = machine(&[&clocks[..], &["clocks.dram_mhz=924", "sm.count=3"]].concat());
    let (result, _) = run(&machine, (0..6).map(mixed_warp).collect());
    let latency = &result.latency;
    let (stages, total) = sums(latency);
    // Each latency is rounded down to whole cycles.
    let lost = stages - total * u128::from(latency.ticks_per_core_cycle);
    let most = u128::from(latency.total.count() * latency.ticks_per_core_cycle);
    assert!(lost < most, "{lost} of {most}");
}

#[test]
fn each_stage_has_its_own_time() {
    let machine = machine(&[
        "l1.latency=30",
        "network.router_latency=3",
        "l2.input_latency=20",
        "l2.to_dram_latency=10",
        "l2.latency=3",
    ]);
    let past_l1 = |address| load(&[address]).with(|i| i.cache_op = CacheOp::Global).used_after(0);
    let (miss, _) = run(&machine, vec![vec![past_l1(0), exit()]]);
    let of = |latency: &LatencyResult| -> Vec<u128> {
        use Stage::*;
        [L1, RequestNetwork, L2Queue, L2, L2ToDram, DramQueue, DramService, ReplyNetwork]
            .map(|s| stage(latency, s))
            .to_vec()
    };
    let t = &machine.dram.timing;
    let service = u128::from(t.trcd + t.tccdl + t.tcl + machine.dram.burst_cycles());
    // A request that bypasses L1 leaves in the cycle after which the network is stepped; then a
    // header flit and 4 cycles, and 20 to the queue. A miss leaves the tags in the next L2 cycle.
    // The reply takes 5 flits and 4 cycles.
    let first = of(&miss.latency);
    assert_eq!(first[..2], [0, 1 + 1 + 4 + 20]);
    assert_eq!(first[4..], [1 + 10, 0, service, 5 + 4]);
    let (both, _) = run(&machine, vec![vec![past_l1(0), past_l1(0), exit()]]);
    let second: Vec<u128> = of(&both.latency).iter().zip(&first).map(|(b, f)| b - f).collect();
    assert_eq!(second, [0, 26, 0, 3, 0, 0, 0, 9], "an L2 hit does not reach DRAM");
}

/// The second line is in another row of the same bank and channel, with two channels interleaved
/// every 256 bytes.
const OTHER_ROW: u64 = 1 << 17;

#[test]
fn divergence_by_a_row_conflict_is_inside_the_controller() {
    let machine = machine(&[]);
    let map = machine.address_map().unwrap();
    let (a, b) = (map.locate(0), map.locate(OTHER_ROW));
    assert_eq!((a.channel, a.bank, a.slice), (b.channel, b.bank, b.slice));
    assert_ne!(a.row, b.row);
    let (_, rows) = run(&machine, vec![vec![load(&[0, OTHER_ROW]).used_after(0), exit()]]);
    let row = rows[0];
    assert_eq!((row.requests, row.offchip_requests, row.channels, row.banks), (2, 2, 1, 1));
    // The second row opens tRC after the first; the request came one cycle later.
    let late = u64::from(machine.dram.timing.trc) - 1;
    assert_eq!((row.divergence, row.in_mc_divergence), (Some(late), Some(late as i64)));
}

#[test]
fn divergence_from_the_reply_network_is_outside_the_controller() {
    let machine = machine(&[]);
    let (result, rows) = run(&machine, vec![vec![load(&[0, 256]).used_after(0), exit()]]);
    assert_eq!((rows[0].channels, rows[0].banks), (2, 2));
    // Both are served alike, one cycle apart; the second reply waits for the five flits of the
    // first.
    assert_eq!((rows[0].divergence, rows[0].in_mc_divergence), (Some(4), Some(0)));
    let loads = &result.loads;
    let requests = (loads.requests.sum(), loads.offchip_requests.sum());
    assert_eq!((loads.loads, requests), (1, (2, 2)));
    assert_eq!((loads.divergence.sum(), loads.in_mc_divergence), (4, 0));
    assert_eq!(loads.load_time.sum(), u128::from(rows[0].load_time));
}

#[test]
fn one_off_chip_request_does_not_diverge() {
    let machine = machine(&[]);
    let warm = load(&[256]).used_after(0);
    // 256 hits in L1 the second time: only one request goes off chip.
    let warp = vec![warm, load(&[0, 256]).used_after(0), exit()];
    let (result, rows) = run(&machine, vec![warp]);
    assert_eq!((rows[1].requests, rows[1].offchip_requests), (2, 1));
    assert_eq!((rows[1].divergence, rows[1].in_mc_divergence), (None, None));
    assert_eq!(result.loads.divergence.count(), 0);
}

#[test]
fn row_counts_of_networks_and_banks_are_consistent() {
    let machine = machine(&["sm.count=3", "policy.dram_scheduler=fcfs", "l1.enabled=false"]);
    // Each CTA reads its own rows, lines of a few channels at a time.
    let warp = |seed: u64| -> Vec<Step> {
        let address = |n: u64| seed * (1 << 20) + n * 2048;
        (0..40)
            .map(|n| load(&[address(n), address(n + 1), address(n) + 128]))
            .chain([exit()])
            .collect()
    };
    let (result, _) = run(&machine, (0..9).map(warp).collect());
    let [request, reply] = &result.networks[..] else { panic!("one network each way") };
    let packets = request.latency.count();
    for network in [request, reply] {
        let sum = |nodes: &[NodeResult]| nodes.iter().map(|node| node.packets).sum::<u64>();
        assert_eq!(network.latency.count(), packets, "every request is a read");
        assert_eq!((sum(&network.sources), sum(&network.destinations)), (packets, packets));
    }
    for streams in [&request.before, &request.after] {
        assert_eq!(streams.iter().map(|stream| stream.requests).sum::<u64>(), packets);
        assert!(streams.iter().all(|stream| stream.rows <= stream.requests));
    }
    assert_eq!((request.before.len(), request.after.len()), (3, result.channels.len()));
    assert!(reply.before.is_empty() && reply.after.is_empty());
    let banks = || result.channels.iter().flat_map(|channel| &channel.banks);
    for bank in banks() {
        assert!(bank.stranded_switches <= bank.row_switches);
        assert!(bank.row_switches < bank.activations.max(1), "rows stay open: {bank:?}");
        assert!(bank.streak_breakers.iter().all(|&count| count <= bank.stranded_switches));
        assert!(bank.streak_breakers.iter().sum::<u64>() >= bank.stranded_switches);
    }
    assert!(banks().any(|bank| bank.stranded_switches > 0));
}

#[test]
fn row_streak_breakers_are_classified_by_origin() {
    // One channel: 64 KB from row to row of a bank; every second block of 256 bytes is in another
    // bank.
    let warp = |rows: &[u64]| -> Vec<Step> {
        let of = |block: u64| rows.iter().map(move |row| load(&[row * (64 << 10) + block * 512]));
        (0..12).flat_map(of).chain([exit()]).collect()
    };
    let breakers = |sms: &str, warps: Vec<Vec<Step>>| {
        let policies = ["policy.dram_scheduler=fcfs", "policy.warp_scheduler=lrr"];
        let machine = machine(&[&[sms, "dram.channels=1"], &policies[..]].concat());
        run(&machine, warps).0.channels[0].banks[0].streak_breakers
    };
    let two = || vec![warp(&[0]), warp(&[1])];
    // Twelve requests to each row, alternating: all switches but the last strand one.
    assert_eq!(breakers("sm.count=2", two()), [22, 0, 0]);
    assert_eq!(breakers("sm.count=1", two()), [0, 22, 0]);
    assert_eq!(breakers("sm.count=1", vec![warp(&[0, 1])]), [0, 0, 22]);
}

/// Without an L2 and with a FIFO per bank, banks serve rows in the order in which requests leave
/// the network.
#[test]
fn in_order_banks_serve_the_row_order_of_the_network() {
    let machine = machine(&[
        "sm.count=4",
        "l1.enabled=false",
        "l2.enabled=false",
        "l2.slices_per_channel=1",
        "policy.dram_scheduler=banked-fifo",
    ]);
    let warp = |seed: u64| -> Vec<Step> {
        let address = |n: u64| (seed % 3 + n * n % 5) * (128 << 10) + n * 128;
        (0..50).map(|n| load(&[address(n)])).chain([exit()]).collect()
    };
    let (result, _) = run(&machine, (0..16).map(warp).collect());
    let after = &result.networks[0].after;
    for (stream, channel) in after.iter().zip(&result.channels) {
        let requests = |bank: &BankResult| bank.row_hits + bank.row_misses + bank.row_conflicts;
        assert_eq!(stream.requests, channel.banks.iter().map(requests).sum::<u64>());
        let switches: u64 = channel.banks.iter().map(|bank| bank.row_switches).sum();
        assert!(switches > 100, "{switches}");
        let used = channel.banks.iter().filter(|bank| requests(bank) > 0).count() as u64;
        assert_eq!(stream.rows, switches + used);
    }
}

#[test]
fn a_long_activity_is_not_a_deadlock() {
    // The lanes of a warp at one address are serialised; meanwhile every unit is stepped in every
    // cycle.
    let machine = machine(&["l2.atomic_cycles=30000"]);
    let atomic = memory(Kind::Atomic, Space::Global, &[0; 32]).used_after(0);
    let kernel = TestKernel::new([vec![vec![atomic.clone(), atomic, exit()]]]);
    let trace = trace(&[kernel]);
    let simulation = Simulation::new(&machine, &trace).every_cycle();
    let result = simulation.run(&mut Rows::default()).unwrap();
    assert!(result.core_cycles > 32 * 30_000, "{}", result.core_cycles);
    assert!(result.steps > 1_000_000, "{}", result.steps);
}

#[test]
fn the_longest_channel_queues_work() {
    let overrides = [
        "dram.read_queue=32768",
        "dram.write_queue=32768",
        "dram.write_high_watermark=32768",
        "dram.write_low_watermark=1",
        "dram.banks=64",
        "dram.address.map=RoBaCo",
        "dram.address.interleave_bytes=256",
    ];
    let (result, _) = run(&machine(&overrides), (0..4).map(mixed_warp).collect());
    assert!(result.latency.total.count() > 0);
}

#[test]
fn the_widest_hashed_cache_works() {
    for index in ["xor", "ipoly"] {
        let index = format!("l2.cache.index={index}");
        let overrides = ["l2.cache.size_bytes=67108864", "l2.cache.ways=8", &index];
        let (result, _) = run(&machine(&overrides), (0..4).map(mixed_warp).collect());
        assert!(result.slices.iter().any(|slice| slice.cache.read_hits > 0), "{index}");
    }
}

#[test]
fn sms_with_blocked_miss_queues_sleep() {
    // Atomics hold the slices, so that the network and the L1 miss queues fill up with later loads.
    let machine = machine(&["l2.atomic_cycles=200", "network.input_buffer=1", "l2.queue=1"]);
    let warp = |warp: u64| -> Vec<Step> {
        let atomic = |n: u64| memory(Kind::Atomic, Space::Global, &[n % 4 * 128; 32]);
        let line = |n: u64| load(&[(1 << 20) + (warp * 40 + n) * 128]);
        (0..40).flat_map(|n| [atomic(n), line(n)]).chain([exit()]).collect()
    };
    let kernel = || trace(&[TestKernel::new([(0..8).map(warp).collect::<Vec<_>>()])]);
    let slept = Simulation::new(&machine, &kernel()).run(&mut Rows::default()).unwrap();
    assert!(slept.core_cycles > 100_000, "{}", slept.core_cycles);
    assert!(slept.steps < slept.core_cycles / 4, "{} steps", slept.steps);
    let kernel = kernel();
    let polled =
        Simulation::new(&machine, &kernel).every_cycle().run(&mut Rows::default()).unwrap();
    assert!(RunResult { steps: 0, ..slept } == RunResult { steps: 0, ..polled });
}

/// A kernel of `ctas` CTAs of `warps` warps.
fn mixed_kernel(ctas: u64, warps: u64) -> Trace {
    let cta = |cta: u64| (0..warps).map(|warp| mixed_warp(cta * warps + warp)).collect::<Vec<_>>();
    trace(&[TestKernel::new((0..ctas).map(cta).collect::<Vec<_>>())])
}

#[test]
fn the_balance_of_work_is_bounded_by_the_number_of_regions() {
    let trace = mixed_kernel(120, 4);
    let machine = load_machine("accelsim-qv100", &[]);
    let plain = Simulation::new(&machine, &trace).run(&mut Discard).unwrap();
    for regions in [1, 4] {
        let simulation = Simulation::new(&machine, &trace).threads(regions);
        let (result, balance) = simulation.run_measuring_balance().unwrap();
        assert!(result == plain, "{regions} regions");
        let (memory, core) = (balance.memory().unwrap(), balance.core().unwrap());
        let even = 1.0 / regions as f64;
        assert!(memory >= even && core >= even, "{regions} regions: {memory}, {core}");
        assert!(regions == 1 || memory < 0.9 && core < 0.9, "{regions} regions: {memory}, {core}");
        assert!(regions > 1 || memory == 1.0 && core == 1.0);
    }
}

#[test]
fn a_step_that_no_unit_asked_for_changes_nothing() {
    let trace = mixed_kernel(30, 6);
    for preset in ["li2015", "accelsim-qv100", "a100"] {
        let machine = load_machine(preset, &["sm.count=4"]);
        let simulation = || Simulation::new(&machine, &trace);
        let (result, asked) = simulation().run_counting_steps().unwrap();
        assert!(result == simulation().run(&mut Discard).unwrap(), "counting changes nothing");
        let (_, polled) = simulation().every_cycle().run_counting_steps().unwrap();
        let kinds = |steps: StepCounts| [steps.channels, steps.slices, steps.sms];
        for (asked, polled) in kinds(asked).into_iter().zip(kinds(polled)) {
            let busy = |steps: Steps| steps.all - steps.idle;
            assert_eq!(busy(asked), busy(polled), "{preset} {asked:?} {polled:?}");
            assert!(0 < busy(asked) && asked.idle < polled.idle, "{preset} {asked:?} {polled:?}");
        }
    }
}

fn load_machine(preset: &str, overrides: &[&str]) -> Machine {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    warpmem_machine::load(preset, &overrides).unwrap()
}
