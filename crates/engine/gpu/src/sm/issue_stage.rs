//! The issue stage: warp schedulers, sub-cores and operand collectors.

use super::collectors::Collectors;
use super::scheduler::{Needs, SchedulerId, WarpScheduler};
use super::sub_core::{HeldDecision, SubCore};
use super::warp_sets::WarpSets;
use warpmem_machine as machine;
use warpmem_params::Counter;
use warpmem_sim::{CoreCycle, WarpSlot};

/// State of the issue stage. It decides which warps may issue and which warp does; it never
/// changes a warp.
pub(super) struct IssueStage {
    sub_cores: Vec<SubCore>,
    /// None where collectors are unlimited.
    pub collectors: Option<Box<Collectors>>,
    pub policy: Box<dyn WarpScheduler>,
    pub needs: Needs,
    /// Warps that wait until a unit takes one of their instructions.
    pub awaiting_unit: u64,
    /// Warps of the schedulers that issue later in this cycle (GPGPU-Sim,
    /// `shader_core_ctx::issue`); 0 outside the issue and [`IssueStage::admit`], and where warps
    /// released from a barrier issue in the next cycle.
    later: u64,
    /// The policy held all candidates of some scheduler in the last step.
    holds: bool,
    /// The scheduler that issues first rotates.
    rotates: bool,
}

impl IssueStage {
    pub fn new(config: &machine::Sm, policy: Box<dyn WarpScheduler>) -> IssueStage {
        let schedulers = config.schedulers as usize;
        let sub_core = |scheduler| SubCore::new(scheduler, schedulers);
        IssueStage {
            sub_cores: SchedulerId::all(schedulers).map(sub_core).collect(),
            collectors: (config.collectors > 0).then(|| Box::new(Collectors::new(config))),
            needs: policy.needs(),
            policy,
            awaiting_unit: 0,
            later: 0,
            holds: false,
            rotates: config.rotating_schedulers,
        }
    }

    /// Iterates over the schedulers of the SM.
    pub fn schedulers(&self) -> impl Iterator<Item = SchedulerId> + use<> {
        SchedulerId::all(self.sub_cores.len())
    }

    /// Returns the scheduler of a warp slot.
    #[inline]
    pub fn scheduler_of(&self, slot: WarpSlot) -> SchedulerId {
        SchedulerId::new(slot.index() % self.sub_cores.len())
    }

    #[inline]
    pub fn sub_core(&self, s: SchedulerId) -> &SubCore {
        &self.sub_cores[s.index()]
    }

    #[inline]
    pub fn sub_core_mut(&mut self, s: SchedulerId) -> &mut SubCore {
        &mut self.sub_cores[s.index()]
    }

    /// Discards the held decisions of the last step.
    #[inline]
    pub fn discard_held(&mut self) {
        if self.holds {
            self.sub_cores.iter_mut().for_each(|sub_core| sub_core.held = None);
            self.holds = false;
        }
    }

    /// Begins the issue of a cycle and returns the first scheduler. With rotation, it changes in
    /// every cycle with CTAs; `occupied` of them precede this one (GPGPU-Sim,
    /// `shader_core_ctx::issue`, `Issue_Prio`).
    #[inline]
    pub fn begin(&mut self, occupied: u64) -> SchedulerId {
        self.later = if self.collectors.is_some() { u64::MAX } else { 0 };
        let first = if self.rotates { occupied % self.sub_cores.len() as u64 } else { 0 };
        SchedulerId::new(first as usize)
    }

    /// Returns the scheduler that issues after `s` in a cycle.
    #[inline]
    pub fn after(&self, s: SchedulerId) -> SchedulerId {
        let next = s.index() + 1;
        SchedulerId::new(if next < self.sub_cores.len() { next } else { 0 })
    }

    /// Lets warps that become ready before the issue of a cycle issue in it, until
    /// [`IssueStage::end`].
    pub fn admit(&mut self, warps: u64) {
        self.later = warps;
    }

    /// Marks a scheduler as issuing now.
    #[inline]
    pub fn reach(&mut self, s: SchedulerId) {
        self.later &= !self.sub_cores[s.index()].warps();
    }

    /// Ends the issue of a cycle.
    #[inline]
    pub fn end(&mut self) {
        self.later = 0;
    }

    /// Returns the warps whose schedulers issue later in this cycle.
    #[inline]
    pub fn later(&self) -> u64 {
        self.later
    }

    /// Records that the policy held all candidates of a scheduler.
    pub fn hold(&mut self, s: SchedulerId, decision: HeldDecision) {
        self.sub_cores[s.index()].held = Some(decision);
        self.holds = true;
    }

    /// Returns the warps of a scheduler whose next instruction finds no free unit or dispatch
    /// register in `cycle`.
    #[inline]
    pub fn blocked(&self, s: SchedulerId, cycle: CoreCycle, sets: &WarpSets) -> u64 {
        match &self.collectors {
            Some(collectors) => collectors.blocked(s, sets),
            None => self.sub_cores[s.index()].blocked_by_units(cycle, sets),
        }
    }

    /// Whether one of the `ready` warps is blocked only by the dispatch register of its
    /// instruction.
    pub fn awaits_dispatch(&self, collectors: &Collectors, ready: u64, sets: &WarpSets) -> bool {
        ready != 0
            && self.schedulers().any(|s| {
                let own = ready & self.sub_cores[s.index()].warps();
                own & collectors.blocked(s, sets) != 0
            })
    }

    /// Returns the counters of the policy.
    pub fn counters(&self) -> Vec<Counter> {
        self.policy.counters()
    }
}
