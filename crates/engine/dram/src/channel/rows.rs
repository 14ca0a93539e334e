//! The open rows of the banks and their use.

use crate::by_bank::ByBank;
use crate::sets::{BankSet, one};
use warpmem_sim::{BankId, DramCycle, RowId};

/// Row buffer of a bank.
#[derive(Clone, Copy, Default)]
struct RowBuffer {
    open: Option<RowId>,
    /// Column commands since activation.
    columns: u32,
    /// Cycle of the last column command or the activation.
    last_use: DramCycle,
}

/// Row buffers of a channel.
pub(super) struct Rows {
    /// Banks with an open row.
    open: BankSet,
    buffers: ByBank<RowBuffer>,
}

impl Rows {
    /// Builds row buffers with all rows closed.
    pub fn new() -> Rows {
        Rows { open: 0, buffers: ByBank::new(RowBuffer::default()) }
    }

    /// Returns the open row of the bank.
    #[inline]
    pub fn open_row(&self, bank: BankId) -> Option<RowId> {
        self.buffers[bank].open
    }

    /// Returns the banks with an open row.
    #[inline]
    pub fn open_banks(&self) -> BankSet {
        self.open
    }

    /// Returns the column commands to the bank's row since activation.
    #[inline]
    pub fn columns(&self, bank: BankId) -> u32 {
        self.buffers[bank].columns
    }

    /// Returns the cycle of the bank's last column command or activation.
    #[inline]
    pub fn last_use(&self, bank: BankId) -> DramCycle {
        self.buffers[bank].last_use
    }

    /// Opens a row, as ACT issues.
    #[inline]
    pub fn open(&mut self, bank: BankId, row: RowId, now: DramCycle) {
        self.open |= one(bank);
        self.buffers[bank] = RowBuffer { open: Some(row), columns: 0, last_use: now };
    }

    /// Records a column command to the open row.
    #[inline]
    pub fn access(&mut self, bank: BankId, now: DramCycle) {
        let buffer = &mut self.buffers[bank];
        buffer.columns += 1;
        buffer.last_use = now;
    }

    /// Closes the row, by PRE or auto-precharge.
    #[inline]
    pub fn close(&mut self, bank: BankId) {
        self.open &= !one(bank);
        self.buffers[bank].open = None;
    }
}
