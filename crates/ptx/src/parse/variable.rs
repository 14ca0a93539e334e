//! Variables and their initial values.

use super::cursor::Parsed;
use super::names::Named;
use super::{Linking, Parser};
use crate::ids::VariableId;
use crate::lexer::Token;
use crate::module::{Reference, Relocation, Target, Variable};
use crate::types::{Space, Type};

/// Most bytes that a variable with an initial value may have: more is not a table of a program but
/// a damaged file.
const MAX_INITIALISED: u64 = 1 << 30;

/// What stands before the names of a declaration.
#[derive(Clone, Copy, Debug)]
struct Declaration {
    space: Space,
    align: Option<u64>,
    /// Elements of a vector.
    vector: u64,
    ty: Type,
    reference: Option<Reference>,
    external: bool,
}

impl<'a> Parser<'a> {
    /// Variables of the module, after the directive of their space.
    pub(super) fn module_variables(&mut self, space: &str, linking: Linking) -> Parsed<()> {
        let is_texture = space == "tex";
        let space = Space::named(space).unwrap_or(Space::Global);
        let first = self.module.variables.len();
        let names = self.variables(space, linking.external)?;
        let variables = self.module.variables.split_off(first);
        for ((name, _), mut variable) in names.into_iter().zip(variables) {
            // `.tex .u32 t` is `.global .texref t` (ISA, "Texture State Space").
            if is_texture {
                variable.reference = Some(Reference::Texture);
                (variable.ty, variable.bytes, variable.align) = (Type::B64, 8, 8);
            }
            self.module_variable(name, variable, linking)?;
        }
        Ok(())
    }

    /// Adds a variable, or completes the one that has been declared under its name.
    fn module_variable(
        &mut self,
        name: &'a str,
        variable: Variable,
        linking: Linking,
    ) -> Parsed<()> {
        self.link(name, linking);
        if let Some(Named::Variable(id)) = self.names.get(name) {
            let known = &mut self.module.variables[id.0 as usize];
            match (known.external, variable.external) {
                (true, false) => *known = variable,
                (_, true) => {}
                (false, false) if self.weak.contains(name) => {}
                (false, false) => {
                    let reason = format!("`{name}` is defined twice");
                    return Err(self.cursor.error_at(self.cursor.line(), reason));
                }
            }
            return Ok(());
        }
        let id = VariableId(self.module.variables.len() as u32);
        self.module.variables.push(variable);
        self.names.insert(name, Named::Variable(id));
        Ok(())
    }

    /// The variables of one declaration, up to its `;`.
    pub(super) fn variables(
        &mut self,
        space: Space,
        external: bool,
    ) -> Parsed<Vec<(&'a str, VariableId)>> {
        let declaration = self.declaration(space, external)?;
        let mut names = Vec::new();
        loop {
            names.push(self.declarator(declaration)?);
            if !self.cursor.accept(',') {
                break;
            }
        }
        self.cursor.expect(';')?;
        Ok(names)
    }

    /// A parameter, without the `,` or `)` behind it.
    pub(super) fn param(&mut self) -> Parsed<(&'a str, VariableId)> {
        let declaration = self.declaration(Space::Param, false)?;
        self.declarator(declaration)
    }

    /// Alignment, attributes, type.
    fn declaration(&mut self, space: Space, external: bool) -> Parsed<Declaration> {
        let (mut align, mut vector) = (None, 1);
        loop {
            let line = self.cursor.line();
            let Some(name) = self.cursor.dotted() else {
                return Err(self.cursor.expected("the type of a variable"));
            };
            let reference = match name {
                "texref" => Some(Reference::Texture),
                "surfref" => Some(Reference::Surface),
                "samplerref" => Some(Reference::Sampler),
                _ => None,
            };
            let ty = reference.map_or_else(|| Type::named(name), |_| Some(Type::B64));
            if let Some(ty) = ty {
                self.pointer_attributes()?;
                return Ok(Declaration { space, align, vector, ty, reference, external });
            }
            match name {
                "align" => align = Some(self.alignment()?),
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                "attribute" => self.parentheses()?,
                _ => {
                    let reason = format!("`.{name}` is not known in a declaration");
                    return Err(self.cursor.error_at(line, reason));
                }
            }
        }
    }

    /// `.ptr .global .align 16` of a kernel's parameter, which decides nothing here.
    fn pointer_attributes(&mut self) -> Parsed<()> {
        if !self.cursor.accept_dotted("ptr") {
            return Ok(());
        }
        while let Some(name) = self.cursor.dotted() {
            if name == "align" {
                self.alignment()?;
            }
        }
        Ok(())
    }

    fn alignment(&mut self) -> Parsed<u64> {
        let align = self.cursor.integer("an alignment")?;
        match align.is_power_of_two() && align <= 1 << 20 {
            true => Ok(align),
            false => Err(self.cursor.error(format!("alignment {align} is not a power of two"))),
        }
    }

    pub(super) fn parentheses(&mut self) -> Parsed<()> {
        self.cursor.expect('(')?;
        while !self.cursor.accept(')') {
            if self.cursor.next().is_none() {
                return Err(self.cursor.expected("`)`"));
            }
        }
        Ok(())
    }

    /// A name with its dimensions and initial value.
    fn declarator(&mut self, declaration: Declaration) -> Parsed<(&'a str, VariableId)> {
        let Declaration { space, align, vector, ty, reference, external } = declaration;
        let name = self.cursor.word("the name of a variable")?;
        let element = u64::from(ty.bytes()) * vector;
        let mut variable = Variable {
            name: name.to_owned(),
            space,
            align: align.unwrap_or(element),
            bytes: element,
            ty,
            reference,
            external,
            initial: Vec::new(),
            relocations: Vec::new(),
        };
        let mut unsized_array = false;
        while self.cursor.accept('[') {
            let length = match self.cursor.accept(']') {
                true => 0,
                false => {
                    let length = self.cursor.integer("the length of an array")?;
                    self.cursor.expect(']')?;
                    length
                }
            };
            unsized_array |= length == 0;
            variable.bytes = variable
                .bytes
                .checked_mul(length)
                .filter(|&bytes| bytes <= 1 << 40)
                .ok_or_else(|| self.cursor.error(format!("`{name}` is too large")))?;
        }
        if self.cursor.accept('=') {
            self.initial(&mut variable)?;
            if unsized_array {
                variable.bytes = variable.initial.len() as u64;
            }
        }
        let id = VariableId(self.module.variables.len() as u32);
        self.module.variables.push(variable);
        Ok((name, id))
    }

    fn initial(&mut self, variable: &mut Variable) -> Parsed<()> {
        if variable.bytes > MAX_INITIALISED {
            let reason =
                format!("`{}` has {} bytes and an initial value", variable.name, variable.bytes);
            return Err(self.cursor.error(reason));
        }
        match self.cursor.peek() {
            Some(Token::Symbol('{')) => self.initial_list(variable),
            _ => self.initial_element(variable),
        }
    }

    fn initial_list(&mut self, variable: &mut Variable) -> Parsed<()> {
        self.cursor.expect('{')?;
        while !self.cursor.accept('}') {
            self.initial(variable)?;
            if !self.cursor.accept(',') {
                self.cursor.expect('}')?;
                break;
            }
        }
        let is_full = variable.bytes > 0 && variable.initial.len() as u64 > variable.bytes;
        match is_full {
            true => {
                Err(self.cursor.error(format!("too many initial values of `{}`", variable.name)))
            }
            false => Ok(()),
        }
    }

    fn initial_element(&mut self, variable: &mut Variable) -> Parsed<()> {
        let size = variable.ty.bytes() as usize;
        let negative = self.cursor.accept('-');
        let bits = match self.cursor.next() {
            Some(Token::Integer(value)) if negative => value.wrapping_neg(),
            Some(Token::Integer(value)) => self.masked(variable, value)?,
            Some(Token::Single(bits)) => signed_single(bits, negative).into(),
            Some(Token::Double(bits)) => double_as(bits, negative, variable.ty),
            Some(Token::Word(name)) => return self.initial_address(variable, name),
            _ => return Err(self.cursor.expected("an initial value")),
        };
        variable.initial.extend_from_slice(&bits.to_le_bytes()[..size]);
        Ok(())
    }

    /// `0xFF(symbol)`, a part of an address, is not supported.
    fn masked(&mut self, variable: &Variable, value: u64) -> Parsed<u64> {
        match self.cursor.peek() {
            Some(Token::Symbol('(')) => {
                Err(self.cursor.error(format!("part of an address in `{}`", variable.name)))
            }
            _ => Ok(value),
        }
    }

    /// `symbol`, `symbol+4`, `generic(symbol)+4`
    fn initial_address(&mut self, variable: &mut Variable, first: &'a str) -> Parsed<()> {
        let generic = first == "generic" && self.cursor.accept('(');
        let name = if generic { self.cursor.word("a variable")? } else { first };
        if generic {
            self.cursor.expect(')')?;
        }
        let target = match self.names.get(name) {
            Some(Named::Variable(id)) => Target::Variable(id),
            Some(Named::Function(id)) => Target::Function(id),
            _ => return Err(self.cursor.error(format!("`{name}` has no address"))),
        };
        let offset = self.cursor.offset()?;
        if variable.ty.bytes() != 8 {
            let reason =
                format!("`{}` holds an address in {} bytes", variable.name, variable.ty.bytes());
            return Err(self.cursor.error(reason));
        }
        let at = variable.initial.len() as u64;
        variable.relocations.push(Relocation { at, target, offset, generic });
        variable.initial.extend_from_slice(&[0; 8]);
        Ok(())
    }
}

pub(super) fn signed_single(bits: u32, negative: bool) -> u32 {
    bits ^ u32::from(negative) << 31
}

/// The bits of a double constant in a type: an f32 where the type is one.
pub(super) fn double_as(bits: u64, negative: bool, ty: Type) -> u64 {
    let bits = bits ^ u64::from(negative) << 63;
    match ty {
        Type::F32 => u64::from((f64::from_bits(bits) as f32).to_bits()),
        _ => bits,
    }
}
