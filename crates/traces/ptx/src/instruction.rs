//! Decoded instructions: a typed operation, its destination registers and its source values.

use crate::ids::{FunctionId, VariableId};
use crate::op::Op;
use crate::special::Special;
use crate::types::RegisterClass;

/// A virtual register of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    pub class: RegisterClass,
    /// Index within the class.
    pub index: u16,
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Register(Register),
    /// Bits of a constant, in the operand's type.
    Bits(u64),
    Special(Special),
    /// Address of a variable in its own space, plus an offset.
    Variable(VariableId, i64),
    Function(FunctionId),
    /// Predicate that is negated when read: `!%p1`.
    Not(Register),
}

/// Predicate of an instruction: `@%p1` or `@!%p1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub predicate: Register,
    pub negated: bool,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Line of the module's text.
    pub line: u32,
    /// Source location from debug directives: file number, line.
    pub location: Option<(u32, u32)>,
    pub guard: Option<Guard>,
    pub op: Op,
    /// Destination registers in operand order; `None` for the sink `_`.
    pub dests: Box<[Option<Register>]>,
    /// Sources in operand order. The first source of a memory instruction is the address without its constant
    /// offset.
    pub sources: Box<[Value]>,
    /// [Cache policy](crate::CachePolicy) of a memory access.
    pub policy: Option<Value>,
}

impl Value {
    /// Returns the register that the value reads.
    pub fn register(self) -> Option<Register> {
        match self {
            Value::Register(register) | Value::Not(register) => Some(register),
            _ => None,
        }
    }
}

impl Instruction {
    /// Returns the registers read, including the guard's.
    pub fn reads(&self) -> impl Iterator<Item = Register> {
        let guard = self.guard.map(|guard| guard.predicate);
        let values = self.sources.iter().chain(&self.policy);
        values.filter_map(|value| value.register()).chain(guard)
    }

    /// Returns the registers written.
    pub fn writes(&self) -> impl Iterator<Item = Register> {
        self.dests.iter().copied().flatten()
    }
}
