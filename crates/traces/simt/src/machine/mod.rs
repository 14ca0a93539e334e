//! Machine code: the instructions that ptxas emits for each PTX instruction, by class.
//!
//! ```text
//!  body ─▶ uses ─▶ merged instructions (fold) ─┐
//!             └──▶ divergent branches ─────────┼─▶ code, registers read
//!                  expansions of the rest ─────┘
//! ```
//!
//! The numbers of instructions were measured with ptxas 12.9 (docs/lab/machine-code.md). Machine code is
//! modelled by rules that hold for any kernel; it has no schedule and no register allocation. Accesses, their
//! order and register dependences are those of the PTX.

mod constants;
mod divergence;
mod dominators;
mod expansion;
mod fold;
mod generation;
mod uses;

use warpmem_ptx::{Body, Flow, Instruction, Op, Register, Space, Value};
use warpmem_trace::OpClass;

use divergence::Divergence;
use dominators::Dominators;
use expansion::Expansion;
use fold::{Merging, Taken};
pub use generation::Generation;
use uses::Uses;

/// Instructions of one class, and their number.
pub(crate) type Count = (OpClass, u32);

/// Machine code of a PTX instruction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Code {
    /// Instructions other than its memory access, barrier or exit.
    pub counts: Vec<Count>,
    /// Registers read by it and by the instructions merged into it.
    pub reads: Vec<Register>,
    /// Whether it is a name for the registers it reads.
    pub renames: bool,
    /// Of a branch over a body that is predicated instead: the instructions of the body, which issue even if no
    /// lane executes it.
    pub skipped: Vec<Count>,
}

/// Registers read by one machine instruction and those merged into it, at most.
const MAX_READS: usize = 16;
/// Instructions of a body that is predicated instead of branched over, at most.
const PREDICATED: u32 = 20;
/// Stores of such a body, at most.
const PREDICATED_STORES: usize = 10;

/// Returns the machine code of each instruction of a function.
pub(crate) fn code_of(body: &Body, flow: &Flow, generation: Generation) -> Vec<Code> {
    let mut blocks = Vec::with_capacity(body.instructions.len());
    for range in flow.blocks(body) {
        let start = range.start;
        blocks.extend(range.map(|_| start));
    }
    let uses = Uses::of(body, blocks);
    let dominators = Dominators::of(flow, body);
    let merging = Merging::of(&uses, &dominators, generation);
    let divergence = Divergence::of(body, flow, &uses);
    let emitter = Emitter { uses: &uses, flow, merging, divergence, generation };
    let moved = constants::moves(&uses, &emitter.merging, &dominators, generation);
    let mut code: Vec<Code> = Vec::with_capacity(body.instructions.len());
    for (at, moved) in moved.into_iter().enumerate() {
        let reads = emitter.reads(at, &code);
        let renames = emitter.merging.merged[at] && uses.result(at).is_none();
        let mut counts = emitter.counts(at);
        if moved > 0 {
            counts.insert(0, (OpClass::Integer, moved));
        }
        code.push(Code { counts, reads, renames, ..Code::default() });
    }
    emitter.place_branches(&mut code);
    code
}

struct Emitter<'u, 'b> {
    uses: &'u Uses<'b>,
    flow: &'u Flow,
    merging: Merging<'u, 'b>,
    divergence: Divergence,
    generation: Generation,
}

impl Emitter<'_, '_> {
    /// Returns the registers that an instruction reads, with those of merged instructions in their place.
    fn reads(&self, at: usize, code: &[Code]) -> Vec<Register> {
        if let Some(&same) = self.merging.same.get(&at) {
            return self.uses.result(same).into_iter().collect();
        }
        let mut reads = Vec::new();
        for register in self.uses.instruction(at).reads() {
            let producer = self.uses.producer(register).filter(|&producer| producer < at);
            match producer.filter(|&producer| self.merging.merged[producer]) {
                Some(producer) => reads.extend_from_slice(&code[producer].reads),
                None => reads.push(register),
            }
        }
        // Operands of a single instruction keep their repetitions, which the record drops.
        if reads.len() > MAX_READS.max(self.uses.instruction(at).sources.len() + 2) {
            reads.sort();
            reads.dedup();
            reads.truncate(MAX_READS);
        }
        reads
    }

    /// Returns the machine instructions of a PTX instruction by class; a branch has one.
    fn counts(&self, at: usize) -> Vec<Count> {
        let instruction = self.uses.instruction(at);
        if self.merging.merged[at] {
            return Vec::new();
        }
        match self.merging.taken[at] {
            Some(Taken::WideProduct) => return vec![(OpClass::Integer, 1)],
            _ if matches!(instruction.op, Op::Branch(_) | Op::BranchIndexed(_) | Op::Call(_)) => {
                return vec![(OpClass::Control, 1)];
            }
            _ => {}
        }
        let is_constant = |&value: &Value| self.uses.constant(value).is_some();
        let constant = instruction.sources.iter().any(is_constant);
        let Expansion { counts, has_slow_path } =
            expansion::of(instruction.op, constant, self.generation);
        let mut counts = counts.to_vec();
        if has_slow_path {
            let region = match self.divergence.reads(instruction) {
                true => self.convergence(),
                false => 0,
            };
            counts.push((OpClass::Control, 1 + region));
        }
        counts
    }

    /// Returns the instructions around a region in which the threads of a warp can separate: `BSSY`, `BSYNC`,
    /// and `BMOV` where a barrier is cleared.
    fn convergence(&self) -> u32 {
        2 + u32::from(self.generation.clears_convergence_barriers())
    }

    /// Removes the branches over bodies that are predicated, and adds convergence barriers to the others that
    /// can split the warp.
    fn place_branches(&self, code: &mut [Code]) {
        let body = self.uses.body;
        let mut regions: Vec<u32> = Vec::new();
        for (at, instruction) in body.instructions.iter().enumerate() {
            let Op::Branch(target) = instruction.op else { continue };
            regions.retain(|&end| end > at as u32);
            let ends = ends_thread(&body.instructions[target as usize..]);
            if instruction.guard.is_none() || target as usize <= at || ends {
                continue;
            }
            if let Some(skipped) = self.predicated(at, target as usize, code) {
                code[at].counts.clear();
                code[at].skipped = skipped;
                continue;
            }
            let Some(meets) = self.flow.reconvergence(at as u32) else { continue };
            if self.divergence.splits(instruction) && !regions.contains(&meets) {
                regions.push(meets);
                code[at].counts.push((OpClass::Control, self.convergence()));
            }
        }
    }

    /// Returns the instructions of a short body without branches between a branch and its target.
    fn predicated(&self, at: usize, target: usize, code: &[Code]) -> Option<Vec<Count>> {
        let body = self.uses.body.instructions.get(at + 1..target)?;
        let is_one_block = (at + 1..target).all(|one| self.uses.is_in_block_of(one, at + 1));
        let is_reached_otherwise = self.uses.blocks.get(target) == Some(&(at + 1));
        if body.is_empty() || !is_one_block || is_reached_otherwise || !body.iter().all(can_be_off)
        {
            return None;
        }
        let mut counts: Vec<Count> =
            code[at + 1..target].iter().flat_map(|one| one.counts.clone()).collect();
        let accesses = body.iter().filter(|one| is_access(one)).count() as u32;
        counts.push((OpClass::Other, accesses));
        let stores = body.iter().filter(|one| matches!(one.op, Op::Store(_))).count();
        let total: u32 = counts.iter().map(|count| count.1).sum();
        counts.retain(|count| count.1 > 0);
        (total <= PREDICATED && stores <= PREDICATED_STORES).then_some(counts)
    }
}

/// Returns whether an instruction of a predicated body can have a predicate instead.
fn can_be_off(instruction: &Instruction) -> bool {
    let Instruction { op, guard, .. } = instruction;
    let is_plain = match op {
        Op::Unary(..) | Op::Binary(..) => {
            !expansion::of(*op, false, Generation::Hopper).has_slow_path
        }
        Op::Ternary(..)
        | Op::SetPredicate { .. }
        | Op::Set { .. }
        | Op::Select(_)
        | Op::Move(_)
        | Op::Convert(_)
        | Op::ConvertAddress { .. }
        | Op::Lop3 { .. }
        | Op::Permute(_)
        | Op::Funnel { .. }
        | Op::BitFieldInsert(_)
        | Op::Pack(_)
        | Op::Unpack(_) => true,
        _ => is_access(instruction),
    };
    is_plain && guard.is_none()
}

fn is_access(instruction: &Instruction) -> bool {
    match instruction.op {
        Op::Load(access) | Op::Store(access) => access.space != Space::Param,
        Op::Atomic(_) | Op::Reduce(_) => true,
        _ => false,
    }
}

/// Returns whether a thread ends with these instructions, before anything else: a branch to them is a
/// predicated `EXIT`.
pub(crate) fn ends_thread(instructions: &[Instruction]) -> bool {
    matches!(instructions.first(), Some(Instruction { op: Op::Return | Op::Exit, guard: None, .. }))
}

#[cfg(test)]
mod tests;
