//! Formulas shared by tables, reports and studies, computed from counts alone, so that no ratio has
//! two definitions. The columns that use them define their meaning.

use std::iter::Sum;
use warpmem_cache::CacheCounts;
use warpmem_dram::BankResult;
use warpmem_gpu::results::KernelResult;
pub use warpmem_sim::quotient;

/// A ratio before its division; over several units it is the ratio of the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fraction {
    pub above: u64,
    pub below: u64,
}

impl Fraction {
    /// Divides; none if the denominator is 0.
    pub fn value(self) -> Option<f64> {
        quotient(self.above, self.below)
    }
}

impl Sum for Fraction {
    fn sum<I: Iterator<Item = Fraction>>(all: I) -> Fraction {
        all.fold(Fraction::default(), |sum, one| Fraction {
            above: sum.above + one.above,
            below: sum.below + one.below,
        })
    }
}

/// Returns Jain's fairness index, (sum)^2 / (values x sum of squares), which is 1 for equal values
/// (Jain, Chiu and Hawe, DEC-TR-301, 1984).
pub fn jain_index(values: impl Iterator<Item = u64>) -> Option<f64> {
    let values: Vec<f64> = values.map(|value| value as f64).collect();
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// Returns warp or thread instructions per core cycle.
pub fn ipc(instructions: u64, cycles: u64) -> Option<f64> {
    quotient(instructions, cycles)
}

/// Returns the core cycles from the launch of a kernel's first CTA to the end of its last.
pub fn kernel_cycles(kernel: &KernelResult) -> u64 {
    let simulated = kernel.end_cycle.saturating_sub(kernel.start_cycle);
    kernel.extrapolated_cycles.unwrap_or(simulated)
}

/// Returns read and sector misses over reads; merged reads count as reads only.
pub fn read_miss_rate(counts: &CacheCounts) -> Fraction {
    Fraction { above: read_misses(counts), below: reads(counts) }
}

/// Returns misses and sector misses over accesses, of reads and writes; bypasses excluded.
pub fn miss_rate(counts: &CacheCounts) -> Fraction {
    let write_misses = counts.write_misses + counts.write_sector_misses;
    Fraction {
        above: read_misses(counts) + write_misses,
        below: reads(counts) + counts.write_hits + write_misses,
    }
}

fn reads(c: &CacheCounts) -> u64 {
    c.read_hits + c.read_misses + c.read_sector_misses + c.read_pending_hits
}

fn read_misses(c: &CacheCounts) -> u64 {
    c.read_misses + c.read_sector_misses
}

/// Returns row hits over requests, as [`BankResult::row_hit_rate`], for sums over banks.
pub fn row_hit_rate(bank: &BankResult) -> Fraction {
    Fraction { above: bank.row_hits, below: bank.requests() }
}

/// Returns flits per cycle of a link, node or network.
pub(crate) fn flit_rate(flits: u64, cycles: u64) -> Option<f64> {
    quotient(flits, cycles)
}
