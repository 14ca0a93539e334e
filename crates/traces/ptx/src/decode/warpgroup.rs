//! Decodes matrix products of warpgroups (ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
//! Instructions"), and register reallocation between warpgroups.

use super::mma::{of_registers, shape};
use super::{Decoder, Result};
use crate::instruction::Value;
use crate::matrix::{Element, Factor, GroupProduct, Wgmma};
use crate::op::Op;
use crate::operand::Operand;
use crate::types::Type::{self, *};

/// Rows of a product.
const ROWS: u16 = 64;
/// Maximum columns of a product.
const MAX_COLUMNS: u16 = 256;

impl Decoder<'_> {
    /// Decodes `wgmma.fence.sync.aligned`, `wgmma.wait_group.sync.aligned 1` and the other operations.
    pub(super) fn wgmma(&mut self) -> Result<Op> {
        let name = self.modifiers.require("an operation", Some)?;
        if name == "mma_async" && self.modifiers.peek() == Some("sp") {
            return Err("`wgmma.mma_async.sp`, of sparse matrices, is not supported".into());
        }
        self.expect_modifiers(&["sync", "aligned"])?;
        Ok(Op::Wgmma(match name {
            "mma_async" => Wgmma::Product(self.group_product()?),
            "fence" => Wgmma::Fence,
            "commit_group" => Wgmma::Commit,
            "wait_group" => {
                let groups = self.operands.constant()?;
                Wgmma::Wait(u32::try_from(groups).unwrap_or(u32::MAX))
            }
            name => return Err(format!("`wgmma.{name}` is not supported")),
        }))
    }

    /// Decodes the rest of `wgmma.mma_async.sync.aligned`: `.m64n64k16.f32.f16.f16 {…}, a, b, p, 1, -1, 0,
    /// 1`, where a is a descriptor or registers.
    fn group_product(&mut self) -> Result<GroupProduct> {
        let [m, n, k]: [u16; 3] = self.modifiers.require("a shape", shape)?;
        // The ISA writes `.satfinite` before the types, CUTLASS after them; ptxas also accepts it between
        // them.
        let mut saturate = self.modifiers.accept("satfinite");
        let d = self.modifiers.one_of(&[F16, F32, S32])?;
        saturate |= self.modifiers.accept("satfinite");
        let [a, b] = [self.factor()?, self.factor()?];
        saturate |= self.modifiers.accept("satfinite");
        let mut product = GroupProduct { n, d, a, b, a_in_registers: false, saturate };
        if m != ROWS || u32::from(k) != product.k() || !is_known(&product) {
            let shape = format!("m{m}n{n}k{k}");
            return Err(format!("`wgmma` of shape {shape} and these types is not an instruction"));
        }
        of_registers(self.operands.dest_vector(B32.class())?, product.registers())?;
        self.operands.check_dests_are_registers()?;
        product.a_in_registers = matches!(self.operands.peek(), Some(Operand::Vector(_)));
        match product.a_in_registers {
            true => of_registers(self.operands.source_vector(B32)?, A_REGISTERS)?,
            false => self.operands.source(B64)?,
        }
        self.operands.source(B64)?;
        self.scale_of_d()?;
        self.factor_operands(&mut product)?;
        Ok(product)
    }

    /// Decodes the type of A or B; operands complete the description.
    fn factor(&mut self) -> Result<Factor> {
        if self.modifiers.peek() == Some("b1") {
            return Err("`wgmma` of type `.b1` is not supported".into());
        }
        Ok(Factor { element: self.element()?, negated: false, transposed: false })
    }

    /// Decodes the predicate that adds D: D is read unless the predicate is always false.
    fn scale_of_d(&mut self) -> Result<()> {
        self.operands.source(Pred)?;
        if self.operands.last_source() != Some(Value::Bits(0)) {
            self.operands.read_dests();
        }
        Ok(())
    }

    /// Decodes the operands after the predicate: for floating-point numbers the signs of A and B, and for
    /// 16-bit ones the transposition of each matrix in shared memory.
    fn factor_operands(&mut self, product: &mut GroupProduct) -> Result<()> {
        let element = product.a.element;
        if element.is_integer() {
            return Ok(());
        }
        product.a.negated = self.choice("a scale of A or B", [1, -1])?;
        product.b.negated = self.choice("a scale of A or B", [1, -1])?;
        if element.bits() == 16 {
            if !product.a_in_registers {
                product.a.transposed = self.choice("a transposition", [0, 1])?;
            }
            product.b.transposed = self.choice("a transposition", [0, 1])?;
        }
        Ok(())
    }

    /// Decodes a constant with two valid values; returns whether it is the second.
    fn choice(&mut self, what: &str, possible: [i64; 2]) -> Result<bool> {
        let found = self.operands.constant()? as i64;
        match possible.iter().position(|&value| value == found) {
            Some(at) => Ok(at == 1),
            None => Err(format!("{what} is {} or {}, not {found}", possible[0], possible[1])),
        }
    }

    /// Decodes `setmaxnreg.inc.sync.aligned.u32 240`, the registers per thread of a warpgroup, which the ISA
    /// calls a hint to the system.
    pub(super) fn register_limit(&mut self) -> Result<Op> {
        self.modifiers
            .require("`.inc` or `.dec`", |name| matches!(name, "inc" | "dec").then_some(()))?;
        self.expect_modifiers(&["sync", "aligned", "u32"])?;
        let registers = self.operands.constant()?;
        match (24..=256).contains(&registers) && registers % 8 == 0 {
            true => Ok(Op::Hint),
            false => Err(format!(
                "{registers} registers per thread; valid: multiples of 8 from 24 to 256"
            )),
        }
    }
}

/// Registers of A per lane, for every shape.
const A_REGISTERS: usize = 4;

/// Returns whether the ISA has a product with these columns and types.
fn is_known(product: &GroupProduct) -> bool {
    let GroupProduct { n, d, a, b, saturate, .. } = *product;
    let known = match (a.element, b.element) {
        (Element::F16, Element::F16) => matches!(d, F16 | F32),
        (Element::Bf16, Element::Bf16) | (Element::Tf32, Element::Tf32) => d == F32,
        (Element::E4m3 | Element::E5m2, Element::E4m3 | Element::E5m2) => matches!(d, F16 | F32),
        (Element::U8 | Element::S8, Element::U8 | Element::S8) => d == S32,
        _ => false,
    };
    known && has_columns(n, d) && (!saturate || a.element.is_integer())
}

/// Returns whether products may have `n` columns (ISA, "Matrix Shape"): for integers, more than 32 columns
/// must be a multiple of 16.
fn has_columns(n: u16, d: Type) -> bool {
    let unit = if d == S32 && n > 32 { 16 } else { 8 };
    (1..=MAX_COLUMNS).contains(&n) && n.is_multiple_of(unit)
}
