//! Timing constraints between commands: one declarative table, and the state that it drives.
//!
//! Short constraints (`_S`) hold over the whole channel, long ones (`_L`) add to them within a bank
//! group. Another standard is another table.

use super::request::CommandKind::{self, Act, Pre, Rd, Ref, Wr};
use crate::machine::{Dram, Timing};

/// Between which commands of a channel a constraint holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Both commands to one bank.
    Bank,
    /// Both commands to banks of one group.
    Group,
    /// Any two commands of the channel.
    Channel,
}

/// `to` may issue no earlier than `cycles` after the `window`-th last `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint {
    pub name: &'static str,
    pub from: CommandKind,
    pub to: CommandKind,
    pub scope: Scope,
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
    let rule =
        |name, from, to, scope, cycles| Constraint { name, from, to, scope, cycles, window: 1 };
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

/// Cycles from one kind of command (row) to another (column); 0 = no constraint.
type Matrix = [[u32; CommandKind::COUNT]; CommandKind::COUNT];
/// Earliest cycle of each kind of command.
type Earliest = [u64; CommandKind::COUNT];

/// A constraint on the n-th last command, with the cycles of the last n.
struct Window {
    constraint: Constraint,
    /// Ring; `next` is the oldest. Empty places hold none.
    last: Vec<Option<u64>>,
    next: usize,
}

/// The earliest legal cycle of every command, given those issued so far.
pub(super) struct TimingState {
    bank_rules: Matrix,
    group_rules: Matrix,
    channel_rules: Matrix,
    windows: Vec<Window>,
    /// Per bank: by constraints of scope bank.
    banks: Vec<Earliest>,
    /// Per group: by constraints of scope group or channel.
    groups: Vec<Earliest>,
}

impl TimingState {
    pub fn new(dram: &Dram) -> TimingState {
        let mut rules = [Matrix::default(); 3];
        let mut windows = Vec::new();
        for c in constraints(&dram.timing, dram.burst_cycles()) {
            if c.window > 1 {
                windows.push(Window { constraint: c, last: vec![None; c.window.into()], next: 0 });
                continue;
            }
            let cell = &mut rules[c.scope as usize][c.from as usize][c.to as usize];
            *cell = c.cycles.max(*cell);
        }
        let [bank_rules, group_rules, channel_rules] = rules;
        TimingState {
            bank_rules,
            group_rules,
            channel_rules,
            windows,
            banks: vec![Earliest::default(); dram.banks as usize],
            groups: vec![Earliest::default(); dram.bank_groups.max(1) as usize],
        }
    }

    /// Bank group of a bank: the low bank bits.
    pub fn group(&self, bank: usize) -> usize {
        bank % self.groups.len()
    }

    /// Earliest cycle as far as the bank's own commands go.
    pub fn of_bank(&self, kind: CommandKind, bank: usize) -> u64 {
        self.banks[bank][kind as usize]
    }

    /// Earliest cycles of each group as far as commands to other banks go.
    pub fn of_groups(&self) -> &[Earliest] {
        &self.groups
    }

    /// Records a command.
    pub fn issued(&mut self, kind: CommandKind, bank: usize, now: u64) {
        let group = self.group(bank);
        raise(&mut self.banks[bank], &self.bank_rules[kind as usize], now);
        raise(&mut self.groups[group], &self.group_rules[kind as usize], now);
        for earliest in &mut self.groups {
            raise(earliest, &self.channel_rules[kind as usize], now);
        }
        for window in self.windows.iter_mut().filter(|w| w.constraint.from == kind) {
            window.last[window.next] = Some(now);
            window.next = (window.next + 1) % window.last.len();
            let Some(oldest) = window.last[window.next] else { continue };
            for earliest in &mut self.groups {
                let slot = &mut earliest[window.constraint.to as usize];
                *slot = (*slot).max(oldest + u64::from(window.constraint.cycles));
            }
        }
    }
}

/// Raises each earliest cycle to `now` plus its rule. Without a rule this is `now`, which has passed
/// for all that can still issue.
fn raise(earliest: &mut Earliest, rules: &[u32; CommandKind::COUNT], now: u64) {
    for (earliest, &cycles) in earliest.iter_mut().zip(rules) {
        *earliest = (*earliest).max(now + u64::from(cycles));
    }
}
