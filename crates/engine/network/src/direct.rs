//! Direct networks: a router at every position, connected to the node at that position, if any.

use super::placement::Placement;
use super::router::layout::{End, Layout, Route};

/// The next hop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Neighbouring position.
    pub to: usize,
    /// Class of virtual channels of the link to it.
    pub class: u8,
}

/// Builds routers linked to their `neighbours` in both directions; `step` gives the next hop from
/// one position towards another.
pub(super) fn layout(
    placement: &Placement,
    neighbours: &[Vec<usize>],
    classes: u8,
    step: impl Fn(usize, usize) -> Step,
) -> Layout {
    let port = |from: usize, to: usize| {
        let port = neighbours[from].iter().position(|&place| place == to);
        port.expect("neighbours are symmetric")
    };
    let link = |from: usize, to: usize| End::Router { router: to, input: port(to, from) };
    let links = |from: usize| neighbours[from].iter().map(move |&to| link(from, to));
    let mut outputs: Vec<Vec<End>> =
        (0..neighbours.len()).map(|from| links(from).collect()).collect();
    for (node, &place) in placement.outputs.iter().enumerate() {
        outputs[place].push(End::Node(node));
    }
    let route = |here: usize, there: usize| {
        if here == there {
            return Route { output: neighbours[here].len() as u16, class: 0 };
        }
        let Step { to, class } = step(here, there);
        Route { output: port(here, to) as u16, class }
    };
    let routes = |here: usize| placement.outputs.iter().map(move |&there| route(here, there));
    Layout {
        outputs,
        sources: placement.inputs.iter().map(|&place| (place, neighbours[place].len())).collect(),
        destinations: placement.outputs.len(),
        routes: (0..neighbours.len()).map(|here| routes(here).collect()).collect(),
        classes,
    }
}
