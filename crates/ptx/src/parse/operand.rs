//! Reads operands.

use super::cursor::{Cursor, Parsed};
use super::names::Named;
use crate::instruction::{Register, Value};
use crate::lexer::Token;
use crate::operand::Operand;
use crate::special::Special;
use crate::types::RegisterClass;

/// Deepest nesting of vectors, lists and pairs.
const DEEPEST: u32 = 4;

/// Reads operands with the names in scope.
pub(super) struct Operands<'c, 'a, F> {
    pub cursor: &'c mut Cursor<'a>,
    /// What a name stands for.
    pub resolve: F,
}

impl<'a, F: Fn(&str) -> Option<Named>> Operands<'_, 'a, F> {
    /// Operands up to the `;`, which is taken.
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
        if depth > DEEPEST {
            return Err(self.cursor.error("operands are nested too deeply"));
        }
        if self.cursor.accept('{') {
            return Ok(Operand::Vector(self.until('}', depth)?));
        }
        if self.cursor.accept('(') {
            return Ok(Operand::List(self.until(')', depth)?));
        }
        if self.cursor.accept('[') {
            return self.address(depth);
        }
        if self.cursor.accept('!') {
            let name = self.cursor.word("a predicate")?;
            return Ok(Operand::Value(Value::Not(self.predicate(name)?)));
        }
        if self.cursor.accept('-') {
            return self.constant(true);
        }
        match self.cursor.peek() {
            Some(Token::Word(name)) => {
                self.cursor.next();
                self.name(name)
            }
            _ => self.constant(false),
        }
    }

    /// The operands up to a closing symbol.
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

    fn constant(&mut self, negative: bool) -> Parsed<Operand<'a>> {
        let operand = match self.cursor.peek() {
            Some(Token::Integer(value)) if negative => Operand::Integer(value.wrapping_neg()),
            Some(Token::Integer(value)) => Operand::Integer(value),
            Some(Token::Single(bits)) => Operand::Single(bits ^ u32::from(negative) << 31),
            Some(Token::Double(bits)) => Operand::Double(bits ^ u64::from(negative) << 63),
            _ => return Err(self.cursor.expected("an operand")),
        };
        self.cursor.next();
        Ok(operand)
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
            Some(Named::Register(register)) => Operand::Value(Value::Register(register)),
            Some(Named::Variable(id)) => Operand::Value(Value::Variable(id, self.cursor.offset()?)),
            Some(Named::Function(id)) => Operand::Value(Value::Function(id)),
            Some(Named::BranchTable(table)) => Operand::BranchTable(table),
            Some(Named::Prototype) => Operand::Prototype,
            None if name == "WARP_SZ" => Operand::Integer(32),
            None if name.starts_with('%') => Operand::Value(self.special(name)?),
            None => Operand::Label(name),
        })
    }

    fn special(&mut self, name: &str) -> Parsed<Value> {
        let axis = self.cursor.dotted();
        let special = Special::named(name, axis);
        special.map(Value::Special).ok_or_else(|| {
            let dotted = axis.map(|axis| format!(".{axis}")).unwrap_or_default();
            self.cursor.error(format!("`{name}{dotted}` is neither declared nor a known register"))
        })
    }

    /// What follows a `[`.
    fn address(&mut self, depth: u32) -> Parsed<Operand<'a>> {
        let base = match self.simple(depth + 1)? {
            Operand::Value(base) => base,
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
