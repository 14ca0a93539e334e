//! Decodes texture fetches.

use super::{Decoder, Result};
use crate::instruction::Value;
use crate::op::{Op, TextureShape};
use crate::operand::Operand;
use crate::types::Type::*;

impl Decoder<'_> {
    /// Decodes `tex.2d.v4.f32.s32 {…}, [t, {x, y}]`; a separate sampler may follow the texture.
    pub(super) fn texture(&mut self) -> Result<Op> {
        self.modifiers.accept("base");
        let dimensions = self.modifiers.require("a shape", |name| {
            Some(match name {
                "1d" => TextureShape::OneD,
                "2d" => TextureShape::TwoD,
                "3d" => TextureShape::ThreeD,
                "a1d" => TextureShape::OneDArray,
                "a2d" => TextureShape::TwoDArray,
                _ => return None,
            })
        })?;
        if !self.modifiers.accept("v4") {
            return Err(self.modifiers.expected("`.v4`"));
        }
        let to = self.modifiers.one_of(&[F32, S32, U32])?;
        let coordinates = self.modifiers.one_of(&[F32, S32])?;
        if self.operands.dest_vector(B32.class())? != 4 {
            return Err("`tex` writes four registers".into());
        }
        let Operand::Texture(operands) = self.operands.take()? else {
            return Err("expected a texture and its coordinates".into());
        };
        let (texture, coords) = match &operands[..] {
            [Operand::Value(texture), coords] => (*texture, coords),
            // The texture object already contains the sampler state.
            [Operand::Value(texture), Operand::Value(_), coords] => (*texture, coords),
            _ => return Err("expected a texture and its coordinates".into()),
        };
        self.operands.push_source(texture);
        let given = self.coordinates(coords)?;
        let wanted = dimensions.coordinates();
        if given < wanted {
            return Err(format!("{given} coordinates where {wanted} are expected"));
        }
        Ok(Op::Texture { dimensions, to, coordinates })
    }

    /// Decodes one coordinate or a vector of them; returns their number.
    fn coordinates(&mut self, operand: &Operand<'_>) -> Result<usize> {
        let elements = match operand {
            Operand::Vector(elements) => elements.as_slice(),
            operand => std::slice::from_ref(operand),
        };
        for element in elements {
            let value = match *element {
                Operand::Value(value) => value,
                Operand::Integer(value) => Value::Bits(value & u64::from(u32::MAX)),
                Operand::Single(bits) => Value::Bits(bits.into()),
                _ => return Err("expected a coordinate".into()),
            };
            self.operands.push_source(value);
        }
        Ok(elements.len())
    }
}

impl TextureShape {
    /// Returns the number of coordinates, including a layer's number.
    pub fn coordinates(self) -> usize {
        match self {
            TextureShape::OneD => 1,
            TextureShape::TwoD | TextureShape::OneDArray => 2,
            TextureShape::ThreeD | TextureShape::TwoDArray => 3,
        }
    }
}
