//! An uncontended packet has exactly the zero-load latency of its path.

use super::rig::{Packet, Rig, read, write};
use crate::NetworkSpec;
use crate::tests::spec::spec;
use crate::{Direction, Placement};

/// Returns the routers on the path between two positions, out of `positions`.
type Hops = fn(positions: usize, from: usize, to: usize) -> u64;

/// Topologies and the closed forms of their hop counts.
const TOPOLOGIES: [(&str, Hops); 9] = [
    ("ideal", |_, _, _| 1),
    ("crossbar", |_, _, _| 1),
    ("crossbar(form=router)", |_, _, _| 1),
    ("mesh", |positions, a, b| grid((positions as f64).sqrt().ceil() as usize, a, b)),
    ("mesh(columns=2)", |_, a, b| grid(2, a, b)),
    ("ring", |positions, a, b| a.abs_diff(b).min(positions - a.abs_diff(b)) as u64 + 1),
    ("butterfly", |positions, _, _| positions.ilog(4).into()),
    ("butterfly(radix=2)", |positions, _, _| positions.ilog2().into()),
    ("butterfly(radix=16)", |_, _, _| 1),
];

fn grid(columns: usize, a: usize, b: usize) -> u64 {
    let distance = (a % columns).abs_diff(b % columns) + (a / columns).abs_diff(b / columns);
    distance as u64 + 1
}

/// More cycles than any path of these tests takes.
const APART: u64 = 300;

/// Returns one packet from every position to every other, each sent after the previous one has
/// arrived.
fn every_pair(inputs: usize, outputs: usize, make: fn(usize, u64, u16) -> Packet) -> Vec<Packet> {
    let pairs = (0..inputs).flat_map(|a| (0..outputs).map(move |b| (a, b)));
    (0..).zip(pairs).map(|(n, (a, b))| make(a, n * APART, b as u16)).collect()
}

fn network(topology: &str, overrides: &[&str]) -> NetworkSpec {
    let topology = format!("topology={topology}");
    let wires = [&topology, "network.flit_bytes=32", "network.header_bytes=8"];
    spec(&[&wires, overrides].concat())
}

/// Compares every pair with the closed form: hops x (router + link) + flits.
fn check(rig: &Rig, hops: impl Fn(usize, usize) -> u64, sizes: [u64; 2]) {
    let placement = rig.placement.as_ref().expect("nodes have positions");
    let network = &rig.spec.network;
    let hop = u64::from(network.router_latency + network.link_latency);
    for (make, flits) in [read, write].into_iter().zip(sizes) {
        let packets = every_pair(placement.inputs.len(), placement.outputs.len(), make);
        let outcome = rig.run(&packets);
        assert_eq!(outcome.arrived.len(), packets.len());
        for (cycle, number) in outcome.arrived {
            let Packet { input, cycle: sent, output, .. } = packets[number];
            let passed = hops(placement.inputs[input], placement.outputs[usize::from(output)]);
            let what = &rig.spec.topology;
            assert_eq!(
                cycle - sent,
                passed * hop + flits,
                "{what}: {input} to {output}, {network:?}"
            );
        }
        let count = packets.len() as u64;
        let passed = packets
            .iter()
            .map(|p| hops(placement.inputs[p.input], placement.outputs[usize::from(p.output)]));
        let result = outcome.result;
        assert_eq!(result.hops, passed.sum::<u64>());
        assert_eq!(result.pipeline_cycles, result.hops * hop);
        assert_eq!(result.serialisation_cycles, count * flits);
        assert_eq!([result.wait_cycles, result.contention_cycles], [0, 0]);
    }
}

/// Every combination of buffering, switching and assignment.
const KINDS: [&[&str]; 6] = [
    &["network.virtual_channels=2"],
    &["network.virtual_channels=2", "network.vc_assignment=static-destination"],
    &["network.virtual_channels=4", "network.switching=cut-through"],
    &[
        "network.virtual_channels=8",
        "network.switching=cut-through",
        "network.vc_assignment=static-destination",
    ],
    &["network.virtual_channels=2", "network.input_buffer=1", "network.output_buffer=1"],
    &["network.virtual_channels=4", "network.flit_bytes=64", "network.vc_buffer=16"],
];

const LATENCIES: [[&str; 2]; 4] = [
    ["network.router_latency=1", "network.link_latency=0"],
    ["network.router_latency=1", "network.link_latency=3"],
    ["network.router_latency=2", "network.link_latency=1"],
    ["network.router_latency=4", "network.link_latency=0"],
];

#[test]
fn zero_load_latency_is_hops_times_router_and_link_plus_flits() {
    for (topology, hops) in TOPOLOGIES {
        for (number, kind) in KINDS.into_iter().enumerate() {
            for latencies in LATENCIES {
                let buffer = ["network.vc_buffer=12"];
                let spec = network(topology, &[&buffer[..], &latencies, kind].concat());
                let sizes = if number == 5 { [1, 3] } else { [1, 5] };
                check(&Rig::all_to_all(&spec, 16), |a, b| hops(16, a, b), sizes);
            }
        }
    }
}

#[test]
fn zero_load_latency_holds_with_one_virtual_channel() {
    for (topology, hops) in TOPOLOGIES {
        let channels = if topology == "ring" { 2 } else { 1 };
        let channels = format!("network.virtual_channels={channels}");
        let spec =
            network(topology, &[&channels, "network.router_latency=3", "network.vc_buffer=8"]);
        check(&Rig::all_to_all(&spec, 16), |a, b| hops(16, a, b), [1, 5]);
    }
}

#[test]
fn zero_load_latency_holds_for_partial_squares_and_stages() {
    let grids: [(&str, Hops); 3] = [TOPOLOGIES[3], TOPOLOGIES[4], TOPOLOGIES[5]];
    for nodes in [2, 3, 7, 11] {
        for (topology, hops) in grids {
            let spec = network(topology, &["network.virtual_channels=2"]);
            check(&Rig::all_to_all(&spec, nodes), |a, b| hops(nodes, a, b), [1, 5]);
        }
        let spec = network("butterfly(radix=3)", &[]);
        let stages = [(2, 1), (3, 1), (7, 2), (11, 3)].iter().find(|(n, _)| *n == nodes).unwrap().1;
        check(&Rig::all_to_all(&spec, nodes), |_, _| stages, [1, 5]);
    }
}

/// Requests and replies of a machine of 28 SMs and 8 slices, with the slices at configured
/// positions.
#[test]
fn zero_load_latency_holds_between_sms_and_slices() {
    let machines: [(&str, Hops); 5] =
        [TOPOLOGIES[2], TOPOLOGIES[3], TOPOLOGIES[5], ("butterfly", |_, _, _| 3), TOPOLOGIES[0]];
    let memory = "network.memory_nodes=[0,5,7,10,25,28,30,35]";
    for (topology, hops) in machines {
        let sizes =
            ["sms=28", "channels=8", "slices_per_channel=1", "network.virtual_channels=2", memory];
        let spec = network(topology, &sizes);
        for (direction, flits) in [(Direction::Request, [1, 5]), (Direction::Reply, [5, 1])] {
            let placement = Placement::of(&spec, direction);
            let rig = Rig { placement: Some(placement), ..Rig::new(&spec, direction) };
            check(&rig, |a, b| hops(36, a, b), flits);
        }
    }
}
