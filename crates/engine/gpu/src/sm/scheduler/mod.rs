//! Warp schedulers choose the ready warp that issues next. One policy object serves all schedulers
//! of an SM. Policies see warps as bit sets and never change the SM.

mod caws;
mod ccws;
mod cta_aware;
mod groups;
mod gto;
mod lrr;
mod mascar;
mod oldest;
#[cfg(test)]
mod plain;
mod swl;
mod two_level;
mod two_level_active;

use warpmem_machine::{L1, Machine, Sm};
use warpmem_params::{Counter, Entry, Registry};
use warpmem_sim::{CoreCycle, SmId, WarpSlot, ids};

ids! {
    /// A warp scheduler of an SM. `usize` so that loops over schedulers need no bounds checks.
    pub SchedulerId(usize);
    /// A slot for a resident CTA, numbered within its SM.
    pub CtaSlot(u32);
}

/// The configuration from which a warp scheduler is built.
#[derive(Clone, Debug)]
pub struct SmContext {
    pub id: SmId,
    pub sm: Sm,
    pub l1: L1,
}

impl SmContext {
    pub fn of(machine: &Machine, id: SmId) -> SmContext {
        SmContext { id, sm: machine.sm.clone(), l1: machine.l1.clone() }
    }

    /// Number of warp schedulers of the SM.
    pub fn schedulers(&self) -> usize {
        self.sm.schedulers as usize
    }
}

/// State of the SM at a pick. Sets of warps have a bit for each warp slot.
#[derive(Clone, Copy, Default)]
pub struct WarpView<'a> {
    /// Current core cycle.
    pub cycle: CoreCycle,
    /// The scheduler that issues, and its warp slots.
    pub scheduler: SchedulerId,
    pub own: u64,
    /// Launch order of the warp in each slot; smaller is older.
    pub ages: &'a [u64],
    /// Resident warps of all schedulers.
    pub present: u64,
    /// Resident warps of paused CTAs, also in [`WarpView::waiting`].
    pub paused: u64,
    /// Resident warps that wait for memory (loads, or a fence over stores) or are paused.
    pub waiting: u64,
    /// Resident warps that wait at a barrier.
    pub at_barrier: u64,
    /// Resident warps at the end of their trace, with nothing left to issue.
    pub at_end: u64,
    /// Core cycle in which the warp in each slot was launched or last stopped waiting for memory
    /// or at a barrier.
    pub awake_since: &'a [CoreCycle],
    /// Warps whose next instruction is a memory instruction.
    pub memory: u64,
    /// Warps whose next instruction reads through L1, if L1 is enabled.
    pub loads: u64,
    /// Trace records that the warp in each slot has not begun.
    pub records_left: &'a [u32],
    /// Free MSHR entries of L1; 0 while a lookup stalls at the tags. Requires
    /// [`Needs::miss_room`].
    pub miss_room: usize,
}

impl WarpView<'_> {
    /// Returns the warps of this scheduler with instructions left that wait neither for memory nor for other
    /// warps.
    pub fn awake(&self) -> u64 {
        self.own & self.present & !(self.waiting | self.at_barrier | self.at_end)
    }
}

/// Returns the first of the non-empty set `warps` at or after `slot`, wrapping around.
pub fn first_from(warps: u64, slot: WarpSlot) -> WarpSlot {
    let from = slot.0;
    WarpSlot((warps.rotate_right(from.into()).trailing_zeros() as u16 + from) % 64)
}

/// A CTA launched on an SM.
#[derive(Clone, Copy, Debug)]
pub struct ResidentCta<'a> {
    /// CTA slot, held until its last warp retires.
    pub slot: CtaSlot,
    /// Warp slots, each with its number of trace records.
    pub warps: &'a [(WarpSlot, u32)],
}

/// Optional inputs of a policy that cost simulation time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// L1 misses and evictions ([`WarpScheduler::missed`], [`WarpScheduler::evicted`]).
    pub l1_events: bool,
    /// [`WarpView::miss_room`].
    pub miss_room: bool,
}

/// Chooses the warp that issues; one policy serves all schedulers of an SM.
pub trait WarpScheduler: Send {
    /// Picks the warp slot that issues from `candidates`: the non-empty set of slots of
    /// `view.scheduler` whose next instruction has its operands and a free unit. Returns `None` to
    /// issue nothing; the policy is asked again when the state of the SM changes, or at
    /// [`WarpScheduler::changes_at`].
    ///
    /// `None` must leave the policy unchanged, as the call may be repeated any number of times.
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot>;

    /// Returns, after a `None` at `cycle`, the first cycle in which the answer may differ although
    /// the state of the SM has not changed.
    fn changes_at(&self, cycle: CoreCycle) -> CoreCycle {
        let _ = cycle;
        CoreCycle::NEVER
    }

    /// Called when a CTA launches, before any of its warps issues.
    fn launched(&mut self, cta: &ResidentCta) {
        let _ = cta;
    }

    /// Called when the warp in `slot` retires; another may take the slot.
    fn retired(&mut self, slot: WarpSlot) {
        let _ = slot;
    }

    /// Returns the optional inputs that the policy needs; constant over its lifetime.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Called when a read of the warp in `slot` misses L1 at `cycle` and allocates an MSHR entry
    /// for a sector of `line`. If that evicts a line at once, [`WarpScheduler::evicted`] follows.
    fn missed(&mut self, slot: WarpSlot, line: u64, cycle: CoreCycle) {
        let _ = (slot, line, cycle);
    }

    /// Called when L1 evicts `line`, which was fetched for the warp in `slot` or for an earlier
    /// warp in that slot.
    fn evicted(&mut self, slot: WarpSlot, line: u64) {
        let _ = (slot, line);
    }

    /// Returns the policy's counters for the result tables.
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
}

/// Every warp scheduler.
pub static WARP_SCHEDULERS: Registry<dyn WarpScheduler, SmContext> = Registry::new(
    "warp_scheduler",
    &[
        lrr::ENTRY,
        gto::ENTRY,
        oldest::ENTRY,
        two_level::ENTRY,
        two_level_active::ENTRY,
        cta_aware::CTA_AWARE,
        cta_aware::CTA_AWARE_LOCALITY,
        cta_aware::CTA_AWARE_LOCALITY_BLP,
        swl::ENTRY,
        ccws::ENTRY,
        caws::ENTRY,
        mascar::ENTRY,
    ],
);

type WarpEntry = Entry<dyn WarpScheduler, SmContext>;

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> SmContext {
        let overrides = ["sm.schedulers=2".to_owned()];
        SmContext::of(&warpmem_machine::load("li2015", &overrides).unwrap(), SmId(0))
    }

    #[test]
    fn every_policy_picks_a_candidate_of_the_scheduler_that_asks() {
        let context = context();
        let ages: Vec<u64> = (0..64).map(|slot| (slot * 37) % 64).collect();
        let halves = [0x5555_5555_5555_5555u64, 0xaaaa_aaaa_aaaa_aaaa];
        for name in WARP_SCHEDULERS.names() {
            let mut policy = WARP_SCHEDULERS.build(name, &context).unwrap();
            for slot in 0..16 {
                let warps = [0, 1, 2, 3].map(|warp| (WarpSlot(4 * slot + warp), 1));
                policy.launched(&ResidentCta { slot: CtaSlot(slot.into()), warps: &warps });
            }
            let mut picks = 0;
            let mut ready = 0x8421_0000_0000_1248u64;
            for round in 0..1000 {
                let scheduler = round % 2;
                let own = halves[scheduler];
                let view = WarpView {
                    cycle: CoreCycle::new(round as u64),
                    scheduler: SchedulerId::new(scheduler),
                    own,
                    present: u64::MAX,
                    ages: &ages,
                    awake_since: &[CoreCycle::ZERO; 64],
                    records_left: &[0; 64],
                    ..WarpView::default()
                };
                if ready & own != 0
                    && let Some(pick) = policy.pick(ready & own, &view)
                {
                    assert!(pick.is_in(ready & own), "{name}");
                    picks += 1;
                }
                ready = ready.rotate_left(round as u32 % 7) | 1 << (round % 64);
            }
            assert!(picks > 500, "{name} picked {picks} of 1000 times");
        }
    }
}
