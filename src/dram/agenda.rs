//! The next command of every bank, and when the earliest of them may issue.

use super::MAX_BANKS;
use super::request::CommandKind;

/// A set of banks, one bit each.
pub(super) type BankSet = u64;

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
#[derive(Clone, Copy, Default)]
pub(super) struct Plan {
    /// `u64::MAX` = never.
    pub cycle: u64,
    pub banks: BankSet,
    /// Banks that the plan leaves out.
    pub held: BankSet,
}

pub(super) struct Agenda {
    kinds: [CommandKind; MAX_BANKS as usize],
    /// Earliest cycle by the bank's own constraints.
    due: [u64; MAX_BANKS as usize],
    groups: [u8; MAX_BANKS as usize],
    /// Banks by the kind of their next command.
    wants: [BankSet; CommandKind::COUNT],
    /// Changed since the last plan.
    changed: bool,
}

impl Agenda {
    pub fn new(banks: usize, groups: usize) -> Agenda {
        let mut group_of = [0; MAX_BANKS as usize];
        for (bank, group) in group_of.iter_mut().enumerate().take(banks) {
            *group = (bank % groups) as u8;
        }
        Agenda {
            kinds: [CommandKind::Act; MAX_BANKS as usize],
            due: [0; MAX_BANKS as usize],
            groups: group_of,
            wants: [0; CommandKind::COUNT],
            changed: true,
        }
    }

    pub fn kind(&self, bank: usize) -> CommandKind {
        self.kinds[bank]
    }

    /// Banks whose next command is of this kind.
    pub fn wanting(&self, kind: CommandKind) -> BankSet {
        self.wants[kind as usize]
    }

    pub fn columns(&self) -> BankSet {
        self.wanting(CommandKind::Rd) | self.wanting(CommandKind::Wr)
    }

    pub fn is_changed(&self) -> bool {
        self.changed
    }

    /// Sets the bank's next command: its kind and the earliest cycle by the bank's own constraints.
    pub fn set(&mut self, bank: usize, next: Option<(CommandKind, u64)>) {
        let old = self.kinds[bank] as usize;
        let had = self.wants[old] & one(bank) != 0;
        let Some((kind, due)) = next else {
            self.wants[old] &= !one(bank);
            self.changed |= had;
            return;
        };
        if had && self.kinds[bank] == kind && self.due[bank] == due {
            return;
        }
        self.wants[old] &= !one(bank);
        self.wants[kind as usize] |= one(bank);
        self.kinds[bank] = kind;
        self.due[bank] = due;
        self.changed = true;
    }

    /// The earliest cycle from `floor` on at which a bank outside `held` may issue its command.
    /// `groups` holds what each bank group still waits for.
    pub fn plan(
        &mut self,
        groups: &[[u64; CommandKind::COUNT]],
        held: BankSet,
        floor: u64,
    ) -> Plan {
        self.changed = false;
        let mut plan = Plan { cycle: u64::MAX, banks: 0, held };
        let wanting = self.wants.iter().fold(0, |all, set| all | set);
        for bank in members(wanting & !held) {
            let shared = groups[self.groups[bank] as usize][self.kinds[bank] as usize];
            let cycle = self.due[bank].max(shared).max(floor);
            if cycle < plan.cycle {
                plan.cycle = cycle;
                plan.banks = 0;
            }
            if cycle == plan.cycle {
                plan.banks |= one(bank);
            }
        }
        plan
    }
}
