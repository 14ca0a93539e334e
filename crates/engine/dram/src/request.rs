//! Requests, commands and completions: the inputs and outputs of a channel.

use serde::{Deserialize, Serialize};
use warpmem_sim::{BankId, DramCycle, RowId};

/// A request to one row of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramRequest {
    /// Handle of the caller.
    pub id: u32,
    /// Bank within the channel.
    pub bank: BankId,
    pub row: RowId,
    pub write: bool,
    /// Column commands that carry its data, at least one.
    pub bursts: u16,
    /// Line of the row that holds its data, for prefetchers.
    pub line: u16,
    /// Port of the caller that its data return to.
    pub port: u16,
    /// SM that issued it; [`DramRequest::NO_SOURCE`] if no SM waits for it.
    pub sm: u16,
    /// Warp that issued it, numbered over the whole machine; `u32::MAX` = none.
    pub warp: u32,
    /// CTA that issued it, numbered over all kernels of the trace with a gap of one between
    /// kernels; [`DramRequest::NO_CTA`] = none.
    pub cta: u32,
    /// Address of the instruction that issued it.
    pub pc: u32,
    /// Memory instruction that issued it, among those in flight in the whole machine; `u32::MAX` =
    /// none.
    pub load: u32,
    /// Whether its SM had enough warps waiting for memory at issue to make it critical.
    pub critical: bool,
    /// Whether the L2 classifies its warp as hit-prone, which selects the queue under `medic`.
    pub hit_prone: bool,
    /// Whether it is a load of a page walk.
    pub walk: bool,
    /// Requests that waited for its data in the L2 when it was sent, including itself, as far as
    /// they count (Li 2015: those of other SMs); at least 1.
    pub merges: u8,
    /// DRAM cycles that these requests had waited in total when it was sent, each since its issue
    /// by the SM; 0 unless merges are tracked.
    pub age: u32,
}

impl DramRequest {
    /// [`DramRequest::id`] of a prefetch.
    pub const PREFETCH: u32 = u32::MAX;

    /// [`DramRequest::sm`] of a request that no SM waits for.
    pub const NO_SOURCE: u16 = u16::MAX;

    /// [`DramRequest::cta`] of a request of no CTA.
    pub const NO_CTA: u32 = u32::MAX;

    /// Returns a read of one burst by the first warp of the first SM.
    pub fn read(id: u32, bank: BankId, row: RowId) -> DramRequest {
        DramRequest {
            id,
            bank,
            row,
            write: false,
            bursts: 1,
            line: 0,
            port: 0,
            sm: 0,
            warp: 0,
            cta: 0,
            pc: 0,
            load: u32::MAX,
            critical: false,
            hit_prone: false,
            walk: false,
            merges: 1,
            age: 0,
        }
    }
}

/// State of the bank at the first command of a request; determined once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowOutcome {
    /// The row of the request was open.
    Hit,
    /// No row was open.
    Miss,
    /// Another row was open.
    Conflict,
}

/// A completed request: its last column command has issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Handle of the caller, or [`DramRequest::PREFETCH`].
    pub id: u32,
    pub bank: BankId,
    pub line: u16,
    /// [`DramRequest::port`].
    pub port: u16,
    pub write: bool,
    /// Cycle of the arrival in the channel; for a prefetch, of the first command.
    pub arrived: DramCycle,
    /// Cycle of the first command.
    pub first_command: DramCycle,
    /// Cycle after the datum that completes the request (`dram.done_with`); may be later than the
    /// cycle of the report.
    pub end: DramCycle,
    pub row_outcome: RowOutcome,
}

impl Completion {
    /// Returns whether the completion is of a prefetch.
    #[inline]
    pub fn is_prefetch(&self) -> bool {
        self.id == DramRequest::PREFETCH
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
    /// Reads one burst from the open row.
    Rd,
    /// Writes one burst to the open row.
    Wr,
    /// Refreshes one bank.
    #[serde(rename = "REFPB")]
    RefPb,
    /// Refreshes all banks of a pseudo channel.
    Ref,
    /// Reads and then closes the row (auto-precharge).
    Rda,
    /// Writes and then closes the row (auto-precharge).
    Wra,
    /// Closes all open rows of a pseudo channel.
    #[serde(rename = "PREA")]
    PreAll,
}

impl CommandKind {
    pub(super) const COUNT: usize = 9;

    /// Number of kinds, in order, that a channel plans ahead. The others replace one of these, or
    /// occur only in external logs.
    pub(super) const PLANNED: usize = 6;

    /// All kinds, in order.
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

    /// Returns the name as on a data sheet: `ACT`, `PRE`, `RD`, `WR`, `REFPB`, `REF`, `RDA`, `WRA`,
    /// `PREA`.
    pub fn name(self) -> &'static str {
        ["ACT", "PRE", "RD", "WR", "REFPB", "REF", "RDA", "WRA", "PREA"][self as usize]
    }

    /// Returns whether the command moves data.
    pub fn is_column(self) -> bool {
        self.is_read() || self.is_write()
    }

    /// Returns whether the command is RD, with or without auto-precharge.
    pub fn is_read(self) -> bool {
        matches!(self, CommandKind::Rd | CommandKind::Rda)
    }

    /// Returns whether the command is WR, with or without auto-precharge.
    pub fn is_write(self) -> bool {
        matches!(self, CommandKind::Wr | CommandKind::Wra)
    }

    /// Returns whether the command addresses all banks of a pseudo channel.
    pub fn is_to_all_banks(self) -> bool {
        matches!(self, CommandKind::Ref | CommandKind::PreAll)
    }

    /// Returns whether the command is a column command with auto-precharge.
    pub fn closes_row(self) -> bool {
        matches!(self, CommandKind::Rda | CommandKind::Wra)
    }
}

/// A command on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub cycle: u64,
    pub kind: CommandKind,
    /// Bank within the channel; 0 for [`CommandKind::Ref`], the first of the pseudo channel for
    /// [`CommandKind::PreAll`].
    pub bank: u16,
    /// Row opened, closed or accessed; 0 for refreshes and [`CommandKind::PreAll`].
    pub row: u32,
    /// Index of the burst within its request for column commands, else 0.
    pub burst: u16,
    /// Request that it serves; none for refreshes, rows closed while idle, and prefetches.
    pub request: Option<u32>,
}

impl Command {
    /// Builds a command that serves no request.
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
