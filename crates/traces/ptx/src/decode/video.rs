//! Decodes video instructions.

use super::compare::comparison;
use super::{Decoder, Result};
use crate::op::Op;
use crate::types::Compare;
use crate::types::Type::*;
use crate::video::{Finish, Video, VideoMultiplyAdd, VideoOp, VideoPart, VideoVector};

/// Modifiers after the types, in any order.
#[derive(Default)]
struct Tail {
    saturate: bool,
    wrap: Option<bool>,
    finish: Option<Finish>,
    compare: Option<Compare>,
}

impl Decoder<'_> {
    pub(super) fn video(&mut self) -> Result<Op> {
        match self.opcode.strip_suffix(['2', '4']) {
            None if self.opcode == "vmad" => self.video_multiply_add(),
            None => self.video_scalar(),
            Some(name) => self.video_vector(name),
        }
    }

    /// Decodes `vadd.s32.u32.s32.sat.min d, a.b0, b.h1, c` and `vadd.s32.u32.s32 d.b2, a, b, c`.
    fn video_scalar(&mut self) -> Result<Op> {
        let [d, a, b] = self.signs(self.opcode == "vset")?;
        let tail = self.tail()?;
        let f = self.video_op(self.opcode, &tail)?;
        if tail.wrap.is_some() && b {
            return Err("a bit count requires type `.u32`".into());
        }
        let selected = self.operands.selector();
        let d = part(selected, d)?;
        self.operands.dest(B32)?;
        let a = self.video_source(a)?;
        let b = self.video_source(b)?;
        let finish = match (tail.finish, selected) {
            (Some(_), Some(_)) => {
                return Err("a second operation leaves no part of the result to select".into());
            }
            (Some(finish), None) => finish,
            (None, Some(_)) => Finish::Merge,
            (None, None) => Finish::None,
        };
        // A third source may be present even if it is unused.
        if finish != Finish::None || self.operands.len() > 0 {
            self.operands.source(B32)?;
        }
        Ok(Op::Video(Video { f, a, b, d, saturate: tail.saturate, finish }))
    }

    /// Decodes `vmad.u32.u32.u32.po.sat.shr7 d, a.b1, b, c`.
    fn video_multiply_add(&mut self) -> Result<Op> {
        let [_, a, b] = self.signs(false)?;
        let (mut plus_one, mut shift, mut saturate) = (false, 0, false);
        while let Some(name) = self.modifiers.peek() {
            match name {
                "po" => plus_one = true,
                "shr7" => shift = 7,
                "shr15" => shift = 15,
                "sat" => saturate = true,
                _ => break,
            }
            self.modifiers.next();
        }
        self.operands.dest(B32)?;
        let negates_a = self.operands.accept_minus();
        let a = self.video_source(a)?;
        let negates_product = negates_a != self.operands.accept_minus();
        let b = self.video_source(b)?;
        let negates_c = self.operands.accept_minus();
        self.operands.source(B32)?;
        if [plus_one, negates_product, negates_c].into_iter().filter(|&is| is).count() > 1 {
            return Err("`.po`, a negative product and a negative sum exclude each other".into());
        }
        Ok(Op::VideoMultiplyAdd(VideoMultiplyAdd {
            a,
            b,
            negates_product,
            negates_c,
            plus_one,
            shift,
            saturate,
        }))
    }

    /// Decodes `vadd2.s32.s32.u32.sat d.h0, a.h32, b.h10, c` and `vabsdiff4.u32.u32.u32.add d, a, b, c`.
    fn video_vector(&mut self, name: &str) -> Result<Op> {
        let (elements, bits) = if self.opcode.ends_with('2') { (2, 16) } else { (4, 8) };
        let signed = self.signs(name == "vset")?;
        let tail = self.tail()?;
        let f = self.video_op(name, &tail)?;
        let adds = match tail.finish {
            None => false,
            Some(Finish::Add) if !tail.saturate => true,
            Some(_) => return Err("expected `.add` without `.sat`, or none".into()),
        };
        let mask = mask(self.operands.selector(), elements)?;
        self.operands.dest(B32)?;
        let a = chosen(self.operands.selector(), 0, elements)?;
        self.operands.source(B32)?;
        let b = chosen(self.operands.selector(), elements, elements)?;
        self.operands.source(B32)?;
        self.operands.source(B32)?;
        let saturate = tail.saturate;
        Ok(Op::VideoVector(VideoVector { f, bits, signed, a, b, mask, saturate, adds }))
    }

    /// Decodes the signedness of the result and the two sources. The result of a comparison has no type and
    /// is unsigned.
    fn signs(&mut self, is_comparison: bool) -> Result<[bool; 3]> {
        let mut signs = [false; 3];
        for sign in &mut signs[usize::from(is_comparison)..] {
            *sign = self.modifiers.one_of(&[U32, S32])?.is_signed();
        }
        Ok(signs)
    }

    fn tail(&mut self) -> Result<Tail> {
        let mut tail = Tail::default();
        while let Some(name) = self.modifiers.peek() {
            match name {
                "sat" => tail.saturate = true,
                "clamp" => tail.wrap = Some(false),
                "wrap" => tail.wrap = Some(true),
                "add" => tail.finish = Some(Finish::Add),
                "min" => tail.finish = Some(Finish::Min),
                "max" => tail.finish = Some(Finish::Max),
                "eq" | "ne" | "lt" | "le" | "gt" | "ge" => tail.compare = comparison(name),
                _ => return Err(self.modifiers.expected("a modifier")),
            }
            self.modifiers.next();
        }
        Ok(tail)
    }

    /// Decodes the operation `name`, with its own modifiers.
    fn video_op(&self, name: &str, tail: &Tail) -> Result<VideoOp> {
        let Tail { wrap, compare, .. } = *tail;
        Ok(match (name, wrap, compare) {
            ("vadd", None, None) => VideoOp::Add,
            ("vsub", None, None) => VideoOp::Subtract,
            ("vabsdiff", None, None) => VideoOp::AbsoluteDifference,
            ("vavrg", None, None) => VideoOp::Average,
            ("vmin", None, None) => VideoOp::Min,
            ("vmax", None, None) => VideoOp::Max,
            ("vshl", Some(wrap), None) => VideoOp::ShiftLeft { wrap },
            ("vshr", Some(wrap), None) => VideoOp::ShiftRight { wrap },
            ("vset", None, Some(compare)) => VideoOp::Set(compare),
            ("vshl" | "vshr", ..) => return Err(self.modifiers.expected("`.clamp` or `.wrap`")),
            ("vset", ..) => return Err(self.modifiers.expected("a comparison")),
            _ => return Err(format!("`{}` neither shifts nor compares", self.opcode)),
        })
    }

    /// Decodes a source and its selected part.
    fn video_source(&mut self, signed: bool) -> Result<VideoPart> {
        let part = part(self.operands.selector(), signed)?;
        self.operands.source(B32)?;
        Ok(part)
    }
}

/// Parses a register selector: `b0` to `b3`, `h0`, `h1`, or the whole register without one.
fn part(selector: Option<&str>, signed: bool) -> Result<VideoPart> {
    let Some(selector) = selector else { return Ok(VideoPart { signed, at: 0, bits: 32 }) };
    let found = match selector.split_at_checked(1) {
        Some(("b", number)) => Some((8, 4, number)),
        Some(("h", number)) => Some((16, 2, number)),
        _ => None,
    };
    found
        .and_then(|(bits, count, number)| {
            let number: u8 = number.parse().ok().filter(|&number| number < count)?;
            Some(VideoPart { signed, at: number * bits, bits })
        })
        .ok_or_else(|| {
            format!(
                "`.{selector}` is not a part of a register; valid: `.b0` to `.b3`, `.h0`, `.h1`"
            )
        })
}

/// Parses the selector of a result into a mask with one bit per element: `b310`.
fn mask(selector: Option<&str>, elements: u8) -> Result<u8> {
    let Some(selector) = selector else { return Ok((1 << elements) - 1) };
    let numbers = numbers(selector, elements, elements).filter(|numbers| !numbers.is_empty());
    let numbers = numbers.filter(|numbers| numbers.is_sorted_by(|high, low| high > low));
    let numbers =
        numbers.ok_or_else(|| format!("`.{selector}` selects no elements of a result"))?;
    Ok(numbers.iter().fold(0, |mask, number| mask | 1 << number))
}

/// Parses the selector of a source into elements of b:a, lowest first; defaults to the elements from `first`.
fn chosen(selector: Option<&str>, first: u8, elements: u8) -> Result<[u8; 4]> {
    let Some(selector) = selector else { return Ok([0, 1, 2, 3].map(|at| first + at)) };
    let numbers = numbers(selector, elements, 2 * elements);
    let numbers = numbers.filter(|numbers| numbers.len() == usize::from(elements));
    let numbers =
        numbers.ok_or_else(|| format!("`.{selector}` does not select {elements} elements"))?;
    let mut chosen = [0; 4];
    chosen.iter_mut().zip(numbers.iter().rev()).for_each(|(to, &number)| *to = number);
    Ok(chosen)
}

/// Parses the digits of a selector, each below `limit`; `None` if its letter does not match the elements.
fn numbers(selector: &str, elements: u8, limit: u8) -> Option<Vec<u8>> {
    let digits = selector.strip_prefix(if elements == 2 { 'h' } else { 'b' })?;
    let number = |digit: char| digit.to_digit(10).map(|n| n as u8).filter(|&n| n < limit);
    digits.chars().map(number).collect()
}
