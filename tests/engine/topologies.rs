//! Whole machines over every topology.

use crate::trace::{loads, machine, mixed, run, write};
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::Discard;
use warpmem::network::{NetworkResult, NodeResult, TOPOLOGIES};

/// Flow control, and placement of SMs.
const KINDS: [&str; 5] = [
    "network.virtual_channels=2 network.vc_buffer=1",
    "network.virtual_channels=4 network.vc_assignment=static-destination policy.arbiter=hold-grant",
    "network.virtual_channels=2 network.switching=cut-through network.vc_buffer=16",
    "network.virtual_channels=2 network.sms_per_node=4 policy.arbiter=row-matching-hold-grant",
    "network.virtual_channels=2 network.flit_bytes=4 clocks.network_mhz=650",
];

fn check_counts(network: &NetworkResult) {
    let sum = |count: fn(&NodeResult) -> u64| {
        let of = |nodes: &[NodeResult]| nodes.iter().map(count).sum::<u64>();
        assert_eq!(of(&network.sources), of(&network.destinations));
        of(&network.sources)
    };
    assert_eq!(network.latency.count(), sum(|node| node.packets));
    let parts = network.wait_cycles
        + network.pipeline_cycles
        + network.serialisation_cycles
        + network.contention_cycles;
    assert_eq!(u128::from(parts), network.latency.sum());
    assert_eq!(network.serialisation_cycles, sum(|node| node.flits));
}

#[test]
fn every_topology_returns_every_reply() {
    let file = write(&[mixed(8, 4, 1 << 20)]);
    let packets = |topology: &str, kind: &str| {
        let topology = format!("policy.topology={topology}");
        let narrow = ["network.input_buffer=1", "network.output_buffer=1", "l1.enabled=false"];
        let kind: Vec<&str> = kind.split_whitespace().collect();
        let machine = machine("li2015", &[&narrow[..], &[&topology], &kind].concat());
        let result = run(&machine, &file.trace);
        assert_eq!(run(&machine, &file.trace), result, "{topology} {kind:?}");
        result.networks.iter().for_each(check_counts);
        let networks = result.networks.iter();
        networks.map(|network| network.latency.count()).collect::<Vec<u64>>()
    };
    let expected = packets("crossbar", "");
    assert!(expected[1] > 0);
    for topology in TOPOLOGIES.names().chain(["crossbar(form=router)", "butterfly(radix=2)"]) {
        for kind in KINDS {
            let is_one_stage = ["crossbar", "partitioned-crossbar"].contains(&topology);
            if is_one_stage && kind.contains("sms_per_node") {
                continue;
            }
            assert_eq!(packets(topology, kind), expected, "{topology} {kind}");
        }
    }
}

#[test]
fn impossible_topology_error_states_the_possible_ones() {
    let file = write(&[loads([1, 1, 1], |_, _, lane| lane)]);
    let cases = [
        ("policy.topology=mesh(columns=28)", &["columns", "at most 27, the number of nodes"][..]),
        ("policy.topology=butterfly(radix=1)", &["radix", "2 to 256"]),
        ("policy.topology=ring(columns=2)", &["columns", "no parameters"]),
        ("policy.topology=ring", &["virtual_channels", "multiple of 2", "1"]),
        ("policy.topology=torus", &["torus", "mesh", "ring", "butterfly", "ideal"]),
        (
            "policy.topology=mesh network.switching=cut-through network.vc_buffer=4",
            &["vc_buffer", "largest packet", "5 flits", "4"],
        ),
        ("policy.topology=crossbar network.sms_per_node=2", &["sms_per_node", "1"]),
        ("policy.topology=partitioned-crossbar(partitions=13)", &["partitions", "at most 12"]),
    ];
    for (overrides, parts) in cases {
        let overrides: Vec<&str> = overrides.split_whitespace().collect();
        let machine = machine("li2015", &overrides);
        let result = Simulation::new(&machine, &file.trace).run(&mut Discard);
        let error = result.map(drop).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{overrides:?}: {error}");
        }
    }
}
