//! Clusters of CTAs: what kernels say of them, and the operations that only they have.

use crate::op::{Access, Atomic};
use crate::types::Space;

/// What a kernel says of the clusters that it is launched in (ISA, "Cluster Dimension Directives").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterLimit {
    /// `.reqnctapercluster`: exactly these CTAs.
    pub exactly: Option<[u32; 3]>,
    /// `.maxclusterrank`: at most so many CTAs.
    pub at_most: Option<u32>,
    /// `.explicitcluster`: a launch must say them, unless the kernel does.
    pub explicit: bool,
}

/// Operations on the shared memory of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterOp {
    /// `mapa`: d = the address in CTA b that corresponds to a; of this space, or generic
    Map(Space),
    /// `getctarank`: d = rank of the CTA to which an address of this space, or a generic one, belongs
    Rank(Space),
    /// `st.async`: address, values, mbarrier at which the bytes complete, with its constant offset
    Store { access: Access, mbarrier: i64 },
    /// `red.async`, likewise
    Reduce { atomic: Atomic, mbarrier: i64 },
}

/// The halves of the cluster's barrier: `barrier.cluster`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterBarrier {
    Arrive,
    Wait,
}
