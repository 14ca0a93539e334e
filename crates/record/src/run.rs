//! A finished run as the tables see it.

use crate::RunKey;
use warpmem_dram::{Activity, BankResult, ChannelResult, Energy};
use warpmem_gpu::results::{RunResult, SliceResult, SmResult};
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
        // For the whole LLC a cycle counts if any slice is in the state.
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
        let activity = Activity::new(channel, banks);
        Energy::of(&machine.dram, 1000.0 / f64::from(machine.clocks.dram_mhz), &activity)
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
