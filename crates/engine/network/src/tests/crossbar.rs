//! The one-stage crossbar, and the sizes of packets.

use super::rig::{Outcome, Packet, Readers, Rig, read, write};
use crate::Direction::{Reply, Request as Down};
use crate::NetworkSpec;
use crate::PacketSizes;
use crate::tests::spec::spec;
use warpmem_sim::{Location, Request, RequestKind};
use warpmem_support::random::Random;

/// Network cycles from grant to arrival, without the flits.
const LATENCY: u64 = 4;
/// Flits of a header, and of one with 128 bytes.
const HEADER: u64 = 1;
const DATA: u64 = 5;

fn crossbar(overrides: &[&str]) -> NetworkSpec {
    let wires = ["network.flit_bytes=32", "network.header_bytes=8", "network.router_latency=3"];
    spec(&[&wires, overrides].concat())
}

#[test]
fn packets_have_the_flits_of_their_contents() {
    use RequestKind::{Atomic, Fetch, Read, Write, Writeback};
    let sectored = ["sector_bytes=32"];
    let narrow = [&sectored[..], &["network.flit_bytes=8"]].concat();
    let no_header = crossbar(&["network.header_bytes=0"]);
    // Header and data down, header and data up.
    let cases = [
        (crossbar(&[]), [1, 5, 1, 5]),
        (crossbar(&sectored), [1, 2, 1, 2]),
        (crossbar(&narrow), [1, 5, 1, 5]),
        (no_header, [1, 4, 1, 4]),
    ];
    for (spec, [header_down, data_down, header_up, data_up]) in cases {
        let sizes = PacketSizes::new(&spec);
        let flits =
            |direction, kind| sizes.flits(direction, &Request::of_slice(0, kind, Location::ZERO));
        assert_eq!([Read, Fetch].map(|kind| flits(Down, kind)), [header_down; 2]);
        assert_eq!([Write, Atomic].map(|kind| flits(Down, kind)), [data_down; 2]);
        assert_eq!([Read, Fetch, Atomic].map(|kind| flits(Reply, kind)), [data_up; 3]);
        assert_eq!(flits(Reply, Write), header_up);
    }
    let sizes = PacketSizes::new(&crossbar(&narrow));
    let three = Request { sectors: 0b1101, ..Request::of_slice(0, Writeback, Location::ZERO) };
    assert_eq!(sizes.flits(Down, &three), 1 + 3 * 4, "each sector of a write-back");
    assert_eq!([Down, Reply].map(|direction| sizes.largest(direction)), [5, 5]);
    let line = crossbar(&[&narrow[..], &["largest_request_bytes=128"]].concat());
    let sizes = PacketSizes::new(&line);
    assert_eq!([Down, Reply].map(|direction| sizes.largest(direction)), [1 + 4 * 4, 5]);
}

#[test]
fn an_uncontended_packet_takes_its_flits_and_the_latency() {
    let spec = crossbar(&[]);
    let down = Rig::new(&spec, Down).arrivals(&[read(0, 10, 1), write(1, 30, 0)]);
    assert_eq!(down, [10 + HEADER + LATENCY, 30 + DATA + LATENCY]);
    let up = Rig::new(&spec, Reply).arrivals(&[read(0, 10, 1), write(1, 30, 0)]);
    assert_eq!(up, [10 + DATA + LATENCY, 30 + HEADER + LATENCY]);
}

/// Returns packets of input 9 to output 9, which cause the network to be stepped in every cycle.
fn bystanders() -> impl Iterator<Item = Packet> {
    (0..40).map(|cycle| read(9, cycle, 9))
}

#[test]
fn an_output_takes_one_packet_at_a_time() {
    let spec = crossbar(&[]);
    let packets = [write(0, 0, 0), write(1, 0, 0), read(2, 0, 0)].into_iter().chain(bystanders());
    let got = Rig::new(&spec, Down).arrivals(&packets.collect::<Vec<_>>());
    assert_eq!(got[..3], [DATA, 2 * DATA, 2 * DATA + HEADER].map(|flits| flits + LATENCY));
}

#[test]
fn an_input_sends_one_packet_at_a_time() {
    let spec = crossbar(&[]);
    let packets = [write(0, 0, 0), write(0, 0, 1), read(0, 0, 2)].into_iter().chain(bystanders());
    let got = Rig::new(&spec, Down).arrivals(&packets.collect::<Vec<_>>());
    assert_eq!(got[..3], [DATA, 2 * DATA, 2 * DATA + HEADER].map(|flits| flits + LATENCY));
}

/// Returns the arrivals of packets of one input that may send `speedup` of them per cycle.
fn sped_up(speedup: u32, packets: &[Packet]) -> Vec<u64> {
    let spec = crossbar(&[&format!("network.input_speedup={speedup}")]);
    let alone = Rig::new(&spec, Down).arrivals(packets);
    let beside: Vec<Packet> = packets.iter().copied().chain(bystanders()).collect();
    let beside = Rig::new(&spec, Down).arrivals(&beside);
    assert_eq!(alone, beside[..packets.len()], "the network requests every step that it needs");
    alone.into_iter().map(|cycle| cycle - LATENCY).collect()
}

#[test]
fn input_speedup_limits_the_packets_of_an_input_per_cycle() {
    let packets = [read(0, 0, 0), read(0, 0, 1), read(0, 0, 2), read(0, 0, 3)];
    let header = |cycles: [u64; 4]| cycles.map(|cycle| cycle + HEADER);
    assert_eq!(sped_up(1, &packets), header([0, 1, 2, 3]));
    assert_eq!(sped_up(2, &packets), header([0, 0, 1, 1]));
    assert_eq!(sped_up(4, &packets), header([0; 4]));
}

#[test]
fn a_served_output_takes_the_next_packet_a_cycle_later() {
    assert_eq!(sped_up(4, &[read(0, 0, 2), read(0, 0, 1)]), [HEADER, 1 + HEADER]);
    assert_eq!(sped_up(4, &[read(0, 0, 1), read(0, 0, 1)]), [HEADER, 1 + HEADER]);
    // Independent of whether the earlier output is still busy with its packet.
    assert_eq!(sped_up(4, &[write(0, 0, 2), read(0, 0, 1)]), [DATA, 1 + HEADER]);
    assert_eq!(sped_up(4, &[write(0, 0, 2), read(0, 3, 1)]), [DATA, 3 + HEADER]);
}

#[test]
fn the_last_packet_of_a_sped_up_input_occupies_it() {
    let packets = [read(0, 0, 0), write(0, 0, 1), read(0, 0, 2)];
    assert_eq!(sped_up(2, &packets), [HEADER, DATA, DATA + HEADER]);
    assert_eq!(sped_up(3, &packets), [HEADER, DATA, HEADER]);
}

#[test]
fn different_inputs_and_outputs_work_at_once() {
    let spec = crossbar(&[]);
    let packets: Vec<Packet> = (0..4).map(|n| write(n, 0, 3 - n as u16)).collect();
    assert_eq!(Rig::new(&spec, Down).arrivals(&packets), [DATA + LATENCY; 4]);
}

#[test]
fn a_waiting_packet_blocks_later_packets_of_its_input() {
    let spec = crossbar(&[]);
    let got = Rig::new(&spec, Down).arrivals(&[write(0, 0, 0), write(1, 0, 0), read(1, 0, 1)]);
    assert_eq!(got[2], 2 * DATA + HEADER + LATENCY);
}

#[test]
fn inputs_requesting_one_output_are_served_round_robin() {
    let spec = crossbar(&[]);
    let packets: Vec<Packet> = (0..30).map(|n| read(n % 3, 0, 0)).collect();
    let got = Rig::new(&spec, Down).run(&packets).arrived;
    let inputs: Vec<usize> = got.iter().map(|&(_, packet)| packets[packet].input).collect();
    assert_eq!(inputs, [0, 1, 2].repeat(10));
    let cycles: Vec<u64> = got.iter().map(|&(cycle, _)| cycle).collect();
    let back_to_back: Vec<u64> = (0..30).map(|n| n + HEADER + LATENCY).collect();
    assert_eq!(cycles, back_to_back);
}

/// Returns sixteen inputs that each send a run of four packets to each of sixteen outputs, one
/// output at a time from `first` on.
fn walks(first: impl Fn(usize) -> usize) -> Vec<Packet> {
    let walk = |input: usize| {
        let first = first(input);
        (0..64).map(move |step| (input, ((first + step / 4) % 16) as u16))
    };
    (0..16).flat_map(walk).map(|(input, output)| read(input, 0, output)).collect()
}

/// Returns the cycles until the last packet has arrived, and the packets sent under contention.
fn walked(packets: &[Packet], arbiter: &str) -> (u64, Vec<u64>) {
    let spec = crossbar(&[&format!("arbiter={arbiter}")]);
    let Outcome { arrived, result } = Rig::new(&spec, Down).run(packets);
    (arrived.last().unwrap().0 - LATENCY, result.crowded)
}

#[test]
fn round_robin_keeps_synchronised_inputs_synchronised() {
    let (in_step, crowded) = walked(&walks(|_| 0), "round-robin");
    assert!(in_step > 16 * 48, "one output at a time: {in_step}");
    assert!(crowded.iter().all(|&packets| packets > 48), "{crowded:?}");
}

#[test]
fn held_grants_and_skewed_starts_desynchronise_inputs() {
    let (held, crowded) = walked(&walks(|_| 0), "hold-grant");
    assert_eq!(held, 15 * 4 + 64, "each input is one run behind its predecessor");
    assert_eq!(crowded.iter().skip(1).sum::<u64>(), 0, "{crowded:?}");
    let (skewed, crowded) = walked(&walks(|input| input), "round-robin");
    assert_eq!((skewed, crowded.iter().sum::<u64>()), (64, 0));
}

#[test]
fn a_full_output_blocks_only_its_own_packets() {
    let spec = crossbar(&[]);
    let readers = Readers::ClosedUntil { output: 0, cycle: 100 };
    let rig = Rig { entries: 2, readers, ..Rig::new(&spec, Down) };
    let packets: Vec<Packet> = (0..5).map(|n| read(n, 0, 0)).chain([read(5, 0, 1)]).collect();
    let got = rig.arrivals(&packets);
    assert_eq!(got[5], HEADER + LATENCY, "the other output continues");
    assert_eq!(got[..2], [100, 100], "two were in the port");
    let resumed = 100 + HEADER + LATENCY;
    assert_eq!(got[2..5], [resumed, resumed + 1, resumed + LATENCY + HEADER]);
}

#[test]
fn ports_beyond_64_work() {
    let spec = crossbar(&[]);
    let packets = [read(0, 0, 200), read(70, 0, 200), read(255, 0, 200), read(128, 0, 64)];
    let got = Rig::new(&spec, Down).arrivals(&packets);
    assert_eq!(got, [1, 2, 3, 1].map(|flits| flits + LATENCY));
}

#[test]
fn the_network_has_its_own_clock() {
    let spec = crossbar(&[]);
    // Cycles of the readers, of which there are two per network cycle.
    let rig = Rig { period: 2, ..Rig::new(&spec, Down) };
    let got = rig.arrivals(&[write(0, 3, 0)]);
    assert_eq!(got, [2 * (3 + DATA + LATENCY)]);
}

/// Returns the arrivals in both forms of the crossbar.
fn in_both_forms(packets: &[Packet]) -> [Vec<u64>; 2] {
    ["one-stage", "router"].map(|form| {
        let form = format!("topology=crossbar(form={form})");
        let spec = crossbar(&[&form, "network.vc_buffer=16"]);
        Rig::new(&spec, Down).arrivals(packets)
    })
}

#[test]
fn both_forms_carry_the_streams_of_a_permutation_at_full_speed() {
    let mut random = Random::new(5);
    let mut outputs: Vec<u16> = (0..8).collect();
    random.shuffle(&mut outputs);
    let packets: Vec<Packet> = (0..240)
        .map(|n| {
            let make = if random.below(2) == 0 { read } else { write };
            make(n % 8, random.below(20), outputs[n % 8])
        })
        .collect();
    let [one_stage, router] = in_both_forms(&packets);
    assert_eq!(one_stage, router);
    let last = packets.iter().rposition(|packet| packet.input == 0).unwrap();
    let flits = |p: &Packet| if p.kind == RequestKind::Read { HEADER } else { DATA };
    let carried: u64 = packets.iter().filter(|p| p.input == 0).map(flits).sum();
    assert!((carried..carried + 20 + LATENCY).contains(&(router[last] - LATENCY)), "no gaps");
}

#[test]
fn both_forms_serve_single_flits_for_one_output_round_robin() {
    let mut random = Random::new(6);
    for inputs in [2, 3, 16] {
        let mut cycle = 0;
        let packets: Vec<Packet> = (0..300)
            .map(|_| {
                cycle += random.below(3);
                read(random.below(inputs) as usize, cycle, 0)
            })
            .collect();
        let [one_stage, router] = in_both_forms(&packets);
        assert_eq!(one_stage, router, "{inputs} inputs");
    }
}
