//! The body of a function: declarations, labels, and instructions, which are decoded.

use super::cursor::Parsed;
use super::labels::Labels;
use super::names::{Named, Names};
use super::operand::Operands;
use super::{Linking, Parser};
use crate::decode::{self, Statement};
use crate::error::PtxError;
use crate::ids::VariableId;
use crate::instruction::{Guard, Instruction, Register};
use crate::lexer::Token;
use crate::module::{Argument, Body, Call};
use crate::op::Op;
use crate::types::{RegisterClass, Space, Type};

/// Deepest nesting of blocks.
const DEEPEST: usize = 64;

/// Registers of one class that a function may have.
const MAX_REGISTERS: u32 = u16::MAX as u32;

pub(super) struct BodyParser<'p, 'a> {
    parser: &'p mut Parser<'a>,
    body: Body,
    /// The function's names and those of the blocks within it, innermost last.
    scopes: Vec<Names<'a>>,
    labels: Labels<'a>,
    location: Option<(u32, u32)>,
}

impl<'p, 'a> BodyParser<'p, 'a> {
    /// For a body that is next; `scope` has the names of the parameters.
    pub fn new(parser: &'p mut Parser<'a>, scope: Names<'a>) -> BodyParser<'p, 'a> {
        BodyParser {
            parser,
            body: Body::default(),
            scopes: vec![scope],
            labels: Labels::default(),
            location: None,
        }
    }

    pub fn parse(mut self) -> Parsed<Body> {
        self.parser.cursor.expect('{')?;
        let outside = self.scopes.len();
        self.enter_block();
        while self.scopes.len() > outside {
            if self.parser.cursor.peek().is_none() {
                return Err(self.parser.cursor.expected("`}`"));
            }
            if let Err(error) = self.statement() {
                self.body.unsupported.push(error);
                self.parser.cursor.skip_statement();
            }
        }
        self.resolve_labels();
        Ok(self.body)
    }

    /// One statement; an error may stand anywhere within it.
    fn statement(&mut self) -> Parsed<()> {
        let cursor = &mut self.parser.cursor;
        if cursor.accept('}') {
            self.scopes.pop();
            self.labels.leave_block();
            return Ok(());
        }
        if cursor.accept('{') {
            if self.scopes.len() > DEEPEST {
                return Err(cursor.error("blocks are nested too deeply"));
            }
            self.enter_block();
            return Ok(());
        }
        if cursor.accept(';') {
            return Ok(());
        }
        match (cursor.peek(), cursor.peek_second()) {
            (Some(Token::Dotted(name)), _) => self.directive(name),
            (Some(Token::Word(name)), Some(Token::Symbol(':'))) => {
                self.parser.cursor.next();
                self.parser.cursor.next();
                self.label(name)
            }
            _ => self.instruction(),
        }
    }

    fn enter_block(&mut self) {
        self.scopes.push(Names::default());
        self.labels.enter_block();
    }

    fn scope(&mut self) -> &mut Names<'a> {
        self.scopes.last_mut().expect("a body has a scope until it ends")
    }

    fn directive(&mut self, name: &str) -> Parsed<()> {
        let line = self.parser.cursor.line();
        self.parser.cursor.next();
        match name {
            "reg" => self.registers(),
            "local" | "param" | "shared" | "global" | "const" => self.variables(name),
            "loc" => self.location(line),
            "pragma" => {
                self.parser.cursor.skip_statement();
                Ok(())
            }
            _ => Err(self.parser.cursor.error_at(line, format!("unknown directive `.{name}`"))),
        }
    }

    /// `.reg .b32 %r<10>, a;`
    fn registers(&mut self) -> Parsed<()> {
        let cursor = &mut self.parser.cursor;
        let Some(name) = cursor.dotted() else { return Err(cursor.expected("a type")) };
        let ty = Type::named(name)
            .ok_or_else(|| cursor.error(format!("registers of type `.{name}` are not known")))?;
        loop {
            let cursor = &mut self.parser.cursor;
            let name = cursor.word("the name of a register")?;
            if cursor.accept('<') {
                let count = cursor.small("a number of registers")?;
                cursor.expect('>')?;
                let first = self.new_registers(ty.class(), count)?;
                self.scope().insert_numbered(name, first, count as u16);
            } else {
                let register = self.new_registers(ty.class(), 1)?;
                self.scope().insert(name, Named::Register(register));
            }
            if !self.parser.cursor.accept(',') {
                return self.parser.cursor.expect(';');
            }
        }
    }

    fn new_registers(&mut self, class: RegisterClass, count: u32) -> Parsed<Register> {
        let used = &mut self.body.registers[class as usize];
        let (index, total) = (*used, u32::from(*used) + count.min(MAX_REGISTERS + 1));
        if total > MAX_REGISTERS {
            return Err(self.parser.cursor.error(format!("more than {MAX_REGISTERS} registers")));
        }
        *used = total as u16;
        Ok(Register { class, index })
    }

    fn variables(&mut self, space: &str) -> Parsed<()> {
        let space = Space::named(space).unwrap_or(Space::Global);
        let names = self.parser.variables(space, Linking::default().external)?;
        for (name, id) in names {
            self.scope().insert(name, Named::Variable(id));
            self.keep(space, id);
        }
        Ok(())
    }

    fn keep(&mut self, space: Space, id: VariableId) {
        match space {
            Space::Local | Space::Param => self.body.locals.push(id),
            Space::Shared => self.body.shared.push(id),
            _ => {}
        }
    }

    /// `.loc 1 23 5`, perhaps followed by the function that it is inlined into.
    fn location(&mut self, line: u32) -> Parsed<()> {
        let file = self.parser.cursor.small("the number of a file")?;
        let source_line = self.parser.cursor.small("a line")?;
        self.location = Some((file, source_line));
        self.parser.cursor.skip_line(line);
        Ok(())
    }

    fn label(&mut self, name: &'a str) -> Parsed<()> {
        let line = self.parser.cursor.line();
        if let Some(Token::Dotted(kind @ ("branchtargets" | "calltargets" | "callprototype"))) =
            self.parser.cursor.peek()
        {
            self.parser.cursor.next();
            return self.targets_of(kind, name);
        }
        let at = self.body.instructions.len() as u32;
        match self.labels.put(name, line, at) {
            true => Ok(()),
            false => Err(self.parser.cursor.error_at(line, format!("label `{name}` stands twice"))),
        }
    }

    /// The list that a label names: targets of branches or calls, or a prototype.
    fn targets_of(&mut self, kind: &str, name: &'a str) -> Parsed<()> {
        if kind != "branchtargets" {
            self.parser.cursor.skip_statement();
            self.scope().insert(name, Named::Prototype);
            return Ok(());
        }
        let mut table = Vec::new();
        loop {
            let line = self.parser.cursor.line();
            let target = self.parser.cursor.word("a label")?;
            table.push(self.labels.number(target, line));
            if !self.parser.cursor.accept(',') {
                break;
            }
        }
        self.parser.cursor.expect(';')?;
        let number = self.body.branch_tables.len() as u32;
        self.scope().insert(name, Named::BranchTable(number));
        self.body.branch_tables.push(table);
        Ok(())
    }

    fn instruction(&mut self) -> Parsed<()> {
        let line = self.parser.cursor.line();
        let guard = self.guard()?;
        let opcode = self.parser.cursor.word("an instruction")?;
        let mut modifiers = Vec::new();
        while let Some(modifier) = self.parser.cursor.dotted() {
            modifiers.push(modifier);
        }
        let (scopes, module) = (&self.scopes, &self.parser.names);
        let resolve = |name: &str| resolve(scopes, module, name);
        let operands = Operands { cursor: &mut self.parser.cursor, resolve }.all()?;
        let statement = Statement { opcode, modifiers, operands };
        let mut label_number = |name: &'a str| self.labels.number(name, line);
        let calls = self.body.calls.len();
        let decoded = decode::decode(statement, &mut self.body.calls, &mut label_number);
        let decoded = decoded.and_then(|decoded| {
            self.body.calls[calls..].iter().try_for_each(|call| self.check_passed(call))?;
            Ok(decoded)
        });
        // The statement has been taken whole, so that an error does not skip the next one.
        match decoded {
            Ok(decoded) => self.body.instructions.push(Instruction {
                line,
                location: self.location,
                guard,
                op: decoded.op,
                dests: decoded.dests.into(),
                sources: decoded.sources.into(),
                policy: decoded.policy,
            }),
            Err(reason) => self.unsupported(line, reason),
        }
        Ok(())
    }

    /// Whether a call names `.param` variables only.
    fn check_passed(&self, call: &Call) -> Result<(), String> {
        let passed = call.arguments.iter().chain(&call.results);
        let variables = passed.filter_map(|argument| match argument {
            Argument::Param(id) => Some(self.parser.module.variable(*id)),
            Argument::Value(_) => None,
        });
        match variables.into_iter().find(|variable| variable.space != Space::Param) {
            Some(other) => Err(format!("`{}` is passed, which is no .param variable", other.name)),
            None => Ok(()),
        }
    }

    /// Lists a statement, in whose place a trap stands.
    fn unsupported(&mut self, line: u32, reason: String) {
        self.body.unsupported.push(self.parser.cursor.error_at(line, reason));
        self.body.instructions.push(Instruction {
            line,
            location: self.location,
            guard: None,
            op: Op::Trap,
            dests: Box::default(),
            sources: Box::default(),
            policy: None,
        });
    }

    /// `@%p1`, `@!%p1` or nothing.
    fn guard(&mut self) -> Parsed<Option<Guard>> {
        if !self.parser.cursor.accept('@') {
            return Ok(None);
        }
        let negated = self.parser.cursor.accept('!');
        let name = self.parser.cursor.word("a predicate")?;
        match resolve(&self.scopes, &self.parser.names, name) {
            Some(Named::Register(predicate)) if predicate.class == RegisterClass::Predicate => {
                Ok(Some(Guard { predicate, negated }))
            }
            _ => Err(self.parser.cursor.error(format!("`{name}` is not a predicate"))),
        }
    }

    /// Puts instructions for the numbers of labels.
    fn resolve_labels(&mut self) {
        let errors: Vec<PtxError> = self
            .labels
            .missing()
            .map(|(name, line)| {
                let reason = format!("label `{name}` is not in the function");
                self.parser.cursor.error_at(line, reason)
            })
            .collect();
        self.body.unsupported.extend(errors);
        let end = self.body.instructions.len() as u32;
        let at = |number: u32| self.labels.target(number).unwrap_or(end);
        for instruction in &mut self.body.instructions {
            if let Op::Branch(target) = &mut instruction.op {
                *target = at(*target);
            }
        }
        for target in self.body.branch_tables.iter_mut().flatten() {
            *target = at(*target);
        }
    }
}

/// What a name stands for in the innermost scope that has it.
fn resolve(scopes: &[Names<'_>], module: &Names<'_>, name: &str) -> Option<Named> {
    scopes.iter().rev().find_map(|scope| scope.get(name)).or_else(|| module.get(name))
}
