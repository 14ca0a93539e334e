//! The network without contention.

use super::rig::{Packet, Readers, Rig, read, write};
use crate::machine::Machine;
use crate::network::Direction::{Reply, Request};
use crate::random::Random;
use crate::testing::machine;

const LATENCY: u64 = 5;
const HEADER: u64 = 1;
const DATA: u64 = 5;

fn ideal(overrides: &[&str]) -> Machine {
    let wires = [
        "policy.topology=ideal",
        "network.flit_bytes=32",
        "network.header_bytes=8",
        "network.router_latency=3",
        "network.link_latency=2",
    ];
    machine(&[&wires, overrides].concat())
}

#[test]
fn whatever_the_load_a_packet_takes_a_router_a_link_and_its_flits() {
    let machine = ideal(&[]);
    let mut random = Random::new(1);
    let packets: Vec<Packet> = (0..600)
        .map(|n| {
            let make = if random.below(2) == 0 { read } else { write };
            make(random.below(7) as usize, n / 30, random.below(5) as u16)
        })
        .collect();
    let arrivals = Rig { places: 600, ..Rig::new(&machine, Request) }.arrivals(&packets);
    for (packet, arrival) in packets.iter().zip(arrivals) {
        let flits = if packet.kind == crate::engine::RequestKind::Read { HEADER } else { DATA };
        assert_eq!(arrival, packet.cycle + LATENCY + flits, "{packet:?}");
    }
}

#[test]
fn what_it_counts_has_no_contention() {
    let machine = ideal(&[]);
    let packets = [write(0, 0, 0), write(1, 0, 0), read(1, 0, 1)];
    let result = Rig::new(&machine, Request).run(&packets).result;
    assert_eq!(result.latency.count(), 3);
    assert_eq!(result.pipeline_cycles, 3 * LATENCY);
    assert_eq!(result.serialisation_cycles, 2 * DATA + HEADER);
    assert_eq!([result.wait_cycles, result.contention_cycles, result.hops], [0, 0, 3]);
    let [at_0, at_1] = &result.sources[..] else { panic!("two nodes send") };
    assert_eq!([at_0.packets, at_0.flits, at_1.packets, at_1.flits], [1, DATA, 2, DATA + HEADER]);
}

#[test]
fn packets_for_a_full_port_wait_at_their_sources_in_the_order_in_which_they_came() {
    let machine = ideal(&[]);
    let readers = Readers::ClosedUntil { output: 0, cycle: 100 };
    let rig = Rig { places: 2, readers, ..Rig::new(&machine, Request) };
    let packets =
        [read(2, 0, 0), read(1, 1, 0), read(2, 2, 0), read(2, 3, 1), read(0, 4, 0), read(1, 5, 1)];
    let resumed = 100 + LATENCY + HEADER;
    // The fourth waits behind the third; the last finds its way free. Two places are free in cycle 100.
    let expected = [100, 100, resumed, resumed, resumed, 5 + LATENCY + HEADER];
    assert_eq!(rig.arrivals(&packets), expected);
    let one = Rig { places: 1, readers, ..Rig::new(&machine, Request) };
    let again = resumed + LATENCY + HEADER;
    // The last left behind the second, in cycle 100, and the fourth behind the third.
    let expected = [100, resumed, again, again, again + LATENCY + HEADER, resumed];
    assert_eq!(one.arrivals(&packets), expected);
}

#[test]
fn sms_of_a_node_have_ports_of_their_own() {
    let machine = ideal(&["network.sms_per_node=2", "sm.count=3"]);
    let packets = [read(0, 0, 0), read(1, 0, 0), read(2, 0, 0)];
    let outcome = Rig::new(&machine, Request).run(&packets);
    let sent: Vec<u64> = outcome.result.sources.iter().map(|node| node.packets).collect();
    assert_eq!(sent, [2, 1]);
    let packets = [read(0, 0, 0), read(0, 0, 1), read(0, 0, 2)];
    let outcome = Rig::new(&machine, Reply).run(&packets);
    let taken: Vec<u64> = outcome.result.destinations.iter().map(|node| node.packets).collect();
    assert_eq!(taken, [2, 1]);
    assert!(outcome.arrived.iter().all(|&(cycle, _)| cycle == LATENCY + DATA));
}
