//! Parses variables and their initial values.

use super::cursor::Parsed;
use super::expression::Constant;
use super::names::Named;
use super::{Linking, Parser};
use crate::ids::VariableId;
use crate::lexer::Token;
use crate::module::{Reference, Relocation, Target, Variable};
use crate::types::{Space, Type};

/// Maximum bytes of an initialized variable; a larger one indicates a damaged file.
const MAX_INITIALISED: u64 = 1 << 30;

/// The part of a declaration that precedes the names.
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

/// An address as an initial value.
#[derive(Clone, Copy, Debug)]
struct Address {
    target: Target,
    offset: i64,
    generic: bool,
}

/// Part of an address that an element holds: `bytes` bytes from bit `shift`.
#[derive(Clone, Copy, Debug)]
struct AddressPart {
    shift: u32,
    bytes: u32,
}

impl<'a> Parser<'a> {
    /// Parses module variables, after the directive of their space.
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

    /// Adds a variable, or completes the one declared under its name.
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
                    return Err(self.cursor.error(reason));
                }
            }
            return Ok(());
        }
        let id = VariableId(self.module.variables.len() as u32);
        self.module.variables.push(variable);
        self.names.insert(name, Named::Variable(id));
        Ok(())
    }

    /// Parses the variables of one declaration, up to its `;`.
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

    /// Parses a parameter, without the following `,` or `)`.
    pub(super) fn param(&mut self) -> Parsed<(&'a str, VariableId)> {
        let declaration = self.declaration(Space::Param, false)?;
        self.declarator(declaration)
    }

    /// Parses alignment, attributes and type.
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

    /// Skips `.ptr .global .align 16` of a kernel parameter, which has no effect.
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

    /// Skips from the next `(` past its `)`.
    pub(super) fn parentheses(&mut self) -> Parsed<()> {
        self.cursor.expect('(')?;
        let mut depth = 1;
        while depth > 0 {
            match self.cursor.next() {
                Some(Token::Symbol('(')) => depth += 1,
                Some(Token::Symbol(')')) => depth -= 1,
                Some(_) => {}
                None => return Err(self.cursor.expected("`)`")),
            }
        }
        Ok(())
    }

    /// Parses a register parameter: its name, and its elements if it is a vector.
    pub(super) fn vector_param(&mut self) -> Parsed<(&'a str, Variable, u64)> {
        let declaration = self.declaration(Space::Param, false)?;
        let (name, variable) = self.declared(declaration)?;
        Ok((name, variable, declaration.vector))
    }

    /// Adds a variable that a declaration names.
    fn declarator(&mut self, declaration: Declaration) -> Parsed<(&'a str, VariableId)> {
        let (name, variable) = self.declared(declaration)?;
        Ok((name, self.add_variable(variable)))
    }

    pub(super) fn add_variable(&mut self, variable: Variable) -> VariableId {
        let id = VariableId(self.module.variables.len() as u32);
        self.module.variables.push(variable);
        id
    }

    /// Parses a name with dimensions and initial value.
    fn declared(&mut self, declaration: Declaration) -> Parsed<(&'a str, Variable)> {
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
        Ok((name, variable))
    }

    fn initial(&mut self, variable: &mut Variable) -> Parsed<()> {
        let has_value = matches!(variable.space, Space::Global | Space::Constant);
        if !has_value || variable.reference.is_some() {
            let name = &variable.name;
            return Err(self.cursor.error(format!("`{name}` cannot have an initial value")));
        }
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
        if let Some(Token::Word(name)) = self.cursor.peek() {
            let address = self.address(name)?;
            return self.add_address(variable, address, AddressPart { shift: 0, bytes: 8 });
        }
        let value = self.cursor.constant()?;
        if let (Constant::Integer(mask), true) = (value, self.cursor.accept('(')) {
            return self.masked(variable, mask.bits);
        }
        let Some(bits) = bits_of(value, variable.ty) else {
            let (name, ty) = (&variable.name, variable.ty.name());
            return Err(self
                .cursor
                .error(format!("an initial value of `{name}` is not of type `.{ty}`")));
        };
        self.add_bits(variable, bits);
        Ok(())
    }

    fn add_bits(&self, variable: &mut Variable, bits: u64) {
        let size = variable.ty.bytes() as usize;
        variable.initial.extend_from_slice(&bits.to_le_bytes()[..size]);
    }

    /// Parses a byte of an address or constant, `0xFF00(symbol+4)`, after its opening parenthesis.
    fn masked(&mut self, variable: &mut Variable, mask: u64) -> Parsed<()> {
        let shift = mask.trailing_zeros() / 8 * 8;
        if mask.checked_shr(shift) != Some(0xff) {
            return Err(self.cursor.error(format!("mask {mask:#x} does not select one byte")));
        }
        match self.cursor.peek() {
            Some(Token::Word(name)) => {
                let address = self.address(name)?;
                self.add_address(variable, address, AddressPart { shift, bytes: 1 })?;
            }
            _ => {
                let value = self.cursor.integer_expression("a masked value")?;
                self.add_bits(variable, value >> shift & 0xff);
            }
        }
        self.cursor.expect(')')
    }

    /// Parses `symbol`, `symbol+4` or `generic(symbol)+4`.
    fn address(&mut self, first: &'a str) -> Parsed<Address> {
        self.cursor.next();
        let generic = first == "generic" && self.cursor.accept('(');
        let name = if generic { self.cursor.word("a variable")? } else { first };
        if generic {
            self.cursor.expect(')')?;
        }
        let target = match self.names.get(name) {
            Some(Named::Variable(id)) if self.is_per_cta(id) => {
                let what = "an initial value is the address of a variable in `.global` or `.const`";
                return Err(self.cursor.error(format!("`{name}`: {what}")));
            }
            Some(Named::Variable(id)) => Target::Variable(id),
            Some(Named::Function(id)) => Target::Function(id),
            _ => return Err(self.cursor.error(format!("`{name}` has no address"))),
        };
        Ok(Address { target, offset: self.cursor.offset()?, generic })
    }

    /// Returns whether each CTA or thread has its own copy of a variable, which then has no single address.
    fn is_per_cta(&self, id: VariableId) -> bool {
        let variable = self.module.variables.get(id.0 as usize);
        variable.is_some_and(|variable| !matches!(variable.space, Space::Global | Space::Constant))
    }

    /// Adds an element that holds an address, or a byte of one.
    fn add_address(&self, variable: &mut Variable, of: Address, part: AddressPart) -> Parsed<()> {
        let Address { target, offset, generic } = of;
        let size = variable.ty.bytes();
        let AddressPart { shift, bytes } = part;
        if bytes > 1 && size < 4 {
            let reason = format!("`{}` holds an address in {size} bytes", variable.name);
            return Err(self.cursor.error(reason));
        }
        let (at, bytes) = (variable.initial.len() as u64, bytes.min(size));
        variable.relocations.push(Relocation { at, target, offset, generic, shift, bytes });
        self.add_bits(variable, 0);
        Ok(())
    }
}

/// Returns the bits of a constant in a type; `None` if it does not fit.
fn bits_of(value: Constant, ty: Type) -> Option<u64> {
    match (value, ty) {
        (Constant::Integer(integer), _) if ty.is_bits() || ty.is_integer() => Some(integer.bits),
        (Constant::Integer(integer), _) if integer.bits == 0 => Some(0),
        (Constant::Single(bits), Type::F32) => Some(bits.into()),
        (Constant::Single(bits), Type::F64) => Some(f64::from(f32::from_bits(bits)).to_bits()),
        (Constant::Double(value), Type::F32) => Some((value as f32).to_bits().into()),
        (Constant::Double(value), Type::F64) => Some(value.to_bits()),
        (Constant::Single(bits), _) if ty.is_bits() => Some(bits.into()),
        (Constant::Double(value), _) if ty.is_bits() => Some(value.to_bits()),
        _ => None,
    }
}
