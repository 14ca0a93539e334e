//! Credits: the number of flits that a buffer of a given size keeps in flight.

use super::rig::{Rig, write};
use crate::tests::spec::spec;

/// Flits of a write.
const FLITS: u64 = 34;

/// With a buffer of n flits, a flit can follow the one n before it as soon as that one's credit has
/// returned: the flit takes router + link cycles, and the credit link + 1.
#[test]
fn a_buffer_moves_its_flits_once_per_round_trip() {
    for (router, link) in [(1, 0), (1, 2), (3, 0), (2, 1), (4, 3)] {
        let round_trip = router + 2 * link + 1;
        for buffer in 1..=round_trip + 1 {
            let keys = [
                "topology=mesh".to_owned(),
                "network.flit_bytes=4".to_owned(),
                "network.header_bytes=8".to_owned(),
                "network.virtual_channels=1".to_owned(),
                format!("network.router_latency={router}"),
                format!("network.link_latency={link}"),
                format!("network.vc_buffer={buffer}"),
            ];
            let spec = spec(&keys.each_ref().map(String::as_str));
            let arrival = Rig::all_to_all(&spec, 4).arrivals(&[write(0, 0, 3)])[0];
            let zero_load = 3 * (router + link) + FLITS;
            let pause = round_trip.saturating_sub(buffer);
            let pauses = (FLITS - 1) / buffer * pause;
            assert_eq!(arrival, zero_load + pauses, "{buffer} flits, {router} + {link} cycles");
        }
    }
}
