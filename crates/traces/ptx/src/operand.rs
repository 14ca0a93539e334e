//! Operands as they are written.

use crate::instruction::{Register, Value};

/// An operand. Constants have no type yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand<'a> {
    Value(Value),
    /// `%r1+4`: a register and what is added to it.
    Sum(Register, i64),
    /// `%r1.b0`: parts of a register that a video instruction selects
    Part(Box<Operand<'a>>, &'a str),
    /// `-%r1`, of a video instruction
    Negative(Box<Operand<'a>>),
    Integer(u64),
    Single(u32),
    Double(u64),
    /// A name that is neither a register nor a variable: a label.
    Label(&'a str),
    /// `_`
    Sink,
    BranchTable(u32),
    Prototype,
    /// `[base+offset]`
    Address {
        base: Value,
        offset: i64,
    },
    /// `[texture, {x, y}]`, `[texture, sampler, {x, y}]`, or `[map, {x, y}]` of a tensor map
    Texture(Vec<Operand<'a>>),
    /// `{a, b}`
    Vector(Vec<Operand<'a>>),
    /// `(a, b)`
    List(Vec<Operand<'a>>),
    /// `p|q`
    Pair(Box<[Operand<'a>; 2]>),
}
