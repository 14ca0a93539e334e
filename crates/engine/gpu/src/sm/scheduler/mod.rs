//! Warp schedulers: which ready warp issues next.

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
// The example of docs/extending.md.
#[cfg(test)]
#[path = "../../../../../../docs/examples/strided.rs"]
mod strided;
mod swl;
mod two_level;
mod two_level_active;

use warpmem_machine::{L1, Machine, Sm};
use warpmem_params::{Counter, Entry, Registry};
use warpmem_sim::{CoreCycle, SmId, WarpSlot, ids};

ids! {
    /// A scheduler of an SM. As wide as an index, so that a loop over them checks no bounds.
    pub SchedulerId(usize);
    /// A slot for a resident CTA, counted within its SM.
    pub CtaSlot(u32);
}

/// What a warp scheduler may know of the SM that it works in.
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

    /// Schedulers of the SM.
    pub fn schedulers(&self) -> usize {
        self.sm.schedulers as usize
    }
}

/// What a policy sees of its SM. Sets of warps have a bit for each warp slot.
#[derive(Clone, Copy, Default)]
pub struct WarpView<'a> {
    /// The core cycle.
    pub cycle: CoreCycle,
    /// Which of the SM's schedulers issues, and the slots that are its own.
    pub scheduler: SchedulerId,
    pub own: u64,
    /// Launch order of the warp in each slot: smaller is older.
    pub ages: &'a [u64],
    /// Warps that are on the SM, of all its schedulers.
    pub present: u64,
    /// Present warps of CTAs that pause. [`WarpView::waiting`] contains them too.
    pub paused: u64,
    /// Present warps that wait for memory (loads, or a fence over stores), or whose CTA pauses.
    pub waiting: u64,
    /// Present warps that wait at a barrier.
    pub at_barrier: u64,
    /// Present warps at the end of their trace, which have nothing more to issue.
    pub at_end: u64,
    /// Core cycle in which the warp in each slot was launched or last stopped waiting for memory or
    /// at a barrier.
    pub awake_since: &'a [CoreCycle],
    /// Warps whose next instruction goes to the load/store unit.
    pub memory: u64,
    /// Warps whose next instruction reads through L1, if the machine has one.
    pub loads: u64,
    /// Records of the trace that the warp in each slot has not begun.
    pub records_left: &'a [u32],
    /// Free MSHR entries of L1; 0 while a lookup at the tags cannot go on for any reason. Only with
    /// [`Needs::miss_room`].
    pub miss_room: usize,
}

impl WarpView<'_> {
    /// Warps of the scheduler that wait neither for memory nor for other warps, and have something
    /// to issue.
    fn awake(&self) -> u64 {
        self.own & self.present & !(self.waiting | self.at_barrier | self.at_end)
    }
}

/// The first of `warps`, which must not be empty, from `slot` on and round.
fn first_from(warps: u64, slot: WarpSlot) -> WarpSlot {
    let from = slot.0;
    WarpSlot((warps.rotate_right(from.into()).trailing_zeros() as u16 + from) % 64)
}

/// A CTA that has come to an SM.
#[derive(Clone, Copy, Debug)]
pub struct ResidentCta<'a> {
    /// Its CTA slot on the SM, until the last of its warps retires.
    pub slot: CtaSlot,
    /// Its warps: their slots and how many records of the trace each has.
    pub warps: &'a [(WarpSlot, u32)],
}

/// What a policy asks of its SM that costs time to provide.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// Misses and evictions of L1 ([`WarpScheduler::missed`], [`WarpScheduler::evicted`]).
    pub l1_events: bool,
    /// [`WarpView::miss_room`].
    pub miss_room: bool,
}

/// Chooses among the warps of an SM; one policy serves all of its schedulers.
pub trait WarpScheduler: Send {
    /// The warp slot that issues now, one of `candidates`: a bit for each slot of the scheduler
    /// `view.scheduler` whose next instruction has its operands and finds room in its unit, never
    /// empty. None to let no warp issue; it is asked again when something has happened to the SM,
    /// or at [`WarpScheduler::changes_at`].
    ///
    /// An answer of none must leave the policy unchanged, as it may be asked any number of times.
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot>;

    /// After an answer of none at `cycle`: the first cycle in which the answer may differ although
    /// nothing happens to the SM.
    fn changes_at(&self, cycle: CoreCycle) -> CoreCycle {
        let _ = cycle;
        CoreCycle::NEVER
    }

    /// A CTA has come, none of whose warps has issued.
    fn launched(&mut self, cta: &ResidentCta) {
        let _ = cta;
    }

    /// The warp in `slot` has ended; another may take the slot.
    fn retired(&mut self, slot: WarpSlot) {
        let _ = slot;
    }

    /// What the policy asks for, the same at all times.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// A read of the warp in `slot` has missed L1 at `cycle` and asks for its sector of `line`. If
    /// that evicts another line at once, [`WarpScheduler::evicted`] follows.
    fn missed(&mut self, slot: WarpSlot, line: u64, cycle: CoreCycle) {
        let _ = (slot, line, cycle);
    }

    /// `line` has been evicted from L1. It was fetched for the warp in `slot`, or for an earlier
    /// warp in that slot.
    fn evicted(&mut self, slot: WarpSlot, line: u64) {
        let _ = (slot, line);
    }

    /// What the policy counted, for the tables.
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
}

/// Every warp scheduler.
pub static WARP_SCHEDULERS: Registry<dyn WarpScheduler, SmContext> = Registry {
    slot: "warp_scheduler",
    entries: &[
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
};

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
            assert!(picks > 500, "{name} holds back nearly all");
        }
    }

    #[test]
    fn the_documented_example_is_built_with_its_parameter() {
        let examples = Registry { slot: "warp_scheduler", entries: &[strided::ENTRY] };
        let mut policy = examples.build("strided(stride=3)", &context()).unwrap();
        let view = WarpView::default();
        let order: Vec<_> = (0..4).filter_map(|_| policy.pick(u64::MAX, &view)).collect();
        assert_eq!(order, [0, 3, 6, 9].map(WarpSlot));
        assert!(examples.build("strided(strides=3)", &context()).is_err());
    }
}
