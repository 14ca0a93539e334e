//! What a channel needs of its configuration and of its policies.

use super::queues::{READS, WRITES};
use crate::page::PagePolicy;
use crate::scheduler::Traits;
use crate::timing::TimingState;
use crate::{DoneWith, Dram, QueueOrganisation};

/// What the channel needs of its configuration and of its policies. The channels of a machine share
/// one.
#[derive(PartialEq)]
pub(super) struct Spec {
    pub banks: usize,
    /// Reads and writes have a queue each.
    pub split: bool,
    pub capacity: [u32; 2],
    pub bank_capacity: [u32; 2],
    pub data_buses: u64,
    /// Data cycles of a column command.
    pub burst: u64,
    /// Cycles from the first datum of the last column command until the request is done.
    pub done_after: u64,
    /// RD and WR to first data.
    pub latencies: [u64; 2],
    pub trp: u64,
    pub dual_command_bus: bool,
    pub picks_per_cycle: u32,
    /// Rows are closed by column commands too.
    pub auto_precharge: bool,
    /// Rows of idle banks are closed.
    pub closes_idle_rows: bool,
    /// By queue: the scheduler orders it; other queues are FR-FCFS. Schedulers never see
    /// prefetches.
    pub scheduled: [bool; 3],
    /// Those of the scheduler.
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
            dual_command_bus: dram.dual_command_bus,
            picks_per_cycle,
            auto_precharge: timing.auto_precharge() && page.precharges_automatically(),
            scheduled: [asks, asks && traits.orders_writes, false],
            closes_idle_rows: page.closes_idle_rows(),
            traits,
        }
    }

    /// The queue that reads or writes enter.
    #[inline]
    pub fn queue_of(&self, write: bool) -> usize {
        if write && self.split { WRITES } else { READS }
    }
}
