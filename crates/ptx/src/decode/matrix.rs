//! Matrix loads and products.

use std::str::FromStr;

use super::{Decoder, Result};
use crate::matrix::{Element, Mma};
use crate::op::Op;
use crate::types::Type::{self, *};

impl Decoder<'_> {
    pub(super) fn matrix(&mut self) -> Result<Op> {
        if self.opcode == "wgmma" {
            return self.wgmma();
        }
        self.expect_modifiers(&["sync", "aligned"])?;
        match self.opcode {
            "mma" => self.mma(),
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

    /// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {…}, [a]`; CUTLASS writes the shape behind
    /// `.trans`, which ptxas takes, too.
    fn load_or_store_matrix(&mut self) -> Result<Op> {
        let is_first = self.modifiers.accept("m8n8");
        let matrices = self.modifiers.require("`.x1`, `.x2` or `.x4`", |name| match name {
            "x1" => Some(1u8),
            "x2" => Some(2),
            "x4" => Some(4),
            _ => None,
        })?;
        let transposed = self.modifiers.accept("trans");
        if !is_first {
            self.expect_modifiers(&["m8n8"])?;
        }
        let _ = self.modifiers.accept("shared") || self.modifiers.accept("shared::cta");
        self.modifiers.one_of(&[B16])?;
        if self.opcode == "ldmatrix" {
            let count = self.operands.dest_vector(B32.class())?;
            let offset = self.operands.address()?;
            of_matrices(count, matrices)?;
            return Ok(Op::LoadMatrix { matrices, transposed, offset });
        }
        let offset = self.operands.address()?;
        let count = self.operands.source_vector(B32)?;
        of_matrices(count, matrices)?;
        Ok(Op::StoreMatrix { matrices, transposed, offset })
    }

    /// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c`
    fn mma(&mut self) -> Result<Op> {
        let (m, n, k) = self.modifiers.require("a shape", shape)?;
        for name in ["row", "col"] {
            if !self.modifiers.accept(name) {
                return Err(self.modifiers.expected(&format!("`.{name}`")));
            }
        }
        let saturate = self.modifiers.accept("satfinite");
        let results = [F16, F32, F64, S32];
        let d = self.modifiers.one_of(&results)?;
        let a = self.element()?;
        let b = self.element()?;
        let c = self.modifiers.one_of(&results)?;
        let mma = Mma { m, n, k, d, a, b, c, saturate };
        if !is_known(&mma) {
            let shape = format!("m{m}n{n}k{k}");
            return Err(format!("`mma` of shape {shape} and these types is not supported"));
        }
        let [a_registers, b_registers, c_registers, d_registers] = mma.registers();
        let class = register_type(d).class();
        let counts = [
            (self.operands.dest_vector(class)?, d_registers),
            (self.operands.source_vector(element_register(a))?, a_registers),
            (self.operands.source_vector(element_register(b))?, b_registers),
            (self.operands.source_vector(register_type(c))?, c_registers),
        ];
        match counts.iter().find(|(found, expected)| found != expected) {
            None => Ok(Op::Mma(mma)),
            Some((found, expected)) => {
                Err(format!("a matrix of {found} registers where {expected} are expected"))
            }
        }
    }

    /// The type of A or B.
    pub(super) fn element(&mut self) -> Result<Element> {
        self.modifiers.require("the type of a matrix", Element::named)
    }
}

/// The register that holds (a part of) a result.
fn register_type(ty: Type) -> Type {
    if ty == F64 { F64 } else { B32 }
}

fn element_register(element: Element) -> Type {
    if element == Element::F64 { F64 } else { B32 }
}

/// `m16n8k16`
pub(super) fn shape<N: FromStr>(name: &str) -> Option<(N, N, N)> {
    let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

/// Whether the ISA has a product of this shape and these types that is executed here.
fn is_known(mma: &Mma) -> bool {
    let Mma { m, n, k, d, a, b, c, saturate } = *mma;
    let floats = d == F32 && c == F32;
    let is_int = a.is_integer() && b.is_integer();
    let known = match (m, n, k) {
        (16, 8, 8 | 16) if a == Element::F16 && b == a => {
            matches!(d, F16 | F32) && matches!(c, F16 | F32)
        }
        (16, 8, 8 | 16) if a == Element::Bf16 && b == a => floats,
        (16, 8, 4 | 8) if a == Element::Tf32 && b == a => floats,
        (8, 8, 4) if a == Element::F64 && b == a => d == F64 && c == F64,
        (8, 8, 16) | (16, 8, 16 | 32) if is_int => d == S32 && c == S32,
        _ => false,
    };
    known && (!saturate || is_int)
}

fn of_matrices(count: usize, matrices: u8) -> Result<()> {
    match count == usize::from(matrices) {
        true => Ok(()),
        false => Err(format!("{count} registers for {matrices} matrices")),
    }
}
