//! Decodes moves and conversions.

use super::{Decoder, Result};
use crate::op::{Convert, Op};
use crate::operand::Operand;
use crate::types::Type::{self, *};
use crate::types::{RegisterClass, Rounding, Space};

const CONVERTIBLE: [Type; 13] = [U8, U16, U32, U64, S8, S16, S32, S64, F16, Bf16, F32, F64, Tf32];
const PACKED: [Type; 4] = [F16x2, Bf16x2, E4m3x2, E5m2x2];

impl Decoder<'_> {
    pub(super) fn convert(&mut self) -> Result<Op> {
        match self.opcode {
            "mov" => self.mov(),
            "cvt" if self.modifiers.accept("pack") => self.cvt_pack(),
            "cvt" => self.cvt(),
            "cvta" => self.cvta(),
            _ => {
                let space = self.modifiers.require("a space", Space::named)?;
                self.operands.dest(Pred)?;
                self.operands.source(U64)?;
                Ok(Op::IsSpace(space))
            }
        }
    }

    fn mov(&mut self) -> Result<Op> {
        let ty = self.modifiers.any_type()?;
        if ty == B128 {
            return self.repack();
        }
        let (dest, source) = (self.operands.take()?, self.operands.take()?);
        match (dest, source) {
            (dest @ Operand::Vector(_), source) => {
                self.operands.put_back([dest, source]);
                self.unpack(ty)
            }
            (dest, source @ Operand::Vector(_)) => {
                self.operands.put_back([dest, source]);
                self.pack(ty)
            }
            (dest, source) => {
                self.operands.put_back([dest, source]);
                self.operands.dest(ty)?;
                self.operands.source(ty)?;
                Ok(Op::Move(ty))
            }
        }
    }

    /// Decodes `mov.b128 a, {b, c}`, `mov.b128 {b, c}, a` and `mov.b128 a, b`.
    fn repack(&mut self) -> Result<Op> {
        let class = self.operands.class_of_first().unwrap_or(RegisterClass::Wide);
        let dests = self.operands.dest_vector(class)?;
        let (class, source) = (self.operands.class_of_first(), self.operands.peek());
        let element = if class == Some(RegisterClass::Narrow) { B32 } else { B64 };
        let is_constant = matches!(source, Some(Operand::Integer(_)));
        let sources = self.operands.source_vector(element)?;
        match (dests, sources) {
            (2 | 4, 2 | 4) => Ok(Op::Repack),
            (2, 1) if is_constant => Ok(Op::Repack),
            _ => Err(format!("`mov.b128` of {sources} into {dests} registers")),
        }
    }

    /// Decodes `mov.b64 {a, b}, c`.
    fn unpack(&mut self, ty: Type) -> Result<Op> {
        let class = self.operands.class_of_first();
        let count = self.operands.dest_vector(class.unwrap_or(RegisterClass::Narrow))?;
        self.operands.source(ty)?;
        element(ty, count)?;
        Ok(Op::Unpack(ty))
    }

    /// Decodes `mov.b64 c, {a, b}`.
    fn pack(&mut self, ty: Type) -> Result<Op> {
        self.operands.dest(ty)?;
        let Some(Operand::Vector(elements)) = self.operands.peek() else {
            return Err("expected a vector".into());
        };
        let element = element(ty, elements.len())?;
        self.operands.source_vector(element)?;
        Ok(Op::Pack(ty))
    }

    /// Decodes `cvt.rni.ftz.sat.s32.f32 d, a`.
    fn cvt(&mut self) -> Result<Op> {
        let mut convert = Convert {
            to: U32,
            from: U32,
            rounding: None,
            to_integral: false,
            ftz: false,
            saturate: false,
            relu: false,
        };
        while let Some(name) = self.modifiers.peek() {
            match name {
                "ftz" => convert.ftz = true,
                "sat" | "satfinite" => convert.saturate = true,
                "relu" => convert.relu = true,
                _ => match rounding(name) {
                    Some((rounding, to_integral)) => {
                        (convert.rounding, convert.to_integral) = (Some(rounding), to_integral);
                    }
                    None => break,
                },
            }
            self.modifiers.next();
        }
        convert.to = self.modifiers.one_of(&[&CONVERTIBLE[..], &PACKED].concat())?;
        convert.from = self.modifiers.one_of(&[&CONVERTIBLE[..12], &PACKED].concat())?;
        self.operands.dest_vector_wider(convert.to)?;
        self.operands.source_vector_wider(convert.from)?;
        let two = PACKED.contains(&convert.to) && convert.from == F32;
        if two {
            self.operands.source(convert.from)?;
        }
        match is_known(&convert) {
            true => Ok(Op::Convert(convert)),
            false => Err(format!(
                "conversion from `.{}` to `.{}` is not supported",
                convert.from.name(),
                convert.to.name()
            )),
        }
    }

    /// Decodes `cvt.pack.sat.u8.s32.b32 d, a, b, c`.
    fn cvt_pack(&mut self) -> Result<Op> {
        let saturate = self.modifiers.accept("sat");
        let (bits, signed) = self.modifiers.require("a type", packable)?;
        let from = self.modifiers.one_of(&[S32])?;
        let onto = self.modifiers.accept("b32");
        if !saturate {
            return Err("`cvt.pack` without `.sat` is not supported".into());
        }
        self.operands.dest(B32)?;
        self.operands.source(from)?;
        self.operands.source(from)?;
        if onto {
            self.operands.source(B32)?;
        }
        if bits < 8 && !onto {
            return Err("`cvt.pack` of less than 8 bits lacks `.b32`".into());
        }
        Ok(Op::PackClamped { bits, signed })
    }

    /// Decodes `cvta.global.u64` to a generic address, and `cvta.to.global.u64` from one.
    fn cvta(&mut self) -> Result<Op> {
        let to_space = self.modifiers.accept("to");
        let space = self.modifiers.require("a space", Space::named)?;
        let ty = self.modifiers.one_of(&[U64])?;
        self.operands.dest(ty)?;
        self.operands.source(ty)?;
        Ok(Op::ConvertAddress { space, to_space })
    }
}

/// Returns the bits of a type that `cvt.pack` packs, and whether it is signed.
fn packable(name: &str) -> Option<(u8, bool)> {
    let (sign, bits) = name.split_at_checked(1)?;
    let bits = bits.parse().ok().filter(|bits| matches!(bits, 2 | 4 | 8 | 16))?;
    matches!(sign, "u" | "s").then_some((bits, sign == "s"))
}

/// Parses the rounding of a conversion; also returns whether the result is integral.
fn rounding(name: &str) -> Option<(Rounding, bool)> {
    Some(match name {
        "rn" => (Rounding::Nearest, false),
        "rna" => (Rounding::NearestAway, false),
        "rz" => (Rounding::Zero, false),
        "rm" => (Rounding::Down, false),
        "rp" => (Rounding::Up, false),
        "rni" => (Rounding::Nearest, true),
        "rzi" => (Rounding::Zero, true),
        "rmi" => (Rounding::Down, true),
        "rpi" => (Rounding::Up, true),
        _ => return None,
    })
}

/// Returns whether values of these types can be converted.
fn is_known(convert: &Convert) -> bool {
    let Convert { to, from, .. } = *convert;
    match (to, from) {
        (F16x2 | Bf16x2 | E4m3x2 | E5m2x2, F32) => true,
        (E4m3x2 | E5m2x2, F16x2) | (F16x2, E4m3x2 | E5m2x2) => true,
        (Tf32, from) => from == F32,
        (to, from) => CONVERTIBLE.contains(&to) && CONVERTIBLE.contains(&from),
    }
}

/// Returns the element type of a vector that fills a type.
fn element(ty: Type, count: usize) -> Result<Type> {
    match (ty.bits(), count) {
        (64, 2) => Ok(B32),
        (64, 4) | (32, 2) => Ok(B16),
        (32, 4) | (16, 2) => Ok(B8),
        (64, 8) => Ok(B8),
        _ => Err(format!("`mov.{}` of {count} elements is not supported", ty.name())),
    }
}
