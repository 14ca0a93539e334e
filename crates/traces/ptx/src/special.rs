//! Special registers (ISA, section "Special Registers").

/// A supported special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Special {
    Tid(Axis),
    Ntid(Axis),
    Ctaid(Axis),
    Nctaid(Axis),
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    GridId,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    TotalSharedBytes,
    DynamicSharedBytes,
    /// Low and high half of the address of a launch-wide synchronization area, for which toolchains use
    /// `%envreg2` and `%envreg1`.
    Workspace,
    WorkspaceHi,
    /// Position of the cluster in the grid, and clusters of the grid.
    ClusterId(Axis),
    NclusterId(Axis),
    /// Position of the CTA in its cluster, and CTAs of a cluster.
    ClusterCtaid(Axis),
    ClusterNctaid(Axis),
    ClusterCtarank,
    ClusterNctarank,
    /// A predicate.
    IsExplicitCluster,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Special {
    /// Returns the register called `name`: `%tid` with its axis, or `%laneid` without.
    pub(crate) fn named(name: &str, axis: Option<&str>) -> Option<Special> {
        use Special::*;
        let axis = match axis {
            None => None,
            Some("x") => Some(Axis::X),
            Some("y") => Some(Axis::Y),
            Some("z") => Some(Axis::Z),
            Some(_) => return None,
        };
        if let Some(axis) = axis {
            return Some(match name {
                "%tid" => Tid(axis),
                "%ntid" => Ntid(axis),
                "%ctaid" => Ctaid(axis),
                "%nctaid" => Nctaid(axis),
                "%clusterid" => ClusterId(axis),
                "%nclusterid" => NclusterId(axis),
                "%cluster_ctaid" => ClusterCtaid(axis),
                "%cluster_nctaid" => ClusterNctaid(axis),
                _ => return None,
            });
        }
        Some(match name {
            "%laneid" => LaneId,
            "%warpid" => WarpId,
            "%nwarpid" => NwarpId,
            "%smid" => SmId,
            "%nsmid" => NsmId,
            "%gridid" => GridId,
            "%lanemask_eq" => LanemaskEq,
            "%lanemask_le" => LanemaskLe,
            "%lanemask_lt" => LanemaskLt,
            "%lanemask_ge" => LanemaskGe,
            "%lanemask_gt" => LanemaskGt,
            "%clock" | "%clock_lo" => Clock,
            "%clock_hi" => ClockHi,
            "%clock64" => Clock64,
            "%globaltimer" => GlobalTimer,
            "%globaltimer_lo" => GlobalTimerLo,
            "%globaltimer_hi" => GlobalTimerHi,
            "%total_smem_size" => TotalSharedBytes,
            "%dynamic_smem_size" => DynamicSharedBytes,
            "%envreg1" => WorkspaceHi,
            "%envreg2" => Workspace,
            "%cluster_ctarank" => ClusterCtarank,
            "%cluster_nctarank" => ClusterNctarank,
            "%is_explicit_cluster" => IsExplicitCluster,
            _ => return None,
        })
    }
}
