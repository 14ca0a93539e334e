//! Definitions and uses of the registers of a function.

use std::collections::HashMap;

use warpmem_ptx::{Argument, Body, Instruction, Op, Register, Value};

/// Definition of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Definition {
    /// The only instruction that writes it, without a guard.
    Once(usize),
    Several,
}

/// Registers of a function: the instruction that defines each, and the instructions that read it.
pub(super) struct Uses<'b> {
    pub body: &'b Body,
    definitions: HashMap<Register, Definition>,
    /// Readers in order; an instruction that reads a register twice is listed twice.
    readers: HashMap<Register, Vec<usize>>,
    /// First instruction of the block of each instruction.
    pub blocks: Vec<usize>,
}

impl<'b> Uses<'b> {
    pub fn of(body: &'b Body, blocks: Vec<usize>) -> Uses<'b> {
        let mut definitions = HashMap::new();
        let mut readers: HashMap<Register, Vec<usize>> = HashMap::new();
        for (at, instruction) in body.instructions.iter().enumerate() {
            for register in instruction.writes() {
                let once = match instruction.guard {
                    None => Definition::Once(at),
                    Some(_) => Definition::Several,
                };
                let is_first = !definitions.contains_key(&register);
                definitions.insert(register, if is_first { once } else { Definition::Several });
            }
            instruction.reads().for_each(|register| readers.entry(register).or_default().push(at));
        }
        Uses { body, definitions, readers: with_arguments(body, readers), blocks }
    }

    pub fn instruction(&self, at: usize) -> &'b Instruction {
        &self.body.instructions[at]
    }

    /// Returns the only definition of a register.
    pub fn producer(&self, register: Register) -> Option<usize> {
        match self.definitions.get(&register) {
            Some(&Definition::Once(at)) => Some(at),
            _ => None,
        }
    }

    /// Returns the only result of an instruction, if nothing else defines it.
    pub fn result(&self, at: usize) -> Option<Register> {
        let &[Some(register)] = &*self.instruction(at).dests else { return None };
        (self.producer(register) == Some(at)).then_some(register)
    }

    /// Returns the readers of the only result of an instruction; none if it has several results or is one of
    /// several definitions.
    pub fn users(&self, at: usize) -> &[usize] {
        let readers = self.result(at).and_then(|register| self.readers.get(&register));
        readers.map_or(&[], Vec::as_slice)
    }

    pub fn is_in_block_of(&self, a: usize, b: usize) -> bool {
        self.blocks[a] == self.blocks[b]
    }

    /// Returns the bits of an operand that is a constant, also through a move.
    pub fn constant(&self, value: Value) -> Option<Value> {
        match value {
            Value::Bits(_) | Value::Variable(..) => Some(value),
            Value::Register(register) => {
                let producer = self.instruction(self.producer(register)?);
                match (producer.op, &*producer.sources) {
                    (Op::Move(_), &[value @ (Value::Bits(_) | Value::Variable(..))]) => Some(value),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Adds the calls that read registers as arguments.
fn with_arguments(
    body: &Body,
    mut readers: HashMap<Register, Vec<usize>>,
) -> HashMap<Register, Vec<usize>> {
    for (at, instruction) in body.instructions.iter().enumerate() {
        let Op::Call(number) = instruction.op else { continue };
        for argument in &body.calls[number as usize].arguments {
            if let Argument::Value(Value::Register(register) | Value::Not(register)) = argument {
                readers.entry(*register).or_default().push(at);
            }
        }
    }
    readers
}
