//! Networks without contention.

use super::rig::{Packet, Readers, Rig, read, write};
use crate::Direction::{Reply, Request};
use crate::NetworkSpec;
use crate::TOPOLOGIES;
use crate::ideal::unlimited;
use crate::tests::spec::spec;
use warpmem_support::random::Random;

const LATENCY: u64 = 5;
const HEADER: u64 = 1;
const DATA: u64 = 5;

fn ideal(overrides: &[&str]) -> NetworkSpec {
    let wires = [
        "topology=ideal",
        "network.flit_bytes=32",
        "network.header_bytes=8",
        "network.router_latency=3",
        "network.link_latency=2",
    ];
    spec(&[&wires, overrides].concat())
}

#[test]
fn ideal_latency_is_independent_of_load() {
    let spec = ideal(&[]);
    let mut random = Random::new(1);
    let packets: Vec<Packet> = (0..600)
        .map(|n| {
            let make = if random.below(2) == 0 { read } else { write };
            make(random.below(7) as usize, n / 30, random.below(5) as u16)
        })
        .collect();
    let arrivals = Rig { entries: 600, ..Rig::new(&spec, Request) }.arrivals(&packets);
    for (packet, arrival) in packets.iter().zip(arrivals) {
        let flits = if packet.kind == warpmem_sim::RequestKind::Read { HEADER } else { DATA };
        assert_eq!(arrival, packet.cycle + LATENCY + flits, "{packet:?}");
    }
}

#[test]
fn the_ideal_network_counts_no_contention() {
    let spec = ideal(&[]);
    let packets = [write(0, 0, 0), write(1, 0, 0), read(1, 0, 1)];
    let result = Rig::new(&spec, Request).run(&packets).result;
    assert_eq!(result.latency.count(), 3);
    assert_eq!(result.pipeline_cycles, 3 * LATENCY);
    assert_eq!(result.serialisation_cycles, 2 * DATA + HEADER);
    assert_eq!([result.wait_cycles, result.contention_cycles, result.hops], [0, 0, 3]);
    let [at_0, at_1] = &result.sources[..] else { panic!("two nodes send") };
    assert_eq!([at_0.packets, at_0.flits, at_1.packets, at_1.flits], [1, DATA, 2, DATA + HEADER]);
}

#[test]
fn packets_for_a_full_port_wait_at_their_sources_in_order() {
    let spec = ideal(&[]);
    let readers = Readers::ClosedUntil { output: 0, cycle: 100 };
    let rig = Rig { entries: 2, readers, ..Rig::new(&spec, Request) };
    let packets =
        [read(2, 0, 0), read(1, 1, 0), read(2, 2, 0), read(2, 3, 1), read(0, 4, 0), read(1, 5, 1)];
    let resumed = 100 + LATENCY + HEADER;
    // The fourth waits for the third; the last finds its output free. Two entries become free in
    // cycle 100.
    let expected = [100, 100, resumed, resumed, resumed, 5 + LATENCY + HEADER];
    assert_eq!(rig.arrivals(&packets), expected);
    let one = Rig { entries: 1, readers, ..Rig::new(&spec, Request) };
    let again = resumed + LATENCY + HEADER;
    // The last left after the second, in cycle 100, and the fourth after the third.
    let expected = [100, resumed, again, again, again + LATENCY + HEADER, resumed];
    assert_eq!(one.arrivals(&packets), expected);
}

#[test]
fn heads_that_become_ready_in_one_cycle_leave_in_the_order_of_their_inputs() {
    let spec = ideal(&[]);
    // The head of input 1 is early from the start, that of input 0 once output 0 has taken its
    // first packet.
    let readers = Readers::ClosedUntil { output: 0, cycle: 20 };
    let rig = Rig { entries: 1, readers, ..Rig::new(&spec, Request) };
    let packets = [read(2, 0, 0), read(0, 1, 0), read(0, 50, 1), read(1, 50, 1)];
    let (first, then) = (50 + LATENCY + HEADER, 50 + 2 * (LATENCY + HEADER));
    assert_eq!(rig.arrivals(&packets)[2..], [first, then]);
}

#[test]
fn sms_of_a_node_have_separate_ports() {
    let spec = ideal(&["network.sms_per_node=2", "sms=3"]);
    let packets = [read(0, 0, 0), read(1, 0, 0), read(2, 0, 0)];
    let outcome = Rig::new(&spec, Request).run(&packets);
    let sent: Vec<u64> = outcome.result.sources.iter().map(|node| node.packets).collect();
    assert_eq!(sent, [2, 1]);
    let packets = [read(0, 0, 0), read(0, 0, 1), read(0, 0, 2)];
    let outcome = Rig::new(&spec, Reply).run(&packets);
    let taken: Vec<u64> = outcome.result.destinations.iter().map(|node| node.packets).collect();
    assert_eq!(taken, [2, 1]);
    assert!(outcome.arrived.iter().all(|&(cycle, _)| cycle == LATENCY + DATA));
}

/// Returns a machine of a topology whose flits hold a packet's header and little data.
fn limited(topology: &str) -> NetworkSpec {
    let topology = format!("topology={topology}");
    let sizes = ["network.flit_bytes=32", "network.header_bytes=8", "network.virtual_channels=2"];
    let latencies = ["network.router_latency=3", "network.link_latency=2"];
    spec(&[&[&*topology], &sizes[..], &latencies].concat())
}

/// Returns the cycles in which the packets arrive over the topology without limits.
fn unlimited_arrivals(rig: &Rig, packets: &[Packet]) -> Vec<u64> {
    let mut arrivals = vec![0; packets.len()];
    let topology = &rig.spec.topology;
    let outcome = rig.run_over(packets, |context| {
        unlimited(context, &*TOPOLOGIES.build(topology, context).unwrap())
    });
    outcome.arrived.into_iter().for_each(|(cycle, packet)| arrivals[packet] = cycle);
    arrivals
}

const EVERY_TOPOLOGY: [&str; 8] = [
    "ideal",
    "crossbar",
    "crossbar(form=router)",
    "mesh",
    "mesh(columns=2)",
    "ring",
    "butterfly(radix=2)",
    "partitioned-crossbar(link_latency=7)",
];

#[test]
fn without_limits_every_packet_has_the_zero_load_latency_of_a_flit() {
    for topology in EVERY_TOPOLOGY {
        let spec = limited(topology);
        let rig = Rig::all_to_all(&spec, 9);
        let pairs = || (0..9).flat_map(|a| (0..9).map(move |b| (a, b)));
        let apart: Vec<Packet> =
            (0..).zip(pairs()).map(|(n, (a, b))| read(a, n * 200, b)).collect();
        let alone: Vec<u64> = rig.arrivals(&apart);
        // All at once, and the largest packets.
        let together: Vec<Packet> = pairs().map(|(a, b)| write(a, 7, b)).collect();
        let arrivals = unlimited_arrivals(&rig, &together);
        for (n, packet) in apart.iter().enumerate() {
            assert_eq!(arrivals[n] - 7, alone[n] - packet.cycle, "{topology}: {packet:?}");
        }
    }
}

#[test]
fn without_limits_a_closed_reader_delays_no_other() {
    let spec = limited("mesh");
    let readers = Readers::ClosedUntil { output: 0, cycle: 100 };
    let rig = Rig { entries: 1, readers, ..Rig::all_to_all(&spec, 2) };
    let packets = [read(0, 0, 0), read(0, 0, 0), read(0, 0, 1), read(1, 1, 0), read(1, 1, 1)];
    let (own, other) = (LATENCY + 1, 2 * LATENCY + 1);
    // The port has one entry, which the reader empties in the cycle after it is filled.
    let expected = [100, 101, other, 102, 1 + own];
    assert_eq!(unlimited_arrivals(&rig, &packets), expected);
}

#[test]
fn without_limits_a_packet_waits_only_for_its_reader() {
    let spec = limited("mesh");
    let readers = Readers::ClosedUntil { output: 1, cycle: 100 };
    let rig = Rig { entries: 1, readers, ..Rig::all_to_all(&spec, 2) };
    let result = rig
        .run_over(&[write(0, 0, 1), write(0, 0, 1)], |context| {
            unlimited(context, &*TOPOLOGIES.build("mesh", context).unwrap())
        })
        .result;
    assert_eq!((result.hops, result.pipeline_cycles), (4, 4 * LATENCY));
    assert_eq!((result.serialisation_cycles, result.wait_cycles), (2, 0));
    // The first enters the port at once; the second enters it when the reader has taken the first,
    // in cycle 100.
    assert_eq!(result.contention_cycles, 101 - (2 * LATENCY + 1));
    assert_eq!((result.sources[0].flits, result.destinations[1].flits), (2, 2));
    assert!(result.links.is_empty());
}
