//! An independent check of a command log.
//!
//! The checker uses the constraint table of the standard and shares no state with the channel. It
//! compares every command with the commands before it, one constraint at a time, and checks the
//! rules outside the table: the open rows, the owner of each bus, and the refresh deadlines.

use super::constraint::{Constraint, Scope};
use super::request::{Command, CommandKind};
use super::standard::{COMMAND_BUS, Place, Standard};
use crate::Dram;
use std::collections::VecDeque;

/// Refreshes that a controller may postpone (JEDEC, from DDR3 on: at most 8).
pub const POSTPONED_REFRESHES: u32 = 8;

/// Rule: the commands of a log are sorted by cycle.
pub const COMMAND_ORDER: &str = "order of commands";

/// Rule: some commands start with a clock, where a clock is several ticks.
pub const WITHIN_CLOCK: &str = "start of a clock";

const REFRESH: &str = "refresh overdue";

/// A rule that a command breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Name of the violated constraint, or a description of the violation.
    pub rule: String,
    /// The earlier command that the constraint counts from, if any.
    pub earlier: Option<Command>,
    pub later: Command,
    /// The first legal cycle, for rules of a minimum distance.
    pub earliest: Option<u64>,
}

/// Checks the log of one channel in order, starting with all banks closed. Refreshes may be late.
///
/// # Panics
/// Panics if `dram` names no standard, which no valid machine does.
pub fn check(dram: &Dram, log: &[Command]) -> Vec<Violation> {
    let standard = Standard::of(dram).expect("a checked standard");
    let mut checker = Checker::new(dram, &standard);
    log.iter().flat_map(|command| checker.take(*command)).collect()
}

/// A command with the position of its bank.
#[derive(Clone, Copy)]
struct Placed {
    command: Command,
    place: Place,
}

#[derive(Clone, Default)]
struct Bank {
    /// The activation of the open row, if any.
    open: Option<Command>,
    /// The last refresh, and whether its delay has been reported.
    refreshed: Option<Command>,
    overdue: bool,
}

/// Checks the commands of one channel in sequence.
pub struct Checker {
    /// Constraints by the kind of the later command, without those of the command buses.
    constraints: Vec<Vec<Constraint>>,
    /// Past commands by kind, as far back as a constraint reaches.
    history: Vec<VecDeque<Placed>>,
    reach: u64,
    command_ticks: [u64; CommandKind::COUNT],
    command_grid: [u64; CommandKind::COUNT],
    dual_command_bus: bool,
    on_bus: [Option<Command>; 2],
    /// Data cycles of a burst, and cycles from RD and from WR to its first datum.
    burst: u64,
    latencies: [u64; 2],
    /// Cycles within which every bank must be refreshed.
    refresh_within: Option<u64>,
    places: Vec<Place>,
    banks: Vec<Bank>,
    last: Option<Command>,
}

impl Checker {
    /// Builds a checker of a channel of `dram`, which is valid and of this standard, with all banks
    /// closed.
    pub fn new(dram: &Dram, standard: &Standard) -> Checker {
        let mut constraints = vec![Vec::new(); CommandKind::COUNT];
        let table = standard.constraints(dram);
        let reach = table.iter().map(|c| u64::from(c.cycles)).max().unwrap_or(0);
        for constraint in table.into_iter().filter(|c| c.name != COMMAND_BUS) {
            constraints[constraint.to as usize].push(constraint);
        }
        let places: Vec<Place> =
            (0..dram.banks as u16).filter_map(|b| Place::of(dram, b)).collect();
        let burst = u64::from(dram.burst_cycles());
        let latencies = standard.latencies(dram).map(u64::from);
        Checker {
            constraints,
            history: vec![VecDeque::new(); CommandKind::COUNT],
            reach: reach.max(latencies[0].max(latencies[1]) + burst),
            command_ticks: CommandKind::ALL.map(|kind| standard.command_ticks(kind).into()),
            command_grid: CommandKind::ALL.map(|kind| standard.command_grid(kind).into()),
            dual_command_bus: dram.dual_command_bus,
            on_bus: [None; 2],
            burst,
            latencies,
            refresh_within: None,
            banks: vec![Bank::default(); places.len()],
            places,
            last: None,
        }
    }

    /// Also requires timely refresh of every bank: of the refreshes due every tREFI (or tREFIpb for
    /// single banks), at most `postponed` may be late.
    pub fn with_refresh(mut self, dram: &Dram, postponed: u32) -> Checker {
        let t = &dram.timing;
        let single = u64::from(t.trefipb) * u64::from(dram.banks);
        let interval = if t.trefi > 0 { t.trefi.into() } else { single };
        self.refresh_within = (interval > 0).then(|| interval * (u64::from(postponed) + 1));
        self
    }

    /// Keeps the whole history, so that commands in the past can be inspected.
    #[cfg(test)]
    pub(super) fn with_whole_history(self) -> Checker {
        Checker { reach: u64::MAX, ..self }
    }

    /// Returns the violations of the next command and adds it to the history.
    pub fn take(&mut self, command: Command) -> Vec<Violation> {
        let violations = self.inspect(command);
        self.remember(command, &violations);
        violations
    }

    /// Returns the violations that `command` would have as the next command.
    pub fn inspect(&self, command: Command) -> Vec<Violation> {
        let mut found = Findings { later: command, violations: Vec::new() };
        if let Some(last) = self.last {
            found.not_before(COMMAND_ORDER, last, last.cycle);
        }
        self.check_command_bus(&mut found);
        match self.places.get(usize::from(command.bank)) {
            None => found.wrong("bank out of range", None),
            Some(&place) => {
                self.check_constraints(place, &mut found);
                self.check_data_bus(place, &mut found);
                self.check_refresh(place, &mut found);
                self.check_rows(place, &mut found);
            }
        }
        found.violations
    }

    fn check_constraints(&self, place: Place, found: &mut Findings) {
        for constraint in &self.constraints[found.later.kind as usize] {
            let counted = self.history[constraint.from as usize]
                .iter()
                .rev()
                .filter(|earlier| constraint.holds_between(&earlier.place, &place))
                .nth(usize::from(constraint.window) - 1);
            if let Some(Placed { command, .. }) = counted {
                let earliest = command.cycle + u64::from(constraint.cycles);
                found.not_before(&constraint.name, *command, earliest);
            }
        }
    }

    /// Checks that each command bus carries one command at a time, over all its ticks.
    fn check_command_bus(&self, found: &mut Findings) {
        let later = found.later;
        if let Some(last) = self.on_bus[self.bus(later.kind)] {
            let free = last.cycle + self.command_ticks[last.kind as usize];
            found.not_before(COMMAND_BUS, last, free);
        }
        let clock = later.cycle.next_multiple_of(self.command_grid[later.kind as usize]);
        if later.cycle < clock {
            found.add(WITHIN_CLOCK, None, Some(clock));
        }
    }

    fn bus(&self, kind: CommandKind) -> usize {
        usize::from(self.dual_command_bus && kind.is_column())
    }

    /// Checks that the data bus of a pseudo channel carries one burst at a time, in any order.
    fn check_data_bus(&self, place: Place, found: &mut Findings) {
        if !found.later.kind.is_column() {
            return;
        }
        let (start, end) = self.data(&found.later);
        let columns = CommandKind::ALL.into_iter().filter(|kind| kind.is_column());
        let earlier = columns.flat_map(|kind| &self.history[kind as usize]);
        let meets = |other: &&Placed| {
            let (other_start, other_end) = self.data(&other.command);
            other.place.shares(Scope::PseudoChannel, &place)
                && start < other_end
                && other_start < end
        };
        if let Some(other) = earlier.filter(meets).max_by_key(|other| other.command.cycle) {
            let allowed = found.later.cycle + (self.data(&other.command).1 - start);
            found.early("data bus", other.command, allowed);
        }
    }

    /// Returns the first data-bus cycle of a column command and the cycle after the last.
    fn data(&self, command: &Command) -> (u64, u64) {
        let start = command.cycle + self.latencies[usize::from(command.kind.is_write())];
        (start, start + self.burst)
    }

    /// Checks that the target banks were refreshed in time; each late refresh is reported once.
    fn check_refresh(&self, place: Place, found: &mut Findings) {
        let Some(within) = self.refresh_within else { return };
        let later = found.later;
        for bank in self.concerned(later.kind, place).map(|at| &self.banks[at]) {
            let due = bank.refreshed.map_or(0, |refresh| refresh.cycle) + within;
            if later.cycle > due && !bank.overdue {
                found.wrong(REFRESH, bank.refreshed);
            }
        }
    }

    fn check_rows(&self, place: Place, found: &mut Findings) {
        let kind = found.later.kind;
        for bank in self.concerned(kind, place).map(|at| &self.banks[at]) {
            match kind {
                CommandKind::Act => found.wants_closed(bank.open, "ACT to an open bank"),
                CommandKind::Pre => {
                    found.wants_row(bank.open, "PRE to a closed bank", "PRE of another row");
                }
                CommandKind::Rd | CommandKind::Wr | CommandKind::Rda | CommandKind::Wra => {
                    let closed = "column command to a closed bank";
                    found.wants_row(bank.open, closed, "column command to another row");
                }
                CommandKind::RefPb => found.wants_closed(bank.open, "REFPB to an open bank"),
                CommandKind::Ref => found.wants_closed(bank.open, "REF with an open bank"),
                CommandKind::PreAll => {}
            }
        }
    }

    /// Returns the target banks of a command to `place`; REF and PREA address the whole pseudo
    /// channel.
    fn concerned(&self, kind: CommandKind, place: Place) -> impl Iterator<Item = usize> {
        let scope = match kind {
            CommandKind::Ref | CommandKind::PreAll => Scope::PseudoChannel,
            _ => Scope::Bank,
        };
        (0..self.places.len()).filter(move |&at| self.places[at].shares(scope, &place))
    }

    fn remember(&mut self, command: Command, violations: &[Violation]) {
        self.last = Some(command);
        let bus = self.bus(command.kind);
        self.on_bus[bus] = Some(command);
        let Some(&place) = self.places.get(usize::from(command.bank)) else { return };
        let overdue = violations.iter().any(|violation| violation.rule == REFRESH);
        let concerned: Vec<usize> = self.concerned(command.kind, place).collect();
        for at in concerned {
            let bank = &mut self.banks[at];
            bank.overdue |= overdue;
            match command.kind {
                CommandKind::Act => bank.open = Some(command),
                CommandKind::Pre | CommandKind::PreAll | CommandKind::Rda | CommandKind::Wra => {
                    bank.open = None;
                }
                CommandKind::Rd | CommandKind::Wr => {}
                CommandKind::RefPb | CommandKind::Ref => {
                    (bank.refreshed, bank.overdue) = (Some(command), false);
                }
            }
        }
        let history = &mut self.history[command.kind as usize];
        let oldest = command.cycle.saturating_sub(self.reach);
        while history.front().is_some_and(|first| first.command.cycle < oldest) {
            history.pop_front();
        }
        history.push_back(Placed { command, place });
    }
}

/// The violations of a command.
struct Findings {
    later: Command,
    violations: Vec<Violation>,
}

impl Findings {
    fn wrong(&mut self, rule: &str, earlier: Option<Command>) {
        self.add(rule, earlier, None);
    }

    fn early(&mut self, rule: &str, earlier: Command, earliest: u64) {
        self.add(rule, Some(earlier), Some(earliest));
    }

    fn not_before(&mut self, rule: &str, earlier: Command, earliest: u64) {
        if self.later.cycle < earliest {
            self.early(rule, earlier, earliest);
        }
    }

    fn wants_closed(&mut self, open: Option<Command>, rule: &str) {
        if open.is_some() {
            self.wrong(rule, open);
        }
    }

    fn wants_row(&mut self, open: Option<Command>, closed: &str, other: &str) {
        match open {
            None => self.wrong(closed, None),
            Some(act) if act.row != self.later.row => self.wrong(other, open),
            Some(_) => {}
        }
    }

    fn add(&mut self, rule: &str, earlier: Option<Command>, earliest: Option<u64>) {
        let rule = rule.to_owned();
        self.violations.push(Violation { rule, earlier, later: self.later, earliest });
    }
}
