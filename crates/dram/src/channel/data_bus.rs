//! The direction of the data bus, and how often it turns around.

use crate::agenda::Agenda;
use crate::request::CommandKind::{self, Rd, Wr};
use crate::sets::BankSet;

/// The data bus.
///
/// Column commands of one kind would keep the turnaround of the other from ever ending: requests of
/// a shared queue, or those still in service when the channel changes between reads and writes. So
/// only a limited number may pass.
pub(super) struct DataBus {
    /// RD or WR, as the last column command was.
    last: Option<CommandKind>,
    /// How many of that kind have passed a bank that needs the other.
    passed: u32,
    /// How many may.
    limit: u32,
    turnarounds: u64,
}

impl DataBus {
    pub fn new(limit: u32) -> DataBus {
        DataBus { last: None, passed: 0, limit, turnarounds: 0 }
    }

    /// Banks whose column commands wait so that the bus can turn around. Banks of `no_room` do not
    /// wait for it.
    #[inline]
    pub fn held(&self, agenda: &Agenda, no_room: BankSet) -> BankSet {
        let Some(last) = self.last.filter(|_| self.passed >= self.limit) else { return 0 };
        let others_wait = agenda.wanting(opposite(last)) & !no_room != 0;
        if others_wait { agenda.wanting(last) } else { 0 }
    }

    /// A column command issues.
    #[inline]
    pub fn transfer(&mut self, is_write: bool, agenda: &Agenda) {
        let column = if is_write { Wr } else { Rd };
        if self.last != Some(column) {
            self.turnarounds += u64::from(self.last.is_some());
            self.last = Some(column);
            self.passed = 0;
        }
        let others_wait = agenda.wanting(opposite(column)) != 0;
        self.passed = if others_wait { self.passed + 1 } else { 0 };
    }

    /// Times that the bus has turned around.
    pub fn turnarounds(&self) -> u64 {
        self.turnarounds
    }
}

fn opposite(column: CommandKind) -> CommandKind {
    if column == Rd { Wr } else { Rd }
}
