//! The metrics of the energy of the whole GPU.

use crate::column::{Column, ratio};
use crate::run::FinishedRun;
use warpmem_energy::GpuEnergy;

/// A component of the energy: name after `gpu_energy_nj_`, definition and value.
type Part = (&'static str, &'static str, fn(&GpuEnergy) -> f64);

const PARTS: [Part; 11] = [
    ("constant", "Constant power of chip and board, over the time of the run.", |e| e.constant),
    ("static", "Static power of SMs with CTAs, over the time of the run.", |e| e.static_energy),
    ("idle_sms", "Power of SMs without CTAs, over the time of the run.", |e| e.idle_sms),
    ("issue", "Fetching, decoding and scheduling warp instructions.", |e| e.issue),
    ("registers", "Reading and writing registers.", |e| e.registers),
    ("units", "Functional units and their pipelines.", |e| e.units),
    ("shared", "Passes over the banks of shared memory.", |e| e.shared),
    ("l1", "Accesses to L1.", |e| e.l1),
    ("l2", "Accesses to the L2.", |e| e.l2),
    ("network", "Flits of both networks.", |e| e.network),
    ("dram", "DRAM commands and memory controllers; independent of `energy_nj`.", |e| e.dram),
];

/// Returns energy in total and by component, and mean power; null where `energy.table` is `none`.
pub fn gpu_energy() -> Vec<Column<FinishedRun>> {
    let total = ratio(
        "gpu_energy_nj",
        "nJ",
        "Energy of the whole GPU from the start to the last CTA's end, sum of the next eleven; null where \
         `energy.table` is `none`.",
        |run: &FinishedRun| run.gpu_energy().map(|energy| energy.total()),
    );
    let parts = PARTS.into_iter().map(|(name, doc, part)| {
        ratio(&format!("gpu_energy_nj_{name}"), "nJ", doc, move |run: &FinishedRun| {
            run.gpu_energy().map(|energy| part(&energy))
        })
    });
    let power = ratio("gpu_power_w", "W", "gpu_energy_nj over the time of the run.", power);
    [total].into_iter().chain(parts).chain([power]).collect()
}

fn power(run: &FinishedRun) -> Option<f64> {
    let microseconds = run.result.core_cycles as f64 / f64::from(run.key.machine.clocks.core_mhz);
    let watts = run.gpu_energy()?.total() / (1000.0 * microseconds);
    watts.is_finite().then_some(watts)
}
