//! Parses function bodies: declarations, labels, and instructions, which it decodes.

use super::cursor::Parsed;
use super::labels::Labels;
use super::names::{Named, Names, Numbered, Vector};
use super::operand::Operands;
use super::origin::Origin;
use super::params::{Passed, RegisterParam};
use super::{Linking, MAX_UNSUPPORTED, Parser};
use crate::decode::{Decoded, Statement};
use crate::ids::VariableId;
use crate::instruction::{Guard, Register};
use crate::lexer::Token;
use crate::module::Body;
use crate::op::Op;
use crate::types::{RegisterClass, Space, Type};

/// Maximum nesting of blocks.
const MAX_NESTING: usize = 64;

/// Maximum registers of one class in a function.
const MAX_REGISTERS: u32 = u16::MAX as u32;

pub(super) struct BodyParser<'p, 'a> {
    pub parser: &'p mut Parser<'a>,
    pub body: Body,
    /// Names of the function and its open blocks, innermost last.
    scopes: Vec<Names<'a>>,
    pub labels: Labels<'a>,
    pub location: Option<(u32, u32)>,
    /// Results of the function that are registers.
    pub results: Vec<Passed>,
}

impl<'p, 'a> BodyParser<'p, 'a> {
    /// Prepares to parse the next body; `scope` has the names of the parameters.
    pub fn new(parser: &'p mut Parser<'a>, scope: Names<'a>) -> BodyParser<'p, 'a> {
        BodyParser {
            parser,
            body: Body::default(),
            scopes: vec![scope],
            labels: Labels::default(),
            location: None,
            results: Vec::new(),
        }
    }

    /// Parses the body, `{` to `}`, of a function with these register parameters. `repeated` has the
    /// positions of the module's declarations that every kernel repeats.
    pub fn parse(mut self, registers: &[RegisterParam<'a>], repeated: &[usize]) -> Parsed<Body> {
        let line = self.parser.cursor.line();
        self.parser.cursor.expect('{')?;
        let outside = self.scopes.len();
        self.enter_block();
        self.repeat_declarations(repeated)?;
        self.declare_parameters(line, registers)?;
        while self.scopes.len() > outside {
            if self.parser.cursor.peek().is_none() {
                return Err(self.parser.cursor.expected("`}`"));
            }
            let start = self.parser.cursor.position();
            if let Err(error) = self.statement() {
                self.body.unsupported.push(error);
                self.skip_statement(start);
            }
            if self.body.unsupported.len() >= MAX_UNSUPPORTED {
                let depth = self.scopes.len() - outside;
                return self.give_up(depth);
            }
        }
        let line = self.parser.cursor.line();
        self.store_results(Origin { line, guard: None });
        self.list_missing_labels();
        self.resolve_labels();
        Ok(self.body)
    }

    /// Skips an unsupported statement that started at `start`. A statement without `;` ends with its line.
    fn skip_statement(&mut self, start: usize) {
        let cursor = &mut self.parser.cursor;
        if cursor.position() == start || !cursor.begins_line() {
            cursor.skip_statement();
        }
    }

    /// Skips the rest of the body, in which `depth` blocks are open.
    fn give_up(mut self, depth: usize) -> Parsed<Body> {
        let reason = format!(
            "the rest of the function is skipped after {MAX_UNSUPPORTED} unsupported statements"
        );
        let error = self.parser.cursor.error_at(self.parser.cursor.line(), reason);
        self.body.unsupported.push(error);
        for _ in 0..depth {
            self.parser.cursor.skip_block()?;
        }
        self.resolve_labels();
        Ok(self.body)
    }

    /// Parses the module's per-thread declarations again, as the kernel's own.
    fn repeat_declarations(&mut self, repeated: &[usize]) -> Parsed<()> {
        let here = self.parser.cursor.position();
        for &at in repeated {
            self.parser.cursor.return_to(at);
            self.statement()?;
        }
        self.parser.cursor.return_to(here);
        Ok(())
    }

    fn declare_parameters(&mut self, line: u32, registers: &[RegisterParam<'a>]) -> Parsed<()> {
        for param in registers {
            let ty = param.ty;
            let count = param.variables.len() as u16;
            let first = self.declare_registers(ty.class(), count.into())?;
            let vector = Vector { first, count };
            self.scope().insert(param.name, vector.named());
            for (register, &variable) in vector.registers().zip(&param.variables) {
                let passed = Passed { register, variable, ty };
                if param.is_result {
                    self.results.push(passed);
                    continue;
                }
                self.load_parameter(Origin { line, guard: None }, passed)
                    .map_err(|reason| self.parser.cursor.error_at(line, reason))?;
            }
        }
        Ok(())
    }

    /// Parses one statement; an error may occur anywhere within it.
    pub fn statement(&mut self) -> Parsed<()> {
        let cursor = &mut self.parser.cursor;
        if cursor.accept('}') {
            self.scopes.pop();
            self.labels.leave_block();
            return Ok(());
        }
        if cursor.accept('{') {
            if self.scopes.len() > MAX_NESTING {
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

    /// Parses `.reg .b32 %r<10>, a;` and `.reg .v2 .b32 v;`.
    fn registers(&mut self) -> Parsed<()> {
        let cursor = &mut self.parser.cursor;
        let elements = match cursor.peek() {
            Some(Token::Dotted("v2")) => 2,
            Some(Token::Dotted("v4")) => 4,
            _ => 1,
        };
        if elements > 1 {
            cursor.next();
        }
        let Some(name) = cursor.dotted() else { return Err(cursor.expected("a type")) };
        let ty = Type::named(name)
            .filter(|&ty| elements == 1 || !matches!(ty, Type::Pred | Type::B128))
            .ok_or_else(|| cursor.error(format!("registers of type `.{name}` are not known")))?;
        let (ty, parts) = ty.parts();
        loop {
            self.register(ty.class(), elements * u16::from(parts))?;
            if !self.parser.cursor.accept(',') {
                return self.parser.cursor.expect(';');
            }
        }
    }

    /// Parses one name of a register declaration.
    fn register(&mut self, class: RegisterClass, elements: u16) -> Parsed<()> {
        let cursor = &mut self.parser.cursor;
        let name = cursor.word("the name of a register")?;
        if cursor.accept('<') {
            let count = cursor.small("a number of registers")?;
            cursor.expect('>')?;
            let registers = count.saturating_mul(elements.into());
            let first = self.declare_registers(class, registers)?;
            let numbered = Numbered { first, count: count as u16, elements };
            self.scope().insert_numbered(name, numbered);
        } else {
            let first = self.declare_registers(class, elements.into())?;
            self.scope().insert(name, Vector { first, count: elements }.named());
        }
        Ok(())
    }

    fn declare_registers(&mut self, class: RegisterClass, count: u32) -> Parsed<Register> {
        self.new_registers(class, count).map_err(|reason| self.parser.cursor.error(reason))
    }

    pub fn new_registers(&mut self, class: RegisterClass, count: u32) -> Result<Register, String> {
        let used = &mut self.body.registers[class as usize];
        let (index, total) = (*used, u32::from(*used) + count.min(MAX_REGISTERS + 1));
        if total > MAX_REGISTERS {
            return Err(format!("the function has more than {MAX_REGISTERS} registers of a class"));
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

    /// Parses `.loc 1 23 5`, optionally followed by the function it is inlined into.
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
            false => {
                Err(self.parser.cursor.error_at(line, format!("label `{name}` is defined twice")))
            }
        }
    }

    /// Parses the list after a label: targets of branches or calls, or a prototype.
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
        let Some(Token::Word(opcode)) = self.parser.cursor.peek() else {
            return Err(self.parser.cursor.expected_here("an instruction"));
        };
        self.parser.cursor.next();
        let mut modifiers = Vec::new();
        while let Some(modifier) = self.parser.cursor.dotted() {
            modifiers.push(modifier);
        }
        let (scopes, module) = (&self.scopes, &self.parser.names);
        let resolve = |name: &str| resolve(scopes, module, name);
        let cursor = &mut self.parser.cursor;
        let operands = Operands { cursor, resolve, of_call: opcode == "call" }.all()?;
        let statement = Statement { opcode, modifiers, operands };
        // The statement is consumed whole, so an error does not skip the next one.
        if let Err(reason) = self.statement_at(Origin { line, guard }, statement) {
            self.unsupported(line, reason);
        }
        Ok(())
    }

    /// Lists an unsupported statement and emits a trap in its place.
    fn unsupported(&mut self, line: u32, reason: String) {
        self.body.unsupported.push(self.parser.cursor.error_at(line, reason));
        let (dests, sources, policy) = (Vec::new(), Vec::new(), None);
        let trap = Decoded { op: Op::Trap, dests, sources, policy };
        self.push(Origin { line, guard: None }, trap);
    }

    /// Parses `@%p1`, `@!%p1` or nothing.
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

    fn list_missing_labels(&mut self) {
        let missing = self.labels.missing().take(MAX_UNSUPPORTED);
        self.body.unsupported.extend(missing.map(|(name, line)| {
            let reason = format!("label `{name}` is not in the function");
            self.parser.cursor.error_at(line, reason)
        }));
    }

    /// Replaces label numbers by instruction indices.
    fn resolve_labels(&mut self) {
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

/// Resolves a name in the innermost scope that has it.
fn resolve(scopes: &[Names<'_>], module: &Names<'_>, name: &str) -> Option<Named> {
    scopes.iter().rev().find_map(|scope| scope.get(name)).or_else(|| module.get(name))
}
