//! The part of the machine that a unit uses during its step.

use crate::results::{
    AccessKind, LatencyResult, LoadResult, LoadRow, RequestRow, RequestSample, RunSink, Stage,
    Wanted, WarpProgress, WarpRow,
};
use crate::side::{LoadEnds, SideChannels};
use warpmem_sim::{
    AddressMap, ChannelId, Domain, Fabric, PortId, Request, RequestId, RequestTable, Stamps, Ticks,
    Total, UnitId,
};
use warpmem_translation::WalkLoad;

/// Ports and wake-ups, the request table, the address map, the recording, and the side channels of
/// DRAM schedulers.
pub struct Context<'a> {
    pub fabric: &'a mut Fabric,
    pub requests: &'a mut RequestTable,
    pub map: &'a AddressMap,
    pub record: &'a mut Recording,
    pub side: &'a mut SideChannels,
}

impl Context<'_> {
    /// Pops as [`Fabric::pop`], and prefetches the next request into the host's caches.
    #[inline]
    pub fn pop(&mut self, port: PortId, now: Ticks) -> RequestId {
        warpmem_sim::pop(self.fabric, self.requests, port, now)
    }

    /// Starts a load with requests for the sectors at `addresses`. Returns its number; `u32::MAX`
    /// if no DRAM scheduler follows loads.
    pub fn begin_load(&mut self, addresses: impl Iterator<Item = u64>) -> u32 {
        let channels = addresses.map(|address| self.map.locate(address).channel);
        self.side.loads.as_mut().map_or(u32::MAX, |loads| loads.begin(channels))
    }

    /// Ends a load whose data have all arrived.
    pub fn finish_load(&mut self, load: u32) {
        if let Some(loads) = self.loads_of(load) {
            loads.finish(load);
        }
    }

    /// Reports that L1 answered or merged a request of a load at `now`.
    pub fn answered_in_l1(&mut self, load: u32, address: u64, now: Ticks) {
        let map = self.map;
        let Some(loads) = self.loads_of(load) else { return };
        let channel = map.locate(address).channel;
        if loads.answered_in_l1(load, channel) {
            self.fabric.wake(channel_unit(channel), now);
        }
    }

    /// Reports that the L2 answered or merged a request of a load; its channel learns of it at
    /// `due`.
    pub fn answered_in_l2(&mut self, load: u32, address: u64, due: Ticks) {
        let map = self.map;
        let Some(loads) = self.loads_of(load) else { return };
        let channel = map.locate(address).channel;
        loads.answered_in_l2(load, channel, due);
        self.fabric.wake(channel_unit(channel), due);
    }

    fn loads_of(&mut self, load: u32) -> Option<&mut LoadEnds> {
        self.side.loads.as_mut().filter(|_| load != u32::MAX)
    }
}

fn channel_unit(channel: ChannelId) -> UnitId {
    UnitId { domain: Domain::Dram, index: channel.0.into() }
}

/// Rows buffered before they are passed to the sink.
const BATCH: usize = 1024;

/// Aggregates over requests and loads, and the rows since the last [`Recording::flush`].
pub struct Recording {
    pub latency: LatencyResult,
    pub loads: LoadResult,
    /// By kernel.
    pub progress: Vec<WarpProgress>,
    /// Completed requests, counted if requests are sampled.
    requests: u64,
    sample: Option<RequestSample>,
    wants_warps: bool,
    load_rows: Vec<LoadRow>,
    request_rows: Vec<RequestRow>,
    warp_rows: Vec<WarpRow>,
}

impl Recording {
    /// `ticks_per_core_cycle` is the period of the core clock.
    pub fn new(ticks_per_core_cycle: u64, wanted: &Wanted) -> Recording {
        Recording {
            latency: LatencyResult { ticks_per_core_cycle, ..LatencyResult::default() },
            loads: LoadResult::default(),
            progress: Vec::new(),
            requests: 0,
            sample: wanted.requests,
            wants_warps: wanted.warps,
            load_rows: Vec::with_capacity(BATCH),
            request_rows: Vec::new(),
            warp_rows: Vec::new(),
        }
    }

    /// Records the latency of a read request that has returned to its SM.
    pub fn latency(&mut self, request: &Request, stamps: &Stamps, now: Ticks) {
        let total = now.since(stamps.created);
        self.latency.total.record(total / self.latency.ticks_per_core_cycle);
        let mut add = |stage: Stage, from: Ticks, to: Ticks| {
            self.latency.stage_ticks[stage as usize] += u128::from(to.since(from));
        };
        add(Stage::L1, stamps.created, stamps.l1_missed);
        add(Stage::RequestNetwork, stamps.l1_missed, stamps.l2_arrived);
        add(Stage::L2Queue, stamps.l2_arrived, stamps.l2_served);
        if request.offchip {
            add(Stage::L2ToDram, stamps.l2_served, stamps.dram_entered);
            add(Stage::DramQueue, stamps.dram_entered, stamps.dram_started);
            add(Stage::DramService, stamps.dram_started, stamps.dram_finished);
            add(Stage::L2, stamps.dram_finished, stamps.replied);
        } else {
            add(Stage::L2, stamps.l2_served, stamps.replied);
        }
        add(Stage::ReplyNetwork, stamps.replied, now);
    }

    /// Records a completed load instruction.
    pub fn load(&mut self, row: &LoadRow) {
        let loads = &mut self.loads;
        loads.loads += 1;
        loads.requests.record(row.requests.into());
        loads.offchip_requests.record(row.offchip_requests.into());
        loads.channels.record(row.channels.into());
        loads.banks.record(row.banks.into());
        if let (Some(divergence), Some(inside)) = (row.divergence, row.in_mc_divergence) {
            loads.load_time.record(row.load_time);
            loads.divergence.record(divergence);
            loads.in_mc_divergence += i128::from(inside);
        }
        if let Some(divergence) = row.translation_divergence {
            loads.translation_divergent += 1;
            loads.translation_divergence += u64::from(divergence);
        }
        self.load_rows.push(*row);
    }

    /// Counts a completed request. Returns whether it is in the sample.
    #[inline]
    pub fn samples_request(&mut self) -> bool {
        let Some(sample) = self.sample else { return false };
        self.requests += 1;
        sample.has(self.requests)
    }

    /// Records a completed load of a page walk, if it is in the sample.
    pub fn walk_load(&mut self, load: &WalkLoad) {
        if self.samples_request() {
            let WalkLoad { request, stamps, ended } = load;
            let period = self.latency.ticks_per_core_cycle;
            let row = RequestRow::new(None, AccessKind::Walk, request, stamps, *ended, period);
            self.request(row);
        }
    }

    /// Records a completed request of the sample.
    pub fn request(&mut self, row: RequestRow) {
        self.request_rows.push(row);
    }

    /// Records completed warps.
    pub fn warps(&mut self, rows: &mut Vec<WarpRow>) {
        for row in rows.iter() {
            let kernel = row.kernel as usize;
            if kernel >= self.progress.len() {
                self.progress.resize(kernel + 1, WarpProgress::default());
            }
            self.progress[kernel].add(row.instructions, row.end_cycle - row.launch_cycle);
        }
        if self.wants_warps {
            self.warp_rows.append(rows);
        }
        rows.clear();
    }

    /// Returns whether a batch of rows is full.
    pub(crate) fn is_full(&self) -> bool {
        self.load_rows.len() + self.request_rows.len() + self.warp_rows.len() >= BATCH
    }

    /// Appends the rows of `other`.
    pub(crate) fn append_rows(&mut self, other: &mut Recording) {
        self.load_rows.append(&mut other.load_rows);
        self.request_rows.append(&mut other.request_rows);
        self.warp_rows.append(&mut other.warp_rows);
    }

    /// Adds the aggregates of `other`.
    pub(crate) fn add(&mut self, other: &Recording) {
        self.latency.add(&other.latency);
        self.loads.add(&other.loads);
        let kernels = self.progress.len().max(other.progress.len());
        self.progress.resize(kernels, WarpProgress::default());
        self.progress.iter_mut().zip(&other.progress).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    /// Passes the buffered rows to `sink`.
    pub(crate) fn flush(&mut self, sink: &mut dyn RunSink) {
        self.load_rows.drain(..).for_each(|row| sink.load(&row));
        self.request_rows.drain(..).for_each(|row| sink.request(&row));
        self.warp_rows.drain(..).for_each(|row| sink.warp(&row));
    }
}
