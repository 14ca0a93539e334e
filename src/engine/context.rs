//! What a unit's step may use of the rest of the machine.

use super::port::Fabric;
use super::requests::{Request, RequestTable, Stamps};
use super::time::Ticks;
use crate::dram::AddressMap;
use crate::record::{LatencyResult, LoadResult, LoadRow, LoadSink, Stage};

/// Ports and wake-ups, the request table, the address map, and what is recorded.
pub struct Context<'a> {
    pub fabric: &'a mut Fabric,
    pub requests: &'a mut RequestTable,
    pub map: &'a AddressMap,
    pub record: &'a mut Recording,
}

/// Load rows kept before they are handed on.
const BATCH: usize = 1024;

/// Aggregates over requests and loads, and the load rows since the last [`Recording::flush`].
pub struct Recording {
    pub latency: LatencyResult,
    pub loads: LoadResult,
    rows: Vec<LoadRow>,
}

impl Recording {
    /// `ticks_per_core_cycle` is the period of the core clock.
    pub fn new(ticks_per_core_cycle: u64) -> Recording {
        let latency = LatencyResult { ticks_per_core_cycle, ..LatencyResult::default() };
        Recording { latency, loads: LoadResult::default(), rows: Vec::with_capacity(BATCH) }
    }

    /// A read request is back at its SM.
    pub fn latency(&mut self, request: &Request, stamps: &Stamps, now: Ticks) {
        let total = now.since(stamps.created);
        self.latency.total.record(total / self.latency.ticks_per_core_cycle);
        let mut add = |stage: Stage, from: Ticks, to: Ticks| {
            self.latency.stage_ticks[stage as usize] += u128::from(to.since(from));
        };
        add(Stage::L1, stamps.created, stamps.l1_missed);
        add(Stage::RequestNetwork, stamps.l1_missed, stamps.llc_arrived);
        add(Stage::LlcQueue, stamps.llc_arrived, stamps.llc_served);
        if request.offchip {
            add(Stage::Llc, stamps.llc_served, stamps.llc_missed);
            add(Stage::LlcToDram, stamps.llc_missed, stamps.dram_entered);
            add(Stage::DramQueue, stamps.dram_entered, stamps.dram_started);
            add(Stage::DramService, stamps.dram_started, stamps.dram_finished);
            add(Stage::Llc, stamps.dram_finished, stamps.replied);
        } else {
            add(Stage::Llc, stamps.llc_served, stamps.replied);
        }
        add(Stage::ReplyNetwork, stamps.replied, now);
    }

    /// A load instruction has its last datum.
    pub fn load(&mut self, row: &LoadRow) {
        let loads = &mut self.loads;
        loads.loads += 1;
        loads.requests += u64::from(row.requests);
        loads.offchip_requests += u64::from(row.offchip_requests);
        loads.channels += u64::from(row.channels);
        loads.banks += u64::from(row.banks);
        if let (Some(divergence), Some(inside)) = (row.divergence, row.in_mc_divergence) {
            loads.load_time.record(row.load_time);
            loads.divergence.record(divergence);
            loads.in_mc_divergence += i128::from(inside);
        }
        self.rows.push(*row);
    }

    /// Whether a batch of load rows is full.
    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= BATCH
    }

    /// Hands the load rows on.
    pub(super) fn flush(&mut self, sink: &mut dyn LoadSink) {
        self.rows.drain(..).for_each(|row| sink.load(&row));
    }
}
