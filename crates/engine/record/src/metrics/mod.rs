//! Every metric, defined once: its derivation from raw counts, name, unit, definition and source.
//! `docs/schema.md` is generated from these definitions.
//!
//! Sources: [Li] inter-core locality 2015, [OWL] 2013, [CaLRS] 2015, [Yuan] 2009, [WMC] Warped-MC
//! 2023, [Shin] 2018.

mod cache;
pub(crate) mod dram;
mod energy;
mod formulas;
mod gpu_energy;
mod l2;
mod loads;
mod machine;
pub(crate) mod network;
mod run_key;
mod sm;
mod translation;

use crate::column::{Column, maybe_count, ratio};
use warpmem_sim::Histogram;

pub(crate) use cache::{accesses, cache};
pub use energy::energy;
pub(crate) use formulas::flit_rate;
pub use formulas::{
    Fraction, ipc, jain_index, kernel_cycles, miss_rate, quotient, read_miss_rate, row_hit_rate,
};
pub(crate) use gpu_energy::gpu_energy;
pub(crate) use l2::{l2, queue_length_mean};
pub(crate) use loads::{latency, loads};
pub(crate) use machine::{caches, channels, stalls};
pub use network::request_convoy;
pub use run_key::key;
pub(crate) use run_key::run_key_columns;
pub(crate) use sm::{SM_CYCLES, instructions, schedulable_warps, warp_fairness, work};
pub(crate) use translation::{tlb, walks};

/// Returns mean, percentiles and maximum of a distribution, named `NAME_mean`, `NAME_p50`.
pub(crate) fn distribution<R: 'static>(
    name: &str,
    unit: &'static str,
    what: &str,
    percents: &[u8],
    of: impl Fn(&R) -> &Histogram + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let mean = ratio("mean", unit, &format!("{what}: mean."), move |row| of(row).mean());
    let percentiles = percents.iter().map(|&percent| {
        let doc = format!("{what}: percentile {percent}, within 1.6 %.");
        maybe_count(&format!("p{percent}"), unit, &doc, move |row| {
            of(row).quantile(f64::from(percent) / 100.0)
        })
    });
    let max = maybe_count("max", unit, &format!("{what}: maximum."), move |row| of(row).max());
    [mean].into_iter().chain(percentiles).chain([max]).map(|column| column.prefixed(name)).collect()
}
