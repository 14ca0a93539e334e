//! The configuration of a machine's energies.

use crate::Table;
use crate::tables::ACCELWATTCH_VOLTA;
use serde::Serialize;
use warpmem_params::{choice, section, serde_choice};

/// Largest scale, thousandths.
const PERMILLE: u64 = 100_000;

section! {
    /// Energies and powers of the whole GPU: a table and its scale factors. See [energy](reports.md#gpu-energy).
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Energy {
        /// Table of energies: `accelwattch-volta`, or `none` if the energy of the GPU is unknown.
        table: TableName = TableName::None;
        /// Energy of on-chip events, and power of an SM without CTAs, relative to the table.
        chip_permille: u32 = 1000, in 0..=PERMILLE, unit "1/1000";
        /// Energy of DRAM events, relative to the table.
        dram_permille: u32 = 1000, in 0..=PERMILLE, unit "1/1000";
        /// Static power of the chip, relative to the chip of the table.
        static_permille: u32 = 1000, in 0..=PERMILLE, unit "1/1000";
        /// Constant power of chip and board, relative to the table.
        constant_permille: u32 = 1000, in 0..=PERMILLE, unit "1/1000";
    }
}

impl Energy {
    /// Returns the unscaled energies of the machine, if they are known.
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
        /// Unknown.
        None = "none",
        /// AccelWattch's table of Quadro GV100.
        AccelWattchVolta = "accelwattch-volta",
    }
}

serde_choice!(TableName);
