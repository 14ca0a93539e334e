//! Groups of warps, of which one goes before the others.

use super::lrr::next_in_turn;
use super::{Counter, WarpView};
use warpmem_params::{choice, params};
use warpmem_sim::WarpSlot;

choice! {
    /// What happens to an issue slot if no warp of the current group can issue, but some of them do not
    /// wait for memory.
    #[derive(PartialEq, Eq)]
    pub(super) enum Idle {
        Wait = "wait",
        Lend = "lend",
    }
}

params! {
    /// The options of the policies that have groups.
    pub(super) struct GroupOptions {
        /// when no warp of the group can issue although one is not blocked (it waits for a compute
        /// result, or for a unit): `wait` issues nothing, `lend` lets the next group issue
        pub(super) idle: Idle = Idle::Wait;
    }
}

/// Which group goes first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Priority {
    /// Each group in turn, until all its warps wait.
    Equal,
    /// The group of this number modulo the number of groups, then those that follow it in turn.
    From(usize),
}

/// What a scheduler of the SM remembers.
#[derive(Clone)]
struct Turn {
    group: usize,
    /// The slot that issued last from each group.
    last: [WarpSlot; 64],
}

/// The groups of an SM, and the order in which its schedulers choose among them. Each applies it to
/// its own warps.
pub(super) struct Groups {
    priority: Priority,
    idle: Idle,
    warps: Vec<u64>,
    turns: Vec<Turn>,
    switches: u64,
}

impl Groups {
    pub(super) fn new(priority: Priority, idle: Idle, schedulers: usize) -> Groups {
        let turns = vec![Turn { group: 0, last: [WarpSlot(63); 64] }; schedulers];
        Groups { priority, idle, warps: Vec::new(), turns, switches: 0 }
    }

    /// Replaces the groups. A scheduler goes on with the first group that has a warp of its current
    /// group; if none has, with the group of the same index.
    pub(super) fn form(&mut self, warps: Vec<u64>) {
        for turn in &mut self.turns {
            let old = self.warps.get(turn.group).copied().unwrap_or(0);
            let heir = warps.iter().position(|new| new & old != 0).unwrap_or(turn.group);
            turn.group = if heir < warps.len() { heir } else { 0 };
        }
        self.warps = warps;
    }

    /// The warp of `candidates` that issues: round robin in the current group, the first that has a
    /// warp that does not wait.
    pub(super) fn choose(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let turn = &self.turns[view.scheduler.index()];
        let first = match self.priority {
            Priority::Equal => turn.group,
            Priority::From(first) => first % self.warps.len().max(1),
        };
        let group = self.first_with(view.awake(), first)?;
        let issues = match self.idle {
            Idle::Wait => Some(group).filter(|&group| self.warps[group] & candidates != 0),
            Idle::Lend => self.first_with(candidates, group),
        }?;
        let turn = &mut self.turns[view.scheduler.index()];
        self.switches += u64::from(turn.group != group);
        turn.group = group;
        let slot = next_in_turn(candidates & self.warps[issues], turn.last[issues]);
        turn.last[issues] = slot;
        Some(slot)
    }

    /// The first group in turn, from `first` on, that has one of `warps`.
    fn first_with(&self, warps: u64, first: usize) -> Option<usize> {
        let has_one = |&group: &usize| self.warps[group] & warps != 0;
        (first..self.warps.len()).find(has_one).or_else(|| (0..first).find(has_one))
    }

    pub(super) fn counters(&self) -> Vec<Counter> {
        vec![Counter { name: "group_switches", value: self.switches }]
    }

    #[cfg(test)]
    pub(super) fn warps(&self) -> &[u64] {
        &self.warps
    }
}
