//! The direction of the data bus and its turnarounds.

use crate::agenda::Agenda;
use crate::request::CommandKind::{self, Rd, Wr};
use crate::sets::BankSet;
use std::num::NonZeroU32;

/// The data bus.
///
/// A column command issues as soon as timing allows. A continuous stream of one direction can
/// therefore starve the other of its turnaround: in a shared queue, or among requests still in
/// service when the channel switches between reads and writes. A limit bounds the number of
/// requests that bypass.
pub(super) struct DataBus {
    /// Direction of the last column command: RD or WR.
    last: Option<CommandKind>,
    /// Requests of that direction that have bypassed a bank of the other, counted only under a
    /// limit.
    passed: u32,
    /// Most requests that may bypass; none = unlimited.
    limit: Option<NonZeroU32>,
    turnarounds: u64,
}

impl DataBus {
    /// Builds an idle bus. `limit`: requests that may bypass; 0 = unlimited.
    pub fn new(limit: u32) -> DataBus {
        DataBus { last: None, passed: 0, limit: NonZeroU32::new(limit), turnarounds: 0 }
    }

    /// Returns the banks whose column commands are held so that the bus can turn around. Banks of
    /// `no_room` cannot use the turnaround and cause no hold.
    #[inline]
    pub fn held(&self, agenda: &Agenda, no_room: BankSet) -> BankSet {
        let Some(limit) = self.limit else { return 0 };
        let Some(last) = self.last.filter(|_| self.passed >= limit.get()) else { return 0 };
        let others_wait = agenda.wanting(opposite(last)) & !no_room != 0;
        if others_wait { agenda.wanting(last) } else { 0 }
    }

    /// Records a column command, with whether it is the last of its request.
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

    /// Returns the number of turnarounds.
    pub fn turnarounds(&self) -> u64 {
        self.turnarounds
    }
}

fn opposite(column: CommandKind) -> CommandKind {
    if column == Rd { Wr } else { Rd }
}
