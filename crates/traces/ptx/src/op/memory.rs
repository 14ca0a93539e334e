//! Memory operations: accesses, atomics, bulk and tensor copies, and their cache operators.

use crate::types::{Space, Type};

/// A load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub space: Space,
    pub ty: Type,
    /// Elements: 1, 2, 4 or 8.
    pub elements: u8,
    pub cache: Cache,
    pub offset: i64,
}

/// Cache operator of an access, or the one that its semantics imply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cache {
    #[default]
    Default,
    /// `.ca`, `.wb`
    All,
    /// `.cg`
    Global,
    /// `.cs` and evict-first hints
    Streaming,
    /// `.lu`
    LastUse,
    /// `.cv`, `.wt`, `.volatile`, `.sys` scope
    Volatile,
    /// `.nc`, `ldu`
    ReadOnly,
    /// Strong accesses with a scope within the GPU.
    StrongGpu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    pub space: Space,
    pub op: AtomicOp,
    /// Element type.
    pub ty: Type,
    /// Elements: 1, 2, 4 or 8. A `CompareAndSwap` compares and exchanges all of them.
    pub elements: u8,
    pub ftz: bool,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Add,
    Increment,
    Decrement,
    Min,
    Max,
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`: one thread copies many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bulk {
    /// Global to shared memory: to, from, bytes, mbarrier that counts the bytes.
    Load,
    /// `Load` to the same offsets of several CTAs of the cluster; the last source has one bit per rank.
    Multicast,
    /// Shared memory of the CTA to that of another: to, from, bytes, mbarrier.
    Share,
    /// Shared to global memory: to, from, bytes.
    Store,
    /// Element-wise reduction into global memory: to, from, bytes.
    Reduce { op: AtomicOp, ty: Type },
    /// Global memory to L2: from, bytes.
    Prefetch,
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`: one thread copies a box of a tensor described by a
/// tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorCopy {
    /// Global to shared memory: to, map, coordinates, mbarrier that counts the bytes.
    Load,
    /// `Load` to the same offsets of several CTAs of the cluster; the last source has one bit per rank.
    Multicast,
    /// Shared to global memory: map, coordinates, from.
    Store,
    /// Element-wise reduction into global memory: map, coordinates, from.
    Reduce(AtomicOp),
    /// Global memory to L2: map, coordinates.
    Prefetch,
}

/// Operations on the shared memory of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterOp {
    /// `mapa`: d = the address in CTA b that corresponds to a; in this space, or generic
    Map(Space),
    /// `getctarank`: d = rank of the CTA that owns an address, in this space or generic
    Rank(Space),
    /// `st.async`: address, values, mbarrier that counts the bytes, with its constant offset
    Store { access: Access, mbarrier: i64 },
    /// `red.async`, likewise
    Reduce { atomic: Atomic, mbarrier: i64 },
}

/// `ldmatrix` and `stmatrix`: matrices of 8 × 8 elements of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrices {
    /// Space of the addresses: shared, or generic.
    pub space: Space,
    /// Matrices: 1, 2 or 4.
    pub count: u8,
    pub transposed: bool,
    pub offset: i64,
}
