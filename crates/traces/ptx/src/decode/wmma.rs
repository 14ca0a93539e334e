//! Decodes `wmma`: matrices in memory, and their fragments in the lanes of a warp.

use super::mma::{RESULTS, element_register, of_registers, register_type, shape, unknown};
use super::{Decoder, Result};
use crate::instruction::Value;
use crate::matrix::{Layout, MmaForm, WmmaAccess, WmmaOperand, registers_of};
use crate::op::Op;
use crate::types::Space;
use crate::types::Type::{self, B32};

impl Decoder<'_> {
    pub(super) fn wmma(&mut self) -> Result<Op> {
        match self.modifiers.require("`.load`, `.store` or `.mma`", Some)? {
            "mma" => self.wmma_product(),
            "load" => {
                let operand = self.modifiers.require("`.a`, `.b` or `.c`", operand)?;
                self.wmma_access(operand, false)
            }
            "store" => {
                self.expect_modifiers(&["d"])?;
                self.wmma_access(WmmaOperand::C, true)
            }
            name => Err(format!("`wmma.{name}` is not an instruction")),
        }
    }

    /// Decodes `wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {…}, [p], stride` and
    /// `wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [p], {…}, stride`.
    fn wmma_access(&mut self, operand: WmmaOperand, is_store: bool) -> Result<Op> {
        self.expect_modifiers(&["sync"])?;
        // Compilers before PTX 6.3 omit it.
        self.modifiers.accept("aligned");
        let (mut layout, mut of_shape, mut space) = (None, None, Space::Generic);
        loop {
            if let Some(found) = self.modifiers.choose(Layout::named) {
                layout = Some(found);
            } else if let Some(found) = self.modifiers.choose(shape) {
                of_shape = Some(found);
            } else if let Some(found) = self.modifiers.choose(Space::named) {
                space = found;
            } else {
                break;
            }
        }
        let layout = layout.ok_or_else(|| self.modifiers.expected("`.row` or `.col`"))?;
        let shape: [u16; 3] = of_shape.ok_or_else(|| self.modifiers.expected("a shape"))?;
        if !matches!(space, Space::Generic | Space::Global | Space::Shared) {
            return Err(format!("`wmma` of `.{}` memory is not an instruction", space.name()));
        }
        let fragment = self.fragment(operand, shape)?;
        if fragment.bits < 8 && !operand.is_natural(layout) {
            return Err(
                "`wmma` requires A by rows and B by columns for elements of less than 8 bits"
                    .into(),
            );
        }
        let bits = fragment.bits as u8;
        let mut access = WmmaAccess { operand, shape, bits, layout, space, offset: 0 };
        let found = if is_store {
            access.offset = self.operands.address()?;
            self.operands.source_vector(fragment.register)?
        } else {
            let found = self.operands.dest_vector(fragment.register.class())?;
            access.offset = self.operands.address()?;
            found
        };
        of_registers(found, fragment.registers)?;
        self.stride(&access)?;
        Ok(if is_store { Op::WmmaStore(access) } else { Op::WmmaLoad(access) })
    }

    /// Decodes the distance between rows or columns, in elements; defaults to the length of one.
    fn stride(&mut self, access: &WmmaAccess) -> Result<()> {
        let [rows, columns] = access.operand.size(access.shape);
        match self.operands.len() {
            0 => {
                let stride = if access.layout == Layout::Row { columns } else { rows };
                self.operands.push_source(Value::Bits(stride.into()));
                Ok(())
            }
            _ => self.operands.source(B32),
        }
    }

    /// Decodes the element type; returns the registers that hold the fragment.
    fn fragment(&mut self, operand: WmmaOperand, shape: [u16; 3]) -> Result<Fragment> {
        let [rows, columns] = operand.size(shape).map(u32::from);
        let (bits, register, registers, is_known) = match operand {
            WmmaOperand::C => {
                let ty = self.modifiers.one_of(&RESULTS)?;
                let registers = registers_of(rows * columns, ty.bits());
                (ty.bits(), register_type(ty), registers, MmaForm::Wmma.has_result(shape, ty))
            }
            WmmaOperand::A | WmmaOperand::B => {
                let element = self.element()?;
                let registers = MmaForm::Wmma.registers_of(rows * columns, element);
                let is_known = MmaForm::Wmma.shapes(element).contains(&shape);
                (element.bits(), element_register(element), registers, is_known)
            }
        };
        match is_known {
            true => Ok(Fragment { bits, register, registers }),
            false => Err(unknown("wmma", shape)),
        }
    }
}

/// Registers of a lane that hold a matrix.
struct Fragment {
    /// Bits of an element.
    bits: u32,
    register: Type,
    registers: usize,
}

fn operand(name: &str) -> Option<WmmaOperand> {
    Some(match name {
        "a" => WmmaOperand::A,
        "b" => WmmaOperand::B,
        "c" => WmmaOperand::C,
        _ => return None,
    })
}
