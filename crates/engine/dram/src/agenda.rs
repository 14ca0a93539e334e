//! The agenda of a channel: every bank's next command, and when the earliest of them may issue.
//!
//! **Definition.** A bank may want one command, of a kind `k`. It may issue it in the cycle
//!
//! ```text
//! t(bank) = begin(k, max(due(bank), others(k, bank), floor))
//! ```
//!
//! where `due` is the earliest cycle by the bank's own earlier commands, `others` that by commands
//! to other banks, `floor` the first cycle that is asked about, and `begin` the next cycle in which
//! a command of this kind may begin. The *plan* is the smallest `t` of all banks that are not held
//! back, and the set of the banks that reach it.
//!
//! Nothing of this is computed per cycle, and rarely over all banks: the plan is the earliest of
//! one plan for each kind, and each of these stays as it is until something changes it.
//!
//! ```text
//!   kind   banks that want it   plan of the kind
//!   ACT    {2, 5}               cycle 40, {5}      ─┐
//!   PRE    {0}                  cycle 37, {0}       ├─▶  plan: cycle 37, {0, 3}
//!   RD     {1, 3, 4}            cycle 37, {3}       │
//!   WR     {}                   never              ─┘
//! ```
//!
//! - [`Agenda::set`]: a bank wants another command. It leaves the plans that it was in, and is
//!   added to those of its new kind. Adding can only make a plan earlier, so both stay exact. A
//!   plan that loses its last bank does not say which comes next: that of the kind becomes
//!   *unknown*, that of all kinds *stale*.
//! - [`Agenda::delay`]: a command issues, and with it `others` grows for some kinds: their plans
//!   become unknown.
//! - [`Agenda::replan`]: makes the unknown plans, and those that the floor has passed, by looking
//!   at the banks of that kind, and takes the earliest of all kinds. Banks whose `due` is past are
//!   *ripe*: `t` depends on `others` only, which is the same for all banks of a group, so that one
//!   look at a group is enough. Of the rest, those that are due after the plan found so far are left
//!   out.

use super::by_bank::ByBank;
use super::request::CommandKind::{self, Act, Pre, Rd, RefPb, Wr};
use super::sets::{BankSet, KindSet, lowest, members, one};
use super::timing::TimingState;
use warpmem_sim::{BankId, DramCycle};

const ALL_KINDS: KindSet = (1 << CommandKind::PLANNED) - 1;

/// The next cycle at which a command may issue, and the banks that may issue one then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// [`DramCycle::NEVER`]: there is none.
    pub cycle: DramCycle,
    pub banks: BankSet,
}

const NOTHING: Plan = Plan { cycle: DramCycle::NEVER, banks: 0 };

impl Plan {
    #[inline]
    fn add(&mut self, other: Plan) {
        let kept = if other.cycle < self.cycle { 0 } else { self.banks };
        self.cycle = self.cycle.min(other.cycle);
        self.banks = kept | if other.cycle == self.cycle { other.banks } else { 0 };
    }
}

/// The banks whose next command is of one kind.
#[derive(Clone, Copy)]
struct Wants {
    banks: BankSet,
    /// The first of them, while it is known: see [`Agenda::unknown`].
    plan: Plan,
}

/// What every step looks at comes first.
#[repr(C)]
pub(super) struct Agenda {
    plan: Plan,
    /// Banks that the plan leaves out.
    held: BankSet,
    /// The first cycle that the plan looks at.
    floor: DramCycle,
    /// The plan no longer holds.
    stale: bool,
    /// Kinds whose own plan no longer holds.
    unknown: KindSet,
    /// By the kind of the next command.
    wants: [Wants; CommandKind::PLANNED],
    /// Banks whose own constraints are past at the floor: only those of others keep them.
    ripe: BankSet,
    kinds: ByBank<CommandKind>,
    /// Earliest cycle by the bank's own constraints.
    due: ByBank<DramCycle>,
}

impl Agenda {
    pub fn new() -> Agenda {
        Agenda {
            plan: NOTHING,
            held: 0,
            floor: DramCycle::ZERO,
            stale: true,
            unknown: ALL_KINDS,
            wants: [Wants { banks: 0, plan: NOTHING }; CommandKind::PLANNED],
            ripe: 0,
            kinds: ByBank::new(CommandKind::Act),
            due: ByBank::new(DramCycle::ZERO),
        }
    }

    #[inline]
    pub fn kind(&self, bank: BankId) -> CommandKind {
        self.kinds[bank]
    }

    /// Banks whose next command is of this kind.
    #[inline]
    pub fn wanting(&self, kind: CommandKind) -> BankSet {
        self.wants[kind as usize].banks
    }

    /// Banks whose next command goes over the column bus.
    #[inline]
    pub fn columns(&self) -> BankSet {
        self.wanting(Rd) | self.wanting(Wr)
    }

    /// Banks whose next command goes over the row bus.
    #[inline]
    pub fn rows(&self) -> BankSet {
        [Act, Pre, RefPb].into_iter().fold(0, |banks, kind| banks | self.wanting(kind))
    }

    /// The plan last made or mended, current or not.
    #[inline]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan holds at `now`, with these banks held.
    #[inline]
    pub fn is_current(&self, held: BankSet, now: DramCycle) -> bool {
        !self.stale && self.held == held && self.plan.cycle >= now
    }

    /// A command issues that delays commands of these kinds to other banks.
    #[inline]
    pub fn delay(&mut self, kinds: KindSet) {
        self.stale = true;
        self.unknown |= kinds;
    }

    /// Sets the bank's next command: its kind and the earliest cycle by the bank's own constraints.
    /// Where it can, this mends the plan.
    #[inline]
    pub fn set(
        &mut self,
        bank: BankId,
        next: Option<(CommandKind, DramCycle)>,
        timing: &TimingState,
    ) {
        let bit = one(bank);
        let old = &mut self.wants[self.kinds[bank] as usize];
        if old.banks & bit != 0 {
            if next == Some((self.kinds[bank], self.due[bank])) {
                return;
            }
            old.banks &= !bit;
            old.plan.banks &= !bit;
            if old.banks == 0 {
                old.plan = NOTHING;
            } else if old.plan.banks == 0 {
                self.unknown |= 1 << self.kinds[bank] as u8;
            }
            self.ripe &= !bit;
            self.plan.banks &= !bit;
            self.stale |= self.plan.banks == 0;
        }
        if let Some((kind, due)) = next {
            self.add(bank, kind, due, timing);
        }
    }

    fn add(&mut self, bank: BankId, kind: CommandKind, due: DramCycle, timing: &TimingState) {
        let bit = one(bank);
        self.kinds[bank] = kind;
        self.due[bank] = due;
        self.ripe |= if due <= self.floor { bit } else { 0 };
        let wants = &mut self.wants[kind as usize];
        wants.banks |= bit;
        // What is unknown or stale stays so.
        let is_planned = !self.stale || self.unknown & 1 << kind as u8 == 0;
        if is_planned && self.held & bit == 0 {
            let cycle = timing.of_others(kind).earliest(bank, due.max(self.floor));
            let plan = Plan { cycle, banks: bit };
            wants.plan.add(plan);
            self.plan.add(plan);
        }
    }

    /// Plans the earliest cycle from `floor` on at which a bank outside `held` may issue its
    /// command. `floor` never goes back.
    pub fn replan(&mut self, timing: &TimingState, held: BankSet, floor: DramCycle) {
        if held != self.held {
            self.unknown = ALL_KINDS;
        }
        (self.held, self.floor) = (held, floor);
        let mut plan = NOTHING;
        for kind in 0..CommandKind::PLANNED {
            let wants = &self.wants[kind];
            if wants.banks == 0 {
                continue;
            }
            if self.unknown & 1 << kind != 0 || wants.plan.cycle < floor {
                self.wants[kind].plan = self.plan_of(CommandKind::ALL[kind], timing);
            }
            plan.add(self.wants[kind].plan);
        }
        (self.plan, self.stale, self.unknown) = (plan, false, 0);
    }

    /// The first of the banks that wait to issue a command of this kind.
    fn plan_of(&mut self, kind: CommandKind, timing: &TimingState) -> Plan {
        let others = timing.of_others(kind);
        let banks = self.wanting(kind) & !self.held;
        let mut plan = NOTHING;
        let mut ripe = banks & self.ripe;
        if ripe != 0 && !timing.is_shared(kind) {
            plan = Plan { cycle: others.begin(self.floor), banks: ripe };
            ripe = 0;
        }
        while ripe != 0 {
            let bank = lowest(ripe);
            let group = ripe & timing.group_banks(bank);
            ripe &= !group;
            plan.add(Plan { cycle: others.earliest(bank, self.floor), banks: group });
        }
        for bank in members(banks & !self.ripe) {
            let (bit, due) = (one(bank), self.due[bank]);
            self.ripe |= if due <= self.floor { bit } else { 0 };
            if due <= plan.cycle {
                let cycle = others.earliest(bank, due.max(self.floor));
                plan.add(Plan { cycle, banks: bit });
            }
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::shapes;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// A bank's next command, and how long after now it is due; none if it has none.
        Set(usize, Option<(CommandKind, u64)>),
        Issue(usize, CommandKind),
        /// So many cycles go by, and these banks are held from then on.
        Replan(u64, BankSet),
    }

    fn step() -> impl Strategy<Value = Step> {
        let kind = || prop::sample::select(vec![Act, Pre, Rd, Wr]);
        let held = prop_oneof![3 => Just(0), 1 => any::<BankSet>()];
        prop_oneof![
            3 => (0usize..64, prop::option::weighted(0.8, (kind(), 0u64..40)))
                .prop_map(|(bank, next)| Step::Set(bank, next)),
            2 => (0usize..64, kind()).prop_map(|(bank, kind)| Step::Issue(bank, kind)),
            2 => (0u64..20, held).prop_map(|(gap, held)| Step::Replan(gap, held)),
        ]
    }

    /// The plan by looking at every bank.
    fn plain(
        next: &[Option<(CommandKind, DramCycle)>],
        timing: &TimingState,
        held: BankSet,
        floor: DramCycle,
    ) -> Plan {
        let mut plan = NOTHING;
        for (bank, next) in (0..).map(BankId).zip(next) {
            let Some((kind, due)) = next.filter(|_| held & one(bank) == 0) else { continue };
            let cycle = timing.of_others(kind).earliest(bank, due.max(floor));
            if cycle < plan.cycle {
                plan = Plan { cycle, banks: 0 };
            }
            if cycle == plan.cycle {
                plan.banks |= one(bank);
            }
        }
        plan
    }

    proptest! {
        #[test]
        fn a_mended_plan_is_the_same_as_a_new_one(steps in prop::collection::vec(step(), 1..120)) {
            for dram in shapes() {
                let banks = dram.banks as usize;
                let (mut agenda, mut timing) = (Agenda::new(), TimingState::new(&dram));
                let (mut next, mut now, mut held) = (vec![None; banks], DramCycle::ZERO, 0);
                for &step in &steps {
                    match step {
                        Step::Set(bank, wanted) => {
                            let bank = bank % banks;
                            next[bank] = wanted.map(|(kind, wait)| (kind, now + wait));
                            agenda.set(BankId::new(bank), next[bank], &timing);
                        }
                        Step::Issue(bank, kind) => {
                            agenda.delay(timing.delayed_by(kind));
                            timing.issued(kind, BankId::new(bank % banks), now);
                        }
                        Step::Replan(gap, holds) => {
                            (now, held) = (now + gap, holds);
                            agenda.replan(&timing, held, now);
                            prop_assert!(agenda.is_current(held, now));
                        }
                    }
                    for (bank, next) in (0..).map(BankId).zip(&next) {
                        let wanting = |kind| agenda.wanting(kind) & one(bank) != 0;
                        let wanted = CommandKind::ALL.into_iter().take(CommandKind::PLANNED);
                        let wanted: Vec<_> = wanted.filter(|&kind| wanting(kind)).collect();
                        prop_assert_eq!(wanted, Vec::from_iter(next.map(|(kind, _)| kind)));
                    }
                    if agenda.is_current(held, now) {
                        prop_assert_eq!(*agenda.plan(), plain(&next, &timing, held, now));
                    }
                }
            }
        }
    }
}
