//! Decoded instructions: a typed operation, the registers it writes, and the values it reads.

use crate::ids::{FunctionId, VariableId};
use crate::op::Op;
use crate::special::Special;
use crate::types::RegisterClass;

/// A virtual register of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    pub class: RegisterClass,
    /// Its number among those of its class.
    pub index: u16,
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Register(Register),
    /// A constant: its bits, of the operand's type.
    Bits(u64),
    Special(Special),
    /// The address of a variable in its own space, plus an offset.
    Variable(VariableId, i64),
    Function(FunctionId),
    /// A predicate that is negated where it is read: `!%p1`.
    Not(Register),
}

/// The predicate under which an instruction is executed: `@%p1` or `@!%p1`.
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
    /// Source line by the debug directives: number of the file, line.
    pub location: Option<(u32, u32)>,
    pub guard: Option<Guard>,
    pub op: Op,
    /// Registers it writes, in the order of the operands; `None` for the sink `_`.
    pub dests: Box<[Option<Register>]>,
    /// Values it reads, in the order of the operands. Of a memory instruction, the first is the
    /// address without its constant offset.
    pub sources: Box<[Value]>,
    /// Of an access to memory, the [cache policy](crate::CachePolicy) for its lines.
    pub policy: Option<Value>,
}

impl Value {
    /// The register it is read from.
    pub fn register(self) -> Option<Register> {
        match self {
            Value::Register(register) | Value::Not(register) => Some(register),
            _ => None,
        }
    }
}

impl Instruction {
    /// Registers that it reads, the guard's among them.
    pub fn reads(&self) -> impl Iterator<Item = Register> {
        let guard = self.guard.map(|guard| guard.predicate);
        let values = self.sources.iter().chain(&self.policy);
        values.filter_map(|value| value.register()).chain(guard)
    }

    /// Registers that it writes.
    pub fn writes(&self) -> impl Iterator<Item = Register> {
        self.dests.iter().copied().flatten()
    }
}
