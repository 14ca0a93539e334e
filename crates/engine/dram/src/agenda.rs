//! The agenda of a channel: the next command of every bank, and the earliest cycle in which any of
//! them may issue. It owns the plan and never changes the timing state or the requests.
//!
//! **Definition.** Each bank wants at most one command, of a kind `k`. It may issue in cycle
//!
//! ```text
//! t(bank) = begin(k, max(due(bank), others(k, bank), floor))
//! ```
//!
//! where `due` is the earliest cycle under the constraints of the bank's own commands, `others` the
//! earliest cycle under those of commands to other banks, `floor` the first cycle of the query, and
//! `begin` the next cycle in which a command of this kind may start. The *plan* is the smallest `t`
//! over all banks that are not held, with the set of banks that reach it.
//!
//! The plan is maintained incrementally, never recomputed per cycle and rarely over all banks: it
//! is the earliest of one plan per kind, and each of these stays valid until an event changes it.
//!
//! ```text
//!   kind   banks that want it   plan of the kind
//!   ACT    {2, 5}               cycle 40, {5}      ─┐
//!   PRE    {0}                  cycle 37, {0}       ├─▶  plan: cycle 37, {0, 3}
//!   RD     {1, 3, 4}            cycle 37, {3}       │
//!   WR     {}                   never              ─┘
//! ```
//!
//! - [`Agenda::set`] changes the command of a bank. The bank leaves its previous plans and joins
//!   those of its new kind. Adding a bank can only make a plan earlier, so both plans stay exact. A
//!   plan that loses its last bank does not know its successor: the plan of the kind becomes
//!   *unknown*, the overall plan *stale*.
//! - [`Agenda::delay`] records an issued command. It raises `others` for some kinds, whose plans
//!   become unknown.
//! - [`Agenda::replan`] recomputes the unknown plans and those that lie before the floor from the
//!   banks of that kind, and takes the earliest over all kinds. Banks whose `due` has passed are
//!   *ripe*: their `t` depends on `others` only, which is equal for all banks of a group, so one
//!   evaluation per group suffices. Other banks are skipped if their `due` lies after the plan
//!   found so far.

use super::by_bank::ByBank;
use super::request::CommandKind::{self, Act, Pre, Rd, RefPb, Wr};
use super::sets::{BankSet, KindSet, lowest, members, one};
use super::timing::TimingState;
use warpmem_sim::{BankId, DramCycle};

const ALL_KINDS: KindSet = (1 << CommandKind::PLANNED) - 1;

/// The next cycle in which a command may issue, and the banks that may issue one then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// Cycle of the next command; [`DramCycle::NEVER`] if there is none.
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
    /// Plan of this kind, valid unless the kind is in [`Agenda::unknown`].
    plan: Plan,
}

/// The next command of every bank and the plan. The fields that every step reads come first.
#[repr(C)]
pub(super) struct Agenda {
    plan: Plan,
    /// Banks excluded from the plan.
    held: BankSet,
    /// First cycle that the plan considers.
    floor: DramCycle,
    /// Whether the overall plan is invalid.
    stale: bool,
    /// Kinds whose plan is invalid.
    unknown: KindSet,
    /// Banks and plan by the kind of their next command.
    wants: [Wants; CommandKind::PLANNED],
    /// Banks whose own constraints are satisfied at the floor, so that only commands to other banks
    /// delay them.
    ripe: BankSet,
    kinds: ByBank<CommandKind>,
    /// Earliest cycle under the constraints of the bank's own commands.
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

    /// Returns the banks whose next command is of this kind.
    #[inline]
    pub fn wanting(&self, kind: CommandKind) -> BankSet {
        self.wants[kind as usize].banks
    }

    /// Returns the banks whose next command uses the column bus.
    #[inline]
    pub fn columns(&self) -> BankSet {
        self.wanting(Rd) | self.wanting(Wr)
    }

    /// Returns the banks whose next command uses the row bus.
    #[inline]
    pub fn rows(&self) -> BankSet {
        [Act, Pre, RefPb].into_iter().fold(0, |banks, kind| banks | self.wanting(kind))
    }

    /// Returns the last plan, whether or not it is current.
    #[inline]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns whether the plan is valid at `now` with these banks held.
    #[inline]
    pub fn is_current(&self, held: BankSet, now: DramCycle) -> bool {
        !self.stale && self.held == held && self.plan.cycle >= now
    }

    /// Invalidates the plans of the kinds that an issued command delays in other banks.
    #[inline]
    pub fn delay(&mut self, kinds: KindSet) {
        self.stale = true;
        self.unknown |= kinds;
    }

    /// Sets a bank's next command: its kind and the earliest cycle under the bank's own
    /// constraints. Updates valid plans in place.
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
        // Unknown and stale plans stay invalid.
        let is_planned = !self.stale || self.unknown & 1 << kind as u8 == 0;
        if is_planned && self.held & bit == 0 {
            let cycle = timing.of_others(kind).earliest(bank, due.max(self.floor));
            let plan = Plan { cycle, banks: bit };
            wants.plan.add(plan);
            self.plan.add(plan);
        }
    }

    /// Plans the earliest cycle at or after `floor` in which a bank outside `held` may issue its
    /// command. `floor` never decreases.
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

    /// Computes the plan of one kind from the unheld banks that want it.
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
        /// A bank's next command and the cycles until it is due, or no command.
        Set(usize, Option<(CommandKind, u64)>),
        Issue(usize, CommandKind),
        /// Advances time by a number of cycles, then replans with these banks held.
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

    /// Computes the plan by evaluating every bank.
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
        fn an_updated_plan_equals_a_new_one(steps in prop::collection::vec(step(), 1..120)) {
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
