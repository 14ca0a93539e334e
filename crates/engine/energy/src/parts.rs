//! The energy of a run by component.

use crate::activity::{Accesses, Activity};
use crate::config::Energy;
use crate::statics;
use crate::table::Table;

/// Energy of a whole GPU, DRAM and board included, by component, nJ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpuEnergy {
    /// Constant power over time: board, fans, clocks.
    pub constant: f64,
    /// Leakage of SMs with CTAs, and of shared units.
    pub static_energy: f64,
    /// Power of SMs without CTAs.
    pub idle_sms: f64,
    /// Fetch, decode and scheduling of instructions.
    pub issue: f64,
    /// Register files.
    pub registers: f64,
    /// Functional units and their pipelines.
    pub units: f64,
    pub shared: f64,
    pub l1: f64,
    pub l2: f64,
    pub network: f64,
    /// DRAM devices and memory controllers.
    pub dram: f64,
}

impl GpuEnergy {
    /// Returns the energy of a run with these counts; none if the machine's energies are unknown.
    pub fn of(config: &Energy, activity: &Activity) -> Option<GpuEnergy> {
        let table = config.table()?;
        let microseconds = activity.cycles as f64 / f64::from(activity.core_mhz);
        // A W x µs is 1,000 nJ, a pJ is 0.001 nJ.
        let lasting = |watts: f64, permille: u32| watts * microseconds * f64::from(permille);
        let chip = |picojoules: f64| picojoules * f64::from(config.chip_permille) * 1e-6;
        let idle = idle_sms(activity);
        let active_share = (activity.sms as f64 - idle) / activity.sms as f64;
        let static_watts = statics::watts(&table.static_power, activity) * active_share;
        let warps = activity.warp_instructions as f64;
        Some(GpuEnergy {
            constant: lasting(table.constant, config.constant_permille),
            static_energy: lasting(static_watts, config.static_permille),
            idle_sms: lasting(table.idle_sm * idle, config.chip_permille),
            issue: chip(warps * (table.decode + table.schedule + table.instruction_cache)),
            registers: chip(warps * table.registers),
            units: chip(units(table, activity)),
            shared: chip(activity.shared_passes as f64 * table.shared_pass),
            l1: chip(cache(&table.l1, activity.l1)),
            l2: chip(cache(&table.l2, activity.l2)),
            network: chip(activity.network_bytes as f64 * table.network_byte),
            dram: dram(table, activity) * f64::from(config.dram_permille) * 1e-6,
        })
    }

    /// Returns the total, nJ.
    pub fn total(&self) -> f64 {
        self.constant
            + self.static_energy
            + self.idle_sms
            + self.issue
            + self.registers
            + self.units
            + self.shared
            + self.l1
            + self.l2
            + self.network
            + self.dram
    }
}

/// Returns the mean number of SMs without a CTA.
fn idle_sms(activity: &Activity) -> f64 {
    if activity.cycles == 0 {
        return 0.0;
    }
    activity.idle_sm_cycles as f64 / activity.cycles as f64
}

fn units(table: &Table, activity: &Activity) -> f64 {
    let lanes = table.lanes.by_class().into_iter().zip(activity.lanes_by_class);
    let computing: f64 = lanes.map(|(picojoules, lanes)| picojoules * lanes as f64).sum();
    computing + activity.thread_instructions as f64 * table.pipeline
}

fn cache(energies: &[f64; 4], accesses: Accesses) -> f64 {
    energies.iter().zip(accesses.counts()).map(|(energy, count)| energy * count as f64).sum()
}

fn dram(table: &Table, activity: &Activity) -> f64 {
    activity.dram_read_bytes as f64 * table.dram_read_byte
        + activity.dram_write_bytes as f64 * table.dram_write_byte
        + activity.precharges as f64 * table.dram_precharge
}
