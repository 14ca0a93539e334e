//! The elements of a tensor.

use warpmem_ptx::Type;

/// What the elements of a tensor are, and how a load leaves them in shared memory; stores, reductions
/// and prefetches know their type only (`CUtensorMapDataType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorElement {
    /// Copied as they are.
    Plain(Type),
    /// Singles; subnormal ones become zero.
    F32Ftz,
    /// Singles, rounded to `.tf32`. The manual does not say how; here as `cvt.rna.tf32.f32` does.
    Tf32,
    /// Both.
    Tf32Ftz,
}

/// All, as `tensormap.replace` numbers them (ISA, the table "Tensormap new_val validity"): maps hold the
/// number of one.
pub(super) const ELEMENTS: [TensorElement; 13] = [
    TensorElement::Plain(Type::U8),
    TensorElement::Plain(Type::U16),
    TensorElement::Plain(Type::U32),
    TensorElement::Plain(Type::S32),
    TensorElement::Plain(Type::U64),
    TensorElement::Plain(Type::S64),
    TensorElement::Plain(Type::F16),
    TensorElement::Plain(Type::F32),
    TensorElement::F32Ftz,
    TensorElement::Plain(Type::F64),
    TensorElement::Plain(Type::Bf16),
    TensorElement::Tf32,
    TensorElement::Tf32Ftz,
];

impl From<Type> for TensorElement {
    fn from(ty: Type) -> TensorElement {
        TensorElement::Plain(ty)
    }
}

impl TensorElement {
    /// Their type in global memory.
    pub(crate) fn ty(self) -> Type {
        match self {
            TensorElement::Plain(ty) => ty,
            TensorElement::F32Ftz | TensorElement::Tf32 | TensorElement::Tf32Ftz => Type::F32,
        }
    }

    pub(crate) fn is_plain(self) -> bool {
        matches!(self, TensorElement::Plain(_))
    }
}
