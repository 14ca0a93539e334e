//! The direction of the data bus, and how often it turns around.

use crate::agenda::Agenda;
use crate::request::CommandKind::{self, Rd, Wr};
use crate::sets::BankSet;
use std::num::NonZeroU32;

/// The data bus.
///
/// A column command issues as soon as timing allows, so that requests of one kind can keep one of the
/// other kind waiting for the turnaround as long as they come: requests of a shared queue, or those still
/// in service when the channel changes between reads and writes. A limit lets only so many pass.
pub(super) struct DataBus {
    /// RD or WR, as the last column command was.
    last: Option<CommandKind>,
    /// How many requests of that kind have passed a bank that needs the other, if that has a limit.
    passed: u32,
    /// How many may; none: any number.
    limit: Option<NonZeroU32>,
    turnarounds: u64,
}

impl DataBus {
    /// `limit`: requests that may pass; 0 = any number.
    pub fn new(limit: u32) -> DataBus {
        DataBus { last: None, passed: 0, limit: NonZeroU32::new(limit), turnarounds: 0 }
    }

    /// Banks whose column commands wait so that the bus can turn around. Banks of `no_room` do not
    /// wait for it.
    #[inline]
    pub fn held(&self, agenda: &Agenda, no_room: BankSet) -> BankSet {
        let Some(limit) = self.limit else { return 0 };
        let Some(last) = self.last.filter(|_| self.passed >= limit.get()) else { return 0 };
        let others_wait = agenda.wanting(opposite(last)) & !no_room != 0;
        if others_wait { agenda.wanting(last) } else { 0 }
    }

    /// A column command issues, the last of its request or not.
    #[inline]
    pub fn transfer(&mut self, is_write: bool, is_last: bool, agenda: &Agenda) {
        let column = if is_write { Wr } else { Rd };
        if self.last != Some(column) {
            self.turnarounds += u64::from(self.last.is_some());
            self.last = Some(column);
            self.passed = 0;
        }
        if self.limit.is_some() {
            let others_wait = agenda.wanting(opposite(column)) != 0;
            self.passed = if others_wait { self.passed + u32::from(is_last) } else { 0 };
        }
    }

    /// Times that the bus has turned around.
    pub fn turnarounds(&self) -> u64 {
        self.turnarounds
    }
}

fn opposite(column: CommandKind) -> CommandKind {
    if column == Rd { Wr } else { Rd }
}
