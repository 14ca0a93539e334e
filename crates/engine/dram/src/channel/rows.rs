//! The rows that are open in the banks, and how they were used.

use crate::by_bank::ByBank;
use crate::sets::{BankSet, one};
use warpmem_sim::{BankId, DramCycle, RowId};

/// A bank's row buffer.
#[derive(Clone, Copy, Default)]
struct RowBuffer {
    open: Option<RowId>,
    /// Column commands since the row was opened.
    columns: u32,
    /// Cycle of the last column command or activation.
    last_use: DramCycle,
}

/// The row buffers of a channel.
pub(super) struct Rows {
    /// Banks with an open row.
    open: BankSet,
    buffers: ByBank<RowBuffer>,
}

impl Rows {
    /// All closed.
    pub fn new() -> Rows {
        Rows { open: 0, buffers: ByBank::new(RowBuffer::default()) }
    }

    /// The row that is open in the bank.
    #[inline]
    pub fn open_row(&self, bank: BankId) -> Option<RowId> {
        self.buffers[bank].open
    }

    /// Banks with an open row.
    #[inline]
    pub fn open_banks(&self) -> BankSet {
        self.open
    }

    /// Column commands to the bank's row since it was opened.
    #[inline]
    pub fn columns(&self, bank: BankId) -> u32 {
        self.buffers[bank].columns
    }

    /// Cycle of the bank's last column command or activation.
    #[inline]
    pub fn last_use(&self, bank: BankId) -> DramCycle {
        self.buffers[bank].last_use
    }

    /// ACT opens a row.
    #[inline]
    pub fn open(&mut self, bank: BankId, row: RowId, now: DramCycle) {
        self.open |= one(bank);
        self.buffers[bank] = RowBuffer { open: Some(row), columns: 0, last_use: now };
    }

    /// A column command goes to the open row.
    #[inline]
    pub fn access(&mut self, bank: BankId, now: DramCycle) {
        let buffer = &mut self.buffers[bank];
        buffer.columns += 1;
        buffer.last_use = now;
    }

    /// The row is closed, by PRE or by a column command.
    #[inline]
    pub fn close(&mut self, bank: BankId) {
        self.open &= !one(bank);
        self.buffers[bank].open = None;
    }
}
