//! Fields of tensor maps that kernels can change.

/// A field of a tensor map, with its dimension or stride index (ISA, "tensormap.replace").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorMapField {
    GlobalAddress,
    /// Dimensions minus one.
    Rank,
    BoxDim(u8),
    GlobalDim(u8),
    /// Bytes; stride 0 belongs to dimension 1.
    GlobalStride(u8),
    ElementStride(u8),
    /// Number in the ISA's table, which differs from `CUtensorMapDataType`.
    ElementType,
    InterleaveLayout,
    SwizzleMode,
    SwizzleAtomicity,
    FillMode,
}
