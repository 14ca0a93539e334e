//! Arbitration rules in both forms of the crossbar. All packets go to the same DRAM row.

use super::rig::{Packet, Readers, Rig, read, write};
use crate::Direction;
use crate::Direction::{Reply, Request as Down};
use crate::tests::spec::spec;

const HOLDING: [&str; 3] = ["hold-grant", "row-matching-hold-grant", "hash-matching-hold-grant"];

const WIRES: [&str; 2] = ["network.flit_bytes=32", "network.header_bytes=8"];

/// Returns the inputs of the packets in the order of arrival, which is the same in both forms.
fn order(rule: &str, packets: &[Packet]) -> Vec<usize> {
    order_with_entries(Down, 100, Readers::Eager, rule, packets)
}

/// Returns the order as [`order`] does, with output ports of `entries` entries.
fn order_with_entries(
    direction: Direction,
    entries: usize,
    readers: Readers,
    rule: &str,
    packets: &[Packet],
) -> Vec<usize> {
    let rule = format!("arbiter={rule}");
    let [one_stage, router] = ["crossbar", "crossbar(form=router)"].map(|topology| {
        let topology = format!("topology={topology}");
        let spec = spec(&[&WIRES[..], &[&rule, &topology]].concat());
        let rig = Rig { entries, readers, ..Rig::new(&spec, direction) };
        inputs(&rig.run(packets).arrived, packets)
    });
    assert_eq!(one_stage, router, "{rule}");
    one_stage
}

fn inputs(arrived: &[(u64, usize)], packets: &[Packet]) -> Vec<usize> {
    arrived.iter().map(|&(_, number)| packets[number].input).collect()
}

#[test]
fn held_grants_keep_streams_together() {
    let packets = [0, 1, 0, 1, 0, 1].map(|input| read(input, 0, 0));
    assert_eq!(order("round-robin", &packets), [0, 1, 0, 1, 0, 1]);
    for rule in HOLDING {
        assert_eq!(order(rule, &packets), [0, 0, 0, 1, 1, 1], "{rule}");
    }
}

#[test]
fn a_paused_input_loses_its_output() {
    let packets = [(0, 0), (0, 2), (1, 0), (1, 0), (1, 0)];
    let packets = packets.map(|(input, cycle)| read(input, cycle, 0));
    assert_eq!(order("round-robin", &packets), [0, 1, 0, 1, 1]);
    for rule in HOLDING {
        assert_eq!(order(rule, &packets), [0, 1, 1, 1, 0], "{rule}");
    }
}

#[test]
fn an_idle_cycle_ends_a_hold() {
    let then_both = |cycle| [(0, 0), (0, cycle), (1, cycle)].map(|(i, at)| read(i, at, 0));
    for rule in HOLDING {
        assert_eq!(order(rule, &then_both(1)), [0, 0, 1], "{rule}");
        assert_eq!(order(rule, &then_both(2)), [0, 1, 0], "{rule}");
    }
}

#[test]
fn grants_are_held_over_blocked_cycles() {
    let packets = [(0, 0), (0, 50), (1, 60)].map(|(input, cycle)| read(input, cycle, 0));
    let closed = Readers::ClosedUntil { output: 0, cycle: 100 };
    for rule in HOLDING {
        assert_eq!(order_with_entries(Down, 1, closed, rule, &packets), [0, 0, 1], "{rule}");
    }
    assert_eq!(order_with_entries(Down, 1, closed, "round-robin", &packets), [0, 1, 0]);
}

#[test]
fn replies_are_not_held() {
    let packets = [0, 1, 0, 1].map(|input| read(input, 0, 0));
    for rule in HOLDING {
        let order = order_with_entries(Reply, 100, Readers::Eager, rule, &packets);
        assert_eq!(order, [0, 1, 0, 1], "{rule}");
    }
}

/// Yuan 2009, section 3.3: with a choice of virtual channels the streams run in parallel, and the
/// switch mixes them.
#[test]
fn virtual_channels_split_streams_unless_they_are_assigned_by_destination() {
    let packets: Vec<Packet> = (0..24).map(|number| write(number % 2, 0, 1)).collect();
    let order = |assignment: &str| {
        let assignment = format!("network.vc_assignment={assignment}");
        let form = ["topology=crossbar(form=router)", "arbiter=hold-grant"];
        let channels = ["network.virtual_channels=4", &assignment];
        let spec = spec(&[&WIRES[..], &form, &channels].concat());
        inputs(&Rig::new(&spec, Down).run(&packets).arrived, &packets)
    };
    let whole = [[0; 12], [1; 12]].concat();
    assert_eq!(order("static-destination"), whole);
    let changes = order("dynamic").windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes > 2, "{changes}");
}

#[test]
fn the_oldest_goes_first_against_round_robin_order() {
    // Input 2 holds the output for five cycles.
    let packets = [write(2, 0, 0), read(0, 3, 0), read(1, 2, 0), read(0, 3, 0)];
    assert_eq!(order("round-robin", &packets), [2, 0, 1, 0]);
    assert_eq!(order("oldest-first", &packets), [2, 1, 0, 0]);
}

#[test]
fn random_choice_serves_inputs_about_equally() {
    let packets: Vec<Packet> = (0..400).map(|number| read(number % 2, 0, 0)).collect();
    for topology in ["topology=crossbar", "topology=crossbar(form=router)"] {
        let spec = spec(&[&WIRES[..], &["arbiter=random", topology]].concat());
        let arrived = Rig::new(&spec, Down).run(&packets).arrived;
        let first = arrived[..200].iter().filter(|&&(_, number)| number % 2 == 0).count();
        // Within five standard deviations of 200 tosses of a coin.
        assert!((65..=135).contains(&first), "{topology}: {first}");
        let changes = arrived.windows(2).filter(|pair| (pair[0].1 + pair[1].1) % 2 == 1).count();
        assert!(changes < 300, "{topology}: {changes} changes, as in round-robin order");
    }
}
