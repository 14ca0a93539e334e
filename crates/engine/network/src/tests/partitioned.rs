//! Crossbars of partitions that are joined by links.

use super::rig::{Outcome, Packet, Readers, Rig, read, write};
use crate::Direction::{Reply, Request as Down};
use crate::tests::spec::spec;
use crate::{
    Direction, LinkEnd, LinkResult, NetworkContext, NetworkPolicies, NetworkResult, NetworkSpec,
    Placement, TOPOLOGIES, Topology,
};
use warpmem_sim::{Clock, Context, NetworkCycle, PortId};
use warpmem_support::random::Random;

const WIRES: [&str; 2] = ["network.flit_bytes=32", "network.header_bytes=8"];
/// Flits of a header, and of one with 128 bytes.
const SIZES: [u64; 2] = [1, 5];

fn network(topology: &str, overrides: &[&str]) -> NetworkSpec {
    spec(&[&WIRES[..], &[&format!("topology={topology}")], overrides].concat())
}

/// Returns the partition of an SM, and of one of `slices`, out of `partitions`.
fn of_sm(sm: usize, partitions: usize) -> usize {
    sm % partitions
}

fn of_slice(slice: usize, slices: usize, partitions: usize) -> usize {
    slice * partitions / slices
}

#[test]
fn a_far_packet_takes_two_switches_and_the_link_and_a_near_one_a_switch() {
    let slices = 6;
    // The last case has partitions without SMs.
    for (sms, partitions, link, router, behind) in [
        (7, 1, 9, 2, 1),
        (7, 2, 0, 1, 0),
        (7, 2, 40, 1, 0),
        (7, 2, 7, 3, 2),
        (7, 3, 11, 1, 2),
        (7, 6, 5, 2, 0),
        (2, 6, 5, 2, 0),
    ] {
        let name = format!(
            "partitioned-crossbar(partitions={partitions},link_latency={link},link_width=2)"
        );
        let keys = [
            format!("network.router_latency={router}"),
            format!("network.link_latency={behind}"),
            format!("sms={sms}"),
            "channels=3".to_owned(),
        ];
        let spec = network(&name, &keys.each_ref().map(String::as_str));
        for direction in [Down, Reply] {
            let [inputs, outputs] = if direction == Down { [sms, slices] } else { [slices, sms] };
            let placement = Some(Placement::of(&spec, direction));
            let rig = Rig { placement, ..Rig::new(&spec, direction) };
            let pairs = (0..inputs).flat_map(|a| (0..outputs).map(move |b| (a, b)));
            let pairs: Vec<(usize, usize)> = pairs.collect();
            for make in [read, write] {
                let sent = |n: usize| 200 * n as u64;
                let packet = |(n, &(a, b)): (usize, &(usize, usize))| make(a, sent(n), b as u16);
                let packets: Vec<Packet> = pairs.iter().enumerate().map(packet).collect();
                let Outcome { arrived, result } = rig.run(&packets);
                let is_data = (make(0, 0, 0).kind == write(0, 0, 0).kind) == (direction == Down);
                let flits = SIZES[usize::from(is_data)];
                let ways = pairs.iter().map(|&(a, b)| {
                    let (sm, slice) = if direction == Down { (a, b) } else { (b, a) };
                    let near = of_sm(sm, partitions) == of_slice(slice, slices, partitions);
                    if near { router + behind } else { 2 * (router + behind) + link }
                });
                let ways: Vec<u64> = ways.collect();
                for (cycle, number) in arrived {
                    let taken = cycle - sent(number);
                    assert_eq!(taken, ways[number] + flits, "{name} {direction:?} {number}");
                }
                assert_eq!(result.pipeline_cycles, ways.iter().sum::<u64>());
                assert_eq!([result.wait_cycles, result.contention_cycles], [0, 0]);
                let far = ways.iter().filter(|&&way| way > router + behind).count();
                assert_eq!(result.hops as usize, pairs.len() + far);
            }
        }
    }
}

/// Returns random traffic of bursts to random outputs.
fn traffic(seed: u64, inputs: usize, outputs: usize) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let mut cycle = 0;
    let packet = |_| {
        cycle += random.below(20) / 19 * random.below(60);
        let among = if random.below(3) == 0 { 1 } else { outputs as u64 };
        let make = if random.below(2) == 0 { read } else { write };
        make(random.below(inputs as u64) as usize, cycle, random.below(among) as u16)
    };
    (0..900).map(packet).collect()
}

#[test]
fn one_partition_is_a_crossbar() {
    for (seed, arbiter) in (0..).zip(["round-robin", "hold-grant", "oldest-first", "random"]) {
        let rule = format!("arbiter={arbiter}");
        let [whole, parted] = ["crossbar", "partitioned-crossbar(partitions=1)"].map(|topology| {
            let spec = network(topology, &[&rule, "network.input_speedup=3"]);
            let readers = Readers::Sporadic { seed };
            let rig = Rig { entries: 3, readers, ..Rig::all_to_all(&spec, 9) };
            rig.run(&traffic(seed, 9, 9))
        });
        assert_eq!(whole.arrived, parted.arrived, "{arbiter}");
        // Contention is counted within a single switch only.
        let whole = NetworkResult { crowded: Vec::new(), ..whole.result };
        assert_eq!(whole, parted.result, "{arbiter}");
    }
}

/// A network that is stepped in every cycle while anything is in it.
struct SteppedEveryCycle(Box<dyn Topology>);

impl Topology for SteppedEveryCycle {
    fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let next = self.0.step(cycle, ctx);
        let is_busy = next.is_some() || !self.0.describe().is_empty();
        is_busy.then_some(cycle + 1)
    }

    fn so_far(&self, cycles: u64) -> NetworkResult {
        self.0.so_far(cycles)
    }

    fn finish(&mut self, cycles: u64) -> NetworkResult {
        self.0.finish(cycles)
    }

    fn links(&self) -> Vec<LinkResult> {
        self.0.links()
    }

    fn describe(&self) -> Vec<String> {
        self.0.describe()
    }
}

#[test]
fn extra_steps_change_nothing() {
    let shapes = ["link_width=1", "link_width=3,link_latency=0", "partitions=4,link_latency=13"];
    let buffers =
        ["network.output_buffer=1", "network.output_buffer=2", "network.output_buffer=50"];
    let rules = ["arbiter=round-robin", "arbiter=hold-grant", "arbiter=random"];
    let mut seed = 0;
    for shape in shapes {
        for buffer in buffers {
            for rule in rules {
                for speedup in ["network.input_speedup=1", "network.input_speedup=64"] {
                    seed += 1;
                    let name = format!("partitioned-crossbar({shape})");
                    let spec = network(&name, &[buffer, rule, speedup]);
                    let readers = Readers::Sporadic { seed };
                    let rig = || Rig { entries: 2, readers, ..Rig::all_to_all(&spec, 10) };
                    let packets = traffic(seed, 10, 10);
                    let build =
                        |context: &NetworkContext| TOPOLOGIES.build(&name, context).unwrap();
                    let quiet = rig().run_over(&packets, build);
                    let stepped = rig()
                        .run_over(&packets, |context| Box::new(SteppedEveryCycle(build(context))));
                    assert_eq!(quiet.arrived, stepped.arrived, "{shape} {buffer} {rule}");
                    let result = NetworkResult { cycles: quiet.result.cycles, ..stepped.result };
                    assert_eq!(quiet.result, result, "{shape} {buffer} {rule}");
                }
            }
        }
    }
}

/// Returns the flits that arrive per cycle, between cycles 200 and 600, from 16 SMs that send one
/// per cycle to the slices that `target` gives for each SM and packet.
fn accepted(topology: &str, target: impl Fn(usize, usize) -> usize) -> f64 {
    let spec = network(topology, &["network.output_buffer=512", "network.router_latency=1"]);
    let packets: Vec<Packet> =
        (0..16 * 700).map(|n| read(n % 16, 0, target(n % 16, n / 16) as u16)).collect();
    let rig = Rig { entries: 2000, ..Rig::all_to_all(&spec, 16) };
    let arrived = rig.run(&packets).arrived;
    arrived.iter().filter(|(cycle, _)| (200..600).contains(cycle)).count() as f64 / 400.0
}

#[test]
fn only_far_packets_share_the_width_of_the_links() {
    // SM n is in partition n % 2, and slices 0 to 7 are in partition 0. Eight SMs send to eight
    // slices, a different one in each cycle.
    let near = |sm: usize, step: usize| sm % 2 * 8 + (sm / 2 + step) % 8;
    let far = |sm: usize, step: usize| (sm + 1) % 2 * 8 + (sm / 2 + step) % 8;
    for width in [1, 2, 4, 8] {
        let topology = format!("partitioned-crossbar(link_latency=30,link_width={width})");
        assert_eq!(accepted(&topology, near), 16.0, "{width}");
        // The same width in each of the two directions.
        assert_eq!(accepted(&topology, far), 2.0 * width as f64, "{width}");
    }
}

#[test]
fn a_link_holds_the_packets_of_a_port_including_those_in_flight() {
    // One SM sends to one far slice. An entry is free in the cycle after its packet has left the
    // end of the link, whichever of the two switches is stepped first.
    let ways = [(0, 3), (1, 0)];
    let cases = [(1, 0), (1, 20), (3, 20), (25, 20)];
    for ((sm, slice), (entries, link)) in
        ways.into_iter().flat_map(|way| cases.map(|case| (way, case)))
    {
        let topology = format!("partitioned-crossbar(link_latency={link})");
        let buffer = format!("network.output_buffer={entries}");
        let spec = network(
            &topology,
            &[&buffer, "network.router_latency=2", "network.link_latency=0", "sms=2"],
        );
        let packets = [read(sm, 0, slice); 100];
        let rig = Rig { placement: Some(Placement::of(&spec, Down)), ..Rig::new(&spec, Down) };
        let arrivals = rig.arrivals(&packets);
        let held = 2 + link + 1;
        for n in 0..packets.len() as u64 {
            let sent = (n / entries * held.max(entries)) + n % entries;
            assert_eq!(arrivals[n as usize], sent + 2 + link + 2 + 1, "{entries} {link}: {n}");
        }
    }
}

#[test]
fn every_flit_of_a_far_packet_is_counted_on_one_link_between_the_partitions() {
    let spec = network("partitioned-crossbar(link_width=3)", &["network.output_buffer=2"]);
    let packets = traffic(77, 8, 8);
    let result = Rig::all_to_all(&spec, 8).run(&packets).result;
    let flits = |p: &Packet| SIZES[usize::from(p.kind == write(0, 0, 0).kind)];
    for from in 0..2 {
        let is_far =
            |p: &&Packet| of_sm(p.input, 2) == from && of_slice(p.output.into(), 8, 2) != from;
        let expected: u64 = packets.iter().filter(is_far).map(flits).sum();
        let ends = [LinkEnd::Router(from as u32), LinkEnd::Router(1 - from as u32)];
        let links = result.links.iter().filter(|link| [link.from, link.to] == ends);
        let links: Vec<&LinkResult> = links.collect();
        assert_eq!(links.len(), 3);
        assert_eq!(links.iter().map(|link| link.flits).sum::<u64>(), expected);
        assert!(links.iter().all(|link| link.buffer_flits == 2 * SIZES[1]));
    }
}

fn refusal(topology: &str, direction: Direction, overrides: &[&str]) -> String {
    let spec = network(topology, overrides);
    let ports = |count: u32| vec![PortId::NONE; count as usize];
    let [inputs, outputs] = match direction {
        Down => [spec.sms, spec.slices],
        Reply => [spec.slices, spec.sms],
    };
    let (clock, inputs, outputs) = (Clock::new(1), ports(inputs), ports(outputs));
    let built = NetworkPolicies::choose(&spec)
        .and_then(|policies| crate::build(&spec, &policies, direction, clock, inputs, outputs));
    built.err().expect("it is rejected").to_string()
}

#[test]
fn impossible_partitions_are_refused_with_the_valid_range() {
    let cases = [
        ("partitions=5", "sms=9", ["partitions", "at most 4, the number of slices"]),
        ("partitions=0", "sms=9", ["partitions", "1 to 16"]),
        ("link_width=0", "sms=9", ["link_width", "1 to 256"]),
        ("link_width=252", "sms=9", ["link_width", "256 inputs and outputs of a switch"]),
        ("link_width=8", "sms=8 network.sms_per_node=2", ["network.sms_per_node", "expected 1"]),
    ];
    for (params, keys, parts) in cases {
        let topology = format!("partitioned-crossbar({params})");
        let keys: Vec<&str> = keys.split_whitespace().collect();
        for direction in [Down, Reply] {
            let error = refusal(&topology, direction, &keys);
            assert!(parts.iter().all(|part| error.contains(part)), "{params}: {error}");
        }
    }
}
