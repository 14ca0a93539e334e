//! An independent check of a command log.
//!
//! It states the rules of the device anew, from the data sheet's point of view: rows and data intervals, not
//! commands to schedule. It shares no code with the channel or its timing table.

use super::request::{Command, CommandKind};
use crate::machine::{Dram, Timing};

/// A rule that a command breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: &'static str,
    /// The command that the rule counts from, if it counts from one.
    pub earlier: Option<Command>,
    pub later: Command,
    /// The first cycle that the rule allows, if it is about time.
    pub earliest: Option<u64>,
}

/// Checks a log, in its order, of a channel whose banks are all closed before it.
pub fn check(dram: &Dram, log: &[Command]) -> Vec<Violation> {
    let mut checker = Checker::new(dram);
    for command in log {
        checker.take(*command);
    }
    checker.violations
}

#[derive(Clone, Default)]
struct BankState {
    /// The activation that opened the row, while it is open.
    open: Option<Command>,
    last_act: Option<Command>,
    last_pre: Option<Command>,
    last_read: Option<Command>,
    last_write: Option<Command>,
}

struct Checker<'a> {
    timing: &'a Timing,
    groups: u16,
    dual_command_bus: bool,
    /// Cycles of data per column command.
    data_cycles: u64,
    banks: Vec<BankState>,
    /// All activations, and the last column commands of each bank group.
    acts: Vec<Command>,
    last_columns: Vec<Option<Command>>,
    last_writes: Vec<Option<Command>>,
    last_acts: Vec<Option<Command>>,
    last_column: Option<Command>,
    last_read: Option<Command>,
    last_write: Option<Command>,
    last_pre: Option<Command>,
    last_refresh: Option<Command>,
    last_on_bus: [Option<Command>; 2],
    violations: Vec<Violation>,
}

impl<'a> Checker<'a> {
    fn new(dram: &'a Dram) -> Self {
        let groups = dram.bank_groups.max(1) as usize;
        let transfers = u64::from(dram.burst_length);
        let per_clock = u64::from(dram.transfers_per_clock.max(1));
        Checker {
            timing: &dram.timing,
            groups: groups as u16,
            dual_command_bus: dram.dual_command_bus,
            data_cycles: transfers.div_ceil(per_clock).max(1),
            banks: vec![BankState::default(); dram.banks as usize],
            acts: Vec::new(),
            last_columns: vec![None; groups],
            last_writes: vec![None; groups],
            last_acts: vec![None; groups],
            last_column: None,
            last_read: None,
            last_write: None,
            last_pre: None,
            last_refresh: None,
            last_on_bus: [None; 2],
            violations: Vec::new(),
        }
    }

    fn take(&mut self, command: Command) {
        self.check_bus(command);
        if usize::from(command.bank) >= self.banks.len() {
            return self.report("bank out of range", None, command, None);
        }
        match command.kind {
            CommandKind::Act => self.activate(command),
            CommandKind::Pre => self.precharge(command),
            CommandKind::Rd => self.read(command),
            CommandKind::Wr => self.write(command),
            CommandKind::Ref => self.refresh(command),
            _ => {}
        }
    }

    fn check_bus(&mut self, command: Command) {
        let column = matches!(command.kind, CommandKind::Rd | CommandKind::Wr);
        let bus = usize::from(self.dual_command_bus && column);
        self.after("command bus", self.last_on_bus[bus], command, 1);
        self.last_on_bus[bus] = Some(command);
    }

    fn activate(&mut self, command: Command) {
        let t = self.timing;
        let group = usize::from(command.bank % self.groups);
        let bank = self.banks[usize::from(command.bank)].clone();
        if bank.open.is_some() {
            self.report("ACT to an open bank", bank.open, command, None);
        }
        self.after("tRC", bank.last_act, command, t.trc);
        self.after("tRP", bank.last_pre, command, t.trp);
        self.after("tRRD_S", self.acts.last().copied(), command, t.trrds);
        self.after("tRRD_L", self.last_acts[group], command, t.trrdl);
        // With this one there would be five in the window.
        let fourth_last = self.acts.len().checked_sub(4).map(|i| self.acts[i]);
        self.after("tFAW", fourth_last, command, t.tfaw);
        self.after("tRFC", self.last_refresh, command, t.trfc);
        let bank = &mut self.banks[usize::from(command.bank)];
        bank.open = Some(command);
        bank.last_act = Some(command);
        self.last_acts[group] = Some(command);
        self.acts.push(command);
    }

    fn precharge(&mut self, command: Command) {
        let t = self.timing;
        let bank = self.banks[usize::from(command.bank)].clone();
        match bank.open {
            None => self.report("PRE to a closed bank", bank.last_pre, command, None),
            Some(act) if act.row != command.row => {
                self.report("PRE of another row", bank.open, command, None);
            }
            Some(_) => {}
        }
        self.after("tRAS", bank.last_act, command, t.tras);
        self.after("tRTP", bank.last_read, command, t.trtp);
        if let Some(write) = bank.last_write {
            self.from("tWR", write, self.data(write).1 + u64::from(t.twr), command);
        }
        let bank = &mut self.banks[usize::from(command.bank)];
        bank.open = None;
        bank.last_pre = Some(command);
        self.last_pre = Some(command);
    }

    fn read(&mut self, command: Command) {
        let t = self.timing;
        let group = usize::from(command.bank % self.groups);
        self.check_row(command, "tRCD", t.trcd);
        self.check_column(command);
        if let Some(write) = self.last_write {
            self.from("tWTR_S", write, self.data(write).1 + u64::from(t.twtrs), command);
        }
        if let Some(write) = self.last_writes[group] {
            self.from("tWTR_L", write, self.data(write).1 + u64::from(t.twtrl), command);
        }
        self.banks[usize::from(command.bank)].last_read = Some(command);
        self.last_read = Some(command);
    }

    fn write(&mut self, command: Command) {
        let t = self.timing;
        let group = usize::from(command.bank % self.groups);
        self.check_row(command, "tRCDW", t.trcdw);
        self.check_column(command);
        if let Some(read) = self.last_read {
            let first_data = self.data(read).1 + u64::from(t.trtw_gap);
            self.from("tRTW", read, first_data.saturating_sub(u64::from(t.twl)), command);
        }
        self.banks[usize::from(command.bank)].last_write = Some(command);
        self.last_writes[group] = Some(command);
        self.last_write = Some(command);
    }

    fn refresh(&mut self, command: Command) {
        let t = self.timing;
        if let Some(open) = self.banks.iter().find_map(|bank| bank.open) {
            self.report("REF with an open bank", Some(open), command, None);
        }
        self.after("tRP", self.last_pre, command, t.trp);
        self.after("tRC", self.acts.last().copied(), command, t.trc);
        self.after("tRFC", self.last_refresh, command, t.trfc);
        self.last_refresh = Some(command);
    }

    fn check_row(&mut self, command: Command, rule: &'static str, cycles: u32) {
        match self.banks[usize::from(command.bank)].open {
            None => self.report("column command to a closed bank", None, command, None),
            Some(act) if act.row != command.row => {
                self.report("column command to another row", Some(act), command, None);
            }
            Some(act) => self.after(rule, Some(act), command, cycles),
        }
    }

    fn check_column(&mut self, command: Command) {
        let group = usize::from(command.bank % self.groups);
        self.after("tCCD_S", self.last_column, command, self.timing.tccds);
        self.after("tCCD_L", self.last_columns[group], command, self.timing.tccdl);
        if let Some(last) = self.last_column {
            let (start, end) = (self.data(command).0, self.data(last).1);
            if start < end {
                let earliest = command.cycle + (end - start);
                self.report("data bus", Some(last), command, Some(earliest));
            }
        }
        self.last_columns[group] = Some(command);
        self.last_column = Some(command);
    }

    /// The cycles in which a column command has the data bus: the first, and the one after the last.
    fn data(&self, command: Command) -> (u64, u64) {
        let latency = match command.kind {
            CommandKind::Wr => self.timing.twl,
            _ => self.timing.tcl,
        };
        let start = command.cycle + u64::from(latency);
        (start, start + self.data_cycles)
    }

    fn after(&mut self, rule: &'static str, earlier: Option<Command>, later: Command, cycles: u32) {
        if let Some(earlier) = earlier {
            self.from(rule, earlier, earlier.cycle + u64::from(cycles), later);
        }
    }

    fn from(&mut self, rule: &'static str, earlier: Command, earliest: u64, later: Command) {
        if later.cycle < earliest {
            self.report(rule, Some(earlier), later, Some(earliest));
        }
    }

    fn report(
        &mut self,
        rule: &'static str,
        earlier: Option<Command>,
        later: Command,
        earliest: Option<u64>,
    ) {
        self.violations.push(Violation { rule, earlier, later, earliest });
    }
}
