//! The barrier of a cluster, as an SM sees it. Its two halves are instructions of their own: a warp
//! arrives and goes on, and waits later (PTX ISA, `barrier.cluster`).
//!
//! ```text
//!  warps arrive ─▶ all of a CTA have ─▶ clusters of the dispatcher ─▶ all CTAs of the cluster have
//!  warps wait ◀──────────────── barrier_latency later ◀───────────────────────────────┘
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

/// The cluster of a resident CTA.
#[derive(Default)]
pub(super) struct Cluster {
    /// The SMs of its CTAs, by rank; none if the CTA is alone.
    sms: Option<Arc<[SmId]>>,
    /// A warp of the CTA has arrived at the barrier once.
    has_barrier: bool,
    /// Barriers that are complete.
    completed: u32,
    /// All warps of the CTA have arrived at the next one.
    has_arrived: bool,
    /// Warps that wait for it, by slot.
    waiting: u64,
}

impl Cluster {
    pub fn of(sms: Option<Arc<[SmId]>>) -> Cluster {
        Cluster { sms, ..Cluster::default() }
    }

    /// The SMs of its CTAs, by rank; `own` if there are no others.
    pub fn sms<'a>(&'a self, own: &'a SmId) -> &'a [SmId] {
        self.sms.as_deref().unwrap_or(std::slice::from_ref(own))
    }

    /// The warps that wait at its barrier, by slot, wait no longer.
    pub fn give_up(&mut self) -> u64 {
        std::mem::take(&mut self.waiting)
    }
}

impl Sm {
    /// A warp arrives at the barrier of its cluster.
    pub(super) fn arrive_at_cluster(&mut self, slot: WarpSlot) {
        self.has_meetings = true;
        let warp = self.warp_mut(slot);
        warp.cluster_arrivals += 1;
        let cta = warp.cta;
        self.residents.cta_mut(cta).cluster.has_barrier = true;
    }

    /// A warp waits at the barrier of its cluster, if others have not arrived.
    pub(super) fn wait_at_cluster(&mut self, slot: WarpSlot) {
        let warp = self.warp(slot);
        let (cta, arrivals) = (warp.cta, warp.cluster_arrivals);
        let state = self.residents.cta_mut(cta);
        if arrivals > state.cluster.completed && !state.ends_early {
            state.cluster.waiting |= slot.bit();
            self.sets.wait_at_barrier(slot);
        }
    }

    /// Says so if all warps of a CTA that have not ended have arrived at the next barrier of their
    /// cluster.
    pub(super) fn tell_if_arrived(&mut self, slot: CtaSlot) {
        let cta = self.residents.cta(slot);
        let Cluster { has_barrier, has_arrived, completed, .. } = cta.cluster;
        if !has_barrier || has_arrived {
            return;
        }
        let at_end = self.sets.at_end();
        let has_come = |warp: WarpSlot| {
            let warp = self.warps[warp.index()].as_ref();
            warp.is_none_or(|warp| warp.cluster_arrivals > completed)
        };
        if !WarpSlot::each(cta.slots & !at_end).all(has_come) {
            return;
        }
        let (kernel, index, is_alone) = (cta.kernel, cta.index, cta.cluster.sms.is_none());
        self.residents.cta_mut(slot).cluster.has_arrived = true;
        let cta = ClusterCta { kernel, cta: index };
        if is_alone {
            self.release_cluster(cta, self.cycle + self.barrier_latency);
        } else {
            self.residents.arrivals.push_back(cta);
        }
    }

    /// Takes the first of the CTAs whose warps have all arrived at the barrier of their cluster.
    pub fn take_arrival(&mut self) -> Option<ClusterCta> {
        self.residents.arrivals.pop_front()
    }

    /// All of the cluster of a CTA have arrived: its warps go on in core cycle `at`. Calls are in the
    /// order of these cycles.
    pub fn release_cluster(&mut self, cta: ClusterCta, at: CoreCycle) {
        self.residents.releases.push_back((at, cta));
    }

    /// Cycle in which the next warps go on that have waited for their cluster.
    #[inline]
    pub(super) fn next_release(&self) -> CoreCycle {
        self.residents.releases.front().map_or(CoreCycle::NEVER, |&(at, _)| at)
    }

    /// Warps whose clusters have arrived go on.
    pub(super) fn leave_clusters(&mut self, cycle: CoreCycle) {
        while self.next_release() <= cycle {
            let Some((_, cta)) = self.residents.releases.pop_front() else { return };
            // It may have ended since it arrived.
            if let Some(slot) = self.residents.slot_of(cta) {
                self.leave_cluster(slot, cycle);
            }
        }
    }

    fn leave_cluster(&mut self, cta: CtaSlot, cycle: CoreCycle) {
        let cluster = &mut self.residents.cta_mut(cta).cluster;
        cluster.completed += 1;
        cluster.has_arrived = false;
        let waiting = cluster.give_up();
        self.leave_barrier(waiting, cycle, cycle);
        // The CTA is gone if its last warps have ended.
        if self.residents.has(cta) {
            self.tell_if_arrived(cta);
        }
    }
}
