//! Synchronisation of warps beyond the barriers of a CTA.

use super::cluster::ClusterCta;
use super::mbarrier::LateArrival;
use std::collections::VecDeque;
use warpmem_sim::CoreCycle;

/// Cluster barriers, late arrivals at mbarriers, and warps released by early termination.
pub(super) struct WarpSync {
    /// Cycles from the last arrival at a cluster barrier to its release, for a CTA without peers.
    pub barrier_latency: u64,
    /// Cluster barriers, mbarriers or messages are in use. Most SMs use none and skip this work.
    is_active: bool,
    /// Arrivals at mbarriers that wait for async copies.
    pub late_arrivals: Vec<LateArrival>,
    /// Warps released by the early termination of their kernel, by slot.
    pub released: u64,
    /// CTAs whose warps have all arrived at their cluster barrier, to be reported.
    pub arrivals: VecDeque<ClusterCta>,
    /// CTAs released from their cluster barrier, with the cycle of the release, in order.
    pub releases: VecDeque<(CoreCycle, ClusterCta)>,
}

impl WarpSync {
    pub fn new(barrier_latency: u32) -> WarpSync {
        WarpSync {
            barrier_latency: u64::from(barrier_latency),
            is_active: false,
            late_arrivals: Vec::new(),
            released: 0,
            arrivals: VecDeque::new(),
            releases: VecDeque::new(),
        }
    }

    /// Whether any cluster barrier, mbarrier or message may need service.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    pub fn activate(&mut self) {
        self.is_active = true;
    }

    /// Returns the cycle of the next release of a cluster barrier.
    #[inline]
    pub fn next_release(&self) -> CoreCycle {
        self.releases.front().map_or(CoreCycle::NEVER, |&(at, _)| at)
    }

    /// Takes the next CTA released from its cluster barrier by `cycle`.
    pub fn take_release(&mut self, cycle: CoreCycle) -> Option<ClusterCta> {
        if self.next_release() > cycle {
            return None;
        }
        self.releases.pop_front().map(|(_, cta)| cta)
    }
}
