//! Positions of SMs and L2 slices among the nodes of a mesh or ring.

use super::Direction;
use crate::NetworkSpec;

/// Positions of the sending and of the receiving nodes, out of `nodes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub nodes: usize,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
}

impl Placement {
    /// Places slices at the configured positions, or else spread evenly; SMs at the remaining
    /// positions.
    pub fn of(spec: &NetworkSpec, direction: Direction) -> Placement {
        let sms = spec.sms.div_ceil(spec.network.sms_per_node) as usize;
        let slices = spec.slices as usize;
        let nodes = sms + slices;
        let memory = match &spec.network.memory_nodes[..] {
            [] => (0..slices).map(|slice| (2 * slice + 1) * nodes / (2 * slices)).collect(),
            given => given.iter().map(|&node| node as usize).collect::<Vec<_>>(),
        };
        let sms = (0..nodes).filter(|node| !memory.contains(node)).collect();
        match direction {
            Direction::Request => Placement { nodes, inputs: sms, outputs: memory },
            Direction::Reply => Placement { nodes, inputs: memory, outputs: sms },
        }
    }

    /// Places a sending and a receiving node at every position.
    pub fn all_to_all(nodes: usize) -> Placement {
        Placement { nodes, inputs: (0..nodes).collect(), outputs: (0..nodes).collect() }
    }
}
