//! From text to a module: directives, variables, functions and their statements.

mod body;
mod cursor;
mod function;
mod labels;
mod names;
mod operand;
mod variable;

use std::collections::HashSet;

use crate::error::PtxError;
use crate::lexer::Token;
use crate::module::Module;
use cursor::{Cursor, Parsed};
use names::Names;

/// Parses a module, or several, one after the other, which are linked: each begins with `.version`,
/// and names that are not `.visible`, `.weak`, `.common` or `.extern` are its own.
///
/// Statements of functions that are not understood do not fail the module: they are listed in
/// [`Body::unsupported`](crate::Body::unsupported).
///
/// # Errors
/// When a directive is not known, or the text does not have the structure of a module.
pub fn parse(source: &str) -> Result<Module, PtxError> {
    let mut parser = Parser {
        cursor: Cursor::new(source)?,
        module: Module::default(),
        names: Names::default(),
        shared: HashSet::new(),
        weak: HashSet::new(),
    };
    while parser.cursor.peek().is_some() {
        parser.directive()?;
    }
    parser.finish()
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    module: Module,
    /// Names of the module.
    names: Names<'a>,
    /// Those that other modules know.
    shared: HashSet<&'a str>,
    /// Those that may be defined again.
    weak: HashSet<&'a str>,
}

/// How a name is linked (ISA, "Linking Directives").
#[derive(Clone, Copy, Debug, Default)]
struct Linking {
    external: bool,
    /// It may be defined more than once, and the first definition is taken.
    weak: bool,
    /// Other modules know it.
    shared: bool,
}

impl<'a> Parser<'a> {
    fn finish(self) -> Parsed<Module> {
        if self.module.target.is_empty() {
            return Err(self.cursor.error_at(1, "there is no `.target`: this is not a PTX module"));
        }
        Ok(self.module)
    }

    /// One directive of the module.
    fn directive(&mut self) -> Parsed<()> {
        let line = self.cursor.line();
        let linking = self.linking();
        let Some(name) = self.cursor.dotted() else {
            return Err(self.cursor.expected("a directive"));
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
            "pragma" | "alias" => {
                self.cursor.skip_statement();
                Ok(())
            }
            _ => Err(self.cursor.error_at(line, format!("unknown directive `.{name}`"))),
        }
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

    /// `.version 8.7`: the lexer takes it for a decimal number.
    fn version(&mut self) -> Parsed<()> {
        let Some(Token::Double(bits)) = self.cursor.peek() else {
            return Err(self.cursor.expected("a version as in 8.0"));
        };
        self.cursor.next();
        if self.module.version != (0, 0) {
            // Another module begins.
            self.names.retain(&self.shared);
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

    /// `.file 1 "bfs.cu", timestamp, size`
    fn file(&mut self, line: u32) -> Parsed<()> {
        let number = self.cursor.small("the number of a file")?;
        if let Some(Token::Text(path)) = self.cursor.peek() {
            self.module.files.push((number, path.to_owned()));
        }
        self.cursor.skip_line(line);
        Ok(())
    }

    /// Notes how a name of the module is linked.
    fn link(&mut self, name: &'a str, linking: Linking) {
        if linking.shared {
            self.shared.insert(name);
        }
        if linking.weak {
            self.weak.insert(name);
        }
    }

    /// Debug information, which is not read.
    fn section(&mut self) -> Parsed<()> {
        self.cursor.dotted();
        self.cursor.skip_braces()
    }
}
