//! Merging: PTX instructions that machine code performs inside another instruction.
//!
//! ```text
//!  mul.wide.s32 %rd5, %r5, 4 ─┐
//!                             ├─▶ IMAD.WIDE R2, R5, 4, base
//!  add.s64 %rd6, %rd4, %rd5 ──┘
//! ```
//!
//! Each rule is an operand form of the machine: the addend of a product, the shifted operand of `LEA`, three
//! inputs of `IADD3`, `LOP3` and `PLOP3`, the predicate input of a comparison, signs of floating-point
//! operands, and the constant offset of an address. An instruction merges only if every reader of its result
//! takes it, as the result is then needed nowhere else.

use std::collections::HashMap;

use warpmem_ptx::{
    Binary, Compare, Convert, Instruction, Op, ProductPart, Register, Space, Special, Ternary,
    Type, Unary, Value,
};

use super::dominators::Dominators;
use super::generation::Generation;
use super::uses::Uses;

/// Operand of an instruction that a merged one takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// A 32-bit factor pair or shifted operand, or a floating-point product.
    Product,
    /// A full product of 32-bit numbers: the sum of 64 bits is one instruction.
    WideProduct,
    /// The third addend.
    Addend,
}

/// Merged instructions of a function.
pub(super) struct Merging<'u, 'b> {
    uses: &'u Uses<'b>,
    generation: Generation,
    /// Whether the instruction is part of others, or needs none.
    pub merged: Vec<bool>,
    pub taken: Vec<Option<Taken>>,
    /// Inputs of logic instructions.
    inputs: Vec<u8>,
    /// Whether the result serves only as address, so that a constant added to it is the offset of accesses.
    is_address: Vec<bool>,
    /// Earlier instruction with the same result, by instruction.
    pub same: HashMap<usize, usize>,
}

impl<'u, 'b> Merging<'u, 'b> {
    /// Finds the merged instructions.
    pub fn of(
        uses: &'u Uses<'b>,
        dominators: &Dominators,
        generation: Generation,
    ) -> Merging<'u, 'b> {
        let count = uses.body.instructions.len();
        let mut merging = Merging {
            uses,
            generation,
            merged: vec![false; count],
            taken: vec![None; count],
            inputs: vec![2; count],
            is_address: addresses(uses),
            same: HashMap::new(),
        };
        for at in 0..count {
            merging.merged[at] = merging.is_free(at) || merging.adds_offset(at);
        }
        merging.share_sums(dominators);
        for at in 0..count {
            if !merging.merged[at] {
                merging.merged[at] = merging.merges(at);
            }
        }
        merging
    }

    fn instruction(&self, at: usize) -> &'b Instruction {
        self.uses.instruction(at)
    }

    /// Returns whether an instruction only names a value: an address in another space, a parameter or
    /// constant, a half of a register pair, the complement of a predicate.
    fn is_free(&self, at: usize) -> bool {
        let Instruction { op, sources, guard, .. } = self.instruction(at);
        let is_constant = !self.generation.loads_constants();
        match op {
            _ if guard.is_some() => false,
            Op::ConvertAddress { .. } | Op::Hint | Op::Nop => true,
            Op::Load(access) if access.space == Space::Param => is_constant,
            Op::Move(_) => match sources[0] {
                Value::Special(Special::Ntid(_) | Special::Nctaid(_)) => is_constant,
                Value::Special(_) => false,
                Value::Register(_) | Value::Not(_) => true,
                _ => self.uses.result(at).is_some(),
            },
            Op::Pack(Type::B64) | Op::Unpack(Type::B64) => true,
            Op::Convert(convert) => is_free_conversion(*convert),
            Op::Unary(Unary::Not, Type::Pred, _) => true,
            _ => false,
        }
    }

    /// Returns whether an instruction adds a constant to an address: accesses have an offset.
    fn adds_offset(&self, at: usize) -> bool {
        let instruction = self.instruction(at);
        if !self.is_address[at] || instruction.guard.is_some() {
            return false;
        }
        let constants = instruction.sources.iter().filter_map(|&value| self.uses.constant(value));
        let fits = |value: &Value| match value {
            Value::Bits(bits) => (*bits as i64).unsigned_abs() < MAX_OFFSET,
            _ => bits_of_sum(instruction.op) == Some(32),
        };
        constants.filter(fits).count() == 1
    }

    /// Merges sums of the same registers that serve as addresses and differ by constants.
    fn share_sums(&mut self, dominators: &Dominators) {
        let mut sums: HashMap<[Register; 2], Vec<usize>> = HashMap::new();
        for at in 0..self.merged.len() {
            if self.merged[at] || !self.is_address[at] {
                continue;
            }
            let Some(key) = self.summands(at) else { continue };
            let earlier = sums.entry(key).or_default();
            match earlier.iter().find(|&&one| self.reaches(dominators, one, at)) {
                Some(&one) => {
                    self.same.insert(at, one);
                    self.merged[at] = true;
                }
                None if earlier.len() < CANDIDATES => earlier.push(at),
                None => {}
            }
        }
    }

    fn reaches(&self, dominators: &Dominators, one: usize, at: usize) -> bool {
        let [from, to] = [one, at].map(|at| self.uses.blocks[at]);
        if from == to { one < at } else { dominators.dominates(from, to) }
    }

    /// Returns the registers that a sum adds, without constants, in a fixed order.
    fn summands(&self, at: usize) -> Option<[Register; 2]> {
        let &[Value::Register(a), Value::Register(b)] = &*self.instruction(at).sources else {
            return None;
        };
        let mut both = [self.base(a), self.base(b)];
        // Registers with several definitions may change in between.
        if both.iter().any(|&register| self.uses.producer(register).is_none()) {
            return None;
        }
        both.sort();
        matches!(self.instruction(at).op, Op::Binary(Binary::Add, ..)).then_some(both)
    }

    /// Returns the register to which constants have been added.
    fn base(&self, mut register: Register) -> Register {
        while let Some(at) = self.uses.producer(register).filter(|&at| self.merged[at]) {
            let Instruction { op, sources, .. } = self.instruction(at);
            let is_variable = |value: &Value| match *value {
                Value::Register(register) => {
                    self.uses.constant(*value).is_none().then_some(register)
                }
                _ => None,
            };
            let adds = bits_of_sum(*op).is_some() || matches!(op, Op::Move(_));
            match sources.iter().find_map(is_variable).filter(|_| adds) {
                Some(next) => register = next,
                None => break,
            }
        }
        register
    }

    /// Returns the readers of a result, seen through constant offsets that are merged.
    fn users(&self, at: usize) -> Vec<usize> {
        let mut users = Vec::new();
        let mut open = self.uses.users(at).to_vec();
        while let Some(user) = open.pop() {
            let passes = self.merged[user] && bits_of_sum(self.instruction(user).op).is_some();
            match passes && !self.same.contains_key(&user) {
                true => open.extend_from_slice(self.uses.users(user)),
                false => users.push(user),
            }
        }
        users
    }

    /// Decides whether an instruction merges into the readers of its result, and takes their operands.
    fn merges(&mut self, at: usize) -> bool {
        let Instruction { op, guard, sources, .. } = self.instruction(at);
        if guard.is_some() {
            return false;
        }
        let has_constant = sources.iter().any(|&value| self.uses.constant(value).is_some());
        match *op {
            Op::Binary(Binary::Multiply(ProductPart::Wide), Type::U32 | Type::S32, _)
                if has_constant =>
            {
                self.merge_into_all(at, Taken::WideProduct, |op| is_sum(op, 64))
            }
            Op::Binary(Binary::Multiply(ProductPart::Low), ty, _) if ty.bits() == 32 => {
                self.merge_into_all(at, Taken::Product, |op| bits_of_sum(op) == Some(32))
            }
            Op::Binary(Binary::ShiftLeft, ty, _) if has_constant => {
                self.merge_into_one(at, Taken::Product, |op| is_sum(op, ty.bits()))
            }
            Op::Convert(Convert { to: Type::S64, from: Type::S32, .. }) => {
                self.merge_into_one(at, Taken::Product, |op| is_sum(op, 64))
            }
            Op::Binary(Binary::Multiply(ProductPart::Whole), ty, modes)
                if !modes.rounding_written && !modes.saturate =>
            {
                self.merge_into_all(at, Taken::Product, |op| is_fusible_sum(op, ty))
            }
            Op::Binary(Binary::Add | Binary::Subtract, ty, modes)
                if is_integer(ty, 32) && !modes.saturate && self.taken[at].is_none() =>
            {
                self.merge_into_neighbour(at, |op| bits_of_sum(op) == Some(32))
            }
            Op::Unary(Unary::Negate, Type::S32, _) => {
                self.all_users(at, |op| bits_of_sum(op) == Some(32))
            }
            Op::Unary(Unary::Negate | Unary::Abs, ty @ (Type::F32 | Type::F64), _) => {
                self.all_users(at, |op| takes_signs(op, ty))
            }
            Op::Unary(Unary::Not, ty, _) => self.all_users(at, |op| is_logic(op, ty)),
            Op::Binary(Binary::And | Binary::Or | Binary::Xor, Type::Pred, _) => {
                self.joins_comparison(at) || self.joins_logic(at, Type::Pred)
            }
            Op::Binary(Binary::And | Binary::Or | Binary::Xor, ty, _) => {
                self.is_compared_with_zero(at) || self.joins_logic(at, ty)
            }
            _ => false,
        }
    }

    fn all_users(&self, at: usize, accepts: impl Fn(Op) -> bool) -> bool {
        let users = self.uses.users(at);
        !users.is_empty() && users.iter().all(|&user| accepts(self.instruction(user).op))
    }

    /// Merges into every reader, each of which must have the operand free.
    fn merge_into_all(&mut self, at: usize, taken: Taken, accepts: impl Fn(Op) -> bool) -> bool {
        let users = self.users(at);
        let is_free = |&user: &usize| {
            self.taken[user].is_none() && !self.merged[user] && accepts(self.instruction(user).op)
        };
        let merges = !users.is_empty() && users.iter().all(is_free);
        if merges {
            users.iter().for_each(|&user| self.taken[user] = Some(taken));
        }
        merges
    }

    /// Merges into the only reader.
    fn merge_into_one(&mut self, at: usize, taken: Taken, accepts: impl Fn(Op) -> bool) -> bool {
        self.users(at).len() == 1 && self.merge_into_all(at, taken, accepts)
    }

    /// Merges a sum into the only reader, in the same block.
    fn merge_into_neighbour(&mut self, at: usize, accepts: impl Fn(Op) -> bool) -> bool {
        let users = self.users(at);
        let is_near = users.iter().all(|&user| self.uses.is_in_block_of(at, user));
        is_near && self.merge_into_one(at, Taken::Addend, accepts)
    }

    /// Merges a combination of predicates into a comparison of the same block, which has a predicate input.
    fn joins_comparison(&mut self, at: usize) -> bool {
        let Some(comparison) = self.comparison(at) else { return false };
        self.taken[comparison] = Some(Taken::Addend);
        true
    }

    /// Returns the comparison whose predicate input a combination can be.
    fn comparison(&self, at: usize) -> Option<usize> {
        let registers = self.instruction(at).sources.iter().filter_map(|value| value.register());
        let mut producers = registers.filter_map(|register| self.uses.producer(register));
        producers.find(|&one| {
            let compares =
                matches!(self.instruction(one).op, Op::SetPredicate { combine: None, .. });
            let is_free = self.taken[one].is_none() && self.uses.is_in_block_of(one, at);
            compares && is_free && self.uses.users(one).len() == 1
        })
    }

    /// Merges a logic instruction into the only reader, if that has at most three inputs then.
    fn joins_logic(&mut self, at: usize, ty: Type) -> bool {
        let &[user] = self.uses.users(at) else { return false };
        let inputs = self.inputs[user] + self.inputs[at] - 1;
        let is_logic = is_logic(self.instruction(user).op, ty) && inputs <= 3;
        let stays = ty != Type::Pred || self.comparison(user).is_none();
        let merges = is_logic && stays && self.uses.is_in_block_of(at, user);
        if merges {
            self.inputs[user] = inputs;
        }
        merges
    }

    /// Returns whether a result is only compared with zero: a logic instruction also writes that predicate.
    fn is_compared_with_zero(&self, at: usize) -> bool {
        let &[user] = self.uses.users(at) else { return false };
        let Instruction { op, sources, .. } = self.instruction(user);
        let is_zero = |&value: &Value| self.uses.constant(value) == Some(Value::Bits(0));
        let is_equality = matches!(
            op,
            Op::SetPredicate { compare: Compare::Equal | Compare::NotEqual, ty, .. }
                if ty.bits() <= 32 && !ty.is_float()
        );
        is_equality && sources.iter().any(is_zero)
    }
}

/// Sums of the same registers that are remembered, in different branches.
const CANDIDATES: usize = 8;

/// First constant beyond the offset of an access.
const MAX_OFFSET: u64 = 1 << 23;

/// Returns, for each instruction, whether it is an integer sum whose result serves only as address of
/// accesses, directly or through further such sums.
fn addresses(uses: &Uses<'_>) -> Vec<bool> {
    let count = uses.body.instructions.len();
    let mut addresses = vec![false; count];
    // Readers follow the definition, so they are decided first.
    for at in (0..count).rev() {
        let (Some(register), Some(_)) = (uses.result(at), bits_of_sum(uses.instruction(at).op))
        else {
            continue;
        };
        let serves = |&user: &usize| {
            let Instruction { op, sources, .. } = uses.instruction(user);
            let reads = sources.iter().filter(|value| value.register() == Some(register));
            let is_access = has_offset(*op) && sources[0].register() == Some(register);
            reads.count() == 1 && (is_access || (user > at && addresses[user]))
        };
        let users = uses.users(at);
        addresses[at] = !users.is_empty() && users.iter().all(serves);
    }
    addresses
}

/// Returns whether an instruction accesses memory at a register plus a constant.
fn has_offset(op: Op) -> bool {
    match op {
        Op::Load(access) | Op::Store(access) => access.space != Space::Param,
        Op::Atomic(_) | Op::Reduce(_) | Op::LoadMatrix(_) | Op::StoreMatrix(_) => true,
        _ => false,
    }
}

fn is_integer(ty: Type, bits: u32) -> bool {
    (ty.is_integer() || ty.is_bits()) && ty.bits() == bits
}

/// Returns the bits of an integer sum or difference.
fn bits_of_sum(op: Op) -> Option<u32> {
    match op {
        Op::Binary(Binary::Add | Binary::Subtract, ty, modes) if !modes.saturate => {
            [32, 64].into_iter().find(|&bits| is_integer(ty, bits))
        }
        _ => None,
    }
}

/// Returns whether an operation is an integer sum of these bits.
fn is_sum(op: Op, bits: u32) -> bool {
    matches!(op, Op::Binary(Binary::Add, ..)) && bits_of_sum(op) == Some(bits)
}

/// Returns whether an operation is a floating-point sum that may be fused with a product.
fn is_fusible_sum(op: Op, ty: Type) -> bool {
    matches!(
        op,
        Op::Binary(Binary::Add | Binary::Subtract, of, modes)
            if of == ty && !modes.rounding_written && !modes.saturate
    )
}

fn is_logic(op: Op, ty: Type) -> bool {
    let logic = matches!(op, Op::Binary(Binary::And | Binary::Or | Binary::Xor, ..));
    logic && matches!(op, Op::Binary(_, of, _) if of == ty)
}

/// Returns whether an operation negates its operands, or takes their magnitudes, at no cost.
fn takes_signs(op: Op, ty: Type) -> bool {
    match op {
        Op::Binary(f, of, _) => {
            let takes = matches!(f, Binary::Add | Binary::Subtract | Binary::Multiply(_))
                || (ty == Type::F32 && matches!(f, Binary::Min | Binary::Max));
            of == ty && takes
        }
        Op::Ternary(Ternary::FusedMultiplyAdd, of, _) | Op::SetPredicate { ty: of, .. } => of == ty,
        _ => false,
    }
}

/// Returns whether a conversion of integers needs no instruction: it takes the low bits, extends 16 bits, which
/// registers hold extended, or appends the zero register.
fn is_free_conversion(convert: Convert) -> bool {
    let Convert { to, from, saturate, .. } = convert;
    let integers = [to, from].into_iter().all(|ty| ty.is_integer() && ty.bits() >= 16);
    let appends_signs = to.bits() == 64 && from.bits() < 64 && from.is_signed();
    integers && !saturate && !appends_signs
}
