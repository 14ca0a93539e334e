//! Warp groups with a priority order, shared by the two-level and CTA-aware schedulers. Each
//! scheduler of the SM issues round robin within the highest-priority group that has a warp not
//! waiting.

use super::lrr::next_round_robin;
use super::{Counter, WarpView};
use warpmem_params::{choice, params};
use warpmem_sim::WarpSlot;

choice! {
    /// Use of an issue slot when no warp of the current group can issue although some do not wait
    /// for memory.
    #[derive(PartialEq, Eq)]
    pub(super) enum Idle {
        Wait = "wait",
        Lend = "lend",
    }
}

params! {
    /// Options of the policies with groups.
    pub(super) struct GroupOptions {
        /// when no warp of the group can issue although one is not blocked (it waits for a compute
        /// result or a unit): `wait` issues nothing, `lend` lets the next group issue
        pub(super) idle: Idle = Idle::Wait;
    }
}

/// Order of priority among groups.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Priority {
    /// The current group keeps priority until all its warps wait.
    Equal,
    /// This group (modulo the number of groups) comes first, then the following groups in order.
    From(usize),
}

/// Round-robin state of one scheduler.
#[derive(Clone)]
struct Position {
    group: usize,
    /// Slot that issued last, by group.
    last: [WarpSlot; 64],
}

/// The groups of an SM and the issue state of its schedulers. Each scheduler considers only its
/// own warps of a group.
pub(super) struct Groups {
    priority: Priority,
    idle: Idle,
    warps: Vec<u64>,
    positions: Vec<Position>,
    switches: u64,
}

impl Groups {
    pub(super) fn new(priority: Priority, idle: Idle, schedulers: usize) -> Groups {
        let positions = vec![Position { group: 0, last: [WarpSlot(63); 64] }; schedulers];
        Groups { priority, idle, warps: Vec::new(), positions, switches: 0 }
    }

    /// Replaces the groups. Each scheduler moves to the first new group that shares a warp with
    /// its current group; if there is none, it keeps the group index.
    pub(super) fn form(&mut self, warps: Vec<u64>) {
        for position in &mut self.positions {
            let old = self.warps.get(position.group).copied().unwrap_or(0);
            let heir = warps.iter().position(|new| new & old != 0).unwrap_or(position.group);
            position.group = if heir < warps.len() { heir } else { 0 };
        }
        self.warps = warps;
    }

    /// Returns the warps of the first group by priority.
    pub(super) fn first(&self) -> u64 {
        match self.priority {
            Priority::Equal => 0,
            Priority::From(first) => self.warps[first % self.warps.len()],
        }
    }

    /// Replaces the order of priority.
    pub(super) fn set_priority(&mut self, priority: Priority) {
        self.priority = priority;
    }

    /// Makes the group after the first one the first, or the next one with a warp in `warps`.
    pub(super) fn rotate_to(&mut self, warps: u64) {
        let Priority::From(first) = self.priority else { return };
        let next = (first % self.warps.len() + 1) % self.warps.len();
        self.priority = Priority::From(self.first_with(warps, next).unwrap_or(next));
    }

    /// Picks a candidate round robin from the current group: the first by priority with a warp
    /// that does not wait.
    pub(super) fn choose(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let position = &self.positions[view.scheduler.index()];
        let first = match self.priority {
            Priority::Equal => position.group,
            Priority::From(first) => first % self.warps.len().max(1),
        };
        let group = self.first_with(view.awake(), first)?;
        let issues = match self.idle {
            Idle::Wait => Some(group).filter(|&group| self.warps[group] & candidates != 0),
            Idle::Lend => self.first_with(candidates, group),
        }?;
        let position = &mut self.positions[view.scheduler.index()];
        self.switches += u64::from(position.group != group);
        position.group = group;
        let slot = next_round_robin(candidates & self.warps[issues], position.last[issues]);
        position.last[issues] = slot;
        Some(slot)
    }

    /// Returns the first group at or after `first`, wrapping around, with a warp in `warps`.
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
