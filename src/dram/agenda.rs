//! The next command of every bank, and when the earliest of them may issue.

use super::MAX_BANKS;
use super::request::CommandKind;
use super::timing::TimingState;

/// A set of banks, one bit each.
pub type BankSet = u64;

pub(super) fn one(bank: usize) -> BankSet {
    1 << bank
}

/// The banks of a set, lowest first.
pub(super) fn members(mut set: BankSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bank = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (bank < BankSet::BITS).then_some(bank as usize)
    })
}

/// The first bank of a set at or after `start`, in a circle.
pub(super) fn first_from(set: BankSet, start: u32) -> Option<usize> {
    let turned = set.rotate_right(start).trailing_zeros();
    (set != 0).then_some(((turned + start) % BankSet::BITS) as usize)
}

/// The next cycle at which a command may issue, and the banks that may issue one then.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// `u64::MAX` = never.
    pub cycle: u64,
    pub banks: BankSet,
    /// Banks that the plan leaves out.
    held: BankSet,
    /// The first cycle that it looked at.
    floor: u64,
}

impl Plan {
    fn add(&mut self, banks: BankSet, cycle: u64) {
        if cycle < self.cycle {
            self.cycle = cycle;
            self.banks = 0;
        }
        if cycle == self.cycle {
            self.banks |= banks;
        }
    }
}

pub(super) struct Agenda {
    kinds: [CommandKind; MAX_BANKS as usize],
    /// Earliest cycle by the bank's own constraints.
    due: [u64; MAX_BANKS as usize],
    groups: Vec<BankSet>,
    /// Banks by the kind of their next command.
    wants: [BankSet; CommandKind::PLANNED],
    /// Banks that wait for other banks only.
    ripe: BankSet,
    /// No bank outside `ripe` is due earlier.
    next_ripe: u64,
    plan: Plan,
    /// The plan no longer holds.
    stale: bool,
}

impl Agenda {
    pub fn new(banks: usize, timing: &TimingState) -> Agenda {
        let mut groups = vec![0; timing.of_groups().len()];
        (0..banks).for_each(|bank| groups[timing.group(bank)] |= one(bank));
        Agenda {
            kinds: [CommandKind::Act; MAX_BANKS as usize],
            due: [0; MAX_BANKS as usize],
            groups,
            wants: [0; CommandKind::PLANNED],
            ripe: 0,
            next_ripe: u64::MAX,
            plan: Plan { cycle: u64::MAX, banks: 0, held: 0, floor: 0 },
            stale: true,
        }
    }

    #[inline]
    pub fn kind(&self, bank: usize) -> CommandKind {
        self.kinds[bank]
    }

    /// Banks whose next command is of this kind.
    #[inline]
    pub fn wanting(&self, kind: CommandKind) -> BankSet {
        self.wants[kind as usize]
    }

    #[inline]
    pub fn columns(&self) -> BankSet {
        self.wanting(CommandKind::Rd) | self.wanting(CommandKind::Wr)
    }

    /// The plan last made or mended, current or not.
    #[inline]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan holds at `now`, with these banks held.
    #[inline]
    pub fn is_current(&self, held: BankSet, now: u64) -> bool {
        !self.stale && self.plan.held == held && self.plan.cycle >= now
    }

    /// A command issues, so timing changes under the plan.
    #[inline]
    pub fn invalidate(&mut self) {
        self.stale = true;
    }

    /// Sets the bank's next command: its kind and the earliest cycle by the bank's own constraints. Where
    /// it can, this mends the plan.
    #[inline]
    pub fn set(&mut self, bank: usize, next: Option<(CommandKind, u64)>, timing: &TimingState) {
        let bit = one(bank);
        let old = self.kinds[bank] as usize;
        let had = self.wants[old] & bit != 0;
        if had && next == Some((self.kinds[bank], self.due[bank])) {
            return;
        }
        self.wants[old] &= !bit;
        self.ripe &= !bit;
        self.stale |= self.plan.banks & bit != 0;
        let Some((kind, due)) = next else { return };
        self.wants[kind as usize] |= bit;
        self.kinds[bank] = kind;
        self.due[bank] = due;
        self.next_ripe = self.next_ripe.min(due);
        if !self.stale && self.plan.held & bit == 0 {
            self.plan.add(bit, self.shared(bank, timing).max(due).max(self.plan.floor));
        }
    }

    /// Plans the earliest cycle from `floor` on at which a bank outside `held` may issue its command.
    pub fn replan(&mut self, timing: &TimingState, held: BankSet, floor: u64) {
        if self.next_ripe <= floor {
            self.ripen(floor);
        }
        let mut plan = Plan { cycle: u64::MAX, banks: 0, held, floor };
        for (kind, &wanting) in self.wants.iter().enumerate() {
            let wanting = wanting & self.ripe & !held;
            let of_channel = timing.of_channel()[kind].max(floor);
            if wanting == 0 || of_channel > plan.cycle {
                continue;
            }
            for (earliest, group) in timing.of_groups().iter().zip(&self.groups) {
                if wanting & group != 0 {
                    plan.add(wanting & group, of_channel.max(earliest[kind]));
                }
            }
        }
        // Ripe banks that can go sooner leave nothing for the others.
        if plan.cycle >= self.next_ripe {
            for bank in members(self.unripe() & !held) {
                plan.add(one(bank), self.shared(bank, timing).max(self.due[bank]));
            }
        }
        self.plan = plan;
        self.stale = false;
    }

    fn unripe(&self) -> BankSet {
        self.wants.iter().fold(0, |all, wanting| all | wanting) & !self.ripe
    }

    /// Earliest cycle of the bank's command as far as other banks go.
    fn shared(&self, bank: usize, timing: &TimingState) -> u64 {
        let kind = self.kinds[bank] as usize;
        timing.of_channel()[kind].max(timing.of_groups()[timing.group(bank)][kind])
    }

    /// Finds the banks whose own constraints have ended by `floor`.
    fn ripen(&mut self, floor: u64) {
        self.next_ripe = u64::MAX;
        for bank in members(self.unripe()) {
            if self.due[bank] <= floor {
                self.ripe |= one(bank);
            } else {
                self.next_ripe = self.next_ripe.min(self.due[bank]);
            }
        }
    }
}
