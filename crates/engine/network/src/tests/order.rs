//! Packets of a source to a destination stay together under hold-grant (Yuan et al., MICRO 2009,
//! section 3.3).

use super::rig::{Packet, Rig, read, write};
use crate::tests::spec::spec;

const SOURCES: usize = 9;

/// Returns the number of runs of consecutive arrivals from one source, summed over all
/// destinations. Half of the sources send to one destination, the others to another.
fn runs(
    topology: &str,
    rule: &str,
    assignment: &str,
    make: fn(usize, u64, u16) -> Packet,
) -> usize {
    let keys = [
        format!("topology={topology}"),
        format!("arbiter={rule}"),
        format!("network.vc_assignment={assignment}"),
        "network.virtual_channels=4".to_owned(),
        "network.router_latency=2".to_owned(),
        "network.header_bytes=8".to_owned(),
    ];
    let spec = spec(&keys.each_ref().map(String::as_str));
    let packets: Vec<Packet> =
        (0..SOURCES * 40).map(|n| make(n % SOURCES, 0, [8, 6][n % SOURCES % 2])).collect();
    let mut last = [None; SOURCES];
    let mut begins_run = |&(_, number): &(u64, usize)| {
        let Packet { input, output, .. } = packets[number];
        last[usize::from(output)].replace(input) != Some(input)
    };
    let arrived = Rig::all_to_all(&spec, SOURCES).run(&packets).arrived;
    arrived.iter().filter(|arrival| begins_run(arrival)).count()
}

#[test]
fn held_grants_with_static_destination_channels_keep_packets_together() {
    for topology in ["crossbar(form=router)", "mesh", "ring"] {
        for make in [read, write] {
            let runs = |rule, assignment| runs(topology, rule, assignment, make);
            assert_eq!(runs("hold-grant", "static-destination"), SOURCES, "{topology}");
            // Each virtual channel that any packet may take is held by one input.
            assert!(runs("hold-grant", "dynamic") > 20 * SOURCES, "{topology}");
            assert!(runs("round-robin", "static-destination") > 20 * SOURCES, "{topology}");
        }
    }
}
