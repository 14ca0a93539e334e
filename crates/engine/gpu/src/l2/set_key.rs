//! The number that selects the set of a line.

use warpmem_machine::Machine;
use warpmem_sim::Location;

/// Numbers the lines of a slice consecutively, so that the bits that select the slice leave no set
/// unused.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetKey {
    slice_shift: u32,
    bank_shift: u32,
    lines_per_row_shift: u32,
    bursts_per_line_shift: u32,
}

impl SetKey {
    pub fn new(machine: &Machine) -> SetKey {
        let dram = &machine.dram;
        let line_bytes = machine.l2.cache.line_bytes;
        SetKey {
            slice_shift: machine.l2.slices_per_channel.trailing_zeros(),
            bank_shift: dram.banks.trailing_zeros(),
            lines_per_row_shift: (dram.row_bytes / line_bytes).trailing_zeros(),
            bursts_per_line_shift: (line_bytes / dram.burst_bytes()).trailing_zeros(),
        }
    }

    /// Returns the number of the line at `place`.
    pub fn of(&self, place: Location) -> u64 {
        let bank_and_row = u64::from(place.row.0) << self.bank_shift | u64::from(place.bank.0);
        let line_in_row = u64::from(place.column >> self.bursts_per_line_shift);
        (bank_and_row >> self.slice_shift) << self.lines_per_row_shift | line_in_row
    }
}
