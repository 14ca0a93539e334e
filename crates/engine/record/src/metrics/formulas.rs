//! The formulas that more than one table, report or study uses, from counts alone.
//!
//! The columns made of them say what they mean; a study that needs the same ratio calls the same
//! function, so that no ratio has two definitions.

use std::iter::Sum;
use warpmem_cache::CacheCounts;
use warpmem_dram::BankResult;
use warpmem_gpu::results::KernelResult;
pub use warpmem_sim::quotient;

/// A ratio before its division: of several units it is the ratio of the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fraction {
    pub above: u64,
    pub below: u64,
}

impl Fraction {
    /// None where there is nothing below.
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

/// Jain's fairness index: (sum)^2 / (values x sum of squares); 1 where all values are equal (Jain,
/// Chiu and Hawe, DEC-TR-301, 1984).
pub fn jain_index(values: impl Iterator<Item = u64>) -> Option<f64> {
    let values: Vec<f64> = values.map(|value| value as f64).collect();
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// Instructions, of warps or of threads, per core cycle.
pub fn ipc(instructions: u64, cycles: u64) -> Option<f64> {
    quotient(instructions, cycles)
}

/// Core cycles from the launch of a kernel's first CTA to the end of its last.
pub fn kernel_cycles(kernel: &KernelResult) -> u64 {
    kernel.end_cycle.saturating_sub(kernel.start_cycle)
}

/// Read misses and sector misses over reads; merged reads count as reads only.
pub fn read_miss_rate(counts: &CacheCounts) -> Fraction {
    Fraction { above: read_misses(counts), below: reads(counts) }
}

/// Misses and sector misses of reads and writes over reads and writes; bypasses are left out.
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

/// Row hits over requests, as [`BankResult::row_hit_rate`], for sums over banks.
pub fn row_hit_rate(bank: &BankResult) -> Fraction {
    Fraction { above: bank.row_hits, below: bank.requests() }
}

/// Flits per cycle over a link, from a node or through a network.
pub(crate) fn flit_rate(flits: u64, cycles: u64) -> Option<f64> {
    quotient(flits, cycles)
}
