//! Clusters of CTAs: what kernels say of them, and their barrier.

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

/// The halves of the cluster's barrier: `barrier.cluster`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterBarrier {
    Arrive,
    Wait,
}
