//! Timing constraints between commands: one declarative table, and the state that it drives.
//!
//! Short constraints (`_S`) hold over the whole channel, long ones (`_L`) add to them within a bank
//! group. Another standard is another table.

use super::MAX_BANKS;
use super::request::CommandKind::{self, Act, Pre, Rd, Ref, Wr};
use crate::machine::{Dram, Timing};
use serde::{Deserialize, Serialize};

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

/// The constraints of a channel, `burst` being the data cycles of a column command. Those of zero
/// cycles are left out.
pub fn constraints(t: &Timing, burst: u32) -> Vec<Constraint> {
    use Scope::{Bank, Channel, Group};
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
    table.into_iter().filter(|c| c.cycles > 0).collect()
}

/// Earliest cycle of each kind of command.
pub(super) type Earliest = [u64; CommandKind::COUNT];

/// What one kind of command asks of those after it, by scope: kind and cycles.
#[derive(Default)]
struct Rules {
    bank: Vec<(CommandKind, u64)>,
    group: Vec<(CommandKind, u64)>,
    channel: Vec<(CommandKind, u64)>,
    windows: Vec<Window>,
}

/// A constraint on the n-th last command, with the cycles of the last n.
struct Window {
    to: CommandKind,
    cycles: u64,
    /// Ring; `next` is the oldest. Empty places hold none.
    last: Vec<Option<u64>>,
    next: usize,
}

/// The earliest legal cycle of every command, given those issued so far.
pub(super) struct TimingState {
    /// By the kind of the command that sets them off.
    rules: [Rules; CommandKind::COUNT],
    banks: Vec<Earliest>,
    groups: Vec<Earliest>,
    channel: Earliest,
    group_of: Vec<u8>,
}

impl TimingState {
    pub fn new(dram: &Dram) -> TimingState {
        let mut rules: [Rules; CommandKind::COUNT] = Default::default();
        for c in constraints(&dram.timing, dram.burst_cycles()) {
            let rules = &mut rules[c.from as usize];
            let cycles = u64::from(c.cycles);
            let scope = match c.scope {
                _ if c.window > 1 => {
                    let last = vec![None; c.window.into()];
                    rules.windows.push(Window { to: c.to, cycles, last, next: 0 });
                    continue;
                }
                Scope::Bank => &mut rules.bank,
                Scope::Group => &mut rules.group,
                _ => &mut rules.channel,
            };
            match scope.iter_mut().find(|(to, _)| *to == c.to) {
                Some((_, longest)) => *longest = cycles.max(*longest),
                None => scope.push((c.to, cycles)),
            }
        }
        let groups = dram.bank_groups.clamp(1, MAX_BANKS);
        TimingState {
            rules,
            banks: vec![Earliest::default(); dram.banks as usize],
            groups: vec![Earliest::default(); groups as usize],
            channel: Earliest::default(),
            group_of: (0..dram.banks).map(|bank| (bank % groups) as u8).collect(),
        }
    }

    /// Bank group of a bank: the low bank bits.
    pub fn group(&self, bank: usize) -> usize {
        usize::from(self.group_of[bank])
    }

    /// Earliest cycle as far as the bank's own commands go.
    pub fn of_bank(&self, kind: CommandKind, bank: usize) -> u64 {
        self.banks[bank][kind as usize]
    }

    /// Earliest cycles as far as other banks of each group go.
    pub fn of_groups(&self) -> &[Earliest] {
        &self.groups
    }

    /// Earliest cycles as far as any other bank goes.
    pub fn of_channel(&self) -> &Earliest {
        &self.channel
    }

    /// Records a command.
    pub fn issued(&mut self, kind: CommandKind, bank: usize, now: u64) {
        let group = self.group(bank);
        let rules = &mut self.rules[kind as usize];
        raise(&mut self.banks[bank], &rules.bank, now);
        raise(&mut self.groups[group], &rules.group, now);
        raise(&mut self.channel, &rules.channel, now);
        for window in &mut rules.windows {
            window.last[window.next] = Some(now);
            window.next = (window.next + 1) % window.last.len();
            if let Some(oldest) = window.last[window.next] {
                raise(&mut self.channel, &[(window.to, window.cycles)], oldest);
            }
        }
    }
}

/// Raises earliest cycles to those that the rules count from `from`.
fn raise(earliest: &mut Earliest, rules: &[(CommandKind, u64)], from: u64) {
    for &(to, cycles) in rules {
        let earliest = &mut earliest[to as usize];
        *earliest = (*earliest).max(from + cycles);
    }
}
