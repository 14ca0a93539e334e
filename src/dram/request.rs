//! What goes into a channel and what comes out of it.

/// A request to one row of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The caller's handle.
    pub id: u32,
    /// Bank within the channel.
    pub bank: u16,
    pub row: u32,
    pub write: bool,
    /// Column commands that carry its data, at least one.
    pub bursts: u16,
    /// SM that it comes from.
    pub sm: u16,
    /// Warp that it comes from, numbered over the whole machine.
    pub warp: u32,
    /// Address of the instruction that it comes from.
    pub pc: u32,
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
    pub id: u32,
    pub write: bool,
    /// Cycle in which it entered the channel.
    pub arrived: u64,
    /// Cycle of its first command.
    pub first_command: u64,
    /// Cycle after its last data transfer; may lie ahead of the cycle that reports it.
    pub data_end: u64,
    pub row_outcome: RowOutcome,
}

/// Commands on the command bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Refreshes all banks.
    Ref,
}

impl CommandKind {
    pub(super) const COUNT: usize = 5;

    /// True for the commands that move data.
    pub fn is_column(self) -> bool {
        matches!(self, CommandKind::Rd | CommandKind::Wr)
    }
}

/// A command as it stood on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub cycle: u64,
    pub kind: CommandKind,
    /// Bank within the channel; 0 for [`CommandKind::Ref`].
    pub bank: u16,
    /// The row opened, closed or accessed; 0 for [`CommandKind::Ref`].
    pub row: u32,
    /// Column commands: which burst of its request this is, from 0. Others: 0.
    pub burst: u16,
    /// The request that it serves; none for refreshes and for rows closed while idle.
    pub request: Option<u32>,
}
