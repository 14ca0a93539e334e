//! Timing constraints between commands, and the state that they drive.

use super::MAX_BANKS;
use super::request::CommandKind::{self, Rd, Rda, Ref, RefPb, Wr, Wra};
use super::standard::Standard;
use crate::machine::Dram;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ops::Range;

/// Which banks the two commands of a constraint go to, from the narrowest to the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Both to one bank.
    Bank,
    /// Both to banks of one group of a stack.
    Group,
    /// Both to banks of one stack.
    Stack,
    /// Both to banks of one pseudo channel.
    PseudoChannel,
    /// Any two commands of the channel.
    Channel,
}

/// `to` may issue no earlier than `cycles` after the `window`-th last `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// As on the data sheet: `tRCD`, `tCCD_L`.
    pub name: String,
    pub from: CommandKind,
    pub to: CommandKind,
    pub scope: Scope,
    /// Holds between different members of `scope` (stacks, groups, banks) within the next wider scope,
    /// rather than within one.
    pub sibling: bool,
    /// Command clock cycles.
    pub cycles: u32,
    /// 1 = the last `from` counts; n = the n-th last does (tFAW: 4).
    pub window: u8,
}

/// The constraints of a channel, as its standard has them.
///
/// # Panics
/// If there is no standard of that name: no valid machine has such a channel.
pub fn constraints(dram: &Dram) -> Vec<Constraint> {
    Standard::load(&dram.standard).expect("a checked standard").constraints(dram)
}

/// Earliest cycle of each kind of command that a channel plans.
pub(super) type Earliest = [u64; CommandKind::PLANNED];

/// A place in a table of earliest cycles, and the cycles to it from a command.
type Rules = Vec<(u16, u64)>;

/// What a command of one kind asks of those after it.
#[derive(Clone, Default)]
struct Consequences {
    /// Of those to its bank, by kind.
    bank: Rules,
    /// Of all others, by place in [`TimingState::groups`].
    others: Rules,
}

/// A constraint on the n-th last command, with the cycles of the last n of each pseudo channel.
struct Window {
    scope: Scope,
    to: CommandKind,
    cycles: u64,
    last: Vec<Ring>,
}

/// The cycles of the last commands; `next` is the oldest. Empty places hold none.
#[derive(Clone)]
struct Ring {
    cycles: Vec<Option<u64>>,
    next: usize,
}

impl Ring {
    /// Notes a command; the oldest that is left.
    fn push(&mut self, now: u64) -> Option<u64> {
        self.cycles[self.next] = Some(now);
        self.next = (self.next + 1) % self.cycles.len();
        self.cycles[self.next]
    }
}

/// How the banks of a channel lie together. A bank's number is that of its stack, then that within the stack, whose
/// low bits are the group.
#[derive(Clone, Copy)]
struct Shape {
    groups: usize,
    stacks: usize,
    banks_per_stack: usize,
    pseudo_channels: usize,
}

impl Shape {
    fn new(dram: &Dram) -> Shape {
        let pseudo_channels = dram.pseudo_channels.max(1) as usize;
        let stacks = dram.stacks.max(1) as usize;
        Shape {
            groups: dram.bank_groups.max(1) as usize,
            stacks,
            banks_per_stack: (dram.banks as usize / (pseudo_channels * stacks)).max(1),
            pseudo_channels,
        }
    }

    /// Groups of the channel.
    fn all_groups(&self) -> usize {
        self.pseudo_channels * self.stacks * self.groups
    }

    fn group(&self, bank: usize) -> usize {
        bank / self.banks_per_stack * self.groups + bank % self.banks_per_stack % self.groups
    }

    fn pseudo_channel(&self, bank: usize) -> usize {
        bank / self.banks_per_stack / self.stacks
    }

    /// The groups of the scope that holds `group`.
    fn members(&self, group: usize, scope: Scope) -> Range<usize> {
        let size = match scope {
            Scope::Bank | Scope::Group => 1,
            Scope::Stack => self.groups,
            Scope::PseudoChannel => self.groups * self.stacks,
            Scope::Channel => self.all_groups(),
        };
        let first = group / size * size;
        first..first + size
    }
}

impl Scope {
    fn wider(self) -> Scope {
        match self {
            Scope::Bank => Scope::Group,
            Scope::Group => Scope::Stack,
            Scope::Stack => Scope::PseudoChannel,
            Scope::PseudoChannel | Scope::Channel => Scope::Channel,
        }
    }
}

/// The earliest legal cycle of every command, given those issued so far.
pub(super) struct TimingState {
    shape: Shape,
    /// By the kind of the command and the group that it goes to.
    rules: Vec<Consequences>,
    /// By the kind of the command.
    windows: [Vec<Window>; CommandKind::COUNT],
    banks: Vec<Earliest>,
    /// By group and kind: see [`TimingState::others`].
    groups: [u64; GROUPS * STRIDE],
    group_of: [u8; MAX_BANKS as usize],
    auto_precharge: bool,
    /// Commands begin at multiples of so many cycles, by their kind; none if all may begin in any.
    grid: Option<[u64; CommandKind::PLANNED]>,
}

/// Most groups of a channel: each bank may be one.
const GROUPS: usize = MAX_BANKS as usize;

/// Places of a group in [`TimingState::groups`]: the kinds, up to a power of two.
const STRIDE: usize = CommandKind::PLANNED.next_power_of_two();

impl TimingState {
    pub fn new(dram: &Dram) -> TimingState {
        let shape = Shape::new(dram);
        let table = constraints(dram);
        let standard = Standard::load(&dram.standard).expect("a checked standard");
        let grid = std::array::from_fn(|kind| standard.command_grid(CommandKind::ALL[kind]).into());
        let groups = shape.all_groups();
        let mut rules = vec![Consequences::default(); CommandKind::COUNT * groups];
        let mut windows: [Vec<Window>; CommandKind::COUNT] = Default::default();
        for c in table.iter().filter(|c| matters(c, dram)) {
            if c.window > 1 {
                windows[c.from as usize].push(Window::new(c, &shape));
                continue;
            }
            for group in 0..groups {
                rules[c.from as usize * groups + group].add(c, group, &shape);
            }
        }
        TimingState {
            shape,
            rules,
            windows,
            banks: vec![Earliest::default(); dram.banks as usize],
            groups: [0; GROUPS * STRIDE],
            group_of: std::array::from_fn(|bank| shape.group(bank) as u8),
            grid: Some(grid).filter(|grid| grid.iter().any(|&cycles| cycles > 1)),
            auto_precharge: alike(&table, Rd, Rda) && alike(&table, Wr, Wra),
        }
    }

    /// Whether a column command with auto-precharge may always stand where one without may.
    pub fn auto_precharge(&self) -> bool {
        self.auto_precharge
    }

    /// Group of a bank, of all those of the channel.
    #[inline]
    pub fn group(&self, bank: usize) -> usize {
        usize::from(self.group_of[bank])
    }

    /// Earliest cycle as far as the bank's own commands go.
    #[inline]
    pub fn of_bank(&self, kind: CommandKind, bank: usize) -> u64 {
        self.banks[bank][kind as usize]
    }

    /// Where the earliest cycle of such a command stands as far as other banks go: see [`TimingState::others`].
    #[inline]
    pub fn place(&self, kind: CommandKind, bank: usize) -> u16 {
        (self.group(bank) * STRIDE + kind as usize) as u16
    }

    /// The earliest cycle of a command to one of the banks of a group as far as other banks go.
    #[inline]
    pub fn others(&self, place: u16) -> u64 {
        self.groups[usize::from(place) % (GROUPS * STRIDE)]
    }

    /// Earliest cycle by all constraints.
    #[inline]
    pub fn earliest(&self, kind: CommandKind, bank: usize) -> u64 {
        self.begin(kind, self.of_bank(kind, bank).max(self.others(self.place(kind, bank))))
    }

    /// The first cycle from `cycle` on in which a command of this kind may begin.
    #[inline]
    pub fn begin(&self, kind: CommandKind, cycle: u64) -> u64 {
        match &self.grid {
            None => cycle,
            Some(grid) => cycle.next_multiple_of(grid[kind as usize]),
        }
    }

    /// Records a command.
    pub fn issued(&mut self, kind: CommandKind, bank: usize, now: u64) {
        let group = self.group(bank);
        let rules = &self.rules[kind as usize * self.shape.all_groups() + group];
        raise(&mut self.banks[bank], &rules.bank, now);
        raise(&mut self.groups, &rules.others, now);
        for window in &mut self.windows[kind as usize] {
            let ring = match window.scope {
                Scope::Channel => 0,
                _ => self.shape.pseudo_channel(bank),
            };
            let Some(oldest) = window.last[ring].push(now) else { continue };
            let cycle = oldest + window.cycles;
            for group in self.shape.members(group, window.scope) {
                let earliest = &mut self.groups[group * STRIDE + window.to as usize];
                *earliest = (*earliest).max(cycle);
            }
        }
    }
}

/// Whether the channel must keep an account of a constraint.
fn matters(c: &Constraint, dram: &Dram) -> bool {
    let planned = match c.to {
        Ref => dram.timing.trefi > 0,
        RefPb => dram.timing.trefipb > 0,
        to => (to as usize) < CommandKind::PLANNED,
    };
    // A bus issues one command a cycle in any case.
    let same_bus = !dram.dual_command_bus || c.from.is_column() == c.to.is_column();
    planned && !(same_bus && c.cycles <= 1)
}

impl Window {
    fn new(c: &Constraint, shape: &Shape) -> Window {
        let ring = Ring { cycles: vec![None; c.window.into()], next: 0 };
        let last = vec![ring; shape.pseudo_channels];
        Window { scope: c.scope, to: c.to, cycles: c.cycles.into(), last }
    }
}

impl Consequences {
    /// What the constraint says after a command to `group`.
    fn add(&mut self, c: &Constraint, group: usize, shape: &Shape) {
        if c.scope == Scope::Bank && !c.sibling {
            merge(&mut self.bank, c.to as usize, c.cycles);
            return;
        }
        let own = shape.members(group, c.scope);
        // What holds between the banks of a group holds, at least as long, within each of them.
        let between = c.sibling && c.scope != Scope::Bank;
        let all = if c.sibling { shape.members(group, c.scope.wider()) } else { own.clone() };
        for other in all.filter(|other| !between || !own.contains(other)) {
            merge(&mut self.others, other * STRIDE + c.to as usize, c.cycles);
        }
    }
}

/// Adds a rule, or lengthens that for the same place.
fn merge(rules: &mut Rules, place: usize, cycles: u32) {
    let cycles = u64::from(cycles);
    match rules.iter_mut().find(|(at, _)| usize::from(*at) == place) {
        Some((_, longest)) => *longest = cycles.max(*longest),
        None => rules.push((place as u16, cycles)),
    }
}

/// Whether two commands wait for the same, each time as long.
fn alike(table: &[Constraint], a: CommandKind, b: CommandKind) -> bool {
    let waits = |to| -> HashSet<_> {
        let of = table.iter().filter(|c| c.to == to);
        of.map(|c| (c.from, c.scope, c.sibling, c.window, c.cycles)).collect()
    };
    waits(a) == waits(b)
}

/// Raises earliest cycles to those that the rules count from `now`.
#[inline]
fn raise(earliest: &mut [u64], rules: &[(u16, u64)], now: u64) {
    for &(place, cycles) in rules {
        let earliest = &mut earliest[usize::from(place)];
        *earliest = (*earliest).max(now + cycles);
    }
}
