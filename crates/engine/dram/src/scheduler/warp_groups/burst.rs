//! The minimum efficient row burst (MERB): the number of column commands that a row must serve so
//! that the data of other banks hide its closing and the opening of the next.

use crate::Dram;

/// Saturation of the five-bit hardware counter.
const LIMIT: u32 = 31;

/// The timing that MERB depends on, in any one unit.
#[derive(Clone, Copy)]
struct RowTiming {
    trtp: u32,
    trp: u32,
    trcd: u32,
    /// Data time of one column command.
    burst: u32,
    trrd: u32,
    tfaw: u32,
}

impl RowTiming {
    /// Returns MERB with `banks` banks that have work.
    fn minimum_burst(&self, banks: u32) -> u32 {
        if banks < 2 {
            return LIMIT;
        }
        let behind_others = (self.trtp + self.trp + self.trcd).div_ceil((banks - 1) * self.burst);
        // Activations are at least tRRD and tFAW / 4 apart.
        let per_activation = (4 * self.trrd).max(self.tfaw).div_ceil(4 * self.burst);
        behind_others.max(per_activation).min(LIMIT)
    }
}

/// Returns MERB, in column commands, by the number of banks with work.
pub fn minimum_efficient_bursts(dram: &Dram) -> Vec<u32> {
    let t = &dram.timing;
    let timing = RowTiming {
        trtp: t.trtp,
        trp: t.trp,
        trcd: t.trcd,
        burst: dram.burst_cycles().max(1),
        trrd: t.trrds,
        tfaw: t.tfaw,
    };
    (0..=dram.banks).map(|banks| timing.minimum_burst(banks)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::gddr5;

    /// Nanoseconds: tRCD = tRP = 12, tRTP = 2, tBURST = 1.33, tRRD = 5.5, tFAW = 23.
    const PAPERS: RowTiming =
        RowTiming { trtp: 200, trp: 1200, trcd: 1200, burst: 133, trrd: 550, tfaw: 2300 };

    #[test]
    fn the_values_of_the_paper() {
        let values: Vec<u32> = (1..=8).map(|banks| PAPERS.minimum_burst(banks)).collect();
        assert_eq!(values, [31, 20, 10, 7, 5, 5, 5, 5]);
    }

    #[test]
    fn every_timing_enters_merb() {
        let with = |timing: RowTiming, banks| timing.minimum_burst(banks);
        assert_eq!(with(RowTiming { trtp: 1530, ..PAPERS }, 2), 30);
        assert_eq!(with(RowTiming { trp: 2530, ..PAPERS }, 2), 30);
        assert_eq!(with(RowTiming { trcd: 2530, ..PAPERS }, 2), 30);
        assert_eq!(with(RowTiming { trrd: 1000, ..PAPERS }, 6), 8);
        assert_eq!(with(RowTiming { tfaw: 4000, ..PAPERS }, 6), 8);
        // Five bits.
        assert_eq!(with(RowTiming { burst: 50, ..PAPERS }, 2), 31);
    }

    /// (2 + 12 + 12) / 2 cycles of data, then tFAW / 4 of 8 cycles.
    #[test]
    fn a_machines_table_is_in_column_commands() {
        let table = minimum_efficient_bursts(&gddr5());
        assert_eq!(table.len(), 17);
        assert_eq!(table[..7], [31, 31, 13, 7, 5, 4, 4]);
    }
}
