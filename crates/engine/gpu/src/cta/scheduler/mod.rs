//! CTA schedulers: which SM gets the next CTA.

mod block_clustered;
mod depth_first;
mod dyncta;
mod lazy_cta;
mod round_robin;

use super::residency::{CtaNeeds, SmRoom};
use crate::sm::{CtaEnd, IdleCycles};
use warpmem_machine::Machine;
use warpmem_params::{Counter, Entry, Registry};
use warpmem_sim::{Gpcs, SmId};

/// What a CTA scheduler sees when it is asked for the SM of the next CTA of a kernel.
pub struct DispatchView<'a> {
    /// Index of the kernel in the trace, of its next CTA, and number of its CTAs.
    pub kernel: u32,
    pub cta: u32,
    pub ctas: u32,
    /// CTAs of the kernel that an empty SM holds.
    pub per_sm: u32,
    /// For a kernel with clusters.
    pub(super) cluster: Option<ClusterView>,
    pub(super) needs: CtaNeeds,
    pub(super) launches_per_cycle: u32,
    /// By SM: its free resources, the CTAs on it, and how many of them started in this cycle.
    pub(super) rooms: &'a [SmRoom],
    pub(super) resident: &'a [u32],
    pub(super) started: &'a [u32],
}

/// Clusters, of each of which the scheduler chooses the SM of the first CTA; the others follow on
/// the SMs of the same GPC.
#[derive(Clone, Copy)]
pub(super) struct ClusterView {
    pub gpcs: Gpcs,
    /// CTAs of a cluster.
    pub ctas: u32,
    /// The SM that the scheduler counts as its first.
    pub first_sm: usize,
}

impl DispatchView<'_> {
    /// Whether `ctas` CTAs of the kernel find room on an SM, and its GPC has room for the cluster of
    /// the next one.
    pub fn has_room_for(&self, sm: SmId, ctas: u32) -> bool {
        let in_gpc = |cluster: ClusterView| self.gpc_holds(sm, cluster);
        self.rooms[sm.index()].holds(&self.needs, ctas) && self.cluster.is_none_or(in_gpc)
    }

    fn gpc_holds(&self, sm: SmId, cluster: ClusterView) -> bool {
        let ClusterView { gpcs, ctas, first_sm } = cluster;
        let sms = self.rooms.len();
        let gpc = gpcs.of(SmId::new((sm.index() + first_sm) % sms));
        let rooms = gpcs.sms(gpc).map(|sm| self.rooms[(sm + sms - first_sm) % sms]);
        rooms.map(|room| room.ctas(&self.needs)).sum::<u32>() >= ctas
    }

    /// Whether an SM has room for the CTA and can start it in this cycle.
    pub fn may_start(&self, sm: SmId) -> bool {
        self.started[sm.index()] < self.launches_per_cycle && self.has_room_for(sm, 1)
    }

    /// CTAs on an SM, whatever their kernel.
    pub fn resident(&self, sm: SmId) -> u32 {
        self.resident[sm.index()]
    }

    /// The number of SMs.
    pub fn sms(&self) -> usize {
        self.rooms.len()
    }
}

/// A kernel that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelStart {
    /// Index in the trace.
    pub kernel: u32,
    /// CTAs of it that an empty SM holds.
    pub per_sm: u32,
    /// No other kernel runs.
    pub alone: bool,
}

/// Chooses the SM of the next CTA.
pub trait CtaScheduler: Send {
    /// One of the SMs that [may start](DispatchView::may_start) the CTA; `None` to wait although
    /// some may, until an SM has started its CTAs of this cycle, a CTA ends or
    /// [`observe`](CtaScheduler::observe) is called. Called until it answers `None`. Each kernel
    /// that runs is asked for in the order of their starts.
    fn pick(&mut self, view: &DispatchView) -> Option<SmId>;

    /// A kernel starts: its CTAs are asked for from now on.
    fn kernel_started(&mut self, _kernel: &KernelStart) {}

    /// A CTA comes to an SM: one that was picked, or one of the cluster of such a CTA.
    fn cta_started(&mut self, _kernel: u32, _sm: SmId) {}

    /// A CTA has ended on its SM. `issued` answers how many warp instructions each CTA of its
    /// kernel that is still on this SM has issued until now.
    fn cta_ended(&mut self, _end: &CtaEnd, _issued: &dyn Fn() -> Vec<u64>) {}

    /// All CTAs of a kernel have ended.
    fn kernel_ended(&mut self, _kernel: u32) {}

    /// Core cycles between two calls of [`observe`](CtaScheduler::observe); at least 1.
    fn interval(&self) -> Option<u64> {
        None
    }

    /// What an SM has done since the start of the run, at every multiple of the interval at which a
    /// kernel runs.
    fn observe(&mut self, _sm: SmId, _idle: IdleCycles) {}

    /// The most CTAs of an SM that may issue, at least 1: those launched last beyond it pause. May
    /// only change in [`observe`](CtaScheduler::observe) and when a kernel starts.
    fn running_limit(&self, _sm: SmId) -> u32 {
        u32::MAX
    }

    /// What it counted.
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

/// A pointer that goes round robin over the SMs.
#[derive(Default)]
struct Turns {
    next: usize,
}

impl Turns {
    /// The next of `sms` SMs for which `may` holds.
    fn take(&mut self, sms: usize, may: impl Fn(SmId) -> bool) -> Option<SmId> {
        let mut order = (0..sms).map(|turn| SmId::new((self.next + turn) % sms));
        let sm = order.find(|&sm| may(sm))?;
        self.next = (sm.index() + 1) % sms;
        Some(sm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sms_take_turns_and_full_ones_are_passed_over() {
        let mut turns = Turns::default();
        let order: Vec<_> = (0..5).map(|_| turns.take(4, |sm| sm != SmId(2))).collect();
        assert_eq!(order, [0, 1, 3, 0, 1].map(|sm| Some(SmId(sm))));
        assert_eq!(turns.take(4, |_| false), None);
        assert_eq!(turns.take(4, |_| true), Some(SmId(2)), "a turn that nobody takes is not lost");
    }
}
