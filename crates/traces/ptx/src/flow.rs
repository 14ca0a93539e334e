//! Control flow within a function: basic blocks, and reconvergence points of divergent branches.

use std::collections::BinaryHeap;

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;

use crate::instruction::Instruction;
use crate::module::Body;
use crate::op::Op;

/// Basic blocks of a function, and immediate post-dominators of its branches.
///
/// ```text
///     ┌── @p bra B ──┐
///     A              B        the branch reconverges at C
///     └────▶ C ◀─────┘
/// ```
///
/// The main exit is the exit that the most blocks can reach. Paths to other exits do not count:
/// threads that take one never return, and the others do not wait for them.
#[derive(Clone, Debug)]
pub struct Flow {
    /// First instruction of each block, ascending.
    starts: Vec<u32>,
    /// Successors of each block.
    successors: Vec<Vec<u32>>,
    /// Reconvergence point by instruction; only branches have one.
    reconvergence: Vec<Option<u32>>,
}

impl Flow {
    pub fn of(body: &Body) -> Flow {
        let starts = starts(body);
        let successors: Vec<Vec<u32>> =
            (0..starts.len()).map(|block| successors(body, &starts, block)).collect();
        let mut flow = Flow { starts, successors, reconvergence: Vec::new() };
        flow.reconvergence = flow.reconvergence_of(body);
        flow
    }

    /// Returns the reconvergence point of the branch at `at`; `None` if its threads do not reconverge before
    /// the function ends.
    #[inline]
    pub fn reconvergence(&self, at: u32) -> Option<u32> {
        self.reconvergence[at as usize]
    }

    /// Returns the instructions of each block.
    pub fn blocks(&self, body: &Body) -> impl Iterator<Item = std::ops::Range<usize>> {
        let ends = self.starts.iter().skip(1).map(|&start| start as usize);
        let ends = ends.chain([body.instructions.len()]);
        self.starts.iter().zip(ends).map(|(&start, end)| start as usize..end)
    }

    /// Returns the successors of a block.
    pub fn successors(&self, block: usize) -> &[u32] {
        &self.successors[block]
    }

    /// Returns the predecessors of each block.
    pub fn predecessors(&self) -> Vec<Vec<u32>> {
        let mut predecessors = vec![Vec::new(); self.successors.len()];
        for (from, successors) in (0..).zip(&self.successors) {
            for &to in successors {
                predecessors[to as usize].push(from);
            }
        }
        predecessors
    }

    /// Returns the immediate dominator of each block; the first block and unreachable ones have none.
    pub fn immediate_dominators(&self) -> Vec<Option<u32>> {
        let edges = (0..).zip(&self.successors);
        let edges = edges.flat_map(|(from, to)| to.iter().map(move |&to| (from, to)));
        let mut graph: DiGraph<(), ()> = DiGraph::from_edges(edges);
        while graph.node_count() < self.successors.len() {
            graph.add_node(());
        }
        let blocks = (0..self.successors.len()).map(NodeIndex::new);
        if self.successors.is_empty() {
            return Vec::new();
        }
        let dominators = simple_fast(&graph, NodeIndex::new(0));
        blocks.map(|block| Some(dominators.immediate_dominator(block)?.index() as u32)).collect()
    }

    fn reconvergence_of(&self, body: &Body) -> Vec<Option<u32>> {
        let mut reconvergence = vec![None; body.instructions.len()];
        let Some((graph, main_exit)) = self.returning_graph() else { return reconvergence };
        let post_dominators = simple_fast(Reversed(&graph), main_exit);
        for (block, range) in self.blocks(body).enumerate() {
            let Some(last) = range.clone().last() else { continue };
            if let Op::Branch(_) | Op::BranchIndexed(_) = body.instructions[last].op {
                let meets = post_dominators.immediate_dominator(NodeIndex::new(block));
                reconvergence[last] = meets.map(|block| self.starts[block.index()]);
            }
        }
        reconvergence
    }

    /// Returns the graph of the blocks without edges to blocks that cannot reach the main exit: threads that
    /// leave the function early are not waited for.
    fn returning_graph(&self) -> Option<(DiGraph<(), ()>, NodeIndex)> {
        let predecessors = self.predecessors();
        let main_exit = self.main_exit(&predecessors)?;
        let returns = reaching(&predecessors, &[main_exit]);
        let blocks = self.successors.len();
        let mut graph = DiGraph::with_capacity(blocks, 2 * blocks);
        let nodes: Vec<NodeIndex> = (0..blocks).map(|_| graph.add_node(())).collect();
        for (from, successors) in self.successors.iter().enumerate() {
            for &to in successors.iter().filter(|&&to| returns[to as usize] != 0) {
                graph.add_edge(nodes[from], nodes[to as usize], ());
            }
        }
        Some((graph, nodes[main_exit]))
    }

    /// Returns the exit that the most blocks can reach, the last of several.
    fn main_exit(&self, predecessors: &[Vec<u32>]) -> Option<usize> {
        let is_exit = |block: &usize| self.successors[*block].is_empty();
        let exits: Vec<usize> = (0..self.successors.len()).filter(is_exit).collect();
        let mut counts = Vec::with_capacity(exits.len());
        for exits in exits.chunks(EXITS_AT_ONCE) {
            let mut blocks = [0u32; EXITS_AT_ONCE];
            for mut reached in reaching(predecessors, exits) {
                while reached != 0 {
                    blocks[reached.trailing_zeros() as usize] += 1;
                    reached &= reached - 1;
                }
            }
            counts.extend_from_slice(&blocks[..exits.len()]);
        }
        exits.into_iter().zip(counts).max_by_key(|&(_, blocks)| blocks).map(|(exit, _)| exit)
    }
}

/// Exits whose reaching blocks are computed in one pass.
const EXITS_AT_ONCE: usize = u64::BITS as usize;

/// Returns, for each block, a mask with one bit per exit that it reaches.
fn reaching(predecessors: &[Vec<u32>], ends: &[usize]) -> Vec<u64> {
    let mut reached = vec![0u64; predecessors.len()];
    for (at, &end) in ends.iter().enumerate() {
        reached[end] = 1 << at;
    }
    // Processes later blocks first, since most edges point forward.
    let mut waiting: BinaryHeap<u32> = ends.iter().map(|&end| end as u32).collect();
    while let Some(block) = waiting.pop() {
        let of_block = reached[block as usize];
        for &before in &predecessors[block as usize] {
            let known = reached[before as usize];
            if known | of_block != known {
                reached[before as usize] |= of_block;
                waiting.push(before);
            }
        }
    }
    reached
}

/// Returns whether control never falls through the instruction.
fn ends_flow(instruction: &Instruction) -> bool {
    let ends = matches!(
        instruction.op,
        Op::Branch(_) | Op::BranchIndexed(_) | Op::Return | Op::Exit | Op::Trap
    );
    ends && instruction.guard.is_none()
}

fn ends_block(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Branch(_) | Op::BranchIndexed(_)) || ends_flow(instruction)
}

fn targets<'b>(body: &'b Body, instruction: &'b Instruction) -> &'b [u32] {
    match &instruction.op {
        Op::Branch(target) => std::slice::from_ref(target),
        Op::BranchIndexed(table) => &body.branch_tables[*table as usize],
        _ => &[],
    }
}

fn starts(body: &Body) -> Vec<u32> {
    let end = body.instructions.len() as u32;
    let mut starts = vec![0];
    for (at, instruction) in (1..).zip(&body.instructions) {
        if ends_block(instruction) {
            starts.push(at);
        }
        starts.extend_from_slice(targets(body, instruction));
    }
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|&start| start < end || end == 0);
    starts
}

fn successors(body: &Body, starts: &[u32], block: usize) -> Vec<u32> {
    let next = starts.get(block + 1).copied();
    let end = next.unwrap_or(body.instructions.len() as u32);
    let Some(last) = end.checked_sub(1).and_then(|last| body.instructions.get(last as usize))
    else {
        return Vec::new();
    };
    let block_of = |target: &u32| starts.binary_search(target).ok().map(|block| block as u32);
    let mut successors: Vec<u32> = targets(body, last).iter().filter_map(block_of).collect();
    if !ends_flow(last) && next.is_some() {
        successors.push(block as u32 + 1);
    }
    successors.sort_unstable();
    successors.dedup();
    successors
}
