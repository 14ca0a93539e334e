//! Decodes logic, shifts and bit fields.

use super::{Decoder, Result};
use crate::op::{Binary, Logic, Modes, Op, PermuteMode, Ternary, Unary};
use crate::operand::Operand;
use crate::types::Type::{self, *};

const BITS: [Type; 3] = [B16, B32, B64];
const BITS_OR_PREDICATE: [Type; 4] = [Pred, B16, B32, B64];
const WORDS: [Type; 4] = [U32, U64, S32, S64];

impl Decoder<'_> {
    pub(super) fn bits(&mut self) -> Result<Op> {
        match self.opcode {
            "and" => self.logic(Binary::And),
            "or" => self.logic(Binary::Or),
            "xor" => self.logic(Binary::Xor),
            "not" => {
                let ty = self.modifiers.one_of(&BITS_OR_PREDICATE)?;
                self.unary(Unary::Not, ty, Modes::default())
            }
            "cnot" => {
                let ty = self.modifiers.one_of(&BITS)?;
                self.unary(Unary::Cnot, ty, Modes::default())
            }
            "shl" => self.shift(Binary::ShiftLeft, &BITS),
            "shr" => self.shift(Binary::ShiftRight, &[B16, B32, B64, U16, U32, U64, S16, S32, S64]),
            "shf" => self.funnel(),
            "lop3" => self.lop3(),
            "prmt" => self.permute(),
            "bfe" => self.extract(),
            "bfi" => self.insert(),
            "bfind" => self.find_bit(),
            "brev" => {
                let ty = self.modifiers.one_of(&[B32, B64])?;
                self.unary(Unary::Reverse, ty, Modes::default())
            }
            "clz" => self.count(Unary::CountLeadingZeros),
            "popc" => self.count(Unary::CountOnes),
            "fns" => {
                let ty = self.modifiers.one_of(&[B32])?;
                self.three_words()?;
                Ok(Op::Ternary(Ternary::FindNthBit, ty, Modes::default()))
            }
            "bmsk" => {
                let wrap = self.wraps()?;
                let ty = self.modifiers.one_of(&[B32])?;
                self.binary(Binary::BitMask { wrap }, ty, Modes::default())
            }
            _ => {
                let wrap = self.wraps()?;
                let ty = self.modifiers.one_of(&[U32, S32])?;
                self.binary(Binary::SignExtend { wrap }, ty, Modes::default())
            }
        }
    }

    fn logic(&mut self, f: Binary) -> Result<Op> {
        let ty = self.modifiers.one_of(&BITS_OR_PREDICATE)?;
        self.binary(f, ty, Modes::default())
    }

    /// Decodes a shift by a 32-bit amount.
    fn shift(&mut self, f: Binary, types: &[Type]) -> Result<Op> {
        let ty = self.modifiers.one_of(types)?;
        self.operands.dest(ty)?;
        self.operands.source(ty)?;
        self.operands.source(U32)?;
        Ok(Op::Binary(f, ty, Modes::default()))
    }

    /// Requires `.clamp` or `.wrap`; returns whether it is `.wrap`.
    fn wraps(&mut self) -> Result<bool> {
        let clamp = self.modifiers.accept("clamp");
        match clamp || self.modifiers.accept("wrap") {
            true => Ok(!clamp),
            false => Err(self.modifiers.expected("`.clamp` or `.wrap`")),
        }
    }

    fn funnel(&mut self) -> Result<Op> {
        let left = self.modifiers.accept("l");
        if !left && !self.modifiers.accept("r") {
            return Err(self.modifiers.expected("`.l` or `.r`"));
        }
        let clamp = !self.wraps()?;
        self.modifiers.one_of(&[B32])?;
        self.three_words()?;
        Ok(Op::Funnel { left, clamp })
    }

    fn three_words(&mut self) -> Result<()> {
        self.operands.dest(B32)?;
        for _ in 0..3 {
            self.operands.source(B32)?;
        }
        Ok(())
    }

    /// Decodes `lop3.b32 d, a, b, c, table` and `lop3.or.b32 d|p, a, b, c, table, q`.
    fn lop3(&mut self) -> Result<Op> {
        let combine = self.modifiers.choose(|name| match name {
            "and" => Some(Logic::And),
            "or" => Some(Logic::Or),
            _ => None,
        });
        self.modifiers.one_of(&[B32])?;
        let has_predicate = matches!(self.operands.peek(), Some(Operand::Pair(_)));
        if has_predicate != combine.is_some() {
            return Err("a predicate of `lop3` is written with `.and` or `.or`".into());
        }
        self.operands.dest_pair(B32, Pred)?;
        for _ in 0..3 {
            self.operands.source(B32)?;
        }
        let table = self.operands.constant()?;
        let table =
            u8::try_from(table).map_err(|_| format!("table {table} of `lop3` is above 255"))?;
        if has_predicate {
            self.operands.source(Pred)?;
        }
        Ok(Op::Lop3 { table, combine })
    }

    fn permute(&mut self) -> Result<Op> {
        self.modifiers.one_of(&[B32])?;
        let mode = self.modifiers.choose(|name| {
            Some(match name {
                "f4e" => PermuteMode::F4e,
                "b4e" => PermuteMode::B4e,
                "rc8" => PermuteMode::Rc8,
                "ecl" => PermuteMode::Ecl,
                "ecr" => PermuteMode::Ecr,
                "rc16" => PermuteMode::Rc16,
                _ => return None,
            })
        });
        self.three_words()?;
        Ok(Op::Permute(mode.unwrap_or(PermuteMode::Generic)))
    }

    /// Decodes the extraction of `c` bits of a, starting at bit b.
    fn extract(&mut self) -> Result<Op> {
        let ty = self.modifiers.one_of(&WORDS)?;
        self.operands.dest(ty)?;
        self.operands.source(ty)?;
        self.operands.source(U32)?;
        self.operands.source(U32)?;
        Ok(Op::Ternary(Ternary::BitFieldExtract, ty, Modes::default()))
    }

    fn insert(&mut self) -> Result<Op> {
        let ty = self.modifiers.one_of(&[B32, B64])?;
        self.operands.dest(ty)?;
        self.operands.source(ty)?;
        self.operands.source(ty)?;
        self.operands.source(U32)?;
        self.operands.source(U32)?;
        Ok(Op::BitFieldInsert(ty))
    }

    fn find_bit(&mut self) -> Result<Op> {
        let shift_amount = self.modifiers.accept("shiftamt");
        let ty = self.modifiers.one_of(&WORDS)?;
        self.operands.dest(U32)?;
        self.operands.source(ty)?;
        Ok(Op::Unary(Unary::FindBit { shift_amount }, ty, Modes::default()))
    }

    /// Decodes a bit count, whose result has 32 bits.
    fn count(&mut self, f: Unary) -> Result<Op> {
        let ty = self.modifiers.one_of(&[B32, B64])?;
        self.operands.dest(U32)?;
        self.operands.source(ty)?;
        Ok(Op::Unary(f, ty, Modes::default()))
    }
}
