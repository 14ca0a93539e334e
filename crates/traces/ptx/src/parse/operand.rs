//! Parses operands.

use super::cursor::{Cursor, Parsed};
use super::expression::{Constant, Integer};
use super::names::{Named, Vector};
use crate::instruction::{Register, Value};
use crate::lexer::Token;
use crate::operand::Operand;
use crate::special::Special;
use crate::types::RegisterClass;

/// Maximum nesting of vectors, lists and pairs.
const MAX_NESTING: u32 = 4;

/// Parses operands with the names in scope.
pub(super) struct Operands<'c, 'a, F> {
    pub cursor: &'c mut Cursor<'a>,
    /// Resolves a name.
    pub resolve: F,
    /// Whether parentheses enclose call arguments rather than a constant.
    pub of_call: bool,
}

impl<'a, F: Fn(&str) -> Option<Named>> Operands<'_, 'a, F> {
    /// Parses the operands up to and including `;`.
    pub fn all(&mut self) -> Parsed<Vec<Operand<'a>>> {
        let mut operands = Vec::new();
        if self.cursor.accept(';') {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(0)?);
            if !self.cursor.accept(',') {
                self.cursor.expect(';')?;
                return Ok(operands);
            }
        }
    }

    fn operand(&mut self, depth: u32) -> Parsed<Operand<'a>> {
        let first = self.simple(depth)?;
        if !self.cursor.accept('|') {
            return Ok(first);
        }
        let second = self.simple(depth)?;
        Ok(Operand::Pair(Box::new([first, second])))
    }

    fn simple(&mut self, depth: u32) -> Parsed<Operand<'a>> {
        if depth > MAX_NESTING {
            return Err(self.cursor.error("operands are nested too deeply"));
        }
        if self.cursor.accept('{') {
            return Ok(Operand::Vector(self.until('}', depth)?));
        }
        if self.of_call && self.cursor.accept('(') {
            return Ok(Operand::List(self.until(')', depth)?));
        }
        if self.cursor.accept('[') {
            return self.address(depth);
        }
        match (self.cursor.peek(), self.cursor.peek_second()) {
            (Some(Token::Symbol('!')), Some(Token::Word(name))) if name != "WARP_SZ" => {
                self.cursor.next();
                self.cursor.next();
                Ok(Operand::Value(Value::Not(self.predicate(name)?)))
            }
            (Some(Token::Symbol('-')), Some(Token::Word(name))) if name != "WARP_SZ" => {
                self.cursor.next();
                Ok(Operand::Negative(Box::new(self.simple(depth + 1)?)))
            }
            (Some(Token::Word(name)), _) if name != "WARP_SZ" => {
                self.cursor.next();
                self.name(name)
            }
            _ => self.constant(),
        }
    }

    /// Parses the operands up to a closing symbol.
    fn until(&mut self, closing: char, depth: u32) -> Parsed<Vec<Operand<'a>>> {
        let mut operands = Vec::new();
        if self.cursor.accept(closing) {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(depth + 1)?);
            if !self.cursor.accept(',') {
                self.cursor.expect(closing)?;
                return Ok(operands);
            }
        }
    }

    fn constant(&mut self) -> Parsed<Operand<'a>> {
        if !self.begins_constant() {
            return Err(self.cursor.expected("an operand"));
        }
        Ok(match self.cursor.constant()? {
            Constant::Integer(Integer { bits, .. }) => Operand::Integer(bits),
            Constant::Single(bits) => Operand::Single(bits),
            Constant::Double(value) => Operand::Double(value.to_bits()),
        })
    }

    fn begins_constant(&self) -> bool {
        match self.cursor.peek() {
            Some(Token::Symbol(symbol)) => "+-!~(".contains(symbol),
            Some(Token::Dotted(_) | Token::Text(_)) | None => false,
            Some(_) => true,
        }
    }

    fn predicate(&self, name: &str) -> Parsed<Register> {
        match (self.resolve)(name) {
            Some(Named::Register(register)) if register.class == RegisterClass::Predicate => {
                Ok(register)
            }
            _ => Err(self.cursor.error(format!("`{name}` is not a predicate"))),
        }
    }

    fn name(&mut self, name: &'a str) -> Parsed<Operand<'a>> {
        if name == "_" {
            return Ok(Operand::Sink);
        }
        Ok(match (self.resolve)(name) {
            Some(Named::Register(register)) => self.register(register)?,
            Some(Named::Vector(vector)) => self.vector(name, vector)?,
            Some(Named::Variable(id)) => Operand::Value(Value::Variable(id, self.cursor.offset()?)),
            Some(Named::Function(id)) => Operand::Value(Value::Function(id)),
            Some(Named::BranchTable(table)) => Operand::BranchTable(table),
            Some(Named::Prototype) => Operand::Prototype,
            None if name.starts_with('%') => self.special(name)?,
            None => Operand::Label(name),
        })
    }

    /// Parses a register, parts of it, or its sum with a constant.
    fn register(&mut self, register: Register) -> Parsed<Operand<'a>> {
        let whole = Operand::Value(Value::Register(register));
        match self.cursor.peek() {
            Some(Token::Symbol('+')) => Ok(Operand::Sum(register, self.cursor.offset()?)),
            Some(Token::Dotted(parts)) => {
                self.cursor.next();
                Ok(Operand::Part(Box::new(whole), parts))
            }
            _ => Ok(whole),
        }
    }

    /// Parses an element of a register vector, or the whole vector.
    fn vector(&mut self, name: &str, vector: Vector) -> Parsed<Operand<'a>> {
        let registers: Vec<Register> = vector.registers().collect();
        let Some(element) = self.cursor.dotted() else {
            let value = |register| Operand::Value(Value::Register(register));
            return Ok(Operand::Vector(registers.into_iter().map(value).collect()));
        };
        let at = ["x", "y", "z", "w"].iter().zip(["r", "g", "b", "a"]);
        let at = at.into_iter().position(|(&place, colour)| element == place || element == colour);
        match at.and_then(|at| registers.get(at)) {
            Some(&register) => self.register(register),
            None => {
                let reason =
                    format!("`{name}` has {} elements, none is `.{element}`", vector.count);
                Err(self.cursor.error(reason))
            }
        }
    }

    /// Parses a special register, or a vector of them, whose fourth element is 0.
    fn special(&mut self, name: &str) -> Parsed<Operand<'a>> {
        let axis = self.cursor.dotted();
        let element = |axis| Special::named(name, axis).map(Value::Special);
        let all = || Some(vec![element(Some("x"))?, element(Some("y"))?, element(Some("z"))?]);
        let found = match axis {
            Some("w") => all().map(|_| Operand::Integer(0)),
            _ => element(axis).map(Operand::Value),
        };
        let vector = || {
            let elements = all()?.into_iter().map(Operand::Value).chain([Operand::Integer(0)]);
            Some(Operand::Vector(elements.collect()))
        };
        found.or_else(|| if axis.is_none() { vector() } else { None }).ok_or_else(|| {
            let dotted = axis.map(|axis| format!(".{axis}")).unwrap_or_default();
            self.cursor.error(format!("`{name}{dotted}` is neither declared nor a known register"))
        })
    }

    /// Parses the rest of an operand that starts with `[`.
    fn address(&mut self, depth: u32) -> Parsed<Operand<'a>> {
        let base = match self.simple(depth + 1)? {
            Operand::Value(base) => base,
            Operand::Sum(register, offset) => {
                self.cursor.expect(']')?;
                return Ok(Operand::Address { base: Value::Register(register), offset });
            }
            Operand::Integer(address) => Value::Bits(address),
            Operand::Label(name) => {
                return Err(self.cursor.error(format!("`{name}` is not declared")));
            }
            _ => return Err(self.cursor.error("expected an address")),
        };
        if self.cursor.accept(',') {
            let mut operands = vec![Operand::Value(base)];
            operands.extend(self.until(']', depth)?);
            return Ok(Operand::Texture(operands));
        }
        let offset = self.cursor.offset()?;
        self.cursor.expect(']')?;
        Ok(match base {
            Value::Variable(id, start) => Operand::Address {
                base: Value::Variable(id, 0),
                offset: start.wrapping_add(offset),
            },
            base => Operand::Address { base, offset },
        })
    }
}
