//! A finished run with the sums that tables need.

use crate::RunKey;
use warpmem_cache::CacheCounts;
use warpmem_dram::{Activity as DramActivity, BankResult, ChannelResult, Energy};
use warpmem_energy::{Accesses, Activity, GpuEnergy};
use warpmem_gpu::results::{RunResult, SliceResult, SmResult};
use warpmem_network::NetworkResult;
use warpmem_sim::total;

/// The key of a run, its counts, and their sums over units: one row of `runs`.
pub struct FinishedRun {
    pub(crate) key: RunKey,
    pub(crate) result: RunResult,
    pub(crate) sms: SmResult,
    pub(crate) slices: SliceResult,
    pub(crate) channels: ChannelResult,
    pub(crate) banks: BankResult,
}

impl FinishedRun {
    pub fn new(key: RunKey, result: RunResult) -> FinishedRun {
        let channels = total(&result.channels);
        // A cycle of the whole L2 is in a state if any slice is.
        let mshr_cycles = result.mshr_cycles;
        FinishedRun {
            sms: total(&result.sms),
            slices: SliceResult { mshr_cycles, ..total(&result.slices) },
            banks: total(&channels.banks),
            channels,
            key,
            result,
        }
    }

    /// Returns the bytes moved by the column commands of `banks`.
    pub(crate) fn bytes(&self, banks: &BankResult) -> u64 {
        banks.bytes(self.key.machine.dram.burst_bytes())
    }

    /// Returns the energy of one channel or a sum of channels; none if currents are unknown.
    pub(crate) fn energy(&self, channel: &ChannelResult, banks: &BankResult) -> Option<Energy> {
        let machine = &self.key.machine;
        let activity = DramActivity::new(channel, banks);
        Energy::of(&machine.dram, 1000.0 / f64::from(machine.clocks.dram_mhz), &activity)
    }

    /// Returns the energy of the whole GPU; none if its energies are unknown.
    pub(crate) fn gpu_energy(&self) -> Option<GpuEnergy> {
        let machine = &self.key.machine;
        let (sms, column) = (&self.sms, u64::from(machine.dram.burst_bytes()));
        let flits = self.result.networks.iter().map(NetworkResult::flits).sum::<u64>();
        let activity = Activity {
            cycles: self.result.core_cycles,
            core_mhz: machine.clocks.core_mhz,
            sms: self.result.sms.len() as u64,
            idle_sm_cycles: sms.no_warp_cycles,
            warp_instructions: sms.warp_instructions,
            thread_instructions: sms.thread_instructions,
            warp_instructions_by_class: sms.warp_instructions_by_class,
            lanes_by_class: sms.thread_instructions_by_class,
            shared_passes: sms.shared_accesses + sms.shared_bank_conflict_cycles,
            l1: accesses(&sms.l1),
            l2: accesses(&self.slices.cache),
            network_bytes: flits * u64::from(machine.network.flit_bytes),
            dram_read_bytes: self.banks.reads * column,
            dram_write_bytes: self.banks.writes * column,
            precharges: self.banks.activations,
        };
        GpuEnergy::of(&machine.energy, &activity)
    }

    /// Returns the DRAM cycles until memory is idle after the last CTA, equal in every channel.
    pub(crate) fn dram_cycles(&self) -> u64 {
        self.result.channels.first().map_or(0, |channel| channel.cycles)
    }

    /// Returns the DRAM clock, MHz.
    pub(crate) fn dram_mhz(&self) -> u64 {
        self.key.machine.clocks.dram_mhz.into()
    }
}

/// Returns the accesses of a cache that consume energy. Reads of the L2 include atomics.
fn accesses(counts: &CacheCounts) -> Accesses {
    Accesses {
        read_hits: counts.read_hits + counts.read_pending_hits,
        read_misses: counts.read_misses + counts.read_sector_misses,
        write_hits: counts.write_hits,
        write_misses: counts.write_misses + counts.write_sector_misses,
    }
}
