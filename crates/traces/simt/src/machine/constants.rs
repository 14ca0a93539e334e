//! Constant operands: a machine instruction has one operand that is an immediate or lies in the constant bank,
//! as parameters and launch dimensions do. Others are moved to registers first, once for the blocks below.

use std::collections::HashMap;

use warpmem_ptx::{Binary, Op, Register, Space, Special, Ternary, Value};

use super::dominators::Dominators;
use super::fold::Merging;
use super::generation::Generation;
use super::uses::Uses;

/// Constant operands that an instruction remembers, more than one has.
const OPERANDS: usize = 4;

/// A constant operand, immediates before the constant bank: these move first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Constant {
    Immediate(u64),
    Parameter(Register),
    Dimension(Special),
}

/// Returns the moves of constants before each instruction.
pub(super) fn moves(
    uses: &Uses<'_>,
    merging: &Merging<'_, '_>,
    dominators: &Dominators,
    generation: Generation,
) -> Vec<u32> {
    let count = uses.body.instructions.len();
    let mut moves = vec![0; count];
    if generation.loads_constants() {
        return moves;
    }
    let mut operands: Vec<Vec<Constant>> = Vec::with_capacity(count);
    let mut registers = Registers { dominators, blocks: HashMap::new() };
    for at in 0..count {
        operands.push(operands_of(at, uses, merging, &operands));
        if !merging.merged[at] && is_arithmetic(uses.instruction(at).op) {
            moves[at] = registers.move_all_but_one(&operands[at], uses.blocks[at]);
        }
    }
    moves
}

/// Returns the constant operands of an instruction and of those merged into it. A constant amount of a shift is
/// part of the opcode.
fn operands_of(
    at: usize,
    uses: &Uses<'_>,
    merging: &Merging<'_, '_>,
    before: &[Vec<Constant>],
) -> Vec<Constant> {
    let instruction = uses.instruction(at);
    let sources = match instruction.op {
        Op::Load(access) if access.space == Space::Param => {
            return instruction.dests.iter().flatten().map(|&to| Constant::Parameter(to)).collect();
        }
        Op::Binary(Binary::ShiftLeft | Binary::ShiftRight, ..) => &instruction.sources[..1],
        _ => &*instruction.sources,
    };
    let mut operands = Vec::new();
    for &value in sources {
        let producer = value.register().and_then(|register| uses.producer(register));
        match (uses.constant(value), value, producer) {
            (Some(Value::Bits(bits)), ..) if bits != 0 => operands.push(Constant::Immediate(bits)),
            (Some(_), ..) => {}
            (_, Value::Special(special @ (Special::Ntid(_) | Special::Nctaid(_))), _) => {
                operands.push(Constant::Dimension(special));
            }
            (.., Some(producer)) if producer < at && merging.merged[producer] => {
                operands.extend_from_slice(&before[producer]);
            }
            _ => {}
        }
    }
    operands.sort();
    operands.dedup();
    operands.truncate(OPERANDS);
    operands
}

/// Constants in registers.
struct Registers<'d> {
    dominators: &'d Dominators,
    /// Block with the last move of each.
    blocks: HashMap<Constant, usize>,
}

impl Registers<'_> {
    /// Moves all operands but one to registers, unless they are there; returns the number of moves.
    fn move_all_but_one(&mut self, operands: &[Constant], block: usize) -> u32 {
        let is_there = |operand: &Constant| {
            self.blocks.get(operand).is_some_and(|&from| self.dominators.dominates(from, block))
        };
        let missing: Vec<Constant> =
            operands.iter().copied().filter(|operand| !is_there(operand)).collect();
        let moved = missing.len().saturating_sub(1);
        self.blocks.extend(missing.into_iter().take(moved).map(|operand| (operand, block)));
        moved as u32
    }
}

fn is_arithmetic(op: Op) -> bool {
    match op {
        Op::Ternary(f, ..) => {
            matches!(f, Ternary::MultiplyAdd(_) | Ternary::FusedMultiplyAdd)
        }
        Op::Binary(..) | Op::SetPredicate { .. } | Op::Select(_) => true,
        _ => false,
    }
}
