//! Expands statements of several instructions: sums as operands, vector moves, predicates returned by calls,
//! and register parameters, which are passed as `.param` variables.

use super::body::BodyParser;
use super::origin::Origin;
use super::params::Passed;
use crate::decode::{self, Decoded, Statement};
use crate::instruction::{Instruction, Register, Value};
use crate::module::{Argument, Call};
use crate::op::{Access, Binary, Cache, Modes, Op};
use crate::operand::Operand;
use crate::types::{Compare, RegisterClass, Space, Type};

impl<'a> BodyParser<'_, 'a> {
    /// Emits the instructions of a statement.
    pub(super) fn statement_at(
        &mut self,
        origin: Origin,
        mut statement: Statement<'a>,
    ) -> Result<(), String> {
        let before = self.body.registers;
        let mut types = statement.modifiers.iter().filter_map(|name| Type::named(name));
        let of_integers = types.all(|ty| ty.is_integer() || ty.is_bits() || ty == Type::Pred);
        for operand in &mut statement.operands {
            self.add_sums(origin, operand, of_integers)?;
        }
        let has_sums = self.body.registers != before;
        match (statement.opcode, statement.modifiers.first()) {
            ("mov", Some(&"v2" | &"v4")) if has_sums => {
                Err("a vector move does not support sums".into())
            }
            ("mov", Some(&"v2" | &"v4")) => self.move_vector(origin, statement),
            _ => {
                let decoded = self.decode(origin.line, statement)?;
                let is_sum = |sum: &Register| sum.index >= before[sum.class as usize];
                match decoded.dests.iter().flatten().any(is_sum) {
                    true => Err("a sum can only be read".into()),
                    false => self.add(origin, decoded),
                }
            }
        }
    }

    fn decode(&mut self, line: u32, statement: Statement<'a>) -> Result<Decoded, String> {
        let mut label_number = |name: &'a str| self.labels.number(name, line);
        decode::decode(statement, &mut self.body.calls, &mut label_number)
    }

    fn add(&mut self, origin: Origin, mut decoded: Decoded) -> Result<(), String> {
        let is_load = matches!(decoded.op, Op::Load(_));
        if let (Some(space), Some(&Value::Variable(id, _))) =
            (decoded.op.generic_space(), decoded.sources.first())
        {
            *space = self.parser.module.variable(id).space;
            if *space == Space::Constant && !is_load {
                return Err("constant memory can only be loaded".into());
            }
        }
        match decoded.op {
            Op::Call(number) => self.add_call(origin, decoded, number),
            Op::Return => {
                self.store_results(origin);
                self.push(origin, decoded);
                Ok(())
            }
            _ => {
                self.push(origin, decoded);
                Ok(())
            }
        }
    }

    /// Appends an instruction.
    pub(super) fn push(&mut self, origin: Origin, decoded: Decoded) {
        self.body.instructions.push(Instruction {
            line: origin.line,
            location: self.location,
            guard: origin.guard,
            op: decoded.op,
            dests: decoded.dests.into(),
            sources: decoded.sources.into(),
            policy: decoded.policy,
        });
    }

    fn push_op(&mut self, origin: Origin, op: Op, dest: Option<Register>, sources: Vec<Value>) {
        let dests = dest.map(Some).into_iter().collect();
        self.push(origin, Decoded { op, dests, sources, policy: None });
    }

    /// Replaces sums in an operand by registers that hold them.
    fn add_sums(
        &mut self,
        origin: Origin,
        operand: &mut Operand<'a>,
        of_integers: bool,
    ) -> Result<(), String> {
        match operand {
            Operand::Sum(register, offset) => {
                let (register, offset) = (*register, *offset);
                let (ty, bits) = match register.class {
                    RegisterClass::Narrow => (Type::U32, u64::from(offset as u32)),
                    RegisterClass::Wide => (Type::U64, offset as u64),
                    RegisterClass::Predicate => {
                        return Err("a predicate cannot be part of a sum".into());
                    }
                };
                if !of_integers {
                    return Err("an operand cannot be a sum of floating-point numbers".into());
                }
                let sum = self.new_registers(register.class, 1)?;
                let add = Op::Binary(Binary::Add, ty, Modes::default());
                let sources = vec![Value::Register(register), Value::Bits(bits)];
                self.push_op(origin, add, Some(sum), sources);
                *operand = Operand::Value(Value::Register(sum));
                Ok(())
            }
            Operand::Vector(elements) | Operand::List(elements) | Operand::Texture(elements) => {
                elements.iter_mut().try_for_each(|one| self.add_sums(origin, one, of_integers))
            }
            _ => Ok(()),
        }
    }

    /// Emits `mov.v2.b32 {a, b}, {b, a}`: reads all elements before writing any.
    fn move_vector(&mut self, origin: Origin, statement: Statement<'a>) -> Result<(), String> {
        let count = if statement.modifiers[0] == "v2" { 2 } else { 4 };
        let modifiers = &statement.modifiers[1..];
        let Ok([Operand::Vector(dests), Operand::Vector(mut sources)]) =
            <[Operand<'a>; 2]>::try_from(statement.operands)
        else {
            return Err(format!("`mov.v{count}` moves a vector to a vector"));
        };
        if dests.len() != count || sources.len() != count {
            return Err(format!("`mov.v{count}` moves vectors of {count} elements"));
        }
        let move_one = |parser: &mut Self, dest: &Operand<'a>, source: &Operand<'a>| {
            let (modifiers, operands) = (modifiers.to_vec(), vec![dest.clone(), source.clone()]);
            let one =
                parser.decode(origin.line, Statement { opcode: "mov", modifiers, operands })?;
            parser.push(origin, one);
            Ok::<(), String>(())
        };
        for (at, source) in sources.iter_mut().enumerate() {
            let Operand::Value(Value::Register(register)) = *source else { continue };
            if dests[..at].contains(source) {
                let held = Operand::Value(Value::Register(self.new_registers(register.class, 1)?));
                move_one(self, &held, source)?;
                *source = held;
            }
        }
        let mut pairs = dests.iter().zip(&sources);
        pairs.try_for_each(|(dest, source)| move_one(self, dest, source))
    }

    /// Emits a call. A returned predicate arrives in a register that is compared with 0.
    fn add_call(
        &mut self,
        origin: Origin,
        mut decoded: Decoded,
        number: u32,
    ) -> Result<(), String> {
        self.check_passed(&self.body.calls[number as usize])?;
        let mut predicates = Vec::new();
        for dest in decoded.dests.iter_mut().flatten() {
            if dest.class == RegisterClass::Predicate {
                let held = self.new_registers(RegisterClass::Narrow, 1)?;
                predicates.push((*dest, held));
                *dest = held;
            }
        }
        self.push(origin, decoded);
        for (predicate, held) in predicates {
            self.compare_with_zero(origin, predicate, held);
        }
        Ok(())
    }

    fn compare_with_zero(&mut self, origin: Origin, predicate: Register, held: Register) {
        let compare = Compare::NotEqual;
        let op = Op::SetPredicate { compare, combine: None, ty: Type::U32, ftz: false };
        self.push_op(origin, op, Some(predicate), vec![Value::Register(held), Value::Bits(0)]);
    }

    /// Checks that a call names only `.param` variables.
    fn check_passed(&self, call: &Call) -> Result<(), String> {
        let passed = call.arguments.iter().chain(&call.results);
        let variables = passed.filter_map(|argument| match argument {
            Argument::Param(id) => Some(self.parser.module.variable(*id)),
            Argument::Value(_) | Argument::Sink => None,
        });
        match variables.into_iter().find(|variable| variable.space != Space::Param) {
            Some(other) => {
                Err(format!("`{}` is passed, which is not a .param variable", other.name))
            }
            None => Ok(()),
        }
    }

    /// Emits the load of a parameter into its register.
    pub(super) fn load_parameter(&mut self, origin: Origin, passed: Passed) -> Result<(), String> {
        let Passed { register, variable, ty } = passed;
        let address = vec![Value::Variable(variable, 0)];
        if register.class != RegisterClass::Predicate {
            self.push_op(origin, Op::Load(access(ty)), Some(register), address);
            return Ok(());
        }
        let held = self.new_registers(RegisterClass::Narrow, 1)?;
        self.push_op(origin, Op::Load(access(ty)), Some(held), address);
        self.compare_with_zero(origin, register, held);
        Ok(())
    }

    /// Emits the stores of the function's register results.
    pub(super) fn store_results(&mut self, origin: Origin) {
        for at in 0..self.results.len() {
            let Passed { register, variable, ty } = self.results[at];
            let sources = vec![Value::Variable(variable, 0), Value::Register(register)];
            self.push_op(origin, Op::Store(access(ty)), None, sources);
        }
    }
}

/// Returns the access to the `.param` variable of a register.
fn access(ty: Type) -> Access {
    let ty = match ty.bytes() {
        1 => Type::B8,
        2 => Type::B16,
        4 => Type::B32,
        _ => Type::B64,
    };
    Access { space: Space::Param, ty, elements: 1, cache: Cache::Default, offset: 0 }
}
