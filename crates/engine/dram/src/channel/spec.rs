//! The constants of a channel, from its configuration and its policies.

use super::queues::{READS, WRITES};
use crate::page::PagePolicy;
use crate::scheduler::Traits;
use crate::timing::TimingState;
use crate::{DoneWith, Dram, QueueOrganisation};

/// Constants of a channel, from its configuration and its policies. The channels of a machine share
/// one copy.
#[derive(PartialEq)]
pub(super) struct Spec {
    pub banks: usize,
    /// Whether reads and writes have separate queues.
    pub split: bool,
    pub capacity: [u32; 2],
    pub bank_capacity: [u32; 2],
    pub data_buses: u64,
    /// Data-bus cycles of a column command.
    pub burst: u64,
    /// Cycles from the first datum of the last column command to the completion of the request.
    pub done_after: u64,
    /// Cycles from RD and from WR to first data.
    pub latencies: [u64; 2],
    pub trp: u64,
    /// Cycles after which a command delays no other.
    pub longest_delay: u64,
    /// Cycles after the last command of the channel from which the refreshes of single banks issue
    /// when due; none if one may wait for the last of its own bank, or for the grid of commands.
    pub refresh_delay: Option<u64>,
    pub dual_command_bus: bool,
    pub picks_per_cycle: u32,
    /// Whether column commands may close rows.
    pub auto_precharge: bool,
    /// Whether the page policy closes rows of idle banks.
    pub closes_idle_rows: bool,
    /// Whether the scheduler orders the queue, by queue; other queues use FR-FCFS. Schedulers never
    /// see prefetches.
    pub scheduled: [bool; 3],
    /// Traits of the scheduler.
    pub traits: Traits,
}

impl Spec {
    pub fn new(dram: &Dram, timing: &TimingState, traits: Traits, page: &dyn PagePolicy) -> Spec {
        let asks = !traits.plain_fr_fcfs;
        let picks_per_cycle = traits.picks_per_cycle.unwrap_or(dram.picks_per_cycle);
        let capacity = [dram.read_queue, dram.write_queue];
        Spec {
            banks: dram.banks as usize,
            split: dram.write_queue > 0,
            capacity,
            bank_capacity: match dram.queue_organisation {
                QueueOrganisation::Channel => capacity,
                QueueOrganisation::PerBank => capacity.map(|entries| entries / dram.banks),
            },
            data_buses: dram.pseudo_channels.into(),
            burst: dram.burst_cycles().into(),
            done_after: match dram.done_with {
                DoneWith::LastDatum => dram.burst_cycles().into(),
                DoneWith::FirstDatum => 1,
            },
            latencies: timing.latencies(),
            trp: dram.timing.trp.into(),
            longest_delay: timing.longest_delay(),
            refresh_delay: timing.refresh_delay(dram),
            dual_command_bus: dram.dual_command_bus,
            picks_per_cycle,
            auto_precharge: timing.auto_precharge() && page.precharges_automatically(),
            scheduled: [asks, asks && traits.orders_writes, false],
            closes_idle_rows: page.closes_idle_rows(),
            traits,
        }
    }

    /// Returns the queue of reads or of writes.
    #[inline]
    pub fn queue_of(&self, write: bool) -> usize {
        if write && self.split { WRITES } else { READS }
    }
}
