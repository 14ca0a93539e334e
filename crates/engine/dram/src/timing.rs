//! Timing constraints between commands: the earliest legal cycle of every command. The channel
//! plans with it; the rows and the queues are not its concern.

use super::by_bank::ByBank;
use super::constraint::{Constraint, Scope};
use super::request::CommandKind::{self, Rd, Rda, Ref, RefPb, Wr, Wra};
use super::sets::{BankSet, KindSet, one};
use super::standard::Standard;
use crate::{Dram, MAX_BANKS};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use warpmem_sim::{BankId, DramCycle};

/// Returns the constraints of a channel under its standard.
///
/// # Panics
/// Panics if there is no standard of that name, which no valid machine has.
pub fn constraints(dram: &Dram) -> Vec<Constraint> {
    Standard::of(dram).expect("a checked standard").constraints(dram)
}

/// Earliest cycle of each planned kind of command, in one cache line of the host.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Earliest([DramCycle; CommandKind::PLANNED.next_power_of_two()]);

/// Entries of [`TimingState::shared`]: every bank may be a pseudo channel and a group of its own. A
/// power of two, which removes bounds checks.
const SHARED: usize = (CommandKind::PLANNED * 2 * MAX_BANKS as usize).next_power_of_two();

/// Minimum cycles from a command to those of an entry in a table of earliest cycles.
#[derive(Clone, Copy)]
struct Rule {
    entry: u16,
    cycles: u32,
}

/// The earliest cycles that a command of one kind sets for later commands.
#[derive(Clone, Default)]
struct Consequences {
    /// Rules for the same bank, by kind.
    bank: Vec<Rule>,
    /// Rules for other banks, by entry in [`TimingState::shared`].
    others: Vec<Rule>,
}

/// The constraints of a channel, as tables by kind of command.
struct Rules {
    /// Number of groups of the channel.
    groups: usize,
    /// Entries of each kind of command in [`TimingState::shared`].
    entries: usize,
    /// Rules by the kind of the command and its group.
    consequences: Vec<Consequences>,
    windows: Vec<Window>,
    positions: ByBank<BankPosition>,
    /// Affected kinds, by the kind of the command.
    affects: [Affects; CommandKind::COUNT],
    /// Kinds of commands that a command to another bank delays.
    shared: KindSet,
    auto_precharge: bool,
    /// Cycles from RD and from WR to first data.
    latencies: [u32; 2],
    /// Grid of each kind, cycles: commands begin at its multiples.
    grid: [u64; CommandKind::PLANNED],
    /// Cycles after which a command delays no other.
    longest_delay: u64,
    /// Cycles after which a command, other than REFPB of the same bank, delays no REFPB.
    refresh_delay: u64,
}

/// The group and the pseudo channel of a bank.
#[derive(Clone, Copy)]
struct BankPosition {
    /// Banks of its group.
    group_banks: BankSet,
    /// Index within the channel, as that of its group.
    pseudo_channel: u16,
    group: u16,
    /// Entry of its group within a kind, see [`TimingState::shared`].
    entry: u16,
}

/// The commands to other banks that a command delays.
#[derive(Clone, Copy, Default)]
struct Affects {
    /// Delayed kinds.
    kinds: KindSet,
    /// Whether some of them are delayed by a [`Window`].
    windowed: bool,
}

/// A constraint on the n-th last command.
struct Window {
    from: CommandKind,
    cycles: u64,
    /// Whether the window covers a pseudo channel rather than the whole channel.
    by_pseudo_channel: bool,
    /// Entries in [`TimingState::shared`], by the group of the command.
    entries: Vec<Vec<u16>>,
}

/// Expiry cycles of the last commands of a window, the oldest at `next`; unused entries have
/// expired.
#[derive(Clone)]
struct Ring {
    ends: Box<[DramCycle]>,
    next: usize,
}

impl Ring {
    /// Records a command by its expiry; returns that of the oldest one left.
    fn push(&mut self, end: DramCycle) -> DramCycle {
        self.ends[self.next] = end;
        self.next = if self.next + 1 < self.ends.len() { self.next + 1 } else { 0 };
        self.ends[self.next]
    }
}

/// The arrangement of the banks of a channel. A bank's number consists of its stack and its number
/// within the stack, whose low bits are the group.
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

    /// Returns the number of groups of the channel.
    fn all_groups(&self) -> usize {
        self.pseudo_channels * self.stacks * self.groups
    }

    /// Returns the number of entries of each kind of command in [`TimingState::shared`].
    fn entries(&self) -> usize {
        self.pseudo_channels + self.all_groups()
    }

    fn position(&self, bank: BankId, banks: usize) -> BankPosition {
        let group = self.group(bank);
        BankPosition {
            group_banks: BankId::all(banks)
                .filter(|&other| self.group(other) == group)
                .map(one)
                .sum(),
            pseudo_channel: short(self.pseudo_channel(bank)),
            group: short(group),
            entry: short(self.pseudo_channels + group),
        }
    }

    /// Returns the entries of a kind of command to some groups.
    fn cover(&self, kind: CommandKind, groups: Range<usize>) -> Vec<u16> {
        let (size, first) = (self.groups * self.stacks, kind as usize * self.entries());
        let whole = groups.start.is_multiple_of(size) && groups.end.is_multiple_of(size);
        let entries = if whole {
            groups.start / size..groups.end / size
        } else {
            self.pseudo_channels + groups.start..self.pseudo_channels + groups.end
        };
        entries.map(|entry| short(first + entry)).collect()
    }

    fn group(&self, bank: BankId) -> usize {
        let bank = bank.index();
        bank / self.banks_per_stack * self.groups + bank % self.banks_per_stack % self.groups
    }

    fn pseudo_channel(&self, bank: BankId) -> usize {
        bank.index() / self.banks_per_stack / self.stacks
    }

    /// Returns the groups of the member of `scope` that contains `group`.
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

/// Converts an index to 16 bits.
fn short(index: usize) -> u16 {
    u16::try_from(index).expect("tables of a channel, with at most MAX_BANKS banks, are short")
}

/// The constraints of commands to other banks on commands of one kind.
pub(super) struct OfOthers<'a> {
    shared: &'a [DramCycle; SHARED],
    /// First entry of the kind.
    first: usize,
    positions: &'a ByBank<BankPosition>,
    grid: u64,
}

impl OfOthers<'_> {
    /// Returns the first cycle at or after `from` in which the bank may issue its command; equal
    /// for all banks of its group.
    #[inline]
    pub fn earliest(&self, bank: BankId, from: DramCycle) -> DramCycle {
        let position = &self.positions[bank];
        let entry = |entry: u16| self.shared[(self.first + usize::from(entry)) % SHARED];
        self.begin(entry(position.pseudo_channel).max(entry(position.entry)).max(from))
    }

    /// Returns the first cycle at or after `cycle` in which a command of this kind may begin.
    #[inline]
    pub fn begin(&self, cycle: DramCycle) -> DramCycle {
        if self.grid == 1 { cycle } else { cycle.next_multiple_of(self.grid) }
    }
}

/// The earliest legal cycle of every command after the commands issued so far.
#[derive(Clone)]
pub(super) struct TimingState {
    /// Rules, equal for all channels of a machine, so that they share one copy in the host's cache.
    rules: Arc<Rules>,
    banks: ByBank<Earliest>,
    /// Earliest cycles under the constraints of other banks, by kind; for each kind first those of
    /// whole pseudo channels, then those of groups. The later of the two applies.
    shared: Box<[DramCycle; SHARED]>,
    /// Last commands, by window and pseudo channel.
    last: Vec<Vec<Ring>>,
}

impl TimingState {
    /// Builds the state before the first command.
    pub fn new(dram: &Dram) -> TimingState {
        let shape = Shape::new(dram);
        let table = constraints(dram);
        let standard = Standard::of(dram).expect("a checked standard");
        let grid = std::array::from_fn(|kind| standard.command_grid(CommandKind::ALL[kind]).into());
        let groups = shape.all_groups();
        let mut consequences = vec![Consequences::default(); CommandKind::COUNT * groups];
        let mut windows = Vec::new();
        let mut affects = [Affects::default(); CommandKind::COUNT];
        for c in table.iter().filter(|c| matters(c, dram)) {
            let affects = &mut affects[c.from as usize];
            if c.scope != Scope::Bank || c.sibling {
                affects.kinds |= 1 << c.to as u8;
            }
            if c.window > 1 {
                affects.windowed = true;
                windows.push(Window::new(c, &shape));
                continue;
            }
            for group in 0..groups {
                consequences[c.from as usize * groups + group].add(c, group, &shape);
            }
        }
        let banks = dram.banks as usize;
        let ring =
            |c: &&Constraint| Ring { ends: vec![DramCycle::ZERO; c.window.into()].into(), next: 0 };
        let windowed = table.iter().filter(|c| matters(c, dram) && c.window > 1);
        let last = windowed.map(|c| vec![ring(&c); shape.pseudo_channels]).collect();
        let delays_refresh = |c: &Constraint| {
            let is_own = c.from == RefPb && c.scope == Scope::Bank && !c.sibling;
            c.to == RefPb && !is_own
        };
        let rules = Rules {
            groups,
            entries: shape.entries(),
            consequences,
            windows,
            positions: ByBank::from_fn(|bank| shape.position(bank, banks)),
            shared: affects.iter().fold(0, |kinds, affects| kinds | affects.kinds),
            affects,
            auto_precharge: alike(&table, Rd, Rda) && alike(&table, Wr, Wra),
            latencies: standard.latencies(dram),
            grid,
            refresh_delay: longest(table.iter().filter(|c| delays_refresh(c))),
            longest_delay: longest(table.iter()) + grid.iter().max().copied().unwrap_or(0),
        };
        TimingState {
            rules: Arc::new(rules),
            banks: ByBank::new(Earliest::default()),
            shared: Box::new([DramCycle::ZERO; SHARED]),
            last,
        }
    }

    /// Returns the cycles for which commands to a channel delay the refresh of a single bank, except
    /// the last refresh of the same bank. None if that one may delay it, being more than half a round
    /// of refreshes long, or if refreshes fall due off the grid.
    pub fn refresh_delay(&self, dram: &Dram) -> Option<u64> {
        let t = &dram.timing;
        let is_ample = 2 * u64::from(t.trfcpb) <= u64::from(t.trefipb) * u64::from(dram.banks);
        let is_on_grid = u64::from(t.trefipb).is_multiple_of(self.rules.grid[RefPb as usize]);
        (is_ample && is_on_grid).then_some(self.rules.refresh_delay)
    }

    /// Returns the cycles after which a command delays no other, wherever it falls on the grid.
    pub fn longest_delay(&self) -> u64 {
        self.rules.longest_delay
    }

    /// Returns whether a column command with auto-precharge is legal wherever one without is.
    pub fn auto_precharge(&self) -> bool {
        self.rules.auto_precharge
    }

    /// Returns the cycles from RD and from WR to first data.
    pub fn latencies(&self) -> [u64; 2] {
        self.rules.latencies.map(u64::from)
    }

    /// Returns the banks of a bank's group, for which [`OfOthers::earliest`] is equal.
    #[inline]
    pub fn group_banks(&self, bank: BankId) -> BankSet {
        self.rules.positions[bank].group_banks
    }

    /// Returns the kinds of commands to other banks that one of this kind may delay.
    #[inline]
    pub fn delayed_by(&self, kind: CommandKind) -> KindSet {
        self.rules.affects[kind as usize].kinds
    }

    /// Returns whether commands to other banks ever delay one of this kind.
    #[inline]
    pub fn is_shared(&self, kind: CommandKind) -> bool {
        self.rules.shared & 1 << kind as u8 != 0
    }

    /// Returns the earliest cycle under the constraints of the bank's own commands.
    #[inline]
    pub fn of_bank(&self, kind: CommandKind, bank: BankId) -> DramCycle {
        self.banks[bank].0[kind as usize]
    }

    /// Returns the constraints of commands to other banks on a kind.
    #[inline]
    pub fn of_others(&self, kind: CommandKind) -> OfOthers<'_> {
        let rules = &*self.rules;
        OfOthers {
            shared: &self.shared,
            first: kind as usize * rules.entries,
            positions: &rules.positions,
            grid: rules.grid[kind as usize],
        }
    }

    /// Returns the earliest cycle under all constraints.
    #[inline]
    pub fn earliest(&self, kind: CommandKind, bank: BankId) -> DramCycle {
        self.of_others(kind).earliest(bank, self.of_bank(kind, bank))
    }

    /// Records a command.
    #[inline(always)]
    pub fn issued(&mut self, kind: CommandKind, bank: BankId, now: DramCycle) {
        let rules = &*self.rules;
        let group = usize::from(rules.positions[bank].group);
        let asked = &rules.consequences[kind as usize * rules.groups + group];
        raise(&mut self.banks[bank].0, &asked.bank, now);
        raise(&mut self.shared, &asked.others, now);
        if rules.affects[kind as usize].windowed {
            self.move_windows(kind, bank, now);
        }
    }

    fn move_windows(&mut self, kind: CommandKind, bank: BankId, now: DramCycle) {
        let position = &self.rules.positions[bank];
        for (window, last) in self.rules.windows.iter().zip(&mut self.last) {
            if window.from != kind {
                continue;
            }
            let pseudo_channel = usize::from(position.pseudo_channel);
            let ring = if window.by_pseudo_channel { pseudo_channel } else { 0 };
            let end = last[ring].push(now + window.cycles);
            for &entry in &window.entries[usize::from(position.group)] {
                let earliest = &mut self.shared[usize::from(entry) % SHARED];
                *earliest = (*earliest).max(end);
            }
        }
    }
}

/// Returns whether the channel must track a constraint.
fn matters(c: &Constraint, dram: &Dram) -> bool {
    let planned = match c.to {
        Ref => dram.timing.trefi > 0,
        RefPb => dram.timing.trefipb > 0,
        to => (to as usize) < CommandKind::PLANNED,
    };
    // A bus issues at most one command per cycle anyway.
    let same_bus = !dram.dual_command_bus || c.from.is_column() == c.to.is_column();
    planned && !(same_bus && c.cycles <= 1)
}

impl Window {
    fn new(c: &Constraint, shape: &Shape) -> Window {
        let entries = |group| shape.cover(c.to, shape.members(group, c.scope));
        Window {
            from: c.from,
            cycles: c.cycles.into(),
            by_pseudo_channel: c.scope != Scope::Channel,
            entries: (0..shape.all_groups()).map(entries).collect(),
        }
    }
}

impl Consequences {
    /// Adds the effect of a constraint after a command to `group`.
    fn add(&mut self, c: &Constraint, group: usize, shape: &Shape) {
        if c.scope == Scope::Bank && !c.sibling {
            merge(&mut self.bank, c.to as u16, c.cycles);
            return;
        }
        let own = shape.members(group, c.scope);
        // A constraint between the banks of a group holds, at least as long, within each of them.
        let within = !c.sibling || c.scope == Scope::Bank;
        let all = if c.sibling { shape.members(group, c.scope.wider()) } else { own.clone() };
        let parts = if within { [all, 0..0] } else { [all.start..own.start, own.end..all.end] };
        for entry in parts.into_iter().flat_map(|part| shape.cover(c.to, part)) {
            merge(&mut self.others, entry, c.cycles);
        }
    }
}

/// Adds a rule, or lengthens the one of the same entry.
fn merge(rules: &mut Vec<Rule>, entry: u16, cycles: u32) {
    match rules.iter_mut().find(|rule| rule.entry == entry) {
        Some(rule) => rule.cycles = rule.cycles.max(cycles),
        None => rules.push(Rule { entry, cycles }),
    }
}

/// Returns the longest distance that these constraints require.
fn longest<'a>(constraints: impl Iterator<Item = &'a Constraint>) -> u64 {
    constraints.map(|constraint| u64::from(constraint.cycles)).max().unwrap_or(0)
}

/// Returns whether two commands wait for the same commands and equally long.
fn alike(table: &[Constraint], a: CommandKind, b: CommandKind) -> bool {
    let waits = |to| -> HashSet<_> {
        let of = table.iter().filter(|c| c.to == to);
        of.map(|c| (c.from, c.scope, c.sibling, c.window, c.cycles)).collect()
    };
    waits(a) == waits(b)
}

/// Raises earliest cycles, a power of two of them, to those that the rules count from `now`.
#[inline]
fn raise<const N: usize>(earliest: &mut [DramCycle; N], rules: &[Rule], now: DramCycle) {
    for rule in rules {
        let earliest = &mut earliest[usize::from(rule.entry) % N];
        *earliest = (*earliest).max(now + u64::from(rule.cycles));
    }
}

#[cfg(test)]
mod tests;
