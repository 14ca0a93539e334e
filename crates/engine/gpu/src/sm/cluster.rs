//! Cluster barriers within an SM. Arrival and wait are separate instructions: a warp arrives,
//! continues, and waits later (PTX ISA, `barrier.cluster`).
//!
//! ```text
//!  all warps of a CTA arrive ─▶ dispatcher (`cta/clusters.rs`) ─▶ all CTAs of the cluster arrived
//!  waiting warps resume ◀───────────── barrier_latency later ◀──────────────┘
//! ```

use super::Sm;
use super::scheduler::CtaSlot;
use std::sync::Arc;
use warpmem_sim::{CoreCycle, SmId, WarpSlot};

/// A CTA, by its kernel and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterCta {
    pub kernel: u32,
    pub cta: u32,
}

/// State of a resident CTA in its cluster.
#[derive(Default)]
pub(super) struct Cluster {
    /// SMs of the cluster's CTAs, by rank; none if the CTA has no peers.
    sms: Option<Arc<[SmId]>>,
    /// A warp of the CTA has arrived at a cluster barrier.
    has_barrier: bool,
    /// Completed barriers.
    completed: u32,
    /// All warps of the CTA have arrived at the next barrier.
    has_arrived: bool,
    /// Warps that wait for the next barrier, by slot.
    waiting: u64,
}

impl Cluster {
    pub fn of(sms: Option<Arc<[SmId]>>) -> Cluster {
        Cluster { sms, ..Cluster::default() }
    }

    /// Returns the SMs of the cluster's CTAs by rank: `own` alone without peers.
    pub fn sms<'a>(&'a self, own: &'a SmId) -> &'a [SmId] {
        self.sms.as_deref().unwrap_or(std::slice::from_ref(own))
    }

    /// Releases the warps that wait at the barrier and returns them, by slot.
    pub fn release_all(&mut self) -> u64 {
        std::mem::take(&mut self.waiting)
    }
}

impl Sm {
    /// Records the arrival of a warp at its cluster barrier.
    pub(super) fn arrive_at_cluster(&mut self, slot: WarpSlot) {
        self.sync.activate();
        let warp = self.warps.get_mut(slot);
        warp.cluster_arrivals += 1;
        self.ctas.cta_mut(warp.cta).cluster.has_barrier = true;
    }

    /// Makes a warp wait at its cluster barrier unless it is complete.
    pub(super) fn wait_at_cluster(&mut self, slot: WarpSlot) {
        let warp = self.warps.get(slot);
        let state = self.ctas.cta_mut(warp.cta);
        if warp.cluster_arrivals > state.cluster.completed && !state.is_terminated {
            state.cluster.waiting |= slot.bit();
            self.sets.wait_at_barrier(slot);
        }
    }

    /// Reports the arrival of a CTA at its cluster barrier once all its warps that have not retired
    /// have arrived.
    pub(super) fn report_cluster_arrival(&mut self, slot: CtaSlot) {
        let cta = self.ctas.cta(slot);
        let Cluster { has_barrier, has_arrived, completed, .. } = cta.cluster;
        if !has_barrier || has_arrived {
            return;
        }
        let at_end = self.sets.at_end();
        let arrived = |warp: WarpSlot| {
            self.warps.find(warp).is_none_or(|warp| warp.cluster_arrivals > completed)
        };
        if !WarpSlot::each(cta.slots & !at_end).all(arrived) {
            return;
        }
        let has_peers = cta.cluster.sms.is_some();
        let id = ClusterCta { kernel: cta.kernel, cta: cta.index };
        self.ctas.cta_mut(slot).cluster.has_arrived = true;
        if has_peers {
            self.sync.arrivals.push_back(id);
        } else {
            self.release_cluster(id, self.cycle + self.sync.barrier_latency);
        }
    }

    /// Takes the next CTA whose warps have all arrived at their cluster barrier.
    pub fn take_arrival(&mut self) -> Option<ClusterCta> {
        self.sync.arrivals.pop_front()
    }

    /// Releases a CTA from its cluster barrier in core cycle `at`. Calls must be in order of `at`.
    pub fn release_cluster(&mut self, cta: ClusterCta, at: CoreCycle) {
        self.sync.releases.push_back((at, cta));
    }

    /// Resumes the warps of CTAs released from their cluster barrier by `cycle`.
    #[inline(never)]
    pub(super) fn leave_clusters(&mut self, cycle: CoreCycle) {
        while let Some(cta) = self.sync.take_release(cycle) {
            // The CTA may have ended since its arrival.
            if let Some(slot) = self.ctas.slot_of(cta) {
                self.leave_cluster(slot, cycle);
            }
        }
    }

    fn leave_cluster(&mut self, cta: CtaSlot, cycle: CoreCycle) {
        let cluster = &mut self.ctas.cta_mut(cta).cluster;
        cluster.completed += 1;
        cluster.has_arrived = false;
        let waiting = cluster.release_all();
        self.leave_barrier(waiting, cycle, cycle);
        // The release may have retired the last warps of the CTA.
        if self.ctas.has(cta) {
            self.report_cluster_arrival(cta);
        }
    }
}
