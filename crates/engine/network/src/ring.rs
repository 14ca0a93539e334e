//! A ring in both directions.

use super::direct::{self, Step};
use super::placement::Placement;
use super::router::layout::Layout;
use super::{TopologyEntry, router};
use std::collections::BTreeSet;
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "ring",
    summary: "routers in a ring; packets take the shorter direction and change virtual channels at a dateline",
    source: "Dally and Towles 2004, section 14.2; Yuan et al., MICRO 2009, section 5.4",
    params: Vec::new,
};

pub(super) const ENTRY: TopologyEntry = TopologyEntry {
    info: INFO,
    build: |context, _| router::build(&layout(&context.placement), context, &INFO),
};

/// Builds a ring with positions numbered clockwise. The dateline is between the last position and
/// the first: a packet that will cross it uses class 0, any other class 1. Hence no class forms a
/// cycle around the ring, and a packet of class 1 never waits for one of class 0: the ring cannot
/// deadlock.
pub(super) fn layout(placement: &Placement) -> Layout {
    let positions = placement.nodes;
    let neighbours = |position: usize| {
        let both =
            BTreeSet::from([(position + 1) % positions, (position + positions - 1) % positions]);
        both.into_iter().filter(|&neighbour| neighbour != position).collect()
    };
    let neighbours: Vec<Vec<usize>> = (0..positions).map(neighbours).collect();
    direct::layout(placement, &neighbours, 2, |here, there| step(here, there, positions))
}

/// Returns the next hop from `here` towards `there`, the shorter way round. If both ways are
/// equally long, which can occur only at the packet's source, it goes clockwise from even positions
/// and counter-clockwise from odd ones.
fn step(here: usize, there: usize, positions: usize) -> Step {
    let clockwise = (there + positions - here) % positions;
    let go_clockwise =
        2 * clockwise < positions || 2 * clockwise == positions && here.is_multiple_of(2);
    let (to, crosses) = if go_clockwise {
        ((here + 1) % positions, there < here)
    } else {
        ((here + positions - 1) % positions, there > here)
    };
    Step { to, class: u8::from(!crosses) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::layout::End;

    fn pairs(nodes: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..nodes).flat_map(move |a| (0..nodes).map(move |b| (a, b)))
    }

    #[test]
    fn packets_take_the_shorter_direction() {
        for nodes in [1, 2, 3, 4, 7, 8, 36] {
            let ring = layout(&Placement::all_to_all(nodes));
            for (a, b) in pairs(nodes) {
                let distance = a.abs_diff(b).min(nodes - a.abs_diff(b));
                assert_eq!(ring.path(a, b).len(), distance + 1, "{a} to {b} of {nodes}");
            }
        }
    }

    #[test]
    fn opposite_nodes_are_reached_clockwise_from_even_positions() {
        let ring = layout(&Placement::all_to_all(6));
        assert_eq!(ring.path(0, 3), [0, 1, 2, 3]);
        assert_eq!(ring.path(4, 1), [4, 5, 0, 1]);
        assert_eq!(ring.path(3, 0), [3, 2, 1, 0]);
        assert_eq!(ring.path(1, 4), [1, 0, 5, 4]);
    }

    #[test]
    fn positions_without_nodes_forward_packets() {
        let placement = Placement { nodes: 5, inputs: vec![0, 2, 3], outputs: vec![1, 4] };
        let ring = layout(&placement);
        assert_eq!(ring.path(1, 1), [2, 3, 4]);
        assert_eq!(ring.path(2, 0), [3, 2, 1]);
        assert_eq!(ring.inputs(), [3, 2, 3, 3, 2]);
        let outputs: Vec<usize> = ring.outputs.iter().map(Vec::len).collect();
        assert_eq!(outputs, [2, 3, 2, 2, 3]);
    }

    /// Returns the channels that a packet uses: router, output and class, without the link to the
    /// destination node.
    fn channels(ring: &Layout, source: usize, destination: usize) -> Vec<(usize, u16, u8)> {
        let path = ring.path(source, destination);
        let links = path[..path.len() - 1].iter().map(|&router| {
            let route = ring.routes[router][destination];
            (router, route.output, route.class)
        });
        links.collect()
    }

    /// Dally and Seitz 1987: there is no deadlock if the channel dependence graph has no cycle.
    #[test]
    fn virtual_channel_classes_form_no_dependence_cycle() {
        for nodes in [2, 3, 6, 9] {
            let ring = layout(&Placement::all_to_all(nodes));
            let ways: Vec<_> = pairs(nodes).map(|(a, b)| channels(&ring, a, b)).collect();
            let waits: BTreeSet<_> =
                ways.iter().flat_map(|way| way.windows(2).map(|w| (w[0], w[1]))).collect();
            let mut open: BTreeSet<_> = ways.iter().flatten().copied().collect();
            // Removes channels without dependences on the remaining ones, until none can be
            // removed.
            while let Some(&free) =
                open.iter().find(|&&c| !open.iter().any(|&other| waits.contains(&(c, other))))
            {
                open.remove(&free);
            }
            assert!(open.is_empty(), "{nodes}: {open:?} wait for each other");
        }
    }

    #[test]
    fn without_classes_the_channels_form_a_dependence_cycle() {
        let ring = layout(&Placement::all_to_all(6));
        let clockwise = |router: usize| {
            let output = &ring.outputs[router];
            let next = (router + 1) % 6;
            output
                .iter()
                .position(|end| matches!(end, End::Router { router, .. } if *router == next))
        };
        let goes_on = |router: usize| {
            pairs(6).any(|(a, b)| {
                let way = channels(&ring, a, b);
                way.windows(2).any(|w| {
                    w[0].0 == router
                        && Some(usize::from(w[0].1)) == clockwise(router)
                        && Some(usize::from(w[1].1)) == clockwise((router + 1) % 6)
                })
            })
        };
        assert!((0..6).all(goes_on), "clockwise links are joined to a cycle of waits");
    }
}
