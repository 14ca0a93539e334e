//! Links between SMs: exact latencies.

use super::rig::{Outcome, Packet, Readers, Rig, message};
use super::spec::spec;
use crate::{Direction, LinkResult, NetworkContext, NetworkResult, SmLinkTimes, SmLinks, Topology};
use warpmem_sim::{Context, NetworkCycle};

/// The links as a network of their own.
struct Links(SmLinks);

impl Links {
    fn of(context: &NetworkContext, direction: Direction, times: SmLinkTimes) -> Links {
        let ports = context.inputs.iter().zip(&context.outputs);
        let ports = ports.map(|(from, to)| (from[0], to[0]));
        Links(SmLinks::new(direction, direction as usize, context.clock, times, ports))
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

const TIMES: SmLinkTimes = SmLinkTimes { latency: 20, port_bytes: Some(16) };

/// Runs packets between four SMs.
fn run(packets: &[Packet], entries: usize, readers: Readers, times: SmLinkTimes) -> Outcome {
    run_in(Direction::Request, packets, entries, readers, times)
}

fn run_in(
    direction: Direction,
    packets: &[Packet],
    entries: usize,
    readers: Readers,
    times: SmLinkTimes,
) -> Outcome {
    let spec = spec(&["sms=4"]);
    let rig = Rig { entries, readers, direction, ..Rig::all_to_all(&spec, 4) };
    rig.run_over(packets, |context| Box::new(Links::of(context, direction, times)))
}

fn arrivals(packets: &[Packet], times: SmLinkTimes) -> Vec<u64> {
    let mut arrivals = vec![0; packets.len()];
    let arrived = run(packets, 100, Readers::Eager, times).arrived;
    arrived.into_iter().for_each(|(cycle, packet)| arrivals[packet] = cycle);
    arrivals
}

#[test]
fn a_message_takes_its_bytes_over_the_width_and_the_latency() {
    for (bytes, cycles) in [(0, 1), (1, 1), (16, 1), (17, 2), (128, 8)] {
        for direction in [Direction::Request, Direction::Reply] {
            let packets = [message(0, 10, 2, bytes)];
            let arrived = run_in(direction, &packets, 100, Readers::Eager, TIMES).arrived;
            assert_eq!(arrived, [(10 + cycles + 20, 0)], "{bytes} bytes as {direction:?}");
        }
    }
}

#[test]
fn messages_from_or_to_one_sm_are_serialised() {
    let packets = [message(0, 10, 1, 128), message(0, 10, 2, 128), message(3, 10, 0, 128)];
    assert_eq!(arrivals(&packets, TIMES), [38, 46, 38]);
    let packets = [message(0, 10, 3, 128), message(1, 10, 3, 32), message(2, 10, 0, 16)];
    assert_eq!(arrivals(&packets, TIMES), [38, 40, 31]);
}

/// The SM after the last one that has sent is first: SM 1 does not wait for a second message of SM
/// 0.
#[test]
fn sms_send_round_robin() {
    let of = |sm| message(sm, 10, 3, 64);
    let packets = [of(0), of(0), of(1), of(1), of(2), of(2)];
    assert_eq!(arrivals(&packets, TIMES), [34, 46, 38, 50, 42, 54]);
}

#[test]
fn a_busy_receiver_blocks_later_messages_of_the_sender() {
    let packets = [message(0, 10, 3, 160), message(1, 11, 3, 16), message(1, 11, 2, 16)];
    assert_eq!(arrivals(&packets, TIMES), [40, 41, 42]);
}

#[test]
fn a_copied_message_occupies_only_its_receiver() {
    let copied = |to| Packet { is_copied: true, ..message(0, 10, to, 128) };
    let packets = [copied(1), copied(2), copied(3), copied(3), message(0, 10, 1, 16)];
    // Messages after the second copy for SM 3 wait for it.
    assert_eq!(arrivals(&packets, TIMES), [38, 38, 38, 46, 39]);
}

#[test]
fn without_a_width_all_messages_leave_in_one_cycle() {
    let times = SmLinkTimes { port_bytes: None, ..TIMES };
    let packets = [message(0, 10, 3, 128), message(0, 10, 3, 128), message(1, 10, 3, 1)];
    assert_eq!(arrivals(&packets, times), [31, 31, 31]);
}

#[test]
fn a_full_sm_blocks_its_senders() {
    let times = SmLinkTimes { latency: 0, ..TIMES };
    let closed = Readers::ClosedUntil { output: 2, cycle: 200 };
    let packets = [message(0, 10, 2, 0), message(0, 10, 2, 0), message(1, 10, 3, 0)];
    let arrived = run(&packets, 1, closed, times).arrived;
    assert_eq!(arrived, [(11, 2), (200, 0), (201, 1)]);
}
