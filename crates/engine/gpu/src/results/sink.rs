//! What a run hands out as it goes, row by row, and who takes it. Everything is an integer.

use super::sample::RequestSample;
use super::{QueueLength, RunResult, SmResult};
use serde::Serialize;
use std::iter::Sum;
use std::mem;
use std::num::NonZeroU64;
use warpmem_cache::{CacheCounts, ReservationFail};
use warpmem_dram::{BankResult, ChannelResult, CommandSink};
use warpmem_sim::Total;

/// One finished load warp instruction (loads, atomics and async copies that left the SM's registers
/// waiting). Times are core cycles from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadRow {
    pub kernel: u32,
    /// Index of the CTA in its kernel.
    pub cta: u32,
    pub warp_in_cta: u32,
    pub sm: u32,
    /// Slot of the warp on its SM.
    pub warp_slot: u32,
    pub pc: u64,
    /// Issue of the instruction.
    pub issue_cycle: u64,
    /// Issue until the last datum is back, core cycles [WMC Fig 4b].
    pub load_time: u64,
    /// Requests after coalescing [CaLRS Fig 4].
    pub requests: u32,
    /// Requests that the L2 could not answer from its data [WMC Fig 3].
    pub offchip_requests: u32,
    /// Different channels and (channel, bank) pairs among the requests [Yuan Fig 14].
    pub channels: u32,
    pub banks: u32,
    /// Slowest minus fastest turnaround of its off-chip requests, core cycles [WMC Fig 4a]; `None`
    /// with fewer than two of them.
    pub divergence: Option<u64>,
    /// (Time inside the memory controller of the slowest − of the fastest), core cycles; the
    /// in-controller share of divergence is this over `divergence` [WMC Fig 6].
    pub in_mc_divergence: Option<i64>,
}

/// What a request of an SM asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
    /// The rest of a sector that a store covers in part, for an L1 that keeps stores.
    Fetch,
}

impl AccessKind {
    pub fn name(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic",
            AccessKind::Fetch => "fetch",
        }
    }
}

/// When a request entered the queue of its channel, when its first command was issued, and when its
/// last datum was on the bus: ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramTimes {
    pub entered: u64,
    pub started: u64,
    pub finished: u64,
}

/// One request that L1 did not answer and that is back at its SM. Times are ticks of the run's time
/// unit, from the start of the run. One that joined another shares the way of that one from then
/// on: a boundary passed before is passed when it joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow {
    pub kernel: u32,
    /// Index of the CTA in its kernel.
    pub cta: u32,
    pub warp_in_cta: u32,
    pub sm: u32,
    /// Slot of the warp on its SM.
    pub warp_slot: u32,
    pub pc: u64,
    /// Byte address of its first sector.
    pub address: u64,
    pub kind: AccessKind,
    pub slice: u32,
    pub channel: u32,
    pub bank: u32,
    pub row: u32,
    /// Coalesced.
    pub created: u64,
    /// Left L1 for the network.
    pub l1_missed: u64,
    /// Stood in the queue of its slice.
    pub l2_arrived: u64,
    /// Was served at the tags of its slice.
    pub l2_served: u64,
    /// Of a request that the L2 could not answer from its data: off-chip.
    pub dram: Option<DramTimes>,
    /// Its reply entered the reply queue of its slice.
    pub replied: u64,
    /// Back at its SM.
    pub returned: u64,
    /// Time unit: ticks in a core cycle.
    pub ticks_per_core_cycle: u64,
}

/// What the whole machine did in a number of core cycles. A count is in the interval in which the
/// engine counts it: commands and requests when they issue, hit, miss or return; cycles as they
/// pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntervalRow {
    /// First core cycle.
    pub start_cycle: u64,
    /// Core cycles; of the last interval perhaps fewer. What memory does after the last CTA is part
    /// of it.
    pub cycles: u64,
    pub counts: IntervalCounts,
    /// At the end of the interval: warps on the SMs, and requests anywhere between L1 and DRAM.
    pub resident_warps: u64,
    pub requests_in_flight: u64,
}

/// Sums over all units of a machine, of an interval, a kernel, or from the start of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IntervalCounts {
    pub sms: SmResult,
    /// Read requests that came back to their SM, and the sum of their latencies in core cycles.
    pub read_requests: u64,
    pub read_latency: u64,
    pub l2: CacheCounts,
    pub l2_queues: QueueLength,
    /// Without banks.
    pub channels: ChannelResult,
    pub banks: BankResult,
}

impl IntervalCounts {
    /// Of a whole run.
    pub fn of(result: &RunResult) -> IntervalCounts {
        let mut counts = IntervalCounts {
            read_requests: result.latency.total.count(),
            read_latency: result.latency.total.sum() as u64,
            ..IntervalCounts::default()
        };
        result.sms.iter().for_each(|sm| counts.sms.add(sm));
        for slice in &result.slices {
            counts.l2.add(&slice.cache);
            counts.l2_queues.add(&slice.queue.length);
        }
        result.channels.iter().for_each(|channel| counts.add_channel(channel.clone()));
        counts
    }

    /// Drops the cycles in which caches tried accesses again. They are counted when an access has
    /// ended, so that a boundary between two counts does not divide them.
    pub fn forget_retries(&mut self) {
        self.sms.l1.reservation_fails = [0; ReservationFail::COUNT];
        self.l2.reservation_fails = [0; ReservationFail::COUNT];
    }

    pub fn add_channel(&mut self, mut channel: ChannelResult) {
        let banks = mem::take(&mut channel.banks);
        banks.iter().for_each(|bank| self.banks.add(bank));
        self.channels.add(&channel);
    }
}

impl<'a> Sum<&'a IntervalCounts> for IntervalCounts {
    fn sum<I: Iterator<Item = &'a IntervalCounts>>(counts: I) -> IntervalCounts {
        counts.fold(IntervalCounts::default(), |mut sum, counts| {
            sum.add(counts);
            sum
        })
    }
}

/// A warp that has ended. Times are core cycles from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpRow {
    pub sm: u32,
    /// Slot of the warp on its SM.
    pub warp_slot: u32,
    pub kernel: u32,
    /// Index of the CTA in its kernel.
    pub cta: u32,
    pub warp_in_cta: u32,
    /// Its first cycle on the SM.
    pub launch_cycle: u64,
    /// The cycle in which it ended.
    pub end_cycle: u64,
    /// That it has issued, compute included.
    pub instructions: u64,
}

/// What a sink takes beside load rows. The run goes the same way whatever is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Core cycles of an interval.
    pub intervals: Option<NonZeroU64>,
    pub requests: Option<RequestSample>,
    pub warps: bool,
}

/// Takes what a run hands out as it goes: load rows always, other streams where they are wanted.
pub trait RunSink {
    /// What is taken beside load rows. Asked once, when the run begins.
    fn wanted(&self) -> Wanted {
        Wanted::default()
    }

    /// A load has finished.
    fn load(&mut self, row: &LoadRow);

    /// A request of the sample is back.
    fn request(&mut self, _: &RequestRow) {}

    /// An interval is over.
    fn interval(&mut self, _: &IntervalRow) {}

    /// A warp has ended.
    fn warp(&mut self, _: &WarpRow) {}

    /// Where DRAM commands go; none are logged where this is none. Asked again whenever commands
    /// are handed over.
    fn commands(&mut self) -> Option<&mut dyn CommandSink> {
        None
    }
}

/// Drops everything; aggregate counts are kept by the engine all the same.
pub struct Discard;

impl RunSink for Discard {
    fn load(&mut self, _: &LoadRow) {}
}
