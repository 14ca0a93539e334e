//! Timing constraints between commands: one declarative table, and the state that it drives.
//!
//! Short constraints (`_S`) hold over the whole channel, long ones (`_L`) add to them within a bank
//! group. Another standard is another table.

use super::request::CommandKind::{self, Act, Pre, Rd, Rda, Ref, Wr, Wra};
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

/// The constraints of a channel. Those of zero cycles are left out.
pub fn constraints(dram: &Dram) -> Vec<Constraint> {
    use Scope::{Bank, Channel, Group};
    let (t, burst) = (&dram.timing, dram.burst_cycles());
    let write_end = t.twl + burst;
    let read_to_write = (t.tcl + burst + t.trtw_gap).saturating_sub(t.twl);
    let rule = |name: &str, from, to, scope, cycles| Constraint {
        name: name.to_owned(),
        from,
        to,
        scope,
        sibling: false,
        cycles,
        window: 1,
    };
    let table = [
        rule("tRCD", Act, Rd, Bank, t.trcd),
        rule("tRCDW", Act, Wr, Bank, t.trcdw),
        rule("tRAS", Act, Pre, Bank, t.tras),
        rule("tRC", Act, Act, Bank, t.trc),
        rule("tRP", Pre, Act, Bank, t.trp),
        rule("tRTP", Rd, Pre, Bank, t.trtp),
        rule("tWR", Wr, Pre, Bank, write_end + t.twr),
        rule("tRRD_S", Act, Act, Channel, t.trrds),
        rule("tRRD_L", Act, Act, Group, t.trrdl),
        Constraint { window: 4, ..rule("tFAW", Act, Act, Channel, t.tfaw) },
        rule("tCCD_S", Rd, Rd, Channel, t.tccds),
        rule("tCCD_S", Rd, Wr, Channel, t.tccds),
        rule("tCCD_S", Wr, Rd, Channel, t.tccds),
        rule("tCCD_S", Wr, Wr, Channel, t.tccds),
        rule("tCCD_L", Rd, Rd, Group, t.tccdl),
        rule("tCCD_L", Rd, Wr, Group, t.tccdl),
        rule("tCCD_L", Wr, Rd, Group, t.tccdl),
        rule("tCCD_L", Wr, Wr, Group, t.tccdl),
        rule("data bus", Rd, Rd, Channel, burst),
        rule("data bus", Wr, Wr, Channel, burst),
        rule("tRTW", Rd, Wr, Channel, read_to_write),
        rule("tWTR_S", Wr, Rd, Channel, write_end + t.twtrs),
        rule("tWTR_L", Wr, Rd, Group, write_end + t.twtrl),
        rule("tRP", Pre, Ref, Channel, t.trp),
        rule("tRC", Act, Ref, Channel, t.trc),
        rule("tRFC", Ref, Act, Channel, t.trfc),
        rule("tRFC", Ref, Ref, Channel, t.trfc),
    ];
    let buses = command_buses(dram.dual_command_bus);
    table.into_iter().chain(buses).filter(|c| c.cycles > 0).collect()
}

/// One command a cycle on each command bus.
fn command_buses(dual: bool) -> impl Iterator<Item = Constraint> {
    let pairs = CommandKind::ALL.into_iter().flat_map(|a| CommandKind::ALL.map(|b| (a, b)));
    let shared = pairs.filter(move |(a, b)| !dual || a.is_column() == b.is_column());
    shared.map(|(from, to)| Constraint {
        name: "command bus".to_owned(),
        from,
        to,
        scope: Scope::Channel,
        sibling: false,
        cycles: 1,
        window: 1,
    })
}

/// Earliest cycle of each kind of command that a channel plans.
pub(super) type Earliest = [u64; CommandKind::PLANNED];

/// Cycles that one kind of command asks of those after it, by their kind.
type Rules = [u64; CommandKind::PLANNED];

/// What one kind of command asks of those after it, by whom it concerns.
#[derive(Default)]
struct Consequences {
    bank: Rules,
    /// Wider than a bank and narrower than the channel.
    spans: Vec<Span>,
    channel: Rules,
    windows: Vec<Window>,
}

struct Span {
    scope: Scope,
    sibling: bool,
    rules: Rules,
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
    /// By the kind of the command that sets them off.
    rules: [Consequences; CommandKind::COUNT],
    banks: Vec<Earliest>,
    groups: Vec<Earliest>,
    channel: Earliest,
    group_of: Vec<u8>,
    auto_precharge: bool,
}

impl TimingState {
    pub fn new(dram: &Dram) -> TimingState {
        let shape = Shape::new(dram);
        let table = constraints(dram);
        let mut rules: [Consequences; CommandKind::COUNT] = Default::default();
        for c in &table {
            rules[c.from as usize].add(c, &shape);
        }
        TimingState {
            shape,
            rules,
            banks: vec![Earliest::default(); dram.banks as usize],
            groups: vec![Earliest::default(); shape.all_groups()],
            channel: Earliest::default(),
            group_of: (0..dram.banks as usize).map(|bank| shape.group(bank) as u8).collect(),
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

    /// Earliest cycles as far as other banks of each group, and those that only some groups answer to, go.
    #[inline]
    pub fn of_groups(&self) -> &[Earliest] {
        &self.groups
    }

    /// Earliest cycles as far as any other bank goes.
    #[inline]
    pub fn of_channel(&self) -> &Earliest {
        &self.channel
    }

    /// Earliest cycle by all constraints.
    #[inline]
    pub fn earliest(&self, kind: CommandKind, bank: usize) -> u64 {
        let kind = kind as usize;
        let group = &self.groups[self.group(bank)];
        self.banks[bank][kind].max(group[kind]).max(self.channel[kind])
    }

    /// Records a command.
    pub fn issued(&mut self, kind: CommandKind, bank: usize, now: u64) {
        let group = self.group(bank);
        let rules = &mut self.rules[kind as usize];
        raise(&mut self.banks[bank], &rules.bank, now);
        raise(&mut self.channel, &rules.channel, now);
        for span in &rules.spans {
            let own = self.shape.members(group, span.scope);
            if !span.sibling {
                self.groups[own].iter_mut().for_each(|group| raise(group, &span.rules, now));
                continue;
            }
            for other in self.shape.members(group, span.scope.wider()) {
                if !own.contains(&other) {
                    raise(&mut self.groups[other], &span.rules, now);
                }
            }
        }
        for window in &mut rules.windows {
            let ring = match window.scope {
                Scope::Channel => 0,
                _ => self.shape.pseudo_channel(bank),
            };
            let Some(oldest) = window.last[ring].push(now) else { continue };
            let (to, cycle) = (window.to as usize, oldest + window.cycles);
            for group in &mut self.groups[self.shape.members(group, window.scope)] {
                group[to] = group[to].max(cycle);
            }
        }
    }
}

impl Consequences {
    fn add(&mut self, c: &Constraint, shape: &Shape) {
        let cycles = u64::from(c.cycles);
        // Commands that are not planned need no earliest cycle.
        let to = c.to as usize;
        if to >= CommandKind::PLANNED {
            return;
        }
        if c.window > 1 {
            let ring = Ring { cycles: vec![None; c.window.into()], next: 0 };
            let last = vec![ring; shape.pseudo_channels];
            self.windows.push(Window { scope: c.scope, to: c.to, cycles, last });
            return;
        }
        let whole_channel = c.scope == Scope::Channel
            || c.scope == Scope::PseudoChannel && shape.pseudo_channels == 1;
        let rules = match c.scope {
            Scope::Bank if !c.sibling => &mut self.bank,
            // What holds between banks holds, at least as long, within each of them.
            Scope::Bank => &mut self.channel,
            _ if whole_channel && !c.sibling => &mut self.channel,
            scope => {
                let same = |span: &Span| span.scope == scope && span.sibling == c.sibling;
                let at = self.spans.iter().position(same).unwrap_or_else(|| {
                    self.spans.push(Span { scope, sibling: c.sibling, rules: Rules::default() });
                    self.spans.len() - 1
                });
                &mut self.spans[at].rules
            }
        };
        rules[to] = rules[to].max(cycles);
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

/// Raises earliest cycles to those that the rules count from `now`; where there is no rule, to `now`, which is past
/// for whatever comes after.
#[inline]
fn raise(earliest: &mut Earliest, rules: &Rules, now: u64) {
    for (earliest, cycles) in earliest.iter_mut().zip(rules) {
        *earliest = (*earliest).max(now + cycles);
    }
}
