//! Kernels and device functions: their names, parameters and limits.

use super::body::BodyParser;
use super::cursor::Parsed;
use super::names::{Named, Names};
use super::{Linking, Parser};
use crate::cluster::ClusterLimit;
use crate::ids::{FunctionId, VariableId};
use crate::lexer::Token;
use crate::module::{Function, ThreadLimit};

impl<'a> Parser<'a> {
    /// A kernel or function, after `.entry` or `.func`.
    pub(super) fn function(&mut self, is_kernel: bool, linking: Linking, line: u32) -> Parsed<()> {
        let mut scope = Names::default();
        self.attributes()?;
        let results = match self.cursor.peek() {
            Some(Token::Symbol('(')) => self.params(&mut scope)?,
            _ => Vec::new(),
        };
        let name = self.cursor.word("the name of a function")?;
        let params = match self.cursor.peek() {
            Some(Token::Symbol('(')) => self.params(&mut scope)?,
            _ => Vec::new(),
        };
        let (threads, cluster) = self.limits()?;
        let function = Function {
            name: name.to_owned(),
            is_kernel,
            results,
            params,
            threads,
            cluster,
            line,
            body: None,
        };
        let id = self.declare(name, function);
        self.link(name, linking);
        if self.cursor.accept(';') {
            return Ok(());
        }
        if self.module.function(id).body.is_some() {
            if self.weak.contains(name) {
                return self.cursor.skip_braces();
            }
            let reason = format!("`{name}` is defined twice");
            return Err(self.cursor.error_at(line, reason));
        }
        let body = BodyParser::new(self, scope).parse()?;
        self.module.functions[id.0 as usize].body = Some(body);
        Ok(())
    }

    /// Adds a function, or completes the one that has been declared under its name.
    fn declare(&mut self, name: &'a str, function: Function) -> FunctionId {
        let functions = &mut self.module.functions;
        if let Some(Named::Function(id)) = self.names.get(name) {
            let declared = &mut functions[id.0 as usize];
            if declared.body.is_none() {
                *declared = function;
            }
            return id;
        }
        let id = FunctionId(functions.len() as u32);
        functions.push(function);
        self.names.insert(name, Named::Function(id));
        id
    }

    fn attributes(&mut self) -> Parsed<()> {
        while self.cursor.accept_dotted("attribute") || self.cursor.accept_dotted("noreturn") {
            if self.cursor.peek() == Some(Token::Symbol('(')) && self.is_attribute_list() {
                self.parentheses()?;
            }
        }
        Ok(())
    }

    /// Whether the parentheses at hand hold an attribute, which is `.unified(…)` or alike.
    fn is_attribute_list(&self) -> bool {
        matches!(self.cursor.peek_second(), Some(Token::Dotted(name)) if name != "param" && name != "reg")
    }

    fn params(&mut self, scope: &mut Names<'a>) -> Parsed<Vec<VariableId>> {
        self.cursor.expect('(')?;
        let mut params = Vec::new();
        while !self.cursor.accept(')') {
            if !self.cursor.accept_dotted("param") {
                return Err(self.cursor.expected("`.param`"));
            }
            let (name, id) = self.param()?;
            scope.insert(name, Named::Variable(id));
            params.push(id);
            if !self.cursor.accept(',') {
                self.cursor.expect(')')?;
                break;
            }
        }
        Ok(params)
    }

    /// What stands between parameters and body.
    fn limits(&mut self) -> Parsed<(ThreadLimit, ClusterLimit)> {
        let (mut threads, mut cluster) = (ThreadLimit::None, ClusterLimit::default());
        while let Some(Token::Dotted(name)) = self.cursor.peek() {
            let line = self.cursor.line();
            self.cursor.next();
            match name {
                "maxntid" => {
                    let limit = ThreadLimit::AtMost(self.dimensions()?);
                    threads = if threads == ThreadLimit::None { limit } else { threads };
                }
                "reqntid" => threads = ThreadLimit::Exactly(self.dimensions()?),
                "minnctapersm" | "maxnreg" | "abi_preserve" | "abi_preserve_control" => {
                    self.dimensions()?;
                }
                "pragma" => {
                    self.cursor.next();
                    self.cursor.expect(';')?;
                }
                "noreturn" => {}
                "explicitcluster" => cluster.explicit = true,
                "reqnctapercluster" => cluster.exactly = Some(self.dimensions()?),
                "maxclusterrank" => cluster.at_most = Some(self.cursor.small("a number")?),
                _ => {
                    let reason = format!("`.{name}` is not known at a function");
                    return Err(self.cursor.error_at(line, reason));
                }
            }
        }
        Ok((threads, cluster))
    }

    /// Up to three numbers; the others are 1.
    fn dimensions(&mut self) -> Parsed<[u32; 3]> {
        let mut dimensions = [1; 3];
        for dimension in &mut dimensions {
            *dimension = self.cursor.small("a number")?;
            if !self.cursor.accept(',') {
                break;
            }
        }
        Ok(dimensions)
    }
}
