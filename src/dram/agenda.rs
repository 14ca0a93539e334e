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
        let kept = if cycle < self.cycle { 0 } else { self.banks };
        self.cycle = self.cycle.min(cycle);
        self.banks = kept | if cycle == self.cycle { banks } else { 0 };
    }
}

pub(super) struct Agenda {
    kinds: [CommandKind; MAX_BANKS as usize],
    /// Earliest cycle by the bank's own constraints.
    due: [u64; MAX_BANKS as usize],
    /// Where [`TimingState::others`] has their earliest cycle as far as other banks go.
    places: [u16; MAX_BANKS as usize],
    /// Banks by the kind of their next command.
    wants: [BankSet; CommandKind::PLANNED],
    /// Banks that have a next command.
    waiting: BankSet,
    plan: Plan,
    /// The plan no longer holds.
    stale: bool,
}

impl Agenda {
    pub fn new() -> Agenda {
        Agenda {
            kinds: [CommandKind::Act; MAX_BANKS as usize],
            due: [0; MAX_BANKS as usize],
            places: [0; MAX_BANKS as usize],
            wants: [0; CommandKind::PLANNED],
            waiting: 0,
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

    /// Banks whose next command goes over the column bus.
    #[inline]
    pub fn columns(&self) -> BankSet {
        self.wanting(CommandKind::Rd) | self.wanting(CommandKind::Wr)
    }

    /// Banks whose next command goes over the row bus.
    #[inline]
    pub fn rows(&self) -> BankSet {
        self.waiting & !self.columns()
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
        self.waiting &= !bit;
        self.stale |= self.plan.banks & bit != 0;
        let Some((kind, due)) = next else { return };
        self.wants[kind as usize] |= bit;
        self.waiting |= bit;
        self.kinds[bank] = kind;
        self.due[bank] = due;
        self.places[bank] = timing.place(kind, bank);
        if !self.stale && self.plan.held & bit == 0 {
            let cycle = timing.others(self.places[bank]).max(due).max(self.plan.floor);
            self.plan.add(bit, timing.begin(kind, cycle));
        }
    }

    /// Plans the earliest cycle from `floor` on at which a bank outside `held` may issue its command.
    pub fn replan(&mut self, timing: &TimingState, held: BankSet, floor: u64) {
        let mut plan = Plan { cycle: u64::MAX, banks: 0, held, floor };
        let mut left = self.waiting & !held;
        while left != 0 {
            let bank = left.trailing_zeros() as usize;
            left &= left - 1;
            let cycle = timing.others(self.places[bank]).max(self.due[bank]).max(floor);
            plan.add(one(bank), timing.begin(self.kinds[bank], cycle));
        }
        self.plan = plan;
        self.stale = false;
    }
}
