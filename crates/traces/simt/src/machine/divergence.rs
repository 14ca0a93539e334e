//! Divergence: values that can differ between the threads of a warp, and branches that can split it.

use std::collections::HashSet;

use warpmem_ptx::{Body, Flow, Instruction, Op, Register, Space, Special, Value};

use super::uses::Uses;

/// Values of a function that can differ between the threads of a warp.
pub(super) struct Divergence {
    registers: HashSet<Register>,
}

impl Divergence {
    pub fn of(body: &Body, flow: &Flow, uses: &Uses<'_>) -> Divergence {
        let mut divergence = Divergence { registers: HashSet::new() };
        let mut split: HashSet<usize> = HashSet::new();
        while divergence.spread(body, uses, &split) {
            split = divergence.split_blocks(body, flow);
        }
        divergence
    }

    /// Returns whether an instruction reads a value that differs between threads.
    pub fn reads(&self, instruction: &Instruction) -> bool {
        instruction.reads().any(|register| self.registers.contains(&register))
            || instruction.sources.iter().any(|&value| differs(value))
    }

    /// Returns whether a branch can split the warp.
    pub fn splits(&self, instruction: &Instruction) -> bool {
        let guard = instruction.guard.map(|guard| guard.predicate);
        match instruction.op {
            Op::Branch(_) => guard.is_some_and(|predicate| self.registers.contains(&predicate)),
            Op::BranchIndexed(_) => self.reads(instruction),
            _ => false,
        }
    }

    /// Marks results of divergent operands, and registers with several definitions, one of them in a split
    /// block; returns whether there were new ones.
    fn spread(&mut self, body: &Body, uses: &Uses<'_>, split: &HashSet<usize>) -> bool {
        let before = self.registers.len();
        loop {
            let last = self.registers.len();
            for (at, instruction) in body.instructions.iter().enumerate() {
                let is_split = split.contains(&uses.blocks[at]);
                let differs = makes_differences(instruction) || self.reads(instruction);
                for register in instruction.writes() {
                    if differs || (is_split && uses.producer(register).is_none()) {
                        self.registers.insert(register);
                    }
                }
            }
            if self.registers.len() == last {
                return last > before;
            }
        }
    }

    /// Returns the blocks between branches that split the warp and their reconvergence.
    fn split_blocks(&self, body: &Body, flow: &Flow) -> HashSet<usize> {
        let ranges: Vec<_> = flow.blocks(body).collect();
        let mut found = HashSet::new();
        for (block, range) in ranges.iter().enumerate() {
            let Some(last) = range.clone().last() else { continue };
            if !self.splits(&body.instructions[last]) {
                continue;
            }
            let meets = flow.reconvergence(last as u32).map(|at| at as usize);
            let mut open = flow.successors(block).to_vec();
            let mut seen = HashSet::new();
            while let Some(next) = open.pop() {
                let start = ranges[next as usize].start;
                if Some(start) != meets && seen.insert(start) {
                    open.extend_from_slice(flow.successors(next as usize));
                }
            }
            found.extend(seen);
        }
        found
    }
}

/// Returns whether a value differs between the threads of a warp by itself.
fn differs(value: Value) -> bool {
    match value {
        Value::Special(special) => matches!(
            special,
            Special::Tid(_)
                | Special::LaneId
                | Special::LanemaskEq
                | Special::LanemaskLe
                | Special::LanemaskLt
                | Special::LanemaskGe
                | Special::LanemaskGt
        ),
        _ => false,
    }
}

/// Returns whether the results of an instruction differ whatever it reads.
fn makes_differences(instruction: &Instruction) -> bool {
    match instruction.op {
        Op::Load(access) => access.space == Space::Local,
        Op::Atomic(_)
        | Op::Call(_)
        | Op::Shuffle(_)
        | Op::Match { .. }
        | Op::LoadMatrix(_)
        | Op::WmmaLoad(_)
        | Op::Mma(_)
        | Op::Wgmma(_)
        | Op::Elect => true,
        _ => false,
    }
}
