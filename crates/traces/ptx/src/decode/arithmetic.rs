//! Decodes integer and floating-point arithmetic.

use super::{Decoder, Result};
use crate::op::{Binary, CarryOp, Half, Modes, Op, ProductPart, Ternary, Unary};
use crate::types::Rounding;
use crate::types::Type::{self, *};

const INTEGERS: [Type; 6] = [U16, U32, U64, S16, S32, S64];
const PACKED_INTEGERS: [Type; 2] = [U16x2, S16x2];
const HALVES: [Type; 4] = [F16, F16x2, Bf16, Bf16x2];
const FLOATS: [Type; 2] = [F32, F64];

impl Decoder<'_> {
    pub(super) fn arithmetic(&mut self) -> Result<Op> {
        match self.opcode {
            "add" | "sub" if self.modifiers.peek() == Some("cc") => self.carry(false),
            "addc" | "subc" | "madc" => self.carry(true),
            "add" => self.sum(Binary::Add),
            "sub" => self.sum(Binary::Subtract),
            "mul" => self.product(),
            "mad" => self.multiply_add(),
            "fma" => self.fused(),
            "mul24" | "mad24" => self.product_of_24_bits(),
            "div" | "rem" => self.quotient(),
            "min" | "max" => self.extremum(),
            "abs" => self.unary_signed(Unary::Abs),
            "neg" => self.unary_signed(Unary::Negate),
            "sad" => self.sum_of_differences(),
            "copysign" => {
                let ty = self.modifiers.one_of(&FLOATS)?;
                self.binary(Binary::CopySign, ty, Modes::default())
            }
            "dp4a" | "dp2a" => self.dot(),
            _ => self.special_function(),
        }
    }

    /// Decodes d = f(a).
    pub(super) fn unary(&mut self, f: Unary, ty: Type, modes: Modes) -> Result<Op> {
        self.operands.dest(ty)?;
        self.operands.source(ty)?;
        Ok(Op::Unary(f, ty, modes))
    }

    /// Decodes d = f(a, b).
    pub(super) fn binary(&mut self, f: Binary, ty: Type, modes: Modes) -> Result<Op> {
        self.operands.dest(ty)?;
        self.operands.source(ty)?;
        self.operands.source(ty)?;
        Ok(Op::Binary(f, ty, modes))
    }

    /// Decodes `add.sat.s32`, `add.rn.ftz.sat.f32`, …
    fn sum(&mut self, f: Binary) -> Result<Op> {
        let modes = self.modifiers.modes();
        let types = [&INTEGERS[..], &PACKED_INTEGERS, &HALVES, &FLOATS].concat();
        let ty = self.modifiers.one_of(&types)?;
        if modes.saturate && ty.is_integer() && ty != S32 {
            return Err(format!("`.sat` of type `.{}` is not supported", ty.name()));
        }
        self.binary(f, ty, modes)
    }

    /// Accepts `.lo`, `.hi` or `.wide` of an integer product.
    fn part(&mut self) -> Option<ProductPart> {
        self.modifiers.choose(|name| {
            Some(match name {
                "lo" => ProductPart::Low,
                "hi" => ProductPart::High,
                "wide" => ProductPart::Wide,
                _ => return None,
            })
        })
    }

    fn product(&mut self) -> Result<Op> {
        let Some(part) = self.part() else {
            let modes = self.modifiers.modes();
            let ty = self.modifiers.one_of(&[&HALVES[..], &FLOATS].concat())?;
            return self.binary(Binary::Multiply(ProductPart::Whole), ty, modes);
        };
        let ty = self.integer_of(part)?;
        self.operands.dest(result_of(part, ty))?;
        self.operands.source(ty)?;
        self.operands.source(ty)?;
        Ok(Op::Binary(Binary::Multiply(part), ty, Modes::default()))
    }

    /// Decodes the type of an integer product's factors.
    fn integer_of(&mut self, part: ProductPart) -> Result<Type> {
        match part {
            ProductPart::Wide => self.modifiers.one_of(&[U16, U32, S16, S32]),
            _ => self.modifiers.one_of(&INTEGERS),
        }
    }

    fn multiply_add(&mut self) -> Result<Op> {
        let Some(part) = self.part() else { return self.fused() };
        if self.modifiers.accept("cc") {
            return self.carry_of(CarryOp::MultiplyAdd(part), false, true);
        }
        let modes = self.modifiers.modes();
        let ty = self.integer_of(part)?;
        if modes.saturate && (part, ty) != (ProductPart::High, S32) {
            return Err("`mad` with `.sat` is only supported as `mad.hi.sat.s32`".into());
        }
        self.ternary(Ternary::MultiplyAdd(part), ty, result_of(part, ty), modes)
    }

    /// Decodes d = f(a, b, c), whose c and d have their own type.
    fn ternary(&mut self, f: Ternary, ty: Type, result: Type, modes: Modes) -> Result<Op> {
        self.operands.dest(result)?;
        self.operands.source(ty)?;
        self.operands.source(ty)?;
        self.operands.source(result)?;
        Ok(Op::Ternary(f, ty, modes))
    }

    /// Decodes `fma`, and floating-point `mad`, which is the same since sm_20.
    fn fused(&mut self) -> Result<Op> {
        let modes = self.modifiers.modes();
        let ty = self.modifiers.one_of(&[&HALVES[..], &FLOATS].concat())?;
        self.ternary(Ternary::FusedMultiplyAdd, ty, ty, modes)
    }

    fn product_of_24_bits(&mut self) -> Result<Op> {
        let high = match self.part() {
            Some(ProductPart::Low) => false,
            Some(ProductPart::High) => true,
            _ => return Err(self.modifiers.expected("`.lo` or `.hi`")),
        };
        let modes = self.modifiers.modes();
        let ty = self.modifiers.one_of(&[U32, S32])?;
        match self.opcode {
            "mul24" => self.binary(Binary::Multiply24 { high }, ty, modes),
            _ => self.ternary(Ternary::Multiply24Add { high }, ty, ty, modes),
        }
    }

    fn quotient(&mut self) -> Result<Op> {
        let modes = self.modifiers.modes();
        match self.opcode {
            "div" => {
                let ty = self.modifiers.one_of(&[&INTEGERS[..], &FLOATS].concat())?;
                self.binary(Binary::Divide, ty, modes)
            }
            _ => {
                let ty = self.modifiers.one_of(&INTEGERS)?;
                self.binary(Binary::Remainder, ty, modes)
            }
        }
    }

    /// Decodes `min` and `max`, of two or three values.
    fn extremum(&mut self) -> Result<Op> {
        let modes = self.modifiers.modes();
        let types = [&INTEGERS[..], &PACKED_INTEGERS, &HALVES, &FLOATS].concat();
        let ty = self.modifiers.one_of(&types)?;
        let (two, three) = match self.opcode {
            "min" => (Binary::Min, Ternary::Min3),
            _ => (Binary::Max, Ternary::Max3),
        };
        match self.operands.len() {
            4 if ty == F32 => self.ternary(three, ty, ty, modes),
            _ => self.binary(two, ty, modes),
        }
    }

    /// Decodes `abs` and `neg` of signed and floating-point numbers.
    fn unary_signed(&mut self, f: Unary) -> Result<Op> {
        let modes = self.modifiers.modes();
        let ty = self.modifiers.one_of(&[&[S16, S32, S64][..], &HALVES, &FLOATS].concat())?;
        self.unary(f, ty, modes)
    }

    fn sum_of_differences(&mut self) -> Result<Op> {
        let ty = self.modifiers.one_of(&INTEGERS)?;
        self.ternary(Ternary::SumOfDifferences, ty, ty, Modes::default())
    }

    /// Decodes `rcp`, `sqrt`, `sin`, …: with a rounding mode, or approximate.
    fn special_function(&mut self) -> Result<Op> {
        let modes = self.modifiers.modes();
        let (f, types): (_, &[Type]) = match self.opcode {
            "rcp" => (Unary::Reciprocal, &[F32, F64]),
            "sqrt" => (Unary::SquareRoot, &[F32, F64]),
            "rsqrt" => (Unary::ReciprocalRoot, &[F32, F64]),
            "sin" => (Unary::Sine, &[F32]),
            "cos" => (Unary::Cosine, &[F32]),
            "lg2" => (Unary::Log2, &[F32]),
            "ex2" => (Unary::Exp2, &[F32, F16, F16x2, Bf16, Bf16x2]),
            _ => (Unary::Tanh, &[F32, F16, F16x2, Bf16, Bf16x2]),
        };
        let ty = self.modifiers.one_of(types)?;
        if modes.rounding == Rounding::NearestAway {
            return Err(format!("`.rna` of `{}` is not supported", self.opcode));
        }
        self.unary(f, ty, modes)
    }

    /// Decodes `add.cc` and `sub.cc`, which only write the carry flag, and `addc`, `subc`, `madc`.
    fn carry(&mut self, reads: bool) -> Result<Op> {
        let op = match self.opcode {
            "add" | "addc" => CarryOp::Add,
            "sub" | "subc" => CarryOp::Subtract,
            _ => match self.part() {
                Some(part @ (ProductPart::Low | ProductPart::High)) => CarryOp::MultiplyAdd(part),
                _ => return Err(self.modifiers.expected("`.lo` or `.hi`")),
            },
        };
        let writes = self.modifiers.accept("cc");
        self.carry_of(op, reads, writes)
    }

    fn carry_of(&mut self, op: CarryOp, reads: bool, writes: bool) -> Result<Op> {
        let ty = self.modifiers.one_of(&[U32, S32, U64, S64])?;
        self.operands.dest(ty)?;
        let sources = if matches!(op, CarryOp::MultiplyAdd(_)) { 3 } else { 2 };
        for _ in 0..sources {
            self.operands.source(ty)?;
        }
        Ok(Op::Carry { op, ty, reads, writes })
    }

    /// Decodes `dp4a.s32.u32` and `dp2a.lo.s32.u32`.
    fn dot(&mut self) -> Result<Op> {
        let halves = match (self.opcode, self.part()) {
            ("dp4a", None) => None,
            ("dp2a", Some(ProductPart::Low)) => Some(Half::Low),
            ("dp2a", Some(ProductPart::High)) => Some(Half::High),
            _ => return Err(self.modifiers.expected("`.lo` or `.hi`")),
        };
        let a_signed = self.modifiers.one_of(&[U32, S32])?.is_signed();
        let b_signed = self.modifiers.one_of(&[U32, S32])?.is_signed();
        self.operands.dest(S32)?;
        for _ in 0..3 {
            self.operands.source(S32)?;
        }
        Ok(Op::Dot { a_signed, b_signed, halves })
    }
}

/// Returns the type of a part of a product.
fn result_of(part: ProductPart, factor: Type) -> Type {
    match (part, factor) {
        (ProductPart::Wide, U16) => U32,
        (ProductPart::Wide, S16) => S32,
        (ProductPart::Wide, U32) => U64,
        (ProductPart::Wide, S32) => S64,
        _ => factor,
    }
}
