//! CTA schedulers choose the SM of the next CTA. They see free resources, never warps.

mod block_clustered;
mod depth_first;
mod dyncta;
mod lazy_cta;
mod round_robin;

use super::residency::CtaNeeds;
use super::sms::SmTable;
use crate::sm::{CtaEnd, IdleCycles};
use warpmem_machine::Machine;
use warpmem_params::{Chosen, Counter, Entry, Registry};
use warpmem_sim::SmId;

/// State of the machine when a CTA scheduler picks the SM of a kernel's next CTA.
pub struct DispatchView<'a> {
    /// Index of the kernel in the trace, index of its next CTA, and number of its CTAs.
    pub kernel: u32,
    pub cta: u32,
    pub ctas: u32,
    /// CTAs of the kernel that fit in an empty SM.
    pub per_sm: u32,
    /// CTAs of a cluster of the kernel; 1 without clusters. The scheduler chooses the SM of the
    /// first CTA; the others follow on SMs of the same GPC.
    pub(super) cluster: u32,
    pub(super) needs: &'a CtaNeeds,
    pub(super) sms: &'a SmTable,
}

impl DispatchView<'_> {
    /// Whether `ctas` CTAs of the kernel fit on an SM, and the next cluster fits in its GPC.
    pub fn has_room_for(&self, sm: SmId, ctas: u32) -> bool {
        self.sms.holds(sm, self.needs, ctas)
            && (self.cluster == 1 || self.sms.gpc_room(sm, self.needs) >= self.cluster)
    }

    /// Whether an SM has room for the CTA and may start it in this cycle.
    pub fn may_start(&self, sm: SmId) -> bool {
        self.sms.may_start(sm) && self.has_room_for(sm, 1)
    }

    /// Returns the resident CTAs of an SM, of all kernels.
    pub fn resident(&self, sm: SmId) -> u32 {
        self.sms.resident(sm)
    }

    /// Returns the number of SMs.
    pub fn sms(&self) -> usize {
        self.sms.len()
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
pub static CTA_SCHEDULERS: Registry<dyn CtaScheduler, Machine> = Registry::new(
    "cta_scheduler",
    &[
        round_robin::ENTRY,
        depth_first::ENTRY,
        block_clustered::ENTRY,
        lazy_cta::ENTRY,
        dyncta::ENTRY,
    ],
);

type CtaEntry = Entry<dyn CtaScheduler, Machine>;

/// The CTA scheduler that a machine chooses.
pub type ChosenCtaScheduler = Chosen<dyn CtaScheduler, Machine>;

/// A round-robin pointer over the SMs.
#[derive(Default)]
struct RoundRobinPointer {
    next: usize,
}

impl RoundRobinPointer {
    /// Picks the next SM for which `may` holds, and advances past it. For a cluster it is the next
    /// of those with the fewest CTAs, because the pointer stays before the SMs of the other CTAs.
    fn pick(&mut self, view: &DispatchView, may: impl Fn(SmId) -> bool) -> Option<SmId> {
        if view.cluster == 1 {
            return self.take(view.sms(), may);
        }
        let sms = (0..view.sms()).map(SmId::new).filter(|&sm| may(sm));
        let least = sms.map(|sm| view.resident(sm)).min()?;
        self.take(view.sms(), |sm| view.resident(sm) == least && may(sm))
    }

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
