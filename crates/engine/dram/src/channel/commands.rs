//! The commands that the banks want next, and when timing and the data bus allow them.

use super::data_bus::DataBus;
use crate::agenda::Agenda;
use crate::request::CommandKind;
use crate::sets::BankSet;
use crate::timing::TimingState;
use warpmem_sim::{BankId, DramCycle};

/// A command that a bank wants, and the earliest cycle by the bank's own constraints.
pub(super) type NextCommand = (CommandKind, DramCycle);

/// The commands of a channel, planned and issued.
pub(super) struct Commands {
    data_bus: DataBus,
    agenda: Agenda,
    timing: TimingState,
}

impl Commands {
    /// `turnaround_limit`: requests that may pass a bank that waits for the data bus to turn around; 0 =
    /// any number.
    pub fn new(timing: TimingState, turnaround_limit: u32) -> Commands {
        Commands { data_bus: DataBus::new(turnaround_limit), agenda: Agenda::new(), timing }
    }

    /// What has been issued allows what when.
    #[inline]
    pub fn timing(&self) -> &TimingState {
        &self.timing
    }

    /// A command as the bank may want it next.
    #[inline]
    pub fn of(&self, kind: CommandKind, bank: BankId) -> NextCommand {
        (kind, self.timing.of_bank(kind, bank))
    }

    /// Sets what the bank wants next.
    #[inline]
    pub fn set(&mut self, bank: BankId, next: Option<NextCommand>) {
        self.agenda.set(bank, next, &self.timing);
    }

    /// The kind of command that the bank, which wants one, wants next.
    #[inline]
    pub fn next_of(&self, bank: BankId) -> CommandKind {
        self.agenda.kind(bank)
    }

    /// Banks that want a command of this kind next.
    #[inline]
    pub fn wanting(&self, kind: CommandKind) -> BankSet {
        self.agenda.wanting(kind)
    }

    /// Banks that want a column command next.
    #[inline]
    pub fn columns(&self) -> BankSet {
        self.agenda.columns()
    }

    /// Banks that want a row command next, or a refresh.
    #[inline]
    pub fn rows(&self) -> BankSet {
        self.agenda.rows()
    }

    /// Banks that may not issue their command whatever timing says: those of `no_room`, and those
    /// that let the data bus turn around.
    #[inline]
    pub fn held(&self, no_room: BankSet) -> BankSet {
        no_room | self.data_bus.held(&self.agenda, no_room)
    }

    /// Banks outside `held` that may issue their command at `now`.
    #[inline]
    pub fn due(&mut self, held: BankSet, now: DramCycle) -> BankSet {
        if !self.agenda.is_current(held, now) {
            self.replan(held, now);
        }
        let plan = self.agenda.plan();
        if plan.cycle > now { 0 } else { plan.banks }
    }

    /// Plans the next command, at or after `floor`, of the banks outside `held`.
    #[inline]
    pub fn replan(&mut self, held: BankSet, floor: DramCycle) {
        self.agenda.replan(&self.timing, held, floor);
    }

    /// The cycle for which the next command is planned; [`DramCycle::NEVER`]: none is.
    #[inline]
    pub fn next_cycle(&self) -> DramCycle {
        self.agenda.plan().cycle
    }

    /// The bank issues a command.
    #[inline]
    pub fn issue(&mut self, kind: CommandKind, bank: BankId, now: DramCycle) {
        self.agenda.delay(self.timing.delayed_by(kind));
        self.timing.issued(kind, bank, now);
    }

    /// The data of a column command that has issued pass the data bus; `is_last` of its request.
    #[inline]
    pub fn transfer(&mut self, is_write: bool, is_last: bool) {
        self.data_bus.transfer(is_write, is_last, &self.agenda);
    }

    /// Times that the data bus has turned around.
    pub fn turnarounds(&self) -> u64 {
        self.data_bus.turnarounds()
    }
}
