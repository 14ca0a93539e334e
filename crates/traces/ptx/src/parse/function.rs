//! Parses kernels and device functions: names, parameters and limits.

use super::body::BodyParser;
use super::cursor::Parsed;
use super::names::{Named, Names};
use super::params::RegisterParam;
use super::{Linking, Parser};
use crate::cluster::ClusterLimit;
use crate::ids::{FunctionId, VariableId};
use crate::lexer::Token;
use crate::module::{Function, ThreadLimit, Variable};

/// The parameters of a function, or its results.
#[derive(Default)]
struct Params<'a> {
    variables: Vec<VariableId>,
    registers: Vec<RegisterParam<'a>>,
}

impl<'a> Parser<'a> {
    /// Parses a kernel or function, after `.entry` or `.func`.
    pub(super) fn function(&mut self, is_kernel: bool, linking: Linking, line: u32) -> Parsed<()> {
        let mut scope = Names::default();
        self.attributes()?;
        let results = match self.cursor.peek() {
            Some(Token::Symbol('(')) => self.params(&mut scope, true)?,
            _ => Params::default(),
        };
        let name = self.cursor.word("the name of a function")?;
        let params = match self.cursor.peek() {
            Some(Token::Symbol('(')) => self.params(&mut scope, false)?,
            _ => Params::default(),
        };
        let (threads, cluster) = self.limits()?;
        let function = Function {
            name: name.to_owned(),
            is_kernel,
            results: results.variables,
            params: params.variables,
            threads,
            cluster,
            line,
            body: None,
        };
        let id = self.declare(name, function);
        self.link(name, linking);
        if self.cursor.accept(';') || self.ends_declaration() {
            return Ok(());
        }
        if self.module.function(id).body.is_some() {
            if self.weak.contains(name) {
                return self.cursor.skip_braces();
            }
            let reason = format!("`{name}` is defined twice");
            return Err(self.cursor.error_at(line, reason));
        }
        let repeated = if is_kernel { self.per_thread.clone() } else { Vec::new() };
        let mut registers = results.registers;
        registers.extend(params.registers);
        let body = BodyParser::new(self, scope).parse(&registers, &repeated)?;
        self.module.functions[id.0 as usize].body = Some(body);
        Ok(())
    }

    /// Returns whether a declaration ends without `;`, as compilers up to CUDA 4.0 write it: the next token
    /// is a module directive.
    fn ends_declaration(&self) -> bool {
        match self.cursor.peek() {
            Some(Token::Dotted(name)) => Parser::begins_directive(name),
            Some(_) => false,
            None => true,
        }
    }

    /// Adds a function, or completes the one declared under its name.
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

    /// Returns whether the open parentheses contain an attribute, such as `.unified(…)`.
    fn is_attribute_list(&self) -> bool {
        matches!(self.cursor.peek_second(), Some(Token::Dotted(name)) if name != "param" && name != "reg")
    }

    fn params(&mut self, scope: &mut Names<'a>, is_result: bool) -> Parsed<Params<'a>> {
        self.cursor.expect('(')?;
        let mut params = Params::default();
        while !self.cursor.accept(')') {
            if self.cursor.accept_dotted("reg") {
                let param = self.register_param(is_result)?;
                params.variables.extend(&param.variables);
                params.registers.push(param);
            } else if self.cursor.accept_dotted("param") {
                let (name, id) = self.param()?;
                scope.insert(name, Named::Variable(id));
                params.variables.push(id);
            } else {
                return Err(self.cursor.expected("`.param` or `.reg`"));
            }
            if !self.cursor.accept(',') {
                self.cursor.expect(')')?;
                break;
            }
        }
        Ok(params)
    }

    /// Parses `.reg .b32 x` and `.reg .v2 .b32 x`.
    fn register_param(&mut self, is_result: bool) -> Parsed<RegisterParam<'a>> {
        let (name, vector, elements) = self.vector_param()?;
        let (ty, parts) = vector.ty.parts();
        let elements = elements * u64::from(parts);
        if vector.bytes != u64::from(ty.bytes()) * elements {
            return Err(self.cursor.error(format!("`{name}` is an array of registers")));
        }
        let bytes = u64::from(ty.bytes());
        let element = Variable { ty, bytes, align: bytes, ..vector };
        let variables = (0..elements).map(|_| self.add_variable(element.clone())).collect();
        Ok(RegisterParam { name, ty, variables, is_result })
    }

    /// Parses the directives between parameters and body.
    fn limits(&mut self) -> Parsed<(ThreadLimit, ClusterLimit)> {
        let (mut threads, mut cluster) = (ThreadLimit::None, ClusterLimit::default());
        while let Some(Token::Dotted(name)) = self.cursor.peek() {
            if Parser::begins_directive(name) && name != "pragma" {
                break;
            }
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

    /// Parses up to three numbers; the others are 1.
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
