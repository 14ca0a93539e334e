//! Launch arguments and their encoding in the kernel's parameters.

use warpmem_ptx::{Type, Variable};

use crate::buffer::BufferSpec;
use crate::element::Element;
use crate::number::Number;

/// A launch argument as the user writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number, typed by the kernel's parameter.
    Number(Number),
    Typed(Element, Number),
    /// Address of an unnamed buffer that belongs to this argument.
    Buffer(BufferSpec),
    /// Address within a named buffer: its name and the byte offset.
    Named(String, u64),
    /// A structure: its members in order, each aligned to its size.
    Struct(Vec<Argument>),
}

/// Accepted forms of an argument, for messages.
const ARGUMENTS: &str = "a number, `TYPE=VALUE` as `f32=2.0`, `buffer:TYPE[SIZE]=FILL` as \
                         `buffer:f32[2^20]=random`, or the name of a buffer of the launch file";

impl Argument {
    /// Parses `2.0`, `u32=7`, `buffer:f32[2^20]=random`, `x` or `x+256`.
    ///
    /// # Errors
    /// When the text is none of these; the message lists the accepted forms.
    pub fn parse(text: &str) -> Result<Argument, String> {
        let text = text.trim();
        if let Some(buffer) = text.strip_prefix("buffer:") {
            return BufferSpec::parse(buffer).map(Argument::Buffer);
        }
        if let Some(number) = Number::parse(text) {
            return Ok(Argument::Number(number));
        }
        if let Some((ty, value)) = text.split_once('=') {
            return typed(ty.trim(), value.trim());
        }
        let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
        match warpmem_params::parse_whole(offset.trim()) {
            Some(offset) if is_name(name.trim()) => {
                Ok(Argument::Named(name.trim().to_owned(), offset))
            }
            _ => Err(format!("`{text}` is not an argument; valid: {ARGUMENTS}")),
        }
    }

    /// Encodes the argument for a parameter; `address` resolves buffers to addresses.
    pub(crate) fn bytes(
        &self,
        param: &Variable,
        address: &mut dyn FnMut(&Argument) -> u64,
    ) -> Result<Vec<u8>, String> {
        let array = param.bytes > u64::from(param.ty.bytes());
        let value = match self {
            Argument::Struct(members) => packed(members, address)?,
            _ if array => {
                let bytes = param.bytes;
                return Err(format!(
                    "the parameter is a structure of {bytes} bytes: a launch file gives it as a list of typed values, as [\"u32=7\", \"x\"]"
                ));
            }
            &Argument::Number(number) => untyped(number, param.ty)?,
            &Argument::Typed(element, number) => {
                check_class(element, param.ty)?;
                encoded(element, number)?
            }
            Argument::Buffer(_) | Argument::Named(..) if param.ty.is_float() => {
                return Err("the parameter is a float, not an address".into());
            }
            Argument::Buffer(_) | Argument::Named(..) => address(self).to_le_bytes().to_vec(),
        };
        fitted(value, param, matches!(self, Argument::Struct(_)))
    }

    /// Returns the buffers of the argument, including those of its members.
    pub(crate) fn addresses(&self) -> Vec<&Argument> {
        match self {
            Argument::Buffer(_) | Argument::Named(..) => vec![self],
            Argument::Struct(members) => members.iter().flat_map(Argument::addresses).collect(),
            Argument::Number(_) | Argument::Typed(..) => Vec::new(),
        }
    }
}

pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn typed(ty: &str, value: &str) -> Result<Argument, String> {
    let element = Element::named(ty)
        .ok_or_else(|| format!("`{ty}` is not a type; valid: {}", Element::names()))?;
    let number = Number::parse(value).ok_or_else(|| format!("`{value}` is not a number"))?;
    encoded(element, number)?;
    Ok(Argument::Typed(element, number))
}

fn encoded(element: Element, number: Number) -> Result<Vec<u8>, String> {
    element.encode(number).ok_or_else(|| format!("{number} is not of type {}", element.name()))
}

/// Encodes an untyped number: as a float if the parameter is one, otherwise as an integer.
fn untyped(number: Number, ty: Type) -> Result<Vec<u8>, String> {
    let element = match (ty, number) {
        (Type::F16, _) => Element::F16,
        (Type::Bf16, _) => Element::Bf16,
        (Type::F32, _) => Element::F32,
        (Type::F64, _) => Element::F64,
        (_, Number::Real(_)) => {
            return Err(format!(
                "the parameter does not say that it is a float; write the type, as f32={number}"
            ));
        }
        (_, Number::Whole(whole)) => whole_of(ty.bytes(), whole < 0)?,
    };
    encoded(element, number)
}

fn whole_of(bytes: u32, negative: bool) -> Result<Element, String> {
    Ok(match (bytes, negative) {
        (1, false) => Element::U8,
        (1, true) => Element::S8,
        (2, false) => Element::U16,
        (2, true) => Element::S16,
        (4, false) => Element::U32,
        (4, true) => Element::S32,
        (8, false) => Element::U64,
        (8, true) => Element::S64,
        _ => return Err(format!("a parameter of {bytes} bytes is not a number")),
    })
}

/// Checks that a value of type `element` may be passed to a parameter of type `ty`.
fn check_class(element: Element, ty: Type) -> Result<(), String> {
    let is_bits = matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64);
    // Compilers declare bfloat16 parameters as 16 bits.
    match is_bits || element.is_float() == ty.is_float() || element.bytes() == 2 {
        true => Ok(()),
        false => Err(format!("a {} is given", element.name())),
    }
}

/// Lays out the members of a structure as C does.
fn packed(
    members: &[Argument],
    address: &mut dyn FnMut(&Argument) -> u64,
) -> Result<Vec<u8>, String> {
    let mut bytes: Vec<u8> = Vec::new();
    for member in members {
        let value = match member {
            Argument::Typed(element, number) => encoded(*element, *number)?,
            Argument::Buffer(_) | Argument::Named(..) => address(member).to_le_bytes().to_vec(),
            Argument::Struct(members) => packed(members, address)?,
            Argument::Number(number) => {
                return Err(format!("{number} is a member of a structure: write its type"));
            }
        };
        let align = value.len().next_power_of_two().min(8);
        bytes.resize(bytes.len().next_multiple_of(align), 0);
        bytes.extend(value);
    }
    Ok(bytes)
}

fn fitted(mut value: Vec<u8>, param: &Variable, is_struct: bool) -> Result<Vec<u8>, String> {
    let found = value.len() as u64;
    if is_struct && found < param.bytes && found.next_multiple_of(param.align) == param.bytes {
        value.resize(param.bytes as usize, 0);
    }
    match value.len() as u64 == param.bytes {
        true => Ok(value),
        false => Err(format!("{found} bytes are given, the parameter has {}", param.bytes)),
    }
}
