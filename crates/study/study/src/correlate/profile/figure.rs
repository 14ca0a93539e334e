//! The figures that a profile and a run have in common.

use super::launch::Launch;
use super::readings::Reading;

/// A compared figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    Cycles,
    WarpInstructions,
    L1HitRate,
    L2HitRate,
    L2Sectors,
    L2Reads,
    L2Writes,
    DramReads,
    DramWrites,
    /// Reads and writes together, where the profile does not distinguish them.
    DramSectors,
}

impl Figure {
    pub const ALL: [Figure; 10] = [
        Figure::Cycles,
        Figure::WarpInstructions,
        Figure::L1HitRate,
        Figure::L2HitRate,
        Figure::L2Sectors,
        Figure::L2Reads,
        Figure::L2Writes,
        Figure::DramReads,
        Figure::DramWrites,
        Figure::DramSectors,
    ];

    /// Returns the metric of Nsight Compute, which our side has too
    /// ([`ncu_rows_json`](warpmem_record::ncu_rows_json)).
    pub fn metric(self) -> &'static str {
        match self {
            Figure::Cycles => "gpc__cycles_elapsed.max",
            Figure::WarpInstructions => "smsp__inst_executed.sum",
            Figure::L1HitRate => "l1tex__t_sector_hit_rate.pct",
            Figure::L2HitRate => "lts__t_sector_hit_rate.pct",
            Figure::L2Sectors => "lts__t_sectors.sum",
            Figure::L2Reads => "lts__t_sectors_op_read.sum",
            Figure::L2Writes => "lts__t_sectors_op_write.sum",
            Figure::DramReads => "dram__sectors_read.sum",
            Figure::DramWrites => "dram__sectors_write.sum",
            Figure::DramSectors => "dram__sectors.sum",
        }
    }

    /// Returns the name for readers.
    pub fn title(self) -> &'static str {
        match self {
            Figure::Cycles => "cycles",
            Figure::WarpInstructions => "warp instructions",
            Figure::L1HitRate => "L1 hit rate",
            Figure::L2HitRate => "L2 hit rate",
            Figure::L2Sectors => "L2 sectors",
            Figure::L2Reads => "L2 sectors read",
            Figure::L2Writes => "L2 sectors written",
            Figure::DramReads => "DRAM sectors read",
            Figure::DramWrites => "DRAM sectors written",
            Figure::DramSectors => "DRAM sectors",
        }
    }

    /// Whether the figure is a percentage, whose error is a difference in points.
    pub fn is_rate(self) -> bool {
        matches!(self, Figure::L1HitRate | Figure::L2HitRate)
    }

    /// Returns the error of our value: relative, or in points for a rate; none without a base.
    pub fn error(self, measured: f64, warpmem: f64) -> Option<f64> {
        if self.is_rate() {
            return Some(warpmem - measured);
        }
        if measured == warpmem {
            return Some(0.0);
        }
        (measured > 0.0).then(|| (warpmem - measured) / measured)
    }

    /// Returns the measured value. `hz` is the clock for durations without one.
    pub fn of(self, launch: &Launch, hz: f64) -> Option<f64> {
        let readings = &launch.readings;
        let get = |reading| readings.get(reading);
        let clock = launch.sm_clock();
        let seconds = || get(Reading::Duration).or_else(|| Some(get(Reading::Cycles)? / clock?));
        let sectors = |sectors, bytes, rate| {
            let of_bytes = || Some(get(bytes)? / SECTOR);
            let of_rate = || Some(get(rate)? * seconds()? / SECTOR);
            get(sectors).or_else(of_bytes).or_else(of_rate)
        };
        match self {
            Figure::Cycles => {
                get(Reading::Cycles).or_else(|| Some(get(Reading::Duration)? * clock.unwrap_or(hz)))
            }
            Figure::WarpInstructions => get(Reading::WarpInstructions),
            Figure::L1HitRate => get(Reading::L1HitRate)
                .or_else(|| readings.percent(Reading::L1Hits, Reading::L1Sectors)),
            Figure::L2HitRate => get(Reading::L2HitRate)
                .or_else(|| readings.percent(Reading::L2Hits, Reading::L2Sectors)),
            Figure::L2Sectors => get(Reading::L2Sectors),
            Figure::L2Reads => get(Reading::L2Reads),
            Figure::L2Writes => get(Reading::L2Writes),
            Figure::DramReads => {
                sectors(Reading::DramReadSectors, Reading::DramReadBytes, Reading::DramReadRate)
            }
            Figure::DramWrites => {
                sectors(Reading::DramWriteSectors, Reading::DramWriteBytes, Reading::DramWriteRate)
            }
            Figure::DramSectors => {
                let apart = [Figure::DramReads, Figure::DramWrites].map(|part| part.of(launch, hz));
                let both = apart.iter().all(Option::is_some);
                let all = || sectors(Reading::DramSectors, Reading::DramBytes, Reading::DramRate);
                (!both).then(all).flatten()
            }
        }
    }
}

/// Bytes of a sector.
const SECTOR: f64 = 32.0;
