//! Requests, commands and completions: what goes into a channel and what comes out of it.

use serde::{Deserialize, Serialize};
use warpmem_sim::{BankId, DramCycle, RowId};

/// A request to one row of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The caller's handle.
    pub id: u32,
    /// Bank within the channel.
    pub bank: BankId,
    pub row: RowId,
    pub write: bool,
    /// Column commands that carry its data, at least one.
    pub bursts: u16,
    /// Line of the row that its data are of, where a prefetcher asks.
    pub line: u16,
    /// SM that it comes from; [`Request::NO_SOURCE`] where no SM waits for it.
    pub sm: u16,
    /// Warp that it comes from, numbered over the whole machine; `u32::MAX` = none.
    pub warp: u32,
    /// CTA that it comes from, numbered over all kernels of the trace with one number left out
    /// between two; [`Request::NO_CTA`] = none.
    pub cta: u32,
    /// Address of the instruction that it comes from.
    pub pc: u32,
    /// Memory instruction that it comes from, of those in flight in the whole machine; `u32::MAX` =
    /// none.
    pub load: u32,
    /// The SM had so many warps waiting for memory when it sent the request that it counts as
    /// critical.
    pub critical: bool,
    /// What the L2 knows of its warp: the queue that `medic` puts it in.
    pub hit_prone: bool,
    /// Requests that already waited for its data in the L2 when it was sent, itself included, as
    /// far as they count (Li 2015: those of other SMs); at least 1.
    pub merges: u8,
    /// DRAM cycles that those had waited together, each since its SM made it, when it was sent; 0
    /// where nobody asked for merges.
    pub age: u32,
}

impl Request {
    /// [`Request::id`] of a prefetch.
    pub const PREFETCH: u32 = u32::MAX;

    /// [`Request::sm`] of a request that no SM waits for.
    pub const NO_SOURCE: u16 = u16::MAX;

    /// [`Request::cta`] of a request of no CTA.
    pub const NO_CTA: u32 = u32::MAX;
}

/// What a request found in its bank, judged once, when its first command issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowOutcome {
    /// Its row was open.
    Hit,
    /// No row was open.
    Miss,
    /// Another row was open.
    Conflict,
}

/// A request that has left the channel: its last column command has issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The caller's handle, or [`Request::PREFETCH`].
    pub id: u32,
    pub bank: BankId,
    pub line: u16,
    pub write: bool,
    /// Cycle in which it entered the channel; of a prefetch that of its first command.
    pub arrived: DramCycle,
    /// Cycle of its first command.
    pub first_command: DramCycle,
    /// Cycle after the datum with which it is done (`dram.done_with`); may lie ahead of the cycle that reports it.
    pub end: DramCycle,
    pub row_outcome: RowOutcome,
}

impl Completion {
    /// Whether it was a prefetch.
    #[inline]
    pub fn is_prefetch(&self) -> bool {
        self.id == Request::PREFETCH
    }
}

/// Commands on the command bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[repr(u8)]
pub enum CommandKind {
    /// Opens a row of a bank.
    Act,
    /// Closes the open row of a bank.
    Pre,
    /// Moves one burst out of the open row.
    Rd,
    /// Moves one burst into the open row.
    Wr,
    /// Refreshes one bank.
    #[serde(rename = "REFPB")]
    RefPb,
    /// Refreshes all banks of a pseudo channel.
    Ref,
    /// A read that closes its row behind it (auto-precharge).
    Rda,
    /// A write that closes its row behind it.
    Wra,
    /// Closes all open rows of a pseudo channel.
    #[serde(rename = "PREA")]
    PreAll,
}

impl CommandKind {
    pub(super) const COUNT: usize = 9;

    /// So many kinds, the first, are those that a channel plans ahead; the others replace one of
    /// them, or stand in logs from elsewhere.
    pub(super) const PLANNED: usize = 6;

    /// Every kind, in order.
    pub const ALL: [CommandKind; CommandKind::COUNT] = [
        CommandKind::Act,
        CommandKind::Pre,
        CommandKind::Rd,
        CommandKind::Wr,
        CommandKind::RefPb,
        CommandKind::Ref,
        CommandKind::Rda,
        CommandKind::Wra,
        CommandKind::PreAll,
    ];

    /// As on a data sheet: `ACT`, `PRE`, `RD`, `WR`, `REFPB`, `REF`, `RDA`, `WRA`, `PREA`.
    pub fn name(self) -> &'static str {
        ["ACT", "PRE", "RD", "WR", "REFPB", "REF", "RDA", "WRA", "PREA"][self as usize]
    }

    /// True for the commands that move data.
    pub fn is_column(self) -> bool {
        self.is_read() || self.is_write()
    }

    /// RD, with or without auto-precharge.
    pub fn is_read(self) -> bool {
        matches!(self, CommandKind::Rd | CommandKind::Rda)
    }

    /// WR, with or without auto-precharge.
    pub fn is_write(self) -> bool {
        matches!(self, CommandKind::Wr | CommandKind::Wra)
    }

    /// True for the commands to all banks at once.
    pub fn is_to_all_banks(self) -> bool {
        matches!(self, CommandKind::Ref | CommandKind::PreAll)
    }

    /// True for column commands with auto-precharge.
    pub fn closes_row(self) -> bool {
        matches!(self, CommandKind::Rda | CommandKind::Wra)
    }
}

/// A command as it stood on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub cycle: u64,
    pub kind: CommandKind,
    /// Bank within the channel; 0 for [`CommandKind::Ref`], the first of the pseudo channel for
    /// [`CommandKind::PreAll`].
    pub bank: u16,
    /// The row opened, closed or accessed; 0 for refreshes and [`CommandKind::PreAll`].
    pub row: u32,
    /// Column commands: which burst of its request this is, from 0. Others: 0.
    pub burst: u16,
    /// The request that it serves; none for refreshes, rows closed while idle, and prefetches.
    pub request: Option<u32>,
}

impl Command {
    /// A command that serves no request.
    pub(super) fn of_bank(
        cycle: DramCycle,
        kind: CommandKind,
        bank: BankId,
        row: RowId,
    ) -> Command {
        let (cycle, bank, row) = (cycle.number(), bank.0, row.0);
        Command { cycle, kind, bank, row, burst: 0, request: None }
    }
}
