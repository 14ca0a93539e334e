//! Decodes comparison and selection.

use super::{Decoder, Result};
use crate::op::{FloatTest, Logic, Op};
use crate::types::Compare;
use crate::types::Type::{self, *};

const COMPARABLE: [Type; 15] =
    [B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64, F16, F16x2, Bf16, Bf16x2];

impl Decoder<'_> {
    pub(super) fn compare(&mut self) -> Result<Op> {
        match self.opcode {
            "setp" => self.set_predicate(),
            "set" => self.set(),
            "selp" => self.select(),
            "slct" => self.select_by_sign(),
            _ => self.test(),
        }
    }

    /// Decodes `.lt.and.ftz`; `.ftz` may come first.
    fn comparison(&mut self) -> Result<(Compare, Option<Logic>, bool)> {
        let ftz = self.modifiers.accept("ftz");
        let compare = self.modifiers.require("a comparison", comparison)?;
        let combine = self.modifiers.choose(|name| {
            Some(match name {
                "and" => Logic::And,
                "or" => Logic::Or,
                "xor" => Logic::Xor,
                _ => return None,
            })
        });
        Ok((compare, combine, ftz || self.modifiers.accept("ftz")))
    }

    /// Decodes `setp.lt.and.s32 p|q, a, b, c`.
    fn set_predicate(&mut self) -> Result<Op> {
        let (compare, combine, ftz) = self.comparison()?;
        let ty = self.modifiers.one_of(&COMPARABLE)?;
        self.operands.dest_pair(Pred, Pred)?;
        self.compared(ty, combine)?;
        Ok(Op::SetPredicate { compare, combine, ty, ftz })
    }

    fn compared(&mut self, ty: Type, combine: Option<Logic>) -> Result<()> {
        self.operands.source(ty)?;
        self.operands.source(ty)?;
        match combine {
            Some(_) => self.operands.source(Pred),
            None => Ok(()),
        }
    }

    /// Decodes `set.lt.u32.f32 d, a, b`.
    fn set(&mut self) -> Result<Op> {
        let (compare, combine, ftz) = self.comparison()?;
        let to = self.modifiers.one_of(&[U32, S32, F32, F16, F16x2, Bf16, Bf16x2, U16, S16])?;
        let ty = self.modifiers.one_of(&COMPARABLE)?;
        self.operands.dest(to)?;
        self.compared(ty, combine)?;
        Ok(Op::Set { compare, combine, to, ty, ftz })
    }

    fn select(&mut self) -> Result<Op> {
        let ty = self.modifiers.one_of(&COMPARABLE)?;
        self.operands.dest(ty)?;
        self.operands.source(ty)?;
        self.operands.source(ty)?;
        self.operands.source(Pred)?;
        Ok(Op::Select(ty))
    }

    /// Decodes `slct.f32.s32 d, a, b, c`.
    fn select_by_sign(&mut self) -> Result<Op> {
        let ftz = self.modifiers.accept("ftz");
        let ty = self.modifiers.one_of(&COMPARABLE[..11])?;
        let by = self.modifiers.one_of(&[S32, F32])?;
        self.operands.dest(ty)?;
        self.operands.source(ty)?;
        self.operands.source(ty)?;
        self.operands.source(by)?;
        Ok(Op::SelectBySign { ty, by, ftz })
    }

    fn test(&mut self) -> Result<Op> {
        let test = self.modifiers.require("a test", |name| {
            Some(match name {
                "finite" => FloatTest::Finite,
                "infinite" => FloatTest::Infinite,
                "number" => FloatTest::Number,
                "notanumber" => FloatTest::NotANumber,
                "normal" => FloatTest::Normal,
                "subnormal" => FloatTest::Subnormal,
                _ => return None,
            })
        })?;
        let ty = self.modifiers.one_of(&[F32, F64])?;
        self.operands.dest(Pred)?;
        self.operands.source(ty)?;
        Ok(Op::Test(test, ty))
    }
}

pub(super) fn comparison(name: &str) -> Option<Compare> {
    Some(match name {
        "eq" => Compare::Equal,
        "ne" => Compare::NotEqual,
        "lt" | "lo" => Compare::Less,
        "le" | "ls" => Compare::LessOrEqual,
        "gt" | "hi" => Compare::Greater,
        "ge" | "hs" => Compare::GreaterOrEqual,
        "equ" => Compare::EqualUnordered,
        "neu" => Compare::NotEqualUnordered,
        "ltu" => Compare::LessUnordered,
        "leu" => Compare::LessOrEqualUnordered,
        "gtu" => Compare::GreaterUnordered,
        "geu" => Compare::GreaterOrEqualUnordered,
        "num" => Compare::Number,
        "nan" => Compare::NotANumber,
        _ => return None,
    })
}
