//! Clusters of CTAs: the limits that kernels declare, and the cluster barrier.

/// Cluster shapes that a kernel's declaration permits (ISA, "Cluster Dimension Directives").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterLimit {
    /// `.reqnctapercluster`: required CTAs along x, y and z.
    pub exactly: Option<[u32; 3]>,
    /// `.maxclusterrank`: maximum CTAs.
    pub at_most: Option<u32>,
    /// `.explicitcluster`: the launch must give the shape, unless the kernel does.
    pub explicit: bool,
}

/// The halves of the cluster barrier, `barrier.cluster`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterBarrier {
    Arrive,
    Wait,
}
