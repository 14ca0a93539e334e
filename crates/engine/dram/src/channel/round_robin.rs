//! The round robins over the banks.

use crate::request::CommandKind;
use crate::sets::{BankSet, first_from};
use warpmem_sim::BankId;

/// The resources that banks share by round robin.
#[derive(Clone, Copy)]
pub(super) enum Pointer {
    /// The bus of row commands, or of all commands.
    RowBus,
    ColumnBus,
    /// The assignment of requests to banks.
    Assignment,
}

/// The next bank of each round robin.
pub(super) struct RoundRobin {
    first: [BankId; 3],
    banks: u16,
    /// See [`Traits::shared_round_robin`](crate::scheduler::Traits::shared_round_robin).
    shared: bool,
}

impl RoundRobin {
    pub fn new(banks: usize, shared: bool) -> RoundRobin {
        let banks = u16::try_from(banks).expect("at most MAX_BANKS banks");
        RoundRobin { first: [BankId(0); 3], banks, shared }
    }

    /// Returns the first of these banks in the round robin.
    #[inline]
    pub fn first(&self, pointer: Pointer, banks: BankSet) -> Option<BankId> {
        first_from(banks, self.first[pointer as usize])
    }

    /// Advances the round robin of a bus past the bank that issues.
    #[inline]
    pub fn issued(&mut self, bus: Pointer, bank: BankId, kind: CommandKind) {
        if !self.shared {
            self.first[bus as usize] = BankId(bank.0 + 1);
        } else if !kind.is_column() {
            self.first = [BankId((bank.0 + 1) % self.banks); 3];
        }
    }

    /// Advances the round robin of assignments past the bank.
    pub fn assigned(&mut self, bank: BankId) {
        let first = &mut self.first[Pointer::Assignment as usize];
        if self.shared {
            self.first = [BankId((first.0 + 1) % self.banks); 3];
        } else {
            *first = BankId(bank.0 + 1);
        }
    }
}
