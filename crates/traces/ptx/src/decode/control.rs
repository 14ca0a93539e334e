//! Decodes branches, calls, and the exit of threads.

use super::{Decoder, LabelNumber, Result};
use crate::instruction::Value;
use crate::module::{Argument, Call, Callee};
use crate::op::Op;
use crate::operand::Operand;
use crate::types::{RegisterClass, Type};

impl<'a> Decoder<'a> {
    pub(super) fn control(
        &mut self,
        calls: &mut Vec<Call>,
        label: LabelNumber<'_, 'a>,
    ) -> Result<Op> {
        match self.opcode {
            "bra" => self.branch(label),
            "brx" => self.branch_indexed(),
            "call" => self.call(calls),
            "ret" => {
                self.modifiers.accept("uni");
                Ok(Op::Return)
            }
            "exit" => Ok(Op::Exit),
            _ => Ok(Op::Trap),
        }
    }

    /// Decodes a branch, whose target remains a label number until the function ends.
    fn branch(&mut self, label: LabelNumber<'_, 'a>) -> Result<Op> {
        self.modifiers.accept("uni");
        match self.operands.take()? {
            Operand::Label(name) => Ok(Op::Branch(label(name))),
            _ => Err("expected a label".into()),
        }
    }

    fn branch_indexed(&mut self) -> Result<Op> {
        if !self.modifiers.accept("idx") {
            return Err(self.modifiers.expected("`.idx`"));
        }
        self.modifiers.accept("uni");
        self.operands.source(Type::U32)?;
        match self.operands.take()? {
            Operand::BranchTable(table) => Ok(Op::BranchIndexed(table)),
            _ => Err("expected a list of `.branchtargets`".into()),
        }
    }

    /// Decodes `call (r), f, (a, b);`, `call f;`, and calls through a register with arguments and a
    /// prototype.
    fn call(&mut self, calls: &mut Vec<Call>) -> Result<Op> {
        self.modifiers.accept("uni");
        let results = self.list()?;
        let callee = match self.operands.take()? {
            Operand::Value(Value::Function(id)) => Callee::Direct(id),
            Operand::Value(value @ Value::Register(register))
                if register.class == RegisterClass::Wide =>
            {
                self.operands.push_source(value);
                Callee::Indirect
            }
            Operand::Label(name) => return Err(format!("function `{name}` is not declared")),
            _ => return Err("expected a function".into()),
        };
        let arguments = self.list()?;
        if callee == Callee::Indirect && self.operands.len() > 0 {
            match self.operands.take()? {
                Operand::Prototype => {}
                _ => return Err("expected a prototype".into()),
            }
        }
        for result in &results {
            match result {
                Argument::Value(Value::Register(register)) => {
                    self.operands.push_dest(Some(*register));
                }
                Argument::Sink => self.operands.push_dest(None),
                Argument::Value(_) => {
                    return Err("expected a parameter or register to write".into());
                }
                Argument::Param(_) => {}
            }
        }
        for argument in &arguments {
            match argument {
                Argument::Value(value) => self.operands.push_source(*value),
                Argument::Sink => return Err("`_` can only be written".into()),
                Argument::Param(_) => {}
            }
        }
        calls.push(Call { callee, results, arguments });
        Ok(Op::Call(calls.len() as u32 - 1))
    }

    /// Decodes a list in parentheses, if one is next; a vector in it contributes its elements.
    fn list(&mut self) -> Result<Vec<Argument>> {
        if !matches!(self.operands.peek(), Some(Operand::List(_))) {
            return Ok(Vec::new());
        }
        let Operand::List(operands) = self.operands.take()? else { return Ok(Vec::new()) };
        operands.iter().flat_map(elements).map(argument).collect()
    }
}

fn elements<'o, 'a>(operand: &'o Operand<'a>) -> &'o [Operand<'a>] {
    match operand {
        Operand::Vector(elements) => elements,
        operand => std::slice::from_ref(operand),
    }
}

fn argument(operand: &Operand<'_>) -> Result<Argument> {
    match *operand {
        Operand::Value(Value::Variable(id, 0)) => Ok(Argument::Param(id)),
        Operand::Value(value @ Value::Register(_)) => Ok(Argument::Value(value)),
        Operand::Sink => Ok(Argument::Sink),
        Operand::Integer(value) => Ok(Argument::Value(Value::Bits(value))),
        Operand::Single(bits) => Ok(Argument::Value(Value::Bits(bits.into()))),
        Operand::Double(bits) => Ok(Argument::Value(Value::Bits(bits))),
        _ => Err("expected a parameter, register or constant".into()),
    }
}
