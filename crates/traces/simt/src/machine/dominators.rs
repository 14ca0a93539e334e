//! Dominators of basic blocks.

use std::collections::HashMap;

use warpmem_ptx::{Body, Flow};

/// Immediate dominators of blocks, which are named by their first instruction.
pub(super) struct Dominators(HashMap<usize, usize>);

impl Dominators {
    pub fn of(flow: &Flow, body: &Body) -> Dominators {
        let starts: Vec<usize> = flow.blocks(body).map(|range| range.start).collect();
        let immediate = flow.immediate_dominators();
        let pairs = (0..)
            .zip(immediate)
            .filter_map(|(block, dominator)| Some((starts[block], starts[dominator? as usize])));
        Dominators(pairs.collect())
    }

    /// Returns whether every path to the block `to` passes the block `from`.
    pub fn dominates(&self, from: usize, to: usize) -> bool {
        let mut above = std::iter::successors(Some(to), |block| self.0.get(block).copied());
        above.any(|block| block == from)
    }
}
