//! Throughput of networks whose sources always have packets.

use super::rig::{Packet, Rig, read};
use crate::NetworkSpec;
use crate::tests::spec::spec;
use warpmem_support::random::Random;

/// Returns the flits that a network carries per node and cycle under uniform traffic, with a
/// single-flit packet offered at every node in every cycle.
fn throughput(spec: &NetworkSpec, nodes: usize) -> f64 {
    let (warm_up, measured) = (300, 24_000 / nodes);
    let end = warm_up + measured;
    let mut random = Random::new(1);
    let packets: Vec<Packet> = (0..nodes * end)
        .map(|n| read(n % nodes, (n / nodes) as u64, random.below(nodes as u64) as u16))
        .collect();
    let arrived = Rig::all_to_all(spec, nodes).run(&packets).arrived;
    let window = warm_up as u64..end as u64;
    let accepted = arrived.iter().filter(|(cycle, _)| window.contains(cycle)).count();
    accepted as f64 / (nodes * measured) as f64
}

/// Returns a network of single-cycle routers whose buffers are large enough to keep the links busy.
fn network(topology: &str, allocator: &str, channels: u32) -> NetworkSpec {
    let keys = [
        format!("topology={topology}"),
        format!("network.allocator={allocator}"),
        format!("network.virtual_channels={channels}"),
        "network.vc_buffer=8".to_owned(),
        "network.router_latency=1".to_owned(),
        "network.header_bytes=8".to_owned(),
    ];
    spec(&keys.each_ref().map(String::as_str))
}

#[test]
fn one_iteration_of_pim_matches_1_minus_1_over_e_and_more_match_more() {
    let nodes = 16;
    let carried = [1, 2, 4].map(|iterations| {
        let pim = format!("pim(iterations={iterations})");
        throughput(&network("crossbar(form=router)", &pim, 16), nodes)
    });
    // Each of N inputs proposes to one of N outputs, so no input proposes to a given output with
    // probability (1 - 1/N)^N.
    let expected = 1.0 - (1.0 - 1.0 / nodes as f64).powi(nodes as i32);
    assert!((carried[0] - expected).abs() < 0.03, "{carried:?}, expected {expected}");
    assert!(carried.is_sorted_by(|less, more| less + 0.02 < *more), "{carried:?}");
}

/// Karol, Hluchyj and Morgan, IEEE Trans. Communications 1987, Table I: input queues with
/// head-of-line blocking.
#[test]
fn one_virtual_channel_carries_the_throughput_of_input_queues() {
    for (nodes, expected) in [(2, 0.75), (4, 0.6553), (8, 0.6184)] {
        for topology in ["crossbar", "crossbar(form=router)"] {
            let carried = throughput(&network(topology, "pim", 1), nodes);
            let close = (carried - expected).abs() < 0.01;
            assert!(close, "{topology} of {nodes}: {carried}, expected {expected}");
        }
    }
}

/// Half of uniform traffic crosses the bisection: in each direction, one link per row of a mesh and
/// two links of a ring. Under overload, routers that treat packets of their own node like those
/// from far away lose much of that throughput (Dally and Towles, section 25.2.5); oldest-first
/// routers do not.
#[test]
fn meshes_and_rings_carry_half_to_all_of_their_bisection() {
    let cases = [
        ("mesh", 36, 4.0 / 6.0),
        ("mesh", 64, 4.0 / 8.0),
        ("mesh(columns=8)", 16, 2.0 * 4.0 / 16.0),
        ("ring", 16, 8.0 / 16.0),
        ("ring", 32, 8.0 / 32.0),
    ];
    for (topology, nodes, bound) in cases {
        let fair = throughput(&network(topology, "islip", 4), nodes);
        assert!(fair <= bound, "{topology} of {nodes}: {fair}");
        let oldest = throughput(&network(topology, "oldest-first", 4), nodes);
        assert!((bound / 2.0..=bound).contains(&oldest), "{topology} of {nodes}: {oldest}");
    }
}
