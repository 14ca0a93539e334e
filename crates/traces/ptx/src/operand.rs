//! Operands as written.

use crate::instruction::{Register, Value};

/// An operand; constants are still untyped.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand<'a> {
    Value(Value),
    /// `%r1+4`: a register and an added constant.
    Sum(Register, i64),
    /// `%r1.b0`: a register and a video instruction's selector
    Part(Box<Operand<'a>>, &'a str),
    /// `-%r1`, in a video instruction
    Negative(Box<Operand<'a>>),
    Integer(u64),
    Single(u32),
    Double(u64),
    /// A label: a name that is neither a register nor a variable.
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
