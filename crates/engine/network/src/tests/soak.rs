//! Long random traffic through the smallest buffers: every packet arrives, in order where order is
//! guaranteed, and every flit is counted once. `WARPMEM_WHOLE_SOAK=1` sends a million packets.

use super::rig::{Outcome, Packet, Readers, Rig, read};
use crate::NetworkSpec;
use crate::tests::spec::spec;
use crate::{LinkEnd, LinkResult, NetworkResult, VcAssignment};
use std::collections::HashMap;
use warpmem_sim::RequestKind;
use warpmem_support::random::Random;

const NODES: usize = 16;

/// Topologies with the least virtual channels that they need.
const TOPOLOGIES: [(&str, u32); 9] = [
    ("ideal", 1),
    ("crossbar", 1),
    ("crossbar(form=router)", 1),
    ("partitioned-crossbar(link_width=2)", 1),
    ("partitioned-crossbar(partitions=3,link_latency=0,link_width=1)", 1),
    ("mesh", 1),
    ("mesh(columns=3)", 1),
    ("ring", 2),
    ("butterfly(radix=2)", 1),
];

/// Overrides for packets of one to five flits.
const SIZES: [&str; 4] = [
    "sector_bytes=32",
    "largest_request_bytes=128",
    "network.flit_bytes=32",
    "network.header_bytes=8",
];

/// A configuration of the buffers, as overrides; `channels` multiplies the virtual channels that a
/// topology needs.
struct Kind {
    channels: u32,
    keys: &'static [&'static str],
}

const KINDS: [Kind; 6] = [
    Kind { channels: 1, keys: &["network.vc_buffer=1"] },
    Kind { channels: 2, keys: &["network.vc_buffer=1"] },
    Kind {
        channels: 2,
        keys: &["network.vc_buffer=1", "network.vc_assignment=static-destination"],
    },
    Kind { channels: 1, keys: &["network.vc_buffer=5", "network.switching=cut-through"] },
    Kind { channels: 4, keys: &["network.vc_buffer=5", "network.switching=cut-through"] },
    Kind {
        channels: 3,
        keys: &[
            "network.vc_buffer=5",
            "network.switching=cut-through",
            "network.vc_assignment=static-destination",
        ],
    },
];

fn network(topology: &str, channels: u32, keys: &[&str]) -> NetworkSpec {
    let own = [
        format!("topology={topology}"),
        format!("network.virtual_channels={channels}"),
        "network.router_latency=2".to_owned(),
        "network.link_latency=1".to_owned(),
    ];
    let own = own.each_ref().map(String::as_str);
    spec(&[&SIZES[..], &own, keys].concat())
}

/// Returns bursts of packets of any size, half of them to a quarter of the nodes.
fn traffic(count: usize, seed: u64) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let mut cycle = 0;
    (0..count)
        .map(|_| {
            cycle += u64::from(random.below(100) == 0) * random.below(60);
            let among = if random.below(2) == 0 { NODES } else { NODES / 4 };
            let (input, output) = (random.below(NODES as u64), random.below(among as u64));
            let packet = read(input as usize, cycle, output as u16);
            match random.below(5) as u32 {
                0 => packet,
                sectors => Packet { kind: RequestKind::Writeback, sectors, ..packet },
            }
        })
        .collect()
}

fn flits(packet: &Packet) -> u64 {
    if packet.kind == RequestKind::Read { 1 } else { 1 + u64::from(packet.sectors) }
}

/// Checks that packets of a source to a destination arrive in the order of sending.
fn check_order(packets: &[Packet], arrived: &[(u64, usize)]) {
    let mut last = HashMap::new();
    for &(_, number) in arrived {
        let Packet { input, output, .. } = packets[number];
        let before = last.insert((input, output), number);
        assert!(before < Some(number), "{input} to {output}: {before:?} before {number}");
    }
}

/// Checks that the counts of the nodes, of the links and the totals agree.
fn check_counts(packets: &[Packet], result: &NetworkResult) {
    let total: u64 = packets.iter().map(flits).sum();
    assert_eq!(result.serialisation_cycles, total);
    assert_eq!(result.latency.count(), packets.len() as u64);
    for nodes in [&result.sources, &result.destinations] {
        assert_eq!(nodes.iter().map(|node| node.flits).sum::<u64>(), total);
        assert_eq!(nodes.iter().map(|node| node.packets).sum::<u64>(), packets.len() as u64);
    }
    if result.links.is_empty() {
        return;
    }
    let passed = |is: fn(&LinkResult) -> bool| -> u64 {
        result.links.iter().filter(|link| is(link)).map(|link| link.flits).sum()
    };
    assert_eq!(passed(|link| matches!(link.from, LinkEnd::Source(_))), total);
    assert_eq!(passed(|link| matches!(link.to, LinkEnd::Destination(_))), total);
    for link in &result.links {
        assert!(link.flits <= result.cycles, "a link carries at most a flit per cycle: {link:?}");
        let held = link.buffer_flits * result.cycles;
        assert!(link.buffer_flit_cycles <= held, "a buffer never exceeds its capacity: {link:?}");
    }
}

/// Returns whether packets from one source to one destination stay in order.
fn keeps_order(spec: &NetworkSpec) -> bool {
    let network = &spec.network;
    let one_way = !spec.topology.starts_with("ring") && network.virtual_channels == 1;
    one_way
        || network.vc_assignment == VcAssignment::StaticDestination
        || spec.topology == "crossbar"
        || spec.topology.starts_with("partitioned-crossbar")
}

#[test]
fn all_packets_arrive_in_order_through_the_smallest_buffers() {
    let whole = std::env::var_os("WARPMEM_WHOLE_SOAK").is_some();
    let count = if whole { 24_000 } else { 1500 };
    let mut seed = 0;
    for (topology, least) in TOPOLOGIES {
        for Kind { channels, keys } in KINDS {
            let spec = network(topology, channels * least, keys);
            seed += 1;
            let packets = traffic(count, seed);
            let rig = Rig {
                entries: 1,
                readers: Readers::Sporadic { seed },
                ..Rig::all_to_all(&spec, NODES)
            };
            let Outcome { arrived, result } = rig.run(&packets);
            if keeps_order(&spec) {
                check_order(&packets, &arrived);
            }
            check_counts(&packets, &result);
        }
    }
}
