//! Decodes products of matrices held in the lanes of a warp (ISA, "Warp Level Matrix Multiply-Accumulate
//! Instructions").

use std::str::FromStr;

use super::{Decoder, Result};
use crate::matrix::{Combine, Element, Layout, Mma, MmaForm};
use crate::op::Op;
use crate::types::Rounding;
use crate::types::Type::{self, *};

/// Types of C and D.
pub(super) const RESULTS: [Type; 4] = [F16, F32, F64, S32];

/// Modifiers of a product between the opcode and the types.
#[derive(Default)]
struct ProductModifiers {
    shape: Option<[u16; 3]>,
    layouts: [Option<Layout>; 2],
    combine: Combine,
    rounding: Rounding,
    saturate: bool,
}

impl Decoder<'_> {
    /// Decodes `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c`.
    pub(super) fn mma(&mut self) -> Result<Op> {
        let mut modifiers = ProductModifiers::default();
        self.combination(&mut modifiers)?;
        let is_sparse =
            self.modifiers.accept("sp") || self.modifiers.accept("sp::ordered_metadata");
        self.expect_modifiers(&["sync", "aligned"])?;
        self.product_modifiers(&mut modifiers)?;
        let (d, a, b) = (self.result()?, self.element()?, self.element()?);
        let c = self.result()?;
        self.product_modifiers(&mut modifiers)?;
        let layouts = modifiers.layouts()?;
        let form = match (is_sparse, modifiers.shape, a) {
            (true, ..) => MmaForm::Sparse { selector: 0 },
            (_, Some([8, 8, 4]), Element::F16) => {
                MmaForm::QuadPairs { a: layouts[0], b: layouts[1] }
            }
            _ => MmaForm::Dense,
        };
        let is_natural = layouts == NATURAL || matches!(form, MmaForm::QuadPairs { .. });
        let mut mma = modifiers.product(form, d, [a, b], c)?;
        if !mma.is_known() || !is_natural {
            return Err(unknown("mma", mma.shape));
        }
        self.product_operands(&mma)?;
        if is_sparse {
            self.operands.source(B32)?;
            mma.form = MmaForm::Sparse { selector: self.selector(&mma)? };
        }
        Ok(Op::Mma(mma))
    }

    /// Decodes the rest of `wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 d, a, b, c`; element types other
    /// than half precision require all four types.
    pub(super) fn wmma_product(&mut self) -> Result<Op> {
        let mut modifiers = ProductModifiers::default();
        self.combination(&mut modifiers)?;
        self.expect_modifiers(&["sync"])?;
        self.modifiers.accept("aligned");
        self.product_modifiers(&mut modifiers)?;
        let d = self.result()?;
        let (elements, c) = match self.modifiers.choose(Element::named) {
            // The only type after D's is C's.
            Some(Element::F16) => ([Element::F16; 2], F16),
            Some(a) => ([a, self.element()?], self.result()?),
            None => ([Element::F16; 2], self.result()?),
        };
        self.product_modifiers(&mut modifiers)?;
        let layouts = modifiers.layouts()?;
        let mma = modifiers.product(MmaForm::Wmma, d, elements, c)?;
        if !mma.is_known() || elements[0].bits() < 8 && layouts != NATURAL {
            return Err(unknown("wmma.mma", mma.shape));
        }
        self.product_operands(&mma)?;
        Ok(Op::Mma(mma))
    }

    /// Accepts `.xor.popc` or `.and.popc`; returns whether it is present.
    fn combination(&mut self, modifiers: &mut ProductModifiers) -> Result<bool> {
        let combine = |name| match name {
            "xor" => Some(Combine::CountDifferent),
            "and" => Some(Combine::CountCommon),
            _ => None,
        };
        let Some(combine) = self.modifiers.choose(combine) else { return Ok(false) };
        modifiers.combine = combine;
        self.expect_modifiers(&["popc"])?;
        Ok(true)
    }

    /// Decodes shape, layouts, rounding and saturation. The ISA defines an order, which compilers change and
    /// ptxas does not enforce.
    fn product_modifiers(&mut self, modifiers: &mut ProductModifiers) -> Result<()> {
        loop {
            if let Some(layout) = self.modifiers.choose(Layout::named) {
                let free = modifiers.layouts.iter_mut().find(|layout| layout.is_none());
                *free.ok_or("a product of matrices has two layouts")? = Some(layout);
            } else if let Some(shape) = self.modifiers.choose(shape) {
                modifiers.shape = Some(shape);
            } else if let Some(rounding) = self.modifiers.rounding() {
                modifiers.rounding = rounding;
            } else if self.modifiers.accept("satfinite") {
                modifiers.saturate = true;
            } else if !self.combination(modifiers)? {
                return Ok(());
            }
        }
    }

    fn result(&mut self) -> Result<Type> {
        self.modifiers.one_of(&RESULTS)
    }

    /// Decodes the type of A or B.
    pub(super) fn element(&mut self) -> Result<Element> {
        self.modifiers.require("the type of a matrix", Element::named)
    }

    fn product_operands(&mut self, mma: &Mma) -> Result<()> {
        let [a, b, c, d] = mma.registers();
        of_registers(self.operands.dest_vector(register_type(mma.d).class())?, d)?;
        of_registers(self.operands.source_vector(element_register(mma.a))?, a)?;
        of_registers(self.operands.source_vector(element_register(mma.b))?, b)?;
        of_registers(self.operands.source_vector(register_type(mma.c))?, c)
    }

    /// Decodes the selector of the lanes of each group of four that hold the metadata of a sparse A.
    fn selector(&mut self, mma: &Mma) -> Result<u8> {
        let found = self.operands.constant()?;
        let choices = 4 / mma.metadata_lanes();
        match u8::try_from(found) {
            Ok(selector) if selector < choices => Ok(selector),
            _ => Err(format!("the sparsity selector {found} is outside 0 to {}", choices - 1)),
        }
    }
}

/// Layouts of A and B in all products but those of quad pairs and of `wmma`.
const NATURAL: [Layout; 2] = [Layout::Row, Layout::Column];

impl ProductModifiers {
    fn layouts(&self) -> Result<[Layout; 2]> {
        match self.layouts {
            [Some(a), Some(b)] => Ok([a, b]),
            _ => Err("a product of matrices lacks `.row` or `.col`".into()),
        }
    }

    fn product(&self, form: MmaForm, d: Type, [a, b]: [Element; 2], c: Type) -> Result<Mma> {
        let shape = self.shape.ok_or("a product of matrices lacks a shape")?;
        let ProductModifiers { combine, rounding, saturate, .. } = *self;
        Ok(Mma { shape, form, d, a, b, c, combine, rounding, saturate })
    }
}

pub(super) fn unknown(opcode: &str, [m, n, k]: [u16; 3]) -> String {
    format!("`{opcode}` of shape m{m}n{n}k{k} and these types and layouts is not an instruction")
}

/// Returns the type of a register that holds a result, or a part of one.
pub(super) fn register_type(ty: Type) -> Type {
    if ty == F64 { F64 } else { B32 }
}

pub(super) fn element_register(element: Element) -> Type {
    if element == Element::F64 { F64 } else { B32 }
}

pub(super) fn of_registers(found: usize, expected: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("a matrix of {found} registers where {expected} are expected")),
    }
}

/// Parses `m16n8k16`.
pub(super) fn shape<N: FromStr>(name: &str) -> Option<[N; 3]> {
    let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}
