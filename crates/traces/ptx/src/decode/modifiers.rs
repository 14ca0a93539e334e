//! The modifiers of an opcode, consumed one by one in the ISA's order.

use super::Result;
use crate::op::Modes;
use crate::types::{Rounding, Type};

pub(super) struct Modifiers<'a> {
    opcode: &'a str,
    all: Vec<&'a str>,
    at: usize,
}

impl<'a> Modifiers<'a> {
    pub fn new(opcode: &'a str, all: Vec<&'a str>) -> Modifiers<'a> {
        Modifiers { opcode, all, at: 0 }
    }

    pub fn peek(&self) -> Option<&'a str> {
        self.all.get(self.at).copied()
    }

    pub fn next(&mut self) -> Option<&'a str> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    /// Consumes a modifier if it is next.
    pub fn accept(&mut self, name: &str) -> bool {
        let found = self.peek() == Some(name);
        self.at += usize::from(found);
        found
    }

    /// Consumes the next modifier if `choice` recognizes it.
    pub fn choose<T>(&mut self, choice: impl FnOnce(&'a str) -> Option<T>) -> Option<T> {
        let chosen = choice(self.peek()?)?;
        self.at += 1;
        Some(chosen)
    }

    /// Consumes the next modifier, which `choice` must recognize; `what` names it in errors.
    pub fn require<T>(
        &mut self,
        what: &str,
        choice: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T> {
        self.choose(choice).ok_or_else(|| self.expected(what))
    }

    /// Returns the error that the next modifier is not `what`.
    pub fn expected(&self, what: &str) -> String {
        match self.peek() {
            Some(found) => format!("expected {what} of `{}`, found `.{found}`", self.opcode),
            None => format!("`{}` lacks {what}", self.opcode),
        }
    }

    pub fn any_type(&mut self) -> Result<Type> {
        self.require("a type", Type::named)
    }

    /// Consumes a type, which must be one of `types`.
    pub fn one_of(&mut self, types: &[Type]) -> Result<Type> {
        let ty = self.any_type()?;
        match types.contains(&ty) {
            true => Ok(ty),
            false => Err(format!("`{}` of type `.{}` is not supported", self.opcode, ty.name())),
        }
    }

    pub fn rounding(&mut self) -> Option<Rounding> {
        self.choose(|name| {
            Some(match name {
                "rn" => Rounding::Nearest,
                "rna" => Rounding::NearestAway,
                "rz" => Rounding::Zero,
                "rm" => Rounding::Down,
                "rp" => Rounding::Up,
                _ => return None,
            })
        })
    }

    /// Consumes rounding, `.approx` or `.full`, `.ftz`, `.sat` and the other modes, in any order.
    pub fn modes(&mut self) -> Modes {
        let mut modes = Modes::default();
        loop {
            if let Some(rounding) = self.rounding() {
                modes.rounding = rounding;
                modes.rounding_written = true;
                continue;
            }
            match self.peek() {
                Some("ftz") => modes.ftz = true,
                Some("sat" | "satfinite") => modes.saturate = true,
                Some("approx") => modes.approximate = true,
                Some("full") => (modes.approximate, modes.full_range) = (true, true),
                Some("NaN") => modes.nan = true,
                Some("relu") => modes.relu = true,
                Some("xorsign") => modes.xorsign = true,
                Some("abs") if modes.xorsign => {}
                _ => return modes,
            }
            self.at += 1;
        }
    }

    /// Checks that all modifiers are consumed.
    pub fn finish(&self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(name) => Err(format!("modifier `.{name}` of `{}` is not supported", self.opcode)),
        }
    }
}
