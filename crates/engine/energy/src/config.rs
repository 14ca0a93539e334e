//! The configuration of a machine's energies.

use crate::Table;
use crate::tables::ACCELWATTCH_VOLTA;
use serde::Serialize;
use warpmem_params::{choice, section, serde_choice};

/// Largest scale, thousandths.
const PERMILLE: u64 = 100_000;

section! {
    /// Energies and powers of the whole GPU: those of a table, scaled. See [energy](reports.md#gpu-energy).
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Energy {
        /// Whose energies the machine has: `accelwattch-volta`, or `none`: energy of the GPU is not
        /// known.
        table: TableName = TableName::None;
        /// Energy of every event on the chip, and power of an SM without a CTA, relative to the
        /// table's.
        chip_permille: u32 = 1000, in 0..=PERMILLE, unit "1/1000";
        /// Energy of every DRAM event, relative to the table's.
        dram_permille: u32 = 1000, in 0..=PERMILLE, unit "1/1000";
        /// Static power of the chip, relative to the table's chip.
        static_permille: u32 = 1000, in 0..=PERMILLE, unit "1/1000";
        /// Constant power of chip and board, relative to the table's.
        constant_permille: u32 = 1000, in 0..=PERMILLE, unit "1/1000";
    }
}

impl Energy {
    /// The energies of the machine before they are scaled; none if they are not known.
    pub fn table(&self) -> Option<&'static Table> {
        match self.table {
            TableName::None => None,
            TableName::AccelWattchVolta => Some(&ACCELWATTCH_VOLTA),
        }
    }
}

choice! {
    /// A table of energies.
    #[derive(Debug, PartialEq, Eq)]
    pub enum TableName {
        /// Not known.
        None = "none",
        /// AccelWattch's of Quadro GV100.
        AccelWattchVolta = "accelwattch-volta",
    }
}

serde_choice!(TableName);
