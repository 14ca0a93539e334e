//! The next command of every bank, and the cycle in which timing and the data bus allow it.

use super::data_bus::DataBus;
use crate::agenda::Agenda;
use crate::request::CommandKind;
use crate::sets::BankSet;
use crate::timing::TimingState;
use warpmem_sim::{BankId, DramCycle};

/// The command that a bank wants, and the earliest cycle under the bank's own constraints.
pub(super) type NextCommand = (CommandKind, DramCycle);

/// The planned and issued commands of a channel.
pub(super) struct Commands {
    data_bus: DataBus,
    agenda: Agenda,
    timing: TimingState,
}

impl Commands {
    /// Builds the commands of a channel. `turnaround_limit`: requests that may bypass a bank
    /// waiting for the data bus to turn around; 0 = unlimited.
    pub fn new(timing: TimingState, turnaround_limit: u32) -> Commands {
        Commands { data_bus: DataBus::new(turnaround_limit), agenda: Agenda::new(), timing }
    }

    /// Returns the timing state after the commands issued so far.
    #[inline]
    pub fn timing(&self) -> &TimingState {
        &self.timing
    }

    /// Returns a command with its earliest cycle in the bank.
    #[inline]
    pub fn of(&self, kind: CommandKind, bank: BankId) -> NextCommand {
        (kind, self.timing.of_bank(kind, bank))
    }

    /// Sets the next command of the bank.
    #[inline]
    pub fn set(&mut self, bank: BankId, next: Option<NextCommand>) {
        self.agenda.set(bank, next, &self.timing);
    }

    /// Returns the kind of the bank's next command, which must exist.
    #[inline]
    pub fn next_of(&self, bank: BankId) -> CommandKind {
        self.agenda.kind(bank)
    }

    /// Returns the banks whose next command is of this kind.
    #[inline]
    pub fn wanting(&self, kind: CommandKind) -> BankSet {
        self.agenda.wanting(kind)
    }

    /// Returns the banks whose next command is a column command.
    #[inline]
    pub fn columns(&self) -> BankSet {
        self.agenda.columns()
    }

    /// Returns the banks whose next command is a row command or a refresh.
    #[inline]
    pub fn rows(&self) -> BankSet {
        self.agenda.rows()
    }

    /// Returns the banks that may not issue regardless of timing: those of `no_room`, and those
    /// held so that the data bus can turn around.
    #[inline]
    pub fn held(&self, no_room: BankSet) -> BankSet {
        no_room | self.data_bus.held(&self.agenda, no_room)
    }

    /// Returns the banks outside `held` that may issue their command at `now`.
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

    /// Returns the cycle of the planned command; [`DramCycle::NEVER`] if there is none.
    #[inline]
    pub fn next_cycle(&self) -> DramCycle {
        self.agenda.plan().cycle
    }

    /// Issues a command of the bank.
    #[inline]
    pub fn issue(&mut self, kind: CommandKind, bank: BankId, now: DramCycle) {
        self.agenda.delay(self.timing.delayed_by(kind));
        self.timing.issued(kind, bank, now);
    }

    /// Moves the data of an issued column command over the data bus; `is_last` marks the last of
    /// its request.
    #[inline]
    pub fn transfer(&mut self, is_write: bool, is_last: bool) {
        self.data_bus.transfer(is_write, is_last, &self.agenda);
    }

    /// Returns the number of turnarounds of the data bus.
    pub fn turnarounds(&self) -> u64 {
        self.data_bus.turnarounds()
    }
}
