//! Rows emitted during a run, and the sink that receives them. All values are integers.

use super::sample::RequestSample;
use super::{QueueLength, RunResult, SmResult};
use serde::Serialize;
use std::iter::Sum;
use std::mem;
use std::num::NonZeroU64;
use warpmem_cache::{CacheCounts, ReservationFail};
use warpmem_dram::{BankResult, ChannelResult, CommandSink};
use warpmem_sim::{Request, Stamps, Ticks, Total};

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
    /// From issue to the last datum, core cycles [WMC Fig 4b].
    pub load_time: u64,
    /// Requests after coalescing [CaLRS Fig 4].
    pub requests: u32,
    /// Requests that missed in the L2 [WMC Fig 3].
    pub offchip_requests: u32,
    /// Distinct channels and (channel, bank) pairs of the requests [Yuan Fig 14].
    pub channels: u32,
    pub banks: u32,
    /// Distinct pages of the requests; 0 without address translation.
    pub pages: u32,
    /// Longest wait of a request for its translation, core cycles.
    pub translation_cycles: u32,
    /// Longest minus shortest wait of its requests that waited, or of its pages in front of L1, core
    /// cycles; `None` with fewer than two of them [Shin].
    pub translation_divergence: Option<u32>,
    /// Slowest minus fastest turnaround of its off-chip requests, core cycles [WMC Fig 4a]; `None`
    /// with fewer than two of them.
    pub divergence: Option<u64>,
    /// (Time inside the memory controller of the slowest − of the fastest), core cycles; the
    /// in-controller share of divergence is this over `divergence` [WMC Fig 6].
    pub in_mc_divergence: Option<i64>,
}

/// Kind of a recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
    /// Rest of a sector that a store covers in part, for a write-back L1.
    Fetch,
    /// Load of a page walk.
    Walk,
}

impl AccessKind {
    pub fn name(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic",
            AccessKind::Fetch => "fetch",
            AccessKind::Walk => "walk",
        }
    }
}

/// Arrival of a request in the queue of its channel, its first command, and its last datum on the
/// bus: ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramTimes {
    pub entered: u64,
    pub started: u64,
    pub finished: u64,
}

/// The instruction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requester {
    pub kernel: u32,
    /// Index of the CTA in its kernel.
    pub cta: u32,
    pub warp_in_cta: u32,
    pub sm: u32,
    /// Slot of the warp on its SM.
    pub warp_slot: u32,
    pub pc: u64,
}

/// One completed request that L1 did not answer, or load of a page walk. Times are ticks of the
/// run's time unit, from the start of the run. A merged request shares the times of the one it
/// merged into, none earlier than the merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// None for a load of a page walk.
    pub requester: Option<Requester>,
    /// Byte address of its first sector.
    pub address: u64,
    pub kind: AccessKind,
    pub slice: u32,
    pub channel: u32,
    pub bank: u32,
    pub row: u32,
    /// Creation by the coalescer, or by the walker.
    pub created: u64,
    /// Departure from L1 to the network, or from the walker.
    pub l1_missed: u64,
    /// Arrival in the queue of its slice.
    pub l2_arrived: u64,
    /// Service at the tags of its slice.
    pub l2_served: u64,
    /// Times in DRAM, if it missed in the L2.
    pub dram: Option<DramTimes>,
    /// Arrival of the reply in the reply queue of its slice.
    pub replied: u64,
    /// Completion at its SM, or at the walker.
    pub returned: u64,
    /// Time unit: ticks per core cycle.
    pub ticks_per_core_cycle: u64,
}

impl RequestRow {
    /// Builds the row of a request that was completed at `now`. `period`: ticks per core cycle.
    pub(crate) fn new(
        requester: Option<Requester>,
        kind: AccessKind,
        request: &Request,
        stamps: &Stamps,
        now: Ticks,
        period: u64,
    ) -> RequestRow {
        let place = request.place;
        let dram = DramTimes {
            entered: stamps.dram_entered.0,
            started: stamps.dram_started.0,
            finished: stamps.dram_finished.0,
        };
        RequestRow {
            requester,
            address: request.address,
            kind,
            slice: place.slice.0.into(),
            channel: place.channel.0.into(),
            bank: place.bank.0.into(),
            row: place.row.0,
            created: stamps.created.0,
            l1_missed: stamps.l1_missed.0,
            l2_arrived: stamps.l2_arrived.0,
            l2_served: stamps.l2_served.0,
            dram: request.offchip.then_some(dram),
            replied: stamps.replied.0,
            returned: now.0,
            ticks_per_core_cycle: period,
        }
    }
}

/// Counts of the whole machine over an interval of core cycles. The engine counts commands and
/// requests when they issue, hit, miss or return, and cycles as they elapse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntervalRow {
    /// First core cycle.
    pub start_cycle: u64,
    /// Core cycles; the last interval may be shorter. It includes the activity of memory after the
    /// last CTA.
    pub cycles: u64,
    pub counts: IntervalCounts,
    /// At the end of the interval: resident warps, and requests between L1 and DRAM.
    pub resident_warps: u64,
    pub requests_in_flight: u64,
}

/// Counts summed over all units of a machine, for an interval, a kernel, or from the start of a
/// run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IntervalCounts {
    pub sms: SmResult,
    /// Completed read requests, and the sum of their latencies in core cycles.
    pub read_requests: u64,
    pub read_latency: u64,
    pub l2: CacheCounts,
    pub l2_queues: QueueLength,
    /// Without banks.
    pub channels: ChannelResult,
    pub banks: BankResult,
}

impl IntervalCounts {
    /// Returns the counts of a whole run.
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

    /// Drops the cycles of retried cache accesses. They are counted when the access succeeds, so a
    /// boundary between two counts does not divide them.
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

/// A completed warp. Times are core cycles from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpRow {
    pub sm: u32,
    /// Slot of the warp on its SM.
    pub warp_slot: u32,
    pub kernel: u32,
    /// Index of the CTA in its kernel.
    pub cta: u32,
    pub warp_in_cta: u32,
    /// First cycle on the SM.
    pub launch_cycle: u64,
    /// Cycle of its end.
    pub end_cycle: u64,
    /// Instructions issued.
    pub instructions: u64,
}

/// The streams that a sink takes in addition to load rows. They do not affect the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Core cycles of an interval.
    pub intervals: Option<NonZeroU64>,
    pub requests: Option<RequestSample>,
    pub warps: bool,
}

/// Receives the rows of a run: load rows always, other streams if wanted.
pub trait RunSink {
    /// Returns the streams taken in addition to load rows. Called once, at the start of the run.
    fn wanted(&self) -> Wanted {
        Wanted::default()
    }

    /// Takes a completed load.
    fn load(&mut self, row: &LoadRow);

    /// Takes a completed request of the sample.
    fn request(&mut self, _: &RequestRow) {}

    /// Takes a completed interval.
    fn interval(&mut self, _: &IntervalRow) {}

    /// Takes a completed warp.
    fn warp(&mut self, _: &WarpRow) {}

    /// Returns the sink of DRAM commands; without one, none are logged. Called again whenever
    /// commands are passed on.
    fn commands(&mut self) -> Option<&mut dyn CommandSink> {
        None
    }
}

/// Drops all rows; the engine still keeps the aggregate counts.
pub struct Discard;

impl RunSink for Discard {
    fn load(&mut self, _: &LoadRow) {}
}
