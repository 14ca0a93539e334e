//! Links between peer slices: exact latencies.

use super::rig::{Outcome, Packet, Readers, Rig, read, write};
use super::spec::spec;
use crate::{Direction, LinkResult, LinkTimes, NetworkContext, NetworkResult, PeerLinks, Topology};
use warpmem_sim::{Context, NetworkCycle};

/// The links as a network of their own, between two pairs of peer slices.
struct Links(PeerLinks);

impl Links {
    fn of(context: &NetworkContext, times: LinkTimes) -> Links {
        let half = context.inputs.len() / 2;
        let port = |node: usize| {
            let peer = if node < half { node + half } else { node - half };
            (context.inputs[node][0], context.outputs[peer][0])
        };
        let ports = (0..2 * half).map(port);
        Links(PeerLinks::new(Direction::Request, 0, context.clock, context.packets, times, ports))
    }
}

impl Topology for Links {
    fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        self.0.step(cycle, ctx)
    }

    fn so_far(&self, _cycles: u64) -> NetworkResult {
        NetworkResult::default()
    }

    fn links(&self) -> Vec<LinkResult> {
        Vec::new()
    }

    fn describe(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Runs packets between four nodes; a header is one flit, a store three.
fn run(packets: &[Packet], entries: usize, readers: Readers, times: LinkTimes) -> Outcome {
    let spec = spec(&["sms=4", "network.flit_bytes=48", "network.header_bytes=8"]);
    let rig = Rig { entries, readers, ..Rig::all_to_all(&spec, 4) };
    rig.run_over(packets, |context| Box::new(Links::of(context, times)))
}

fn arrivals(packets: &[Packet], times: LinkTimes) -> Vec<u64> {
    let mut arrivals = vec![0; packets.len()];
    let arrived = run(packets, 100, Readers::Eager, times).arrived;
    arrived.into_iter().for_each(|(cycle, packet)| arrivals[packet] = cycle);
    arrivals
}

#[test]
fn a_packet_takes_the_interval_of_each_flit_and_the_latency() {
    for (interval, latency) in [(1, 0), (4, 0), (1, 50), (7, 20)] {
        let times = LinkTimes { latency, interval };
        let (interval, latency) = (u64::from(interval), u64::from(latency));
        let packets = [read(0, 10, 2), write(3, 20, 1)];
        assert_eq!(
            arrivals(&packets, times),
            [10 + interval + latency, 20 + 3 * interval + latency]
        );
    }
}

#[test]
fn packets_of_one_link_are_serialised_and_links_are_independent() {
    let times = LinkTimes { latency: 30, interval: 5 };
    let packets =
        [read(1, 10, 3), write(1, 10, 3), read(1, 100, 3), read(3, 10, 1), read(0, 12, 2)];
    assert_eq!(arrivals(&packets, times), [45, 60, 135, 45, 47]);
}

#[test]
fn without_a_width_all_messages_leave_in_one_cycle() {
    let times = LinkTimes { latency: 30, interval: 0 };
    let packets = [read(1, 10, 3), write(1, 10, 3), read(1, 11, 3)];
    assert_eq!(arrivals(&packets, times), [41, 41, 42]);
}

#[test]
fn a_full_reader_blocks_only_its_own_link() {
    let times = LinkTimes { latency: 0, interval: 1 };
    let closed = Readers::ClosedUntil { output: 2, cycle: 200 };
    let packets = [read(0, 10, 2), read(0, 10, 2), read(1, 10, 3), read(1, 11, 3)];
    let arrived = run(&packets, 1, closed, times).arrived;
    // The second packet of node 0 finds room in the cycle in which the first is taken.
    assert_eq!(arrived, [(11, 2), (12, 3), (200, 0), (201, 1)]);
}
