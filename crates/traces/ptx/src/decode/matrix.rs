//! Decodes moves of 8 × 8 matrices between shared memory and the registers of a warp.

use super::{Decoder, Result};
use crate::op::{Matrices, Op};
use crate::types::Space;
use crate::types::Type::*;

impl Decoder<'_> {
    pub(super) fn matrix(&mut self) -> Result<Op> {
        match self.opcode {
            "mma" => return self.mma(),
            "wmma" => return self.wmma(),
            "wgmma" => return self.wgmma(),
            _ => {}
        }
        self.expect_modifiers(&["sync", "aligned"])?;
        match self.opcode {
            "movmatrix" => {
                for name in ["m8n8", "trans"] {
                    if !self.modifiers.accept(name) {
                        return Err(self.modifiers.expected(&format!("`.{name}`")));
                    }
                }
                self.modifiers.one_of(&[B16])?;
                self.operands.dest(B32)?;
                self.operands.source(B32)?;
                Ok(Op::MoveMatrix)
            }
            _ => self.load_or_store_matrix(),
        }
    }

    /// Decodes `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {…}, [a]`; CUTLASS writes the shape after
    /// `.trans`, which ptxas accepts too.
    fn load_or_store_matrix(&mut self) -> Result<Op> {
        let is_first = self.modifiers.accept("m8n8");
        let count = self.modifiers.require("`.x1`, `.x2` or `.x4`", |name| match name {
            "x1" => Some(1u8),
            "x2" => Some(2),
            "x4" => Some(4),
            _ => None,
        })?;
        let transposed = self.modifiers.accept("trans");
        if !is_first {
            self.expect_modifiers(&["m8n8"])?;
        }
        let shared = |name| Space::named(name).filter(|&space| space == Space::Shared);
        let space = self.modifiers.choose(shared).unwrap_or(Space::Generic);
        self.modifiers.one_of(&[B16])?;
        let mut matrices = Matrices { space, count, transposed, offset: 0 };
        if self.opcode == "ldmatrix" {
            let registers = self.operands.dest_vector(B32.class())?;
            matrices.offset = self.operands.address()?;
            of_matrices(registers, count)?;
            return Ok(Op::LoadMatrix(matrices));
        }
        matrices.offset = self.operands.address()?;
        let registers = self.operands.source_vector(B32)?;
        of_matrices(registers, count)?;
        Ok(Op::StoreMatrix(matrices))
    }
}

fn of_matrices(count: usize, matrices: u8) -> Result<()> {
    match count == usize::from(matrices) {
        true => Ok(()),
        false => Err(format!("{count} registers for {matrices} matrices")),
    }
}
