//! Closed forms, and invariants of a network at any load.

use super::*;
use std::ops::ControlFlow;
use warpmem_machine::{Machine, load};
use warpmem_network::TOPOLOGIES;

/// Latency of router and link of the test's machine together.
const HOP: u64 = 5;

/// Returns a machine with buffers large enough not to limit it.
fn machine(overrides: &[&str]) -> Machine {
    let wires = [
        "network.router_latency=3",
        "network.link_latency=2",
        "network.output_buffer=512",
        "sm.count=12",
        "dram.channels=4",
        "l2.slices_per_channel=1",
    ];
    let overrides: Vec<String> = wires.iter().chain(overrides).map(|&o| o.to_owned()).collect();
    load("li2015", &overrides).unwrap()
}

const WINDOW: Window = Window { warmup: 500, cycles: 4000 };

fn setup(pattern: &str, flits: u64, window: Window) -> Setup {
    let nodes = (!pattern.contains("few")).then_some(16);
    Setup::new(&machine(&[]), pattern, nodes, flits, 1, window).unwrap()
}

/// A topology of routers.
const ROUTERS: &str = "crossbar(form=router)";

fn measure(setup: Setup, load: f64) -> Point {
    Curve::new(setup).unwrap().measure(load, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn at(pattern: &str, flits: u64, load: f64) -> Point {
    measure(setup(pattern, flits, WINDOW), load)
}

#[track_caller]
fn near(value: f64, expected: f64, within: f64) {
    assert!((value / expected - 1.0).abs() <= within, "{value} is not {expected} ± {within}");
}

#[test]
fn an_empty_network_takes_its_hop_and_the_flits() {
    for flits in [1, 5] {
        for pattern in ["uniform", "transpose", "many-to-few", "few-to-many"] {
            for topology in ["crossbar", ROUTERS] {
                let setup = setup(pattern, flits, WINDOW).with(topology, "round-robin");
                let point = measure(setup, 0.01);
                near(point.zero_load_latency(), (HOP + flits) as f64, 1e-12);
                assert_eq!(point.counts.latency.min(), Some(HOP + flits));
            }
        }
    }
}

/// By hand, from links between nodes of a mesh of 4 × 4, plus one router.
#[test]
fn zero_load_latency_is_weighted_by_the_pattern() {
    // 12 nodes to the next in their row, 3 to the first of the next row, and the last to the first
    // of all.
    let neighbor = (12.0 + 3.0 * 4.0 + 6.0) / 16.0;
    // Node 8 is the first of its row, the third: half of the packets go there, the others anywhere.
    let (corner, any) = (0.5 * (1.5 + 1.0), 0.5 * (1.25 + 1.25));
    let cases = [
        ("bit-complement", 4.0),
        ("uniform", 2.5),
        ("neighbor", neighbor),
        ("hotspot(fraction=0.5)", corner + any),
    ];
    for (pattern, links) in cases {
        let curve = Curve::new(setup(pattern, 1, WINDOW).with("mesh", "round-robin")).unwrap();
        let point = curve.measure(0.01, &mut |_| ControlFlow::Continue(())).unwrap();
        near(point.zero_load_latency(), (links + 1.0) * HOP as f64 + 1.0, 1e-9);
    }
}

/// Packets of a permutation never contend in a crossbar: all queueing is at the source. A packet
/// occupies the source for its flits, and waits for earlier packets of its own source: with one
/// flit per packet, for none.
#[test]
fn permutations_have_the_zero_load_latency() {
    let point = at("neighbor", 1, 0.9);
    assert_eq!(point.counts.latency.min(), Some(HOP + 1));
    assert_eq!(point.counts.latency.max(), Some(HOP + 1));
    assert_eq!((point.counts.wait, point.counts.missing), (0, 0));
    assert!(point.counts.generated > 50_000);
}

/// Packets of two flits from a Bernoulli process through a server of S = 2 cycles each: with p
/// packets per cycle the mean wait is p S (S - 1) / (2 (1 - p S)), M/D/1 in steps of cycles.
#[test]
fn a_source_is_a_queue_with_one_server() {
    let (load, service) = (0.6, 2.0);
    let window = Window { warmup: 2000, cycles: 40_000 };
    let point = measure(setup("neighbor", 2, window), load);
    let chance = load / service;
    let wait = chance * service * (service - 1.0) / (2.0 * (1.0 - load));
    let waited = point.counts.wait as f64 / point.counts.latency.count() as f64;
    near(waited, wait, 0.02);
    near(point.latency().unwrap(), wait + HOP as f64 + service, 0.01);
}

#[test]
fn below_saturation_everything_arrives() {
    for (pattern, load) in [("uniform", 0.3), ("many-to-few", 0.1), ("tornado", 0.9)] {
        let point = at(pattern, 1, load);
        near(point.generated(), load, 0.02);
        near(point.accepted(), point.generated(), 0.01);
        assert!(!point.is_saturated());
    }
}

/// Returns the flits that an output takes per cycle, for inputs that always have a packet for a
/// random one of `outputs` outputs; each output serves one packet per cycle.
fn head_of_line(inputs: usize, outputs: usize) -> f64 {
    const CYCLES: usize = 100_000;
    let mut random = warpmem_support::random::Random::new(9);
    let mut waiting = vec![0; outputs];
    let mut new = inputs;
    let mut served = 0;
    for _ in 0..CYCLES {
        (0..new).for_each(|_| waiting[random.below(outputs as u64) as usize] += 1);
        new = waiting.iter().filter(|&&count| count > 0).count();
        waiting.iter_mut().for_each(|count: &mut u32| *count = count.saturating_sub(1));
        served += new;
    }
    served as f64 / (outputs * CYCLES) as f64
}

#[test]
fn a_saturated_crossbar_reaches_the_head_of_line_limit() {
    let window = Window { warmup: 1000, cycles: 20_000 };
    // 12 SMs to 4 slices: each SM's share of the 4 flits per cycle that the outputs could take.
    let few = measure(setup("many-to-few", 1, window), 0.9);
    assert!(few.is_saturated());
    near(few.accepted() * 12.0 / 4.0, head_of_line(12, 4), 0.01);
    let uniform = measure(setup("uniform", 1, window), 0.9);
    near(uniform.accepted(), head_of_line(16, 16), 0.01);
}

#[test]
fn outputs_with_steady_requests_are_never_idle() {
    let point = at("hotspot(fraction=1)", 1, 0.5);
    assert_eq!(point.counts.accepted.iter().sum::<u64>(), WINDOW.cycles);
    assert_eq!(point.links.iter().max(), Some(&WINDOW.cycles));
    let one_slice = machine(&["dram.channels=1"]);
    let setup = Setup::new(&one_slice, "many-to-few", None, 3, 1, WINDOW).unwrap();
    let point = measure(setup, 0.2);
    near(point.accepted() * 12.0, 1.0, 1e-3);
    assert!(point.is_saturated());
}

#[test]
fn a_saturated_run_is_abandoned_without_a_latency() {
    let point = at("hotspot(fraction=1)", 1, 1.0);
    assert!(point.counts.missing > 0 && point.is_saturated());
    assert_eq!(
        point.counts.generated,
        16 * WINDOW.cycles,
        "including those that never entered the network"
    );
    assert_eq!(point.latency(), None);
    let row = |name: &str| {
        let columns = columns();
        columns.iter().find(|column| column.name == name).unwrap().json(&point)
    };
    for name in ["latency_p99", "latency_max", "wait_mean", "contention_mean"] {
        assert!(row(name).is_null(), "{name}");
    }
    assert_eq!(row("saturated"), "yes");
}

/// 40,000 packets: by more than 1 %, and by more than 800.
#[test]
fn saturation_needs_a_significant_shortfall() {
    let measured = at("neighbor", 1, 0.5);
    let saturated = |generated: u64, arrived: u64| {
        let accepted = vec![arrived / 2, arrived - arrived / 2];
        let counts = flow::Counts { generated, accepted, ..flow::Counts::default() };
        Point { counts: counts.into(), ..measured.clone() }.is_saturated()
    };
    assert!(!saturated(40_000, 39_200) && saturated(40_000, 39_199));
    assert!(!saturated(1_000_000, 990_000) && saturated(1_000_000, 989_999));
    assert!(!saturated(100, 61) && !saturated(100, 150) && !saturated(0, 0));
}

/// When the window ends, sources still send packets generated before it.
#[test]
fn queued_packets_of_the_window_are_awaited() {
    let window = Window { warmup: 1000, cycles: 100 };
    let point = measure(setup("hotspot(fraction=1)", 1, window), 0.2);
    assert!(point.is_saturated());
    assert_eq!((point.counts.missing, point.counts.latency.count()), (0, point.counts.generated));
    // 3.2 packets per cycle for an output that takes one.
    near(point.latency().unwrap(), 1050.0 * 2.2, 0.1);
}

#[test]
fn pattern_nodes_have_separate_inputs() {
    let shared = machine(&["network.sms_per_node=2"]);
    let setup = Setup::new(&shared, "neighbor", Some(16), 1, 1, WINDOW).unwrap();
    near(measure(setup, 1.0).accepted(), 1.0, 1e-9);
}

#[test]
fn the_parts_of_the_latency_sum_to_it() {
    for (pattern, flits, load) in [("uniform", 3, 0.4), ("many-to-few", 2, 0.25)] {
        let point = at(pattern, flits, load);
        let value = |name: &str| {
            let columns = columns();
            let column = columns.iter().find(|column| column.name == name).unwrap();
            column.json(&point).as_f64().unwrap()
        };
        let parts = ["wait_mean", "pipeline_mean", "serialisation_mean", "contention_mean"];
        near(parts.map(value).iter().sum(), value("latency_mean"), 1e-9);
        assert_eq!(
            (value("pipeline_mean"), value("serialisation_mean")),
            (HOP as f64, flits as f64)
        );
        assert!(value("wait_mean") > 0.0);
        // In one stage a packet waits at its source only.
        assert_eq!(value("contention_mean"), 0.0);
    }
}

#[test]
fn links_carry_what_is_accepted() {
    for topology in ["crossbar", ROUTERS] {
        let point = measure(setup("uniform", 1, WINDOW).with(topology, "round-robin"), 0.4);
        let accepted = point.accepted() * 16.0 * WINDOW.cycles as f64;
        let carried: u64 = point.links.iter().sum();
        near(carried as f64, 2.0 * accepted, 0.001);
    }
}

/// Below saturation, in every topology: all packets arrive, no earlier than alone, and links carry
/// the hops.
#[test]
fn every_topology_carries_a_light_load() {
    let machine = machine(&["network.virtual_channels=2"]);
    let setup = Setup::new(&machine, "uniform", Some(16), 2, 1, WINDOW).unwrap();
    for topology in TOPOLOGIES.names() {
        // Hops are counted by their time, so links between partitions take none.
        let topology = match topology {
            "partitioned-crossbar" => "partitioned-crossbar(link_latency=0)",
            other => other,
        };
        let point = measure(setup.with(topology, "round-robin"), 0.1);
        let counts = &point.counts;
        assert!(!point.is_saturated() && counts.missing == 0, "{topology}");
        near(point.accepted(), point.generated(), 0.01);
        let latency = point.latency().unwrap();
        let least = counts.latency.min().unwrap();
        assert!(least >= HOP + 2 && latency < 1.5 * point.zero_load_latency(), "{topology}");
        assert!(counts.latency.sum() as u64 >= counts.wait + counts.zero_load, "{topology}");
        // Each hop is a link, and so is the path from the source.
        let hops = (point.zero_load_latency() - 2.0) / HOP as f64;
        let flits = point.accepted() * 16.0 * WINDOW.cycles as f64;
        let carried: u64 = point.links.iter().sum();
        if topology != "ideal" {
            near(carried as f64, flits * (hops + 1.0), 0.03);
        }
    }
}

/// Packets that contend for outputs behind virtual channels wait in the network, not at the source.
#[test]
fn contention_is_distinguished_from_waiting_at_the_source() {
    let deep = machine(&["network.virtual_channels=16", "network.vc_buffer=64"]);
    let setup = Setup::new(&deep, "uniform", Some(16), 1, 1, WINDOW).unwrap();
    let point = measure(setup.with(ROUTERS, "round-robin"), 0.5);
    let counts = &point.counts;
    let contention = counts.latency.sum() as u64 - counts.wait - counts.zero_load;
    assert!(
        counts.wait == 0 && contention > counts.latency.count(),
        "{} {contention}",
        counts.wait
    );
    near(counts.zero_load as f64, (counts.latency.count() * (HOP + 1)) as f64, 1e-12);
}

#[test]
fn draws_are_reproducible_by_seed() {
    let run = |seed| {
        let machine = machine(&[]);
        let setup = Setup::new(&machine, "uniform", Some(16), 1, seed, WINDOW).unwrap();
        let point = measure(setup, 0.4);
        (point.counts.latency.clone(), point.counts.accepted.clone(), point.links)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// The load changes the times of packets, and nothing else of them.
#[test]
fn all_loads_and_networks_receive_the_same_packets() {
    let generated = |arbiter: &str| {
        measure(setup("uniform", 1, WINDOW).with("crossbar", arbiter), 0.4).counts.generated
    };
    assert_eq!(generated("round-robin"), generated("round-robin"));
    assert_eq!(at("transpose", 1, 0.4).counts.generated, generated("round-robin"));
}

#[test]
fn unequal_sources_have_a_lower_fairness() {
    let fairness = |point: &Point| {
        let columns = columns();
        let column = columns.iter().find(|column| column.name == "fairness").unwrap();
        column.json(point).as_f64().unwrap()
    };
    let point = at("neighbor", 1, 1.0);
    assert_eq!(fairness(&point), 1.0);
    let mut counts = flow::Counts { accepted: vec![0; 16], ..flow::Counts::default() };
    counts.accepted[3] = 70;
    assert_eq!(fairness(&Point { counts: counts.into(), ..point }), 1.0 / 16.0);
}

#[test]
fn a_curve_has_a_summary() {
    let curve = Curve::new(setup("uniform", 1, WINDOW)).unwrap();
    let points: Vec<Point> = [0.1, 0.3, 0.5, 0.55, 0.8, 1.0]
        .into_iter()
        .map(|load| curve.measure(load, &mut |_| ControlFlow::Continue(())).unwrap())
        .collect();
    let whole = summary(&points);
    assert_eq!((whole.carried, whole.saturated), (Some(0.55), Some(0.8)));
    let most = points.iter().map(Point::accepted).fold(0.0, f64::max);
    assert_eq!(whole.throughput, most);
    let first = summary(&points[..1]);
    assert_eq!((first.carried, first.saturated), (Some(0.1), None));
    assert_eq!(summary(&points[4..]).carried, None);
}

#[test]
fn the_high_latency_load_is_interpolated() {
    let measured = at("neighbor", 1, 0.5);
    let point = |load: f64, latency: u64, missing: u64| {
        let mut counts = flow::Counts { missing, ..flow::Counts::default() };
        counts.latency.record(latency);
        Point { load, zero_load: 10.0, counts: counts.into(), ..measured.clone() }
    };
    let high = |points: &[Point]| summary(points).high_latency;
    let points = [point(0.1, 11, 0), point(0.2, 20, 0), point(0.4, 40, 0)];
    near(high(&points).unwrap(), 0.3, 1e-9);
    assert_eq!(high(&points[..2]), None);
    assert_eq!(high(&[point(0.1, 11, 0), point(0.2, 90, 1)]), None, "saturated");
}

#[test]
fn impossible_options_are_refused() {
    let error = |setup: Setup, load| {
        let curve = Curve::new(setup);
        let point = curve.and_then(|curve| curve.measure(load, &mut |_| ControlFlow::Break(())));
        point.unwrap_err().to_string()
    };
    let usual = || setup("uniform", 1, WINDOW);
    for load in [0.0, -1.0, 1.1, f64::NAN] {
        assert!(error(usual(), load).contains("above 0 and at most 1"));
    }
    assert!(
        error(usual().with("crosbar", "round-robin"), 0.1).contains("did you mean `crossbar`?")
    );
    assert!(error(usual().with("crossbar", "round-robbin"), 0.1).contains("round-robin"));
    assert!(error(usual(), 0.1).contains("stopped before the end"));
    let setup = |flits, window| {
        Setup::new(&machine(&[]), "uniform", None, flits, 1, window).unwrap_err().to_string()
    };
    assert!(setup(0, WINDOW).contains("`packet-flits` = 0"));
    assert!(setup(1, Window { cycles: 0, ..WINDOW }).contains("`cycles` = 0"));
    assert!(setup(1, Window { warmup: u64::MAX, ..WINDOW }).contains("`warmup`"));
}
