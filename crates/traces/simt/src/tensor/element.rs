//! Elements of a tensor.

use warpmem_ptx::Type;

/// Element of a tensor, and its conversion by a load into shared memory; stores, reductions and prefetches
/// only use its type (`CUtensorMapDataType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorElement {
    /// Copied unchanged.
    Plain(Type),
    /// Singles; subnormals are flushed to zero.
    F32Ftz,
    /// Singles, rounded to `.tf32`. The manual does not define the rounding; here it is that of
    /// `cvt.rna.tf32.f32`.
    Tf32,
    /// Singles, flushed and rounded.
    Tf32Ftz,
}

/// All elements, in the numbering of `tensormap.replace` (ISA, the table "Tensormap new_val validity"), which
/// maps store.
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
    /// Returns the type in global memory.
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
