//! The operands of a statement, consumed one by one and converted to registers and typed values.

use std::collections::VecDeque;

use super::{Decoded, Result};
use crate::cache_policy::CachePolicy;
use crate::instruction::{Register, Value};
use crate::op::Op;
use crate::operand::Operand;
use crate::types::{RegisterClass, Type};

pub(super) struct Operands<'a> {
    rest: VecDeque<Operand<'a>>,
    dests: Vec<Option<Register>>,
    sources: Vec<Value>,
    policy: Option<Value>,
}

impl<'a> Operands<'a> {
    pub fn new(operands: Vec<Operand<'a>>) -> Operands<'a> {
        Operands { rest: operands.into(), dests: Vec::new(), sources: Vec::new(), policy: None }
    }

    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Consumes the next operand.
    pub fn take(&mut self) -> Result<Operand<'a>> {
        self.rest.pop_front().ok_or_else(|| "an operand is missing".into())
    }

    pub fn peek(&self) -> Option<&Operand<'a>> {
        self.rest.front()
    }

    /// Consumes `_` if it is next.
    pub fn accept_sink(&mut self) -> bool {
        let found = matches!(self.peek(), Some(Operand::Sink));
        if found {
            self.rest.pop_front();
        }
        found
    }

    /// Strips the minus of the next operand, if it has one.
    pub fn accept_minus(&mut self) -> bool {
        let minus = self.rest.pop_front_if(|operand| matches!(operand, Operand::Negative(_)));
        let Some(Operand::Negative(operand)) = minus else { return false };
        self.rest.push_front(*operand);
        true
    }

    /// Strips the selector of the next operand, if it has one: `b0` of `%r1.b0`.
    pub fn selector(&mut self) -> Option<&'a str> {
        let selected = self.rest.pop_front_if(|operand| matches!(operand, Operand::Part(..)));
        let Some(Operand::Part(operand, selector)) = selected else { return None };
        self.rest.push_front(*operand);
        Some(selector)
    }

    /// Puts back the last two operands consumed.
    pub fn put_back(&mut self, [first, second]: [Operand<'a>; 2]) {
        self.rest.push_front(second);
        self.rest.push_front(first);
    }

    /// Returns the class of the first register of the next operand.
    pub fn class_of_first(&self) -> Option<RegisterClass> {
        let first = match self.peek()? {
            Operand::Vector(elements) => elements.iter().find_map(register),
            operand => register(operand),
        };
        first.map(|register| register.class)
    }

    /// Returns whether a destination so far is a register rather than `_`.
    pub fn writes_register(&self) -> bool {
        self.dests.iter().any(Option::is_some)
    }

    /// Adds an implicit source.
    pub fn push_source(&mut self, value: Value) {
        self.sources.push(value);
    }

    /// Returns the source added last.
    pub fn last_source(&self) -> Option<Value> {
        self.sources.last().copied()
    }

    pub fn push_dest(&mut self, register: Option<Register>) {
        self.dests.push(register);
    }

    /// Refuses `_` among the destinations so far.
    pub fn check_dests_are_registers(&self) -> Result<()> {
        match self.dests.iter().all(Option::is_some) {
            true => Ok(()),
            false => Err("`_` can only be written".into()),
        }
    }

    /// Adds the destination registers so far to the sources.
    pub fn read_dests(&mut self) {
        self.sources.extend(self.dests.iter().flatten().map(|&register| Value::Register(register)));
    }

    /// Consumes a destination of a type.
    pub fn dest(&mut self, ty: Type) -> Result<()> {
        let operand = self.take()?;
        let register = as_dest(&operand, ty.class())?;
        self.dests.push(register);
        Ok(())
    }

    /// Consumes a destination, or two as in `p|q`, of these types.
    pub fn dest_pair(&mut self, first: Type, second: Type) -> Result<()> {
        match self.take()? {
            Operand::Pair(pair) => {
                let [a, b] = *pair;
                self.dests.push(as_dest(&a, first.class())?);
                self.dests.push(as_dest(&b, second.class())?);
            }
            operand => self.dests.push(as_dest(&operand, first.class())?),
        }
        Ok(())
    }

    /// Consumes a vector of destinations; returns their number.
    pub fn dest_vector(&mut self, class: RegisterClass) -> Result<usize> {
        let elements = elements(self.take()?);
        for element in &elements {
            self.dests.push(as_dest(element, class)?);
        }
        Ok(elements.len())
    }

    /// Consumes a vector of destinations that may be wider than the written value; returns their number.
    pub fn dest_vector_wider(&mut self, ty: Type) -> Result<usize> {
        let elements = elements(self.take()?);
        for element in &elements {
            let wide = as_dest(element, RegisterClass::Wide);
            self.dests.push(wide.or_else(|_| as_dest(element, ty.class()))?);
        }
        Ok(elements.len())
    }

    /// Consumes one source or a vector of them, possibly wider than the read value; returns their number.
    pub fn source_vector_wider(&mut self, ty: Type) -> Result<usize> {
        let elements = elements(self.take()?);
        for element in &elements {
            let exact = as_value(element, ty);
            let wide = |_| as_value(element, Type::B64);
            self.sources.push(exact.or_else(wide)?);
        }
        Ok(elements.len())
    }

    /// Consumes a source of a type.
    pub fn source(&mut self, ty: Type) -> Result<()> {
        let operand = self.take()?;
        self.sources.push(as_value(&operand, ty)?);
        Ok(())
    }

    /// Consumes the cache policy of an access.
    pub fn policy(&mut self) -> Result<()> {
        let operand = self.take()?;
        self.policy = Some(as_value(&operand, Type::B64)?);
        Ok(())
    }

    /// Sets the cache policy of an access, unless an operand already did.
    pub fn policy_unless_given(&mut self, policy: CachePolicy) {
        self.policy.get_or_insert(Value::Bits(policy.bits()));
    }

    /// Consumes one source of a type or a vector of them; returns their number.
    pub fn source_vector(&mut self, ty: Type) -> Result<usize> {
        let elements = elements(self.take()?);
        for element in &elements {
            self.sources.push(as_value(element, ty)?);
        }
        Ok(elements.len())
    }

    /// Consumes an address; returns its constant offset.
    pub fn address(&mut self) -> Result<i64> {
        match self.take()? {
            Operand::Address { base, offset } => {
                check_class(base, RegisterClass::Wide)
                    .or_else(|_| check_class(base, RegisterClass::Narrow))?;
                self.sources.push(base);
                Ok(offset)
            }
            _ => Err("expected an address in brackets".into()),
        }
    }

    /// Consumes a constant integer.
    pub fn constant(&mut self) -> Result<u64> {
        match self.take()? {
            Operand::Integer(value) => Ok(value),
            _ => Err("expected a constant".into()),
        }
    }

    /// Checks that all operands are consumed; returns the decoded instruction.
    pub fn finish(self, op: Op) -> Result<Decoded> {
        match self.rest.is_empty() {
            true => {
                Ok(Decoded { op, dests: self.dests, sources: self.sources, policy: self.policy })
            }
            false => Err(format!("{} surplus operands", self.rest.len())),
        }
    }
}

fn register(operand: &Operand<'_>) -> Option<Register> {
    match operand {
        Operand::Value(value) => value.register(),
        _ => None,
    }
}

/// Returns the elements of a vector, or the single operand.
fn elements(operand: Operand<'_>) -> Vec<Operand<'_>> {
    match operand {
        Operand::Vector(elements) => elements,
        operand => vec![operand],
    }
}

fn as_dest(operand: &Operand<'_>, class: RegisterClass) -> Result<Option<Register>> {
    match *operand {
        Operand::Sink => Ok(None),
        Operand::Value(Value::Register(register)) if register.class == class => Ok(Some(register)),
        Operand::Value(Value::Register(_)) => Err(format!("expected a {} register", named(class))),
        Operand::Part(_, part) => Err(selected(part)),
        _ => Err("expected a register to write".into()),
    }
}

/// Returns the error for a register selector on an instruction without one.
fn selected(part: &str) -> String {
    format!("`.{part}` selects a part of a register, which this instruction does not support")
}

/// Converts a source to a type; constants become its bits.
fn as_value(operand: &Operand<'_>, ty: Type) -> Result<Value> {
    match *operand {
        Operand::Value(value) => {
            check_class(value, ty.class())?;
            Ok(value)
        }
        Operand::Integer(value) => Ok(Value::Bits(integer_as(value, ty))),
        Operand::Single(bits) if ty == Type::F64 => {
            Ok(Value::Bits(f64::from(f32::from_bits(bits)).to_bits()))
        }
        Operand::Single(bits) => Ok(Value::Bits(bits.into())),
        Operand::Double(bits) if ty == Type::F32 => {
            Ok(Value::Bits((f64::from_bits(bits) as f32).to_bits().into()))
        }
        Operand::Double(bits) => Ok(Value::Bits(bits)),
        Operand::Label(name) => Err(format!("`{name}` is not declared")),
        Operand::Sink => Err("`_` can only be written".into()),
        Operand::Part(_, part) => Err(selected(part)),
        _ => Err("expected a register or constant".into()),
    }
}

/// Returns the bits of an integer constant in a type.
fn integer_as(value: u64, ty: Type) -> u64 {
    match ty {
        Type::F32 => u64::from((value as i64 as f32).to_bits()),
        Type::F64 => (value as i64 as f64).to_bits(),
        Type::Pred => u64::from(value != 0),
        _ if ty.bits() == 64 => value,
        _ => value & ((1 << ty.bits()) - 1),
    }
}

fn check_class(value: Value, class: RegisterClass) -> Result<()> {
    let found = match value {
        Value::Register(register) | Value::Not(register) => register.class,
        // Special registers and addresses are truncated to the type they are read as.
        _ => return Ok(()),
    };
    match found == class {
        true => Ok(()),
        false => Err(format!("expected a {} register", named(class))),
    }
}

fn named(class: RegisterClass) -> &'static str {
    match class {
        RegisterClass::Predicate => "predicate",
        RegisterClass::Narrow => "16- or 32-bit",
        RegisterClass::Wide => "64-bit",
    }
}
