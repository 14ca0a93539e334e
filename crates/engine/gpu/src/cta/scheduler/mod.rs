//! CTA schedulers choose the SM of the next CTA. They see free resources, never warps.

mod block_clustered;
mod depth_first;
mod dyncta;
mod lazy_cta;
mod round_robin;

use super::residency::{CtaNeeds, FreeResources};
use crate::sm::{CtaEnd, IdleCycles};
use warpmem_machine::Machine;
use warpmem_params::{Counter, Entry, Registry};
use warpmem_sim::{Gpcs, SmId};

/// State of the machine when a CTA scheduler picks the SM of a kernel's next CTA.
pub struct DispatchView<'a> {
    /// Index of the kernel in the trace, index of its next CTA, and number of its CTAs.
    pub kernel: u32,
    pub cta: u32,
    pub ctas: u32,
    /// CTAs of the kernel that fit in an empty SM.
    pub per_sm: u32,
    /// Cluster of the next CTA, for a kernel with clusters.
    pub(super) cluster: Option<ClusterView>,
    pub(super) needs: CtaNeeds,
    pub(super) launches_per_cycle: u32,
    /// By SM: free resources, resident CTAs, and CTAs started in this cycle.
    pub(super) free: &'a [FreeResources],
    pub(super) resident: &'a [u32],
    pub(super) started: &'a [u32],
}

/// Clusters of a kernel. The scheduler chooses the SM of the first CTA; the others follow on SMs
/// of the same GPC.
#[derive(Clone, Copy)]
pub(super) struct ClusterView {
    pub gpcs: Gpcs,
    /// CTAs of a cluster.
    pub ctas: u32,
    /// SM that the scheduler sees as SM 0.
    pub first_sm: usize,
}

impl DispatchView<'_> {
    /// Whether `ctas` CTAs of the kernel fit on an SM, and the next cluster fits in its GPC.
    pub fn has_room_for(&self, sm: SmId, ctas: u32) -> bool {
        let in_gpc = |cluster: ClusterView| self.gpc_holds(sm, cluster);
        self.free[sm.index()].holds(&self.needs, ctas) && self.cluster.is_none_or(in_gpc)
    }

    fn gpc_holds(&self, sm: SmId, cluster: ClusterView) -> bool {
        let ClusterView { gpcs, ctas, first_sm } = cluster;
        let sms = self.free.len();
        let gpc = gpcs.of(SmId::new((sm.index() + first_sm) % sms));
        let free = gpcs.sms(gpc).map(|sm| self.free[(sm + sms - first_sm) % sms]);
        free.map(|room| room.ctas(&self.needs)).sum::<u32>() >= ctas
    }

    /// Whether an SM has room for the CTA and may start it in this cycle.
    pub fn may_start(&self, sm: SmId) -> bool {
        self.started[sm.index()] < self.launches_per_cycle && self.has_room_for(sm, 1)
    }

    /// Returns the resident CTAs of an SM, of all kernels.
    pub fn resident(&self, sm: SmId) -> u32 {
        self.resident[sm.index()]
    }

    /// Returns the number of SMs.
    pub fn sms(&self) -> usize {
        self.free.len()
    }
}

/// A starting kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelStart {
    /// Index in the trace.
    pub kernel: u32,
    /// CTAs of the kernel that fit in an empty SM.
    pub per_sm: u32,
    /// No other kernel runs.
    pub alone: bool,
}

/// Chooses the SM of the next CTA.
pub trait CtaScheduler: Send {
    /// Picks one of the SMs that [may start](DispatchView::may_start) the CTA, or `None` to wait
    /// although some may, until a later cycle, the end of a CTA or a call of
    /// [`observe`](CtaScheduler::observe). Called repeatedly until it returns `None`, for running
    /// kernels in order of their start.
    fn pick(&mut self, view: &DispatchView) -> Option<SmId>;

    /// Called when a kernel starts.
    fn kernel_started(&mut self, _kernel: &KernelStart) {}

    /// Called when a CTA is assigned to an SM: a picked one, or another CTA of its cluster.
    fn cta_started(&mut self, _kernel: u32, _sm: SmId) {}

    /// Called when a CTA has ended. `issued` returns the warp instructions issued so far by each
    /// CTA of its kernel still resident on this SM.
    fn cta_ended(&mut self, _end: &CtaEnd, _issued: &dyn Fn() -> Vec<u64>) {}

    /// Called when all CTAs of a kernel have ended.
    fn kernel_ended(&mut self, _kernel: u32) {}

    /// Returns the period of [`observe`](CtaScheduler::observe) in core cycles, at least 1.
    fn interval(&self) -> Option<u64> {
        None
    }

    /// Observes the idle cycles of an SM since the start of the run, at every multiple of the
    /// interval while a kernel runs.
    fn observe(&mut self, _sm: SmId, _idle: IdleCycles) {}

    /// Returns the number of CTAs of an SM that may issue, at least 1; the most recently launched
    /// CTAs beyond it pause. May change only in [`observe`](CtaScheduler::observe) and at a kernel
    /// start.
    fn running_limit(&self, _sm: SmId) -> u32 {
        u32::MAX
    }

    /// Returns the policy's counters for the result tables.
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
}

/// Every CTA scheduler.
pub static CTA_SCHEDULERS: Registry<dyn CtaScheduler, Machine> = Registry {
    slot: "cta_scheduler",
    entries: &[
        round_robin::ENTRY,
        depth_first::ENTRY,
        block_clustered::ENTRY,
        lazy_cta::ENTRY,
        dyncta::ENTRY,
    ],
};

type CtaEntry = Entry<dyn CtaScheduler, Machine>;

/// A round-robin pointer over the SMs.
#[derive(Default)]
struct RoundRobinPointer {
    next: usize,
}

impl RoundRobinPointer {
    /// Returns the next of `sms` SMs for which `may` holds, and advances past it.
    fn take(&mut self, sms: usize, may: impl Fn(SmId) -> bool) -> Option<SmId> {
        let mut order = (0..sms).map(|offset| SmId::new((self.next + offset) % sms));
        let sm = order.find(|&sm| may(sm))?;
        self.next = (sm.index() + 1) % sms;
        Some(sm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_robin_skips_full_sms() {
        let mut pointer = RoundRobinPointer::default();
        let order: Vec<_> = (0..5).map(|_| pointer.take(4, |sm| sm != SmId(2))).collect();
        assert_eq!(order, [0, 1, 3, 0, 1].map(|sm| Some(SmId(sm))));
        assert_eq!(pointer.take(4, |_| false), None);
        assert_eq!(
            pointer.take(4, |_| true),
            Some(SmId(2)),
            "a failed search does not advance the pointer"
        );
    }
}
