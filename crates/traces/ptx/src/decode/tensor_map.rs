//! Decodes changes of tensor maps (ISA, "tensormap.replace" and "tensormap.cp_fenceproxy").

use super::{Decoder, Result};
use crate::instruction::Value;
use crate::op::Op;
use crate::tensor_map::TensorMapField::{self, *};
use crate::types::Space;
use crate::types::Type::{self, B32, B64};

/// Size of a tensor map, bytes.
const MAP_BYTES: u64 = 128;

impl Decoder<'_> {
    pub(super) fn tensor_map(&mut self) -> Result<Op> {
        match self.modifiers.next() {
            Some("replace") => self.replace_in_map(),
            Some("cp_fenceproxy") => self.publish_map(),
            Some(name) => Err(format!("`tensormap.{name}` is not supported")),
            None => Err("`tensormap` lacks its operation".into()),
        }
    }

    /// Decodes the rest of `tensormap.replace`: `.tile.rank.global.b1024.b32 [map], value` and
    /// `.tile.box_dim.shared::cta.b1024.b32 [map], dimension, value`.
    fn replace_in_map(&mut self) -> Result<Op> {
        self.expect_modifiers(&["tile"])?;
        let fields = self.modifiers.require("a field", Fields::named)?;
        let space = self.modifiers.choose(|name| match name {
            "global" => Some(Space::Global),
            "shared::cta" => Some(Space::Shared),
            _ => None,
        });
        self.expect_modifiers(&["b1024"])?;
        self.modifiers.one_of(&[fields.ty])?;
        let offset = self.operands.address()?;
        let field = self.field(fields)?;
        match values_of(field) {
            None => self.operands.source(fields.ty)?,
            Some(values) => self.listed_value(fields.name, values)?,
        }
        Ok(Op::ReplaceInMap { field, space: space.unwrap_or(Space::Generic), offset })
    }

    /// Decodes the field, with its index if several share the name.
    fn field(&mut self, fields: &Fields) -> Result<TensorMapField> {
        if fields.count == 1 {
            return Ok((fields.numbered)(0));
        }
        let number = self.operands.constant()?;
        match u8::try_from(number).ok().filter(|&number| number < fields.count) {
            Some(number) => Ok((fields.numbered)(number)),
            None => Err(refused(fields.name, number, &below(fields.count.into()))),
        }
    }

    /// Decodes a value that must be a constant of the ISA's table.
    fn listed_value(&mut self, name: &str, values: &[Listed]) -> Result<()> {
        let value = self.operands.constant()?;
        match usize::try_from(value).ok().and_then(|value| values.get(value)) {
            Some(Known) => {
                self.operands.push_source(Value::Bits(value));
                Ok(())
            }
            Some(Unknown(what)) => {
                Err(refused(name, value, &format!("{what}, which is not supported")))
            }
            None => Err(refused(name, value, &below(values.len()))),
        }
    }

    /// Decodes the rest of `tensormap.cp_fenceproxy`:
    /// `.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [to], [from], 128`.
    fn publish_map(&mut self) -> Result<Op> {
        self.expect_modifiers(&["global", "shared::cta", "tensormap::generic", "release"])?;
        self.modifiers.require("a scope", |name| {
            matches!(name, "cta" | "cluster" | "gpu" | "sys").then_some(())
        })?;
        self.expect_modifiers(&["sync", "aligned"])?;
        let (to, from) = (self.operands.address()?, self.operands.address()?);
        match self.operands.constant()? {
            MAP_BYTES => Ok(Op::PublishMap { offsets: [to, from] }),
            bytes => {
                Err(format!("`tensormap.cp_fenceproxy` of {bytes} bytes; a map has {MAP_BYTES}"))
            }
        }
    }
}

/// Returns the error for a number outside its range.
fn refused(field: &str, number: u64, why: &str) -> String {
    format!("`tensormap.replace` of `.{field}` with {}: {why}", number as i64)
}

fn below(count: usize) -> String {
    format!("valid values are 0 to {}", count - 1)
}

/// The fields of one name.
struct Fields {
    name: &'static str,
    ty: Type,
    /// Number of fields; the index is an operand only if there are several.
    count: u8,
    numbered: fn(u8) -> TensorMapField,
}

impl Fields {
    const ALL: &[Fields] = &[
        Fields::new("global_address", B64, 1, |_| GlobalAddress),
        Fields::new("rank", B32, 1, |_| Rank),
        Fields::new("box_dim", B32, 5, BoxDim),
        Fields::new("global_dim", B32, 5, GlobalDim),
        Fields::new("global_stride", B64, 4, GlobalStride),
        Fields::new("element_stride", B32, 5, ElementStride),
        Fields::new("elemtype", B32, 1, |_| ElementType),
        Fields::new("interleave_layout", B32, 1, |_| InterleaveLayout),
        Fields::new("swizzle_mode", B32, 1, |_| SwizzleMode),
        Fields::new("swizzle_atomicity", B32, 1, |_| SwizzleAtomicity),
        Fields::new("fill_mode", B32, 1, |_| FillMode),
    ];

    const fn new(
        name: &'static str,
        ty: Type,
        count: u8,
        numbered: fn(u8) -> TensorMapField,
    ) -> Fields {
        Fields { name, ty, count, numbered }
    }

    fn named(name: &str) -> Option<&'static Fields> {
        Fields::ALL.iter().find(|fields| fields.name == name)
    }
}

/// A value that the ISA's table lists.
#[derive(Clone, Copy)]
enum Listed {
    Known,
    /// Meaning of a value that cannot be executed.
    Unknown(&'static str),
}
use Listed::{Known, Unknown};

/// Returns the values of a field that only accepts some, from 0 (ISA, table "Tensormap new_val validity").
fn values_of(field: TensorMapField) -> Option<&'static [Listed]> {
    const ELEMENTS: [Listed; 16] = {
        let mut elements = [Known; 16];
        elements[13] = Unknown("`.b4x16`");
        elements[14] = Unknown("`.b4x16_p64`");
        elements[15] = Unknown("`.b6x16_p32` or `.b6p2x16`");
        elements
    };
    match field {
        ElementType => Some(&ELEMENTS),
        InterleaveLayout => Some(&[
            Known,
            Unknown("an interleaved layout of 16 bytes"),
            Unknown("an interleaved layout of 32 bytes"),
        ]),
        SwizzleMode => Some(&[Known, Known, Known, Known, Unknown("a swizzle of 96 bytes")]),
        SwizzleAtomicity => Some(&[
            Known,
            Unknown("atoms of 32 bytes"),
            Unknown("atoms of 32 bytes whose halves of 8 are flipped"),
            Unknown("atoms of 64 bytes"),
        ]),
        FillMode => Some(&[Known, Known]),
        GlobalAddress | Rank | BoxDim(_) | GlobalDim(_) | GlobalStride(_) | ElementStride(_) => {
            None
        }
    }
}
