//! A finished run as the tables see it.

use crate::RunKey;
use warpmem_cache::CacheCounts;
use warpmem_dram::{Activity as DramActivity, BankResult, ChannelResult, Energy};
use warpmem_energy::{Accesses, Activity, GpuEnergy};
use warpmem_gpu::results::{RunResult, SliceResult, SmResult};
use warpmem_network::NetworkResult;
use warpmem_sim::total;

/// A run's key, its counts, and their sums over units: one row of `runs`.
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
        // For the whole L2 a cycle counts if any slice is in the state.
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

    /// Bytes that the column commands of `banks` move.
    pub(crate) fn bytes(&self, banks: &BankResult) -> u64 {
        banks.bytes(self.key.machine.dram.burst_bytes())
    }

    /// Energy of a channel, or of several added up; none where the machine's currents are not
    /// known.
    pub(crate) fn energy(&self, channel: &ChannelResult, banks: &BankResult) -> Option<Energy> {
        let machine = &self.key.machine;
        let activity = DramActivity::new(channel, banks);
        Energy::of(&machine.dram, 1000.0 / f64::from(machine.clocks.dram_mhz), &activity)
    }

    /// Energy of the whole GPU; none where the machine's energies are not known.
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

    /// DRAM cycles until memory is done, which is after the last CTA. Every channel counts them.
    pub(crate) fn dram_cycles(&self) -> u64 {
        self.result.channels.first().map_or(0, |channel| channel.cycles)
    }

    /// DRAM clock, MHz.
    pub(crate) fn dram_mhz(&self) -> u64 {
        self.key.machine.clocks.dram_mhz.into()
    }
}

/// What costs energy in a cache. Atomics of the L2 are among its reads.
fn accesses(counts: &CacheCounts) -> Accesses {
    Accesses {
        read_hits: counts.read_hits + counts.read_pending_hits,
        read_misses: counts.read_misses + counts.read_sector_misses,
        write_hits: counts.write_hits,
        write_misses: counts.write_misses + counts.write_sector_misses,
    }
}
