//! Parses text into a module: directives, variables, functions and their statements.

mod body;
mod cursor;
mod expand;
mod expression;
mod function;
mod labels;
mod names;
mod operand;
mod origin;
mod params;
mod variable;

use std::collections::{HashMap, HashSet};

use crate::error::PtxError;
use crate::ids::FunctionId;
use crate::instruction::Instruction;
use crate::lexer::Token;
use crate::module::{Callee, Function, Module};
use crate::op::Op;
use body::BodyParser;
use cursor::{Cursor, Parsed};
use names::{Named, Names};

/// Parses one module, or several concatenated ones, which it links: each begins with `.version`, and names
/// other than `.visible`, `.weak`, `.common` and `.extern` ones are local to it.
///
/// Unsupported statements of functions do not fail the module: they are listed in
/// [`Body::unsupported`](crate::Body::unsupported).
///
/// # Errors
/// When a directive is unknown, or the text lacks the structure of a module.
pub fn parse(source: &str) -> Result<Module, PtxError> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut parser = Parser {
        cursor: Cursor::new(source)?,
        module: Module::default(),
        names: Names::default(),
        shared: HashSet::new(),
        weak: HashSet::new(),
        per_thread: Vec::new(),
        aliases: HashMap::new(),
    };
    while parser.cursor.peek().is_some() {
        parser.directive()?;
    }
    parser.finish()
}

/// Maximum listed unsupported statements of a function.
const MAX_UNSUPPORTED: usize = 50;

struct Parser<'a> {
    cursor: Cursor<'a>,
    module: Module,
    /// Names of the module.
    names: Names<'a>,
    /// Names visible to other modules.
    shared: HashSet<&'a str>,
    /// Names that may be redefined.
    weak: HashSet<&'a str>,
    /// Positions of module-level `.reg` and `.local` declarations, which are per thread: each kernel declares
    /// them again.
    per_thread: Vec<usize>,
    /// Functions that are aliases of others.
    aliases: HashMap<FunctionId, FunctionId>,
}

/// Linkage of a name (ISA, "Linking Directives").
#[derive(Clone, Copy, Debug, Default)]
struct Linking {
    external: bool,
    /// Whether it may be defined repeatedly; the first definition is used.
    weak: bool,
    /// Whether it is visible to other modules.
    shared: bool,
}

impl<'a> Parser<'a> {
    fn finish(mut self) -> Parsed<Module> {
        if self.module.target.is_empty() {
            return Err(self.cursor.error_at(1, "there is no `.target`: this is not a PTX module"));
        }
        if !self.aliases.is_empty() {
            self.module.rename_functions(|id| self.aliases.get(&id).copied().unwrap_or(id));
        }
        self.check_calls();
        Ok(self.module)
    }

    /// Lists calls whose numbers of arguments or results differ from the function's.
    fn check_calls(&mut self) {
        for at in 0..self.module.functions.len() {
            let errors = self.wrong_calls(&self.module.functions[at]);
            if let Some(body) = &mut self.module.functions[at].body {
                body.unsupported.extend(errors);
            }
        }
    }

    fn wrong_calls(&self, function: &Function) -> Vec<PtxError> {
        let Some(body) = &function.body else { return Vec::new() };
        let error = |instruction: &Instruction| {
            let Op::Call(number) = instruction.op else { return None };
            let call = &body.calls[number as usize];
            let Callee::Direct(callee) = call.callee else { return None };
            let callee = self.module.function(callee);
            let takes = (callee.params.len(), callee.results.len());
            let passed = (call.arguments.len(), call.results.len());
            if callee.body.is_none() || takes == passed {
                return None;
            }
            let reason = format!(
                "`{}` takes {} and returns {} values, the call has {} and {}",
                callee.name, takes.0, takes.1, passed.0, passed.1
            );
            Some(self.cursor.error_at(instruction.line, reason))
        };
        body.instructions.iter().filter_map(error).take(MAX_UNSUPPORTED).collect()
    }

    /// Returns whether a directive can start a module-level statement.
    fn begins_directive(name: &str) -> bool {
        matches!(
            name,
            "version"
                | "target"
                | "address_size"
                | "visible"
                | "weak"
                | "common"
                | "extern"
                | "entry"
                | "func"
                | "global"
                | "const"
                | "shared"
                | "local"
                | "reg"
                | "tex"
                | "file"
                | "section"
                | "loc"
                | "pragma"
                | "alias"
        )
    }

    /// Parses one module-level directive.
    fn directive(&mut self) -> Parsed<()> {
        let line = self.cursor.line();
        let linking = self.linking();
        let Some(name) = self.cursor.dotted() else {
            return Err(self.cursor.expected_here("a directive"));
        };
        match name {
            "version" => self.version(),
            "target" => self.target(),
            "address_size" => self.address_size(),
            "entry" | "func" => self.function(name == "entry", linking, line),
            "global" | "const" | "shared" | "tex" => self.module_variables(name, linking),
            "file" => self.file(line),
            "section" => self.section(),
            "loc" => {
                self.cursor.skip_line(line);
                Ok(())
            }
            "reg" | "local" => self.per_thread(),
            "alias" => self.alias(),
            "pragma" => {
                self.cursor.skip_statement();
                Ok(())
            }
            _ => Err(self.cursor.error_at(line, format!("unknown directive `.{name}`"))),
        }
    }

    /// Records a module-level declaration that each kernel repeats.
    fn per_thread(&mut self) -> Parsed<()> {
        let at = self.cursor.position() - 1;
        self.cursor.return_to(at);
        BodyParser::new(self, Names::default()).statement()?;
        self.per_thread.push(at);
        Ok(())
    }

    fn linking(&mut self) -> Linking {
        let mut linking = Linking::default();
        while let Some(Token::Dotted(name @ ("visible" | "weak" | "common" | "extern"))) =
            self.cursor.peek()
        {
            linking.external |= name == "extern";
            linking.weak |= matches!(name, "weak" | "common");
            linking.shared = true;
            self.cursor.next();
        }
        linking
    }

    /// Parses `.version 8.7`, which the lexer reads as a decimal number.
    fn version(&mut self) -> Parsed<()> {
        let Some(Token::Double(bits)) = self.cursor.peek() else {
            return Err(self.cursor.expected("a version as in 8.0"));
        };
        self.cursor.next();
        if self.module.version != (0, 0) {
            // Another module begins.
            self.names.retain(&self.shared);
            self.per_thread.clear();
            return Ok(());
        }
        let tenths = (f64::from_bits(bits) * 10.0).round() as u32;
        self.module.version = (tenths / 10, tenths % 10);
        Ok(())
    }

    fn target(&mut self) -> Parsed<()> {
        let target = self.cursor.word("an architecture as in sm_75")?;
        if self.module.target.is_empty() {
            self.module.target = target.to_owned();
        }
        while self.cursor.accept(',') {
            self.cursor.word("an option of the target")?;
        }
        Ok(())
    }

    fn address_size(&mut self) -> Parsed<()> {
        let line = self.cursor.line();
        match self.cursor.integer("32 or 64")? {
            64 => Ok(()),
            bits => {
                let reason = format!("addresses of {bits} bits; only 64 is supported");
                Err(self.cursor.error_at(line, reason))
            }
        }
    }

    /// Parses `.alias name, function;`, another name of a function, itself declared as a function.
    fn alias(&mut self) -> Parsed<()> {
        let alias = self.function_named()?;
        if self.module.function(alias).body.is_some() {
            let name = &self.module.function(alias).name;
            return Err(self.cursor.error(format!("`{name}` is a function with its own body")));
        }
        self.cursor.expect(',')?;
        let function = self.function_named()?;
        self.aliases.insert(alias, function);
        self.cursor.expect(';')
    }

    fn function_named(&mut self) -> Parsed<FunctionId> {
        let name = self.cursor.word("the name of a function")?;
        match self.names.get(name) {
            Some(Named::Function(id)) => Ok(id),
            _ => Err(self.cursor.error(format!("`{name}` is not a declared function"))),
        }
    }

    /// Parses `.file 1 "bfs.cu", timestamp, size`.
    fn file(&mut self, line: u32) -> Parsed<()> {
        let number = self.cursor.small("the number of a file")?;
        if let Some(Token::Text(path)) = self.cursor.peek() {
            self.module.files.push((number, path.to_owned()));
        }
        self.cursor.skip_line(line);
        Ok(())
    }

    /// Records the linkage of a name of the module.
    fn link(&mut self, name: &'a str, linking: Linking) {
        if linking.shared {
            self.shared.insert(name);
        }
        if linking.weak {
            self.weak.insert(name);
        }
    }

    /// Skips debug information.
    fn section(&mut self) -> Parsed<()> {
        self.cursor.dotted();
        self.cursor.skip_braces()
    }
}
