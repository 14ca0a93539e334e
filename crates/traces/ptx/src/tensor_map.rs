//! Tensor maps as kernels change them.

/// A field of a tensor map, with the dimension or stride that it is of (ISA, "tensormap.replace").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorMapField {
    GlobalAddress,
    /// The value is one less.
    Rank,
    BoxDim(u8),
    GlobalDim(u8),
    /// In bytes; stride 0 is that of dimension 1.
    GlobalStride(u8),
    ElementStride(u8),
    /// A number of the ISA's table, which is not that of `CUtensorMapDataType`.
    ElementType,
    InterleaveLayout,
    SwizzleMode,
    SwizzleAtomicity,
    FillMode,
}
