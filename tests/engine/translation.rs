//! Address translation in whole machines.

use crate::recording::Everything;
use crate::trace::{Kernel, NO_REFRESH, Step, loads, machine, mixed, run, write};
use warpmem::dram::checker::check;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{AccessKind, Discard, RequestRow, RunResult, TlbCounts};
use warpmem::translation::scheduler::WALK_SCHEDULERS;
use warpmem_testing::is_sampled;
use warpmem_trace::Kind;

/// One clock for all domains, so that latencies add up, and every load of a walk of 60 cycles.
const CLOSED: [&str; 18] = [
    "clocks.core_mhz=1000",
    "clocks.network_mhz=1000",
    "clocks.l2_mhz=1000",
    "clocks.dram_mhz=1000",
    "vm.enabled=true",
    "vm.page_bytes=4096",
    "vm.levels=3",
    "vm.walk.memory=false",
    "vm.walk.latency=60",
    "vm.walk.cache_entries=0",
    "vm.l1.entries=32",
    "vm.l2.latency=30",
    "vm.l2.link_latency=20",
    "vm.l2.entries=1024",
    "vm.l2.pages_per_entry=1",
    "vm.l2.lookups_per_cycle=1",
    "vm.l2.warm=false",
    "run.page_offset=0",
];

/// From a miss in the first-level TLB through a hit in the second-level TLB to the next cycle after
/// the fill.
const ASKED: u64 = 20 + 30 + 20 + 1;
/// A walk of three levels.
const WALK: u64 = 3 * 60;

fn result(overrides: &[&str], kernel: &Kernel) -> RunResult {
    let overrides = [&CLOSED[..], &NO_REFRESH[..], overrides].concat();
    run(&machine("v100", &overrides), &write(std::slice::from_ref(kernel)).trace)
}

/// Returns the cycles that translation adds to a run.
fn added(overrides: &[&str], kernel: &Kernel) -> u64 {
    let without = result(&["vm.enabled=false"], kernel).core_cycles;
    result(overrides, kernel).core_cycles - without
}

fn tlb(result: &RunResult) -> TlbCounts {
    let mut sum = TlbCounts::default();
    result.sms.iter().for_each(|sm| warpmem::sim::Total::add(&mut sum, &sm.tlb));
    sum
}

/// One warp that loads a sector of each of these pages.
fn sectors(pages: &[u64]) -> Kernel {
    let pages = pages.to_vec();
    loads([1, 1, pages.len()], move |_, step, _| pages[step as usize] * 4096)
}

#[test]
fn a_miss_adds_its_walk_and_a_hit_nothing() {
    assert_eq!(added(&[], &sectors(&[7])), ASKED + WALK);
    // Two instructions with a line each, of which the second merges.
    let two = loads([1, 1, 2], |_, step, lane| 128 * step + 4 * lane);
    let run = result(&[], &two);
    assert_eq!(
        tlb(&run),
        TlbCounts {
            instructions: 2,
            pages: 2,
            lookups: 2,
            hits: 0,
            misses: 1,
            held_requests: 8,
            ..tlb(&run)
        }
    );
}

#[test]
fn the_latency_of_the_tlb_is_that_of_its_hits() {
    let miss = sectors(&[7]);
    let of =
        |latency, kernel| added(&[latency, "sm.cta_dispatch_permille=1", "sm.count=1"], kernel);
    assert_eq!(of("vm.l1.latency=0", &miss), of("vm.l1.latency=9", &miss), "it pays for its walk");
    // The second CTA starts when the walk of the first is over, and ends the run.
    let hit = loads([2, 1, 1], |warp, _, _| 128 * warp);
    assert_eq!(of("vm.l1.latency=9", &hit) - of("vm.l1.latency=0", &hit), 9);
}

#[test]
fn a_second_sm_finds_the_translation_in_the_shared_tlb() {
    // CTA 1 runs on another SM and starts long after the walk of CTA 0.
    let kernel = loads([2, 1, 1], |_, _, _| 0);
    let run = result(&["sm.cta_dispatch_permille=1"], &kernel);
    assert_eq!((run.translation.lookups, run.translation.hits, run.translation.walks), (2, 1, 1));
    let ends: Vec<u64> =
        run.sms.iter().map(|sm| sm.tlb.held_cycles).filter(|&held| held > 0).collect();
    assert_eq!(ends, [ASKED + WALK, ASKED]);
}

#[test]
fn a_tlb_of_a_group_is_asked_on_the_way_to_the_second_level() {
    let keys = ["vm.group.sms=2", "vm.group.latency=7", "vm.group.link_latency=3"];
    let grouped = 3 + 7 + 3;
    assert_eq!(added(&keys, &sectors(&[7])), ASKED + grouped + WALK);
    // CTA 1 runs on the other SM of the group and starts long after the walk of CTA 0.
    let run = result(
        &[&keys[..], &["sm.cta_dispatch_permille=1"]].concat(),
        &loads([2, 1, 1], |_, _, _| 0),
    );
    assert_eq!((run.translation.group_lookups, run.translation.group_hits), (2, 1));
    let held: Vec<u64> =
        run.sms.iter().map(|sm| sm.tlb.held_cycles).filter(|&held| held > 0).collect();
    assert_eq!(held, [ASKED + grouped + WALK, grouped + 1]);
}

/// The cost of a miss that hits in the next level, and the reach of the first level, as in the
/// published latency curves (docs/lab/translation.md).
#[test]
fn chips_translate_as_measured() {
    for (name, cost, reach) in [
        ("v100", 9, 32 << 20),
        ("a100", 10, 32 << 20),
        ("h100", 10, 256 << 20),
        ("h200", 10, 256 << 20),
        ("b200", 10, 256 << 20),
        ("l40s", 10, 32 << 20),
        ("rtx4090", 10, 32 << 20),
        ("rtx3070", 10, 32 << 20),
        ("rtx2060s", 10, 32 << 20),
    ] {
        let chip = machine(name, &["policy.ideal=perfect-l2"]);
        let vm = &chip.vm;
        let pages = u64::from(vm.l1.entries * vm.l1.pages_per_entry);
        assert_eq!(pages * u64::from(vm.page_bytes), reach, "{name}");
        let trace = write(&[loads([1, 1, 1], |_, _, _| 0)]);
        let translated = run(&chip, &trace.trace);
        let without = machine(name, &["policy.ideal=perfect-l2", "vm.enabled=false"]);
        let without = run(&without, &trace.trace);
        let found = translated.core_cycles - without.core_cycles;
        // Clocks of domains differ.
        assert!(found.abs_diff(cost) <= 1, "{name}: {found}");
        assert_eq!((translated.translation.hits, translated.translation.walks), (1, 0), "{name}");
    }
}

#[test]
fn loads_of_walks_are_recorded_as_requests() {
    let machine =
        machine("v100", &[&CLOSED[..], &NO_REFRESH[..], &["vm.walk.memory=true"]].concat());
    let trace = write(&[mixed(4, 5, 1 << 22)]);
    let mut record = Everything::of(1000);
    let result = Simulation::new(&machine, &trace.trace).run(&mut record).unwrap();
    let walks: Vec<&RequestRow> =
        record.requests.iter().filter(|row| row.kind == AccessKind::Walk).collect();
    assert_eq!(walks.len() as u64, result.translation.loads);
    let offchip = walks.iter().filter(|row| row.dram.is_some()).count();
    assert_eq!(offchip as u64, result.translation.offchip_loads);
    let link = u64::from(machine.vm.walk.link_latency) * machine.clocks.periods().network;
    for row in walks {
        assert_eq!(row.requester, None);
        assert_eq!(row.created, row.l1_missed);
        assert!(row.l2_arrived >= row.created + link && row.l2_served >= row.l2_arrived, "{row:?}");
        assert!(row.replied >= row.l2_served && row.returned >= row.replied + link, "{row:?}");
    }
}

/// Loads of walks go before the requests of SMs at the channels, and change nothing else.
#[test]
fn the_scheduler_mask_serves_loads_of_walks_first() {
    let trace = write(&[mixed(30, 20, 1 << 46)]);
    let [plain, mask] =
        ["policy.dram_scheduler=fr-fcfs", "policy.dram_scheduler=mask"].map(|scheduler| {
            // Ever new entries of one level.
            let keys = ["vm.enabled=true", "vm.levels=1", "vm.walk.walkers=64", scheduler];
            run(&machine("li2015", &keys), &trace.trace)
        });
    let wait = |run: &RunResult| run.translation.walk_cycles as f64 / run.translation.walks as f64;
    assert!(wait(&mask) < 0.98 * wait(&plain), "{} {}", wait(&mask), wait(&plain));
}

#[test]
fn levels_that_hit_less_than_data_bypass_the_l2() {
    // Lines that another SM has read, and walks over ever new entries of the last level.
    let trace = write(&[loads([30, 4, 80], |warp, step, lane| match step % 2 {
        0 => 128 * step + 4 * lane,
        _ => (warp * 80 + step) * (512 << 12),
    })]);
    let of = |bypass| {
        let keys = ["vm.enabled=true", "vm.page_bytes=4096", "vm.walk.cache_entries=0", bypass];
        run(&machine("li2015", &keys), &trace.trace).translation
    };
    assert_eq!(of("vm.walk.l2_bypass=false").bypassing_loads, 0);
    let bypassed = of("vm.walk.l2_bypass=true");
    assert!(bypassed.bypassing_loads > bypassed.loads / 8, "{bypassed:?}");
}

#[test]
fn walks_of_an_instruction_overlap_up_to_the_number_of_walkers() {
    let spread = loads([1, 1, 1], |_, _, lane| lane / 8 * 4096 + 4 * lane);
    let one = added(&["vm.walk.walkers=1"], &spread);
    let all = added(&["vm.walk.walkers=4"], &spread);
    // The last of eight sectors leaves L1 some cycles after the first.
    let of = |walks| ASKED + walks * WALK - 4..=ASKED + walks * WALK + 4;
    assert!(of(4).contains(&one) && of(1).contains(&all), "{one}, {all}");
}

/// A load of four pages, one walker: the waits of the pages grow by a walk each.
#[test]
fn translation_diverges_by_the_walks_between_the_first_page_and_the_last() {
    let spread = loads([1, 1, 1], |_, _, lane| lane / 8 * 4096 + 4 * lane);
    for (before, slack) in [("vm.l1.before_l1=true", 0), ("vm.l1.before_l1=false", 4)] {
        let of = |walkers| {
            let overrides = [&CLOSED[..], &NO_REFRESH[..], &[before, walkers]].concat();
            let mut record = Everything::but_requests(1000);
            let trace = write(std::slice::from_ref(&spread));
            Simulation::new(&machine("v100", &overrides), &trace.trace).run(&mut record).unwrap();
            u64::from(record.loads[0].translation_divergence.unwrap())
        };
        let serial = of("vm.walk.walkers=1");
        assert!(serial.abs_diff(3 * WALK) <= slack, "{before}: {serial}");
        assert!(of("vm.walk.walkers=4") <= 3 + slack, "{before}: walks overlap");
    }
    assert_eq!(result(&[], &sectors(&[7])).loads.translation_divergent, 0, "one page");
}

#[test]
fn loads_of_walks_take_the_way_to_the_l2_and_back() {
    let through = |levels: &str| {
        added(&["vm.walk.memory=true", levels, "policy.ideal=perfect-l2"], &sectors(&[7]))
    };
    let [one, two, five] = ["vm.levels=1", "vm.levels=2", "vm.levels=5"].map(through);
    assert_eq!(five - one, 4 * (two - one));
    let slower = added(
        &[
            "vm.walk.memory=true",
            "vm.levels=2",
            "policy.ideal=perfect-l2",
            "vm.walk.link_latency=27",
        ],
        &sectors(&[7]),
    );
    assert_eq!(slower - two, 2 * 2 * 7, "two loads over a link that is 7 cycles longer each way");
}

#[test]
fn walks_miss_in_the_l2_once_and_hit_later() {
    // 64 pages whose entries are in 16 sectors.
    let pages: Vec<u64> = (0..64).collect();
    let run = result(
        &["vm.walk.memory=true", "vm.walk.cache_entries=4", "vm.walk.walkers=1"],
        &sectors(&pages),
    );
    let translation = &run.translation;
    assert_eq!((translation.walks, translation.loads), (64, 64 + 2));
    assert!((16..=20).contains(&translation.offchip_loads), "{translation:?}");
}

/// Two dependent loads of eight pages, which miss, then hit: with two ports, the last page of each is looked up three
/// cycles after the first.
#[test]
fn before_l1_the_ports_bound_the_lookups_of_a_cycle() {
    let mut kernel = loads([1, 1, 2], |_, step, lane| lane / 4 * 4096 + 4 * lane + 128 * step);
    for step in kernel.ctas.iter_mut().flatten().flatten() {
        let Step::Memory(access) = step else { continue };
        (access.dest, access.source) = (Some(1), Some(1));
    }
    let keys = |ports| {
        let wide = "vm.l2.lookups_per_cycle=8";
        ["vm.l1.before_l1=true", "policy.ideal=perfect-l2", wide, ports]
    };
    let cycles = |ports| result(&keys(ports), &kernel).core_cycles;
    let all = cycles("vm.l1.ports=8");
    assert_eq!(cycles("vm.l1.ports=32"), all);
    assert_eq!(cycles("vm.l1.ports=2") - all, 2 * 3);
    assert_eq!(cycles("vm.l1.ports=1") - all, 2 * 7);
}

/// Every line is written whole, and evicted dirty: no other request leaves L1.
#[test]
fn write_backs_of_l1_are_not_translated() {
    let mut kernel = loads([1, 1, 400], |_, step, lane| step * 4096 + 128 * (step % 32) + 4 * lane);
    for step in kernel.ctas.iter_mut().flatten().flatten() {
        let Step::Memory(access) = step else { continue };
        access.kind = Kind::Store;
    }
    let keys = [
        "vm.enabled=true",
        "vm.page_bytes=4096",
        "vm.l1.entries=1",
        "l1.cache.write=write-back",
        "l1.cache.write_allocate=fetch-on-write",
    ];
    let run = run(&machine("li2015", &keys), &write(&[kernel]).trace);
    let written: u64 = run.sms.iter().map(|sm| sm.l1.writebacks).sum();
    assert!(written > 100, "{written} lines");
    assert_eq!(tlb(&run).lookups, 0);
}

#[test]
fn before_l1_an_instruction_waits_for_all_its_pages() {
    let spread = loads([1, 1, 2], |_, _, lane| lane / 8 * 4096 + 4 * lane);
    let before = result(&["vm.l1.before_l1=true"], &spread);
    let after = result(&[], &spread);
    // The second instruction hits in L1, so only the first is looked up after it.
    assert_eq!((tlb(&before).lookups, tlb(&before).hits), (8, 4));
    assert_eq!(tlb(&before).misses, tlb(&after).misses);
    assert_eq!(tlb(&before).held_requests, 0);
    let kernel = sectors(&[7]);
    // Its sectors enter L1 in the cycle of the fill.
    assert_eq!(added(&["vm.l1.before_l1=true"], &kernel), ASKED - 1 + WALK);
}

#[test]
fn a_small_tlb_thrashes_without_an_end_to_progress() {
    let spread = loads([2, 8, 6], |warp, step, lane| (lane + 32 * (warp + step)) * 4096);
    for before in ["vm.l1.before_l1=true", "vm.l1.before_l1=false"] {
        let keys = [
            "vm.l1.entries=1",
            "vm.l1.misses=1",
            "vm.l1.waiting=1",
            "vm.l2.entries=1",
            "vm.l2.ways=1",
            "vm.l2.misses=1",
            before,
        ];
        let run = result(&keys, &spread);
        assert!(run.translation.walks > 100, "{:?}", run.translation);
    }
}

#[test]
fn fragmentation_moves_pages_and_keeps_the_counts_of_translation() {
    let kernel = mixed(8, 6, 1 << 20);
    let place = |key| result(&[key, "vm.walk.walkers=64"], &kernel);
    let (near, far) = (place("vm.fragmentation=false"), place("vm.fragmentation=true"));
    assert_eq!(tlb(&near).pages, tlb(&far).pages);
    let rows = |run: &RunResult| {
        run.channels.iter().flat_map(|c| &c.banks).map(|b| b.activations).sum::<u64>()
    };
    assert_ne!(rows(&near), rows(&far));
    assert_eq!(far.fingerprint(), place("vm.fragmentation=true").fingerprint());
    let other = result(&["vm.fragmentation=true", "vm.seed=2", "vm.walk.walkers=64"], &kernel);
    assert_ne!(far.fingerprint(), other.fingerprint());
}

/// Every walk scheduler with every DRAM scheduler: the commands are legal, every cycle and threads
/// change nothing.
#[test]
fn walks_obey_dram_under_all_pairs_of_schedulers() {
    let trace = write(&[mixed(4, 5, 1 << 22)]);
    for (row, walks) in WALK_SCHEDULERS.names().enumerate() {
        for (column, scheduler) in SCHEDULERS.names().enumerate() {
            if !is_sampled(row, column, 5) {
                continue;
            }
            let keys = [
                "sm.count=4",
                "network.memory_nodes=[]",
                "vm.enabled=true",
                "vm.page_bytes=4096",
                "vm.walk.walkers=2",
                &format!("policy.walk_scheduler={walks}"),
                &format!("policy.dram_scheduler={scheduler}"),
            ];
            let machine = machine("li2015", &keys);
            let simulation = || Simulation::new(&machine, &trace.trace);
            let (run, commands) = simulation().run_with_commands().unwrap();
            for log in &commands {
                assert_eq!(check(&machine.dram, log), [], "{walks}, {scheduler}");
            }
            let polled = simulation().every_cycle().run(&mut Discard).unwrap();
            assert_eq!(run.fingerprint(), RunResult { steps: run.steps, ..polled }.fingerprint());
            let threads = simulation().threads(3).run(&mut Discard).unwrap();
            assert_eq!(run.fingerprint(), threads.fingerprint(), "{walks}, {scheduler}");
            assert!(run.translation.walks > 100, "{:?}", run.translation);
        }
    }
}
