//! Open rows of banks over time, from the commands that open and close them.

use super::{Slice, What};
use std::collections::BTreeMap;
use warpmem_dram::{Command, CommandKind};

/// Currently open rows, by channel and bank.
#[derive(Default)]
pub(super) struct OpenRows(BTreeMap<(u16, u16), Opened>);

#[derive(Clone, Copy)]
struct Opened {
    row: u32,
    since: u64,
}

impl OpenRows {
    /// Processes a command on the bus from `begin` to `end`, in the order of its channel, and returns
    /// the row that it closes. A command with auto-precharge closes its row at its end, because the
    /// actual precharge is not visible on the bus. Channels never issue PREA, which occurs only in
    /// logs of other programs.
    pub fn follow(
        &mut self,
        channel: u16,
        command: &Command,
        begin: u64,
        end: u64,
    ) -> Option<Slice> {
        let place = (channel, command.bank);
        let closed = match command.kind {
            CommandKind::Act => {
                self.0.insert(place, Opened { row: command.row, since: begin });
                return None;
            }
            CommandKind::Pre => begin,
            kind if kind.closes_row() => end,
            _ => return None,
        };
        self.0.remove(&place).map(|open| slice(place, open, closed))
    }

    /// Returns the rows that are open at the end.
    pub fn at_end(&mut self, end: u64) -> Vec<Slice> {
        let open = std::mem::take(&mut self.0).into_iter();
        open.filter(|(_, open)| open.since < end).map(|(at, open)| slice(at, open, end)).collect()
    }
}

fn slice((channel, bank): (u16, u16), open: Opened, end: u64) -> Slice {
    Slice { begin: open.since, end, what: What::OpenRow { channel, bank, row: open.row } }
}
