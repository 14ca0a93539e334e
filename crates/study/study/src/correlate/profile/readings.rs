//! The metrics of profilers that a comparison uses, under all their names.

use super::unit::Quantity;
use Quantity::{ByteRate, Count, Frequency, Percent, Time};

/// A measured property of a launch, in the base unit of its [`Quantity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Reading {
    Cycles,
    Duration,
    SmClock,
    DramClock,
    WarpInstructions,
    L1Sectors,
    L1Hits,
    L1HitRate,
    L2Sectors,
    L2Hits,
    L2HitRate,
    L2Reads,
    L2Writes,
    DramReadSectors,
    DramReadBytes,
    DramReadRate,
    DramWriteSectors,
    DramWriteBytes,
    DramWriteRate,
    DramSectors,
    DramBytes,
    DramRate,
}

const SECTORS: Quantity = Count("sector");
const BYTES: Quantity = Count("byte");

/// Names of each reading, the preferred first: of the raw page of Nsight Compute, of its details
/// page, of its first versions, of nvprof. `srcunit_tex` excludes the requests of other units than
/// L1.
const KNOWN: [(Reading, Quantity, &[&str]); 22] = [
    (
        Reading::Cycles,
        Count("cycle"),
        &[
            "gpc__cycles_elapsed.max",
            "sm__cycles_elapsed.max",
            "Elapsed Cycles",
            "gpu__cycles_elapsed.max",
            "gpc__elapsed_cycles_max",
            "sm__elapsed_cycles_max",
            "gpc__cycles_elapsed.avg",
            "sm__cycles_elapsed.avg",
            "sm__elapsed_cycles_avg",
        ],
    ),
    (
        Reading::Duration,
        Time,
        &["gpu__time_duration.sum", "Duration", "gpu__time_duration.max", "gpu__time_duration"],
    ),
    (
        Reading::SmClock,
        Frequency,
        &[
            "gpc__cycles_elapsed.avg.per_second",
            "sm__cycles_elapsed.avg.per_second",
            "smsp__cycles_elapsed.avg.per_second",
            "SM Frequency",
            "gpc__frequency",
        ],
    ),
    (
        Reading::DramClock,
        Frequency,
        &["dram__cycles_elapsed.avg.per_second", "DRAM Frequency", "dram__frequency"],
    ),
    (
        Reading::WarpInstructions,
        Count("inst"),
        &[
            "smsp__inst_executed.sum",
            "sm__inst_executed.sum",
            "Executed Instructions",
            "smsp__inst_executed_sum",
            "sm__inst_executed_sum",
            "inst_executed",
        ],
    ),
    (Reading::L1Sectors, SECTORS, &["l1tex__t_sectors.sum"]),
    (Reading::L1Hits, SECTORS, &["l1tex__t_sectors_lookup_hit.sum"]),
    (
        Reading::L1HitRate,
        Percent,
        &[
            "l1tex__t_sector_hit_rate.pct",
            "L1/TEX Hit Rate",
            "l1tex__t_sector_hit_rate_pct",
            "L1 Hit Rate",
            "global_hit_rate",
        ],
    ),
    (
        Reading::L2Sectors,
        SECTORS,
        &["lts__t_sectors_srcunit_tex.sum", "lts__t_sectors.sum", "lts__t_sectors_sum"],
    ),
    (
        Reading::L2Hits,
        SECTORS,
        &["lts__t_sectors_srcunit_tex_lookup_hit.sum", "lts__t_sectors_lookup_hit.sum"],
    ),
    (
        Reading::L2HitRate,
        Percent,
        &[
            "lts__t_sector_hit_rate.pct",
            "L2 Hit Rate",
            "lts__t_sector_hit_rate_pct",
            "l2_tex_hit_rate",
        ],
    ),
    (
        Reading::L2Reads,
        SECTORS,
        &[
            "lts__t_sectors_srcunit_tex_op_read.sum",
            "lts__t_sectors_op_read.sum",
            "l2_tex_read_transactions",
            "l2_read_transactions",
        ],
    ),
    (
        Reading::L2Writes,
        SECTORS,
        &[
            "lts__t_sectors_srcunit_tex_op_write.sum",
            "lts__t_sectors_op_write.sum",
            "l2_tex_write_transactions",
            "l2_write_transactions",
        ],
    ),
    (
        Reading::DramReadSectors,
        SECTORS,
        &[
            "dram__sectors_read.sum",
            "fbpa__dram_sectors_read.sum",
            "dram__read_sectors",
            "dram_read_transactions",
        ],
    ),
    (
        Reading::DramReadBytes,
        BYTES,
        &[
            "dram__bytes_read.sum",
            "fbpa__dram_read_bytes.sum",
            "dram__read_bytes",
            "dram_read_bytes",
        ],
    ),
    (
        Reading::DramReadRate,
        ByteRate,
        &["dram__bytes_read.sum.per_second", "fbpa__dram_read_bytes.sum.per_second"],
    ),
    (
        Reading::DramWriteSectors,
        SECTORS,
        &[
            "dram__sectors_write.sum",
            "fbpa__dram_sectors_write.sum",
            "dram__write_sectors",
            "dram_write_transactions",
        ],
    ),
    (
        Reading::DramWriteBytes,
        BYTES,
        &[
            "dram__bytes_write.sum",
            "fbpa__dram_write_bytes.sum",
            "dram__write_bytes",
            "dram_write_bytes",
        ],
    ),
    (
        Reading::DramWriteRate,
        ByteRate,
        &["dram__bytes_write.sum.per_second", "fbpa__dram_write_bytes.sum.per_second"],
    ),
    (Reading::DramSectors, SECTORS, &["dram__sectors.sum"]),
    (Reading::DramBytes, BYTES, &["dram__bytes.sum"]),
    (Reading::DramRate, ByteRate, &["dram__bytes.sum.per_second", "Memory Throughput"]),
];

/// A name of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub reading: Reading,
    pub quantity: Quantity,
    /// Position in the list of names; the lowest has precedence.
    rank: usize,
}

impl Name {
    /// Looks a metric up; none if the comparison does not use it.
    pub fn find(metric: &str) -> Option<Name> {
        let metric = metric.trim();
        KNOWN.iter().find_map(|&(reading, quantity, names)| {
            let rank = names.iter().position(|name| *name == metric)?;
            Some(Name { reading, quantity, rank })
        })
    }
}

/// The readings of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Readings([Option<(usize, f64)>; KNOWN.len()]);

impl Readings {
    /// Adds a value in base units, unless a preferred name gave one.
    pub fn add(&mut self, name: Name, value: f64) {
        let known = &mut self.0[name.reading as usize];
        if known.is_none_or(|(rank, _)| name.rank < rank) {
            *known = Some((name.rank, value));
        }
    }

    pub fn get(&self, reading: Reading) -> Option<f64> {
        self.0[reading as usize].map(|(_, value)| value)
    }

    /// Returns `above` over `below` in percent, if both are of the same requests.
    pub fn percent(&self, above: Reading, below: Reading) -> Option<f64> {
        let [above, below] = [above, below].map(|reading| self.0[reading as usize]);
        let ((rank, above), (other, below)) = above.zip(below)?;
        (rank == other && below > 0.0).then(|| 100.0 * above / below)
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn readings_are_in_their_order_and_names_are_unique() {
        let order: Vec<usize> = KNOWN.iter().map(|(reading, ..)| *reading as usize).collect();
        assert_eq!(order, (0..KNOWN.len()).collect::<Vec<_>>());
        let names: Vec<&str> = KNOWN.iter().flat_map(|(.., names)| *names).copied().collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }

    #[test]
    fn the_preferred_name_has_precedence_in_any_order() {
        let [all, of_l1] = ["lts__t_sectors.sum", "lts__t_sectors_srcunit_tex.sum"]
            .map(|name| Name::find(name).unwrap());
        for order in [[(all, 9.0), (of_l1, 7.0)], [(of_l1, 7.0), (all, 9.0)]] {
            let mut readings = Readings::default();
            assert!(readings.is_empty());
            order.into_iter().for_each(|(name, value)| readings.add(name, value));
            assert_eq!(readings.get(Reading::L2Sectors), Some(7.0));
            assert_eq!(readings.get(Reading::L2Hits), None);
        }
        let mut readings = Readings::default();
        let of_all = Name::find("lts__t_sectors_lookup_hit.sum").unwrap();
        readings.add(of_all, 3.0);
        readings.add(of_l1, 4.0);
        let rate = |readings: &Readings| readings.percent(Reading::L2Hits, Reading::L2Sectors);
        assert_eq!(rate(&readings), None, "of different requests");
        let of_l1 = Name::find("lts__t_sectors_srcunit_tex_lookup_hit.sum").unwrap();
        readings.add(of_l1, 1.0);
        assert_eq!(rate(&readings), Some(25.0));
        assert_eq!(Name::find("sm__throughput.avg.pct_of_peak_sustained_elapsed"), None);
    }
}
