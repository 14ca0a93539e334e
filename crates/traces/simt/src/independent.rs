//! Execution of clusters whose CTAs cannot wait for those of other clusters: one after the other, in grid
//! order. Without clusters, each CTA forms its own.
//!
//! With several threads, some run ahead of earlier clusters on a [`View`] of memory. Their writes are
//! committed in grid order; clusters that have read a location which an earlier one then wrote are executed
//! again. Thus threads affect neither memory nor the trace.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::bounds::Limits;
use crate::cluster::Cluster;
use crate::error::LaunchError;
use crate::global::Global;
use crate::grid::{Grid, record};
use crate::lanes::WARP;
use crate::memory::DeviceMemory;
use crate::prepared::Prepared;
use crate::recorder::{Ended, WarpAssembler};
use crate::view::{Committed, View};
use crate::warp::Rows;

/// Approximate warp instructions that a thread executes before its writes are committed.
const AHEAD: u64 = 1 << 14;
/// Maximum clusters of a batch.
const MAX_CLUSTERS: u64 = 1 << 10;
/// A batch that executes this many times the expected instructions may be waiting for an uncommitted write:
/// it is abandoned, and executed in its place in the order.
const MAX_OVERRUN: u64 = 64;
/// Batches after which running ahead is evaluated.
const TRIAL_BATCHES: u64 = 8;
/// Interval between polls of the observer.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

pub(crate) fn execute(grid: &mut Grid<'_, '_, '_>) -> Result<(), LaunchError> {
    let total = grid.clusters();
    let mut spare = Vec::new();
    let mut next = 0;
    if grid.limits.threads > 1 && total > 1 {
        // The first cluster determines the batch size.
        one(grid, 0, None, &mut spare)?;
        next = ahead(grid, total)?;
    }
    (next..total).try_for_each(|number| one(grid, number, None, &mut spare))
}

/// Executes a cluster, directly on device memory if there is no view.
fn one(
    grid: &mut Grid<'_, '_, '_>,
    number: u64,
    mut view: Option<&mut View>,
    spare: &mut Vec<Rows>,
) -> Result<(), LaunchError> {
    let mut cluster = Cluster::new(grid.prepared, number, || grid.begin_warp(), spare);
    while !cluster.has_ended() {
        let before = grid.counts.warp_instructions;
        let global = match &mut view {
            None => Global::Memory(grid.memory),
            Some(view) => Global::View(grid.memory, view),
        };
        let executed = &mut grid.counts.warp_instructions;
        let ran = cluster.run_quantum(grid.prepared, global, executed, grid.limits);
        ran.map_err(|stop| grid.prepared.stopped(stop, &cluster, &VecDeque::new()))?;
        if grid.counts.warp_instructions == before && !cluster.has_ended() {
            return Err(grid.deadlock(std::iter::once(&cluster)));
        }
        grid.report_progress()?;
    }
    grid.end(cluster, spare)
}

/// Clusters that a thread executes ahead of others, and their state.
struct Batch {
    clusters: std::ops::Range<u64>,
    /// Records of their warps, empty.
    records: Vec<Option<WarpAssembler>>,
    /// Their CTAs, once completed.
    ended: Vec<Ended>,
    /// Warp instructions executed.
    executed: u64,
    /// Whether a cluster could not continue.
    failed: bool,
    view: View,
    spare: Vec<Rows>,
}

impl Batch {
    fn new() -> Batch {
        Batch {
            clusters: 0..0,
            records: Vec::new(),
            ended: Vec::new(),
            executed: 0,
            failed: false,
            view: View::default(),
            spare: Vec::new(),
        }
    }

    /// Executes the batch's clusters on its view of memory.
    fn run(
        &mut self,
        prepared: &Prepared<'_>,
        memory: &DeviceMemory,
        limits: Limits,
        stop: &AtomicBool,
    ) {
        self.executed = 0;
        let done = self
            .clusters
            .clone()
            .all(|number| self.run_one(number, prepared, memory, limits, stop));
        self.failed = !done;
    }

    fn run_one(
        &mut self,
        number: u64,
        prepared: &Prepared<'_>,
        memory: &DeviceMemory,
        limits: Limits,
        stop: &AtomicBool,
    ) -> bool {
        let records = || self.records.pop().expect("there are some for every warp");
        let mut cluster = Cluster::new(prepared, number, records, &mut self.spare);
        while !cluster.has_ended() {
            let before = self.executed;
            let global = Global::View(memory, &mut self.view);
            let ran = cluster.run_quantum(prepared, global, &mut self.executed, limits);
            let moved = self.executed > before || cluster.has_ended();
            if ran.is_err() || !moved || stop.load(Ordering::Relaxed) {
                return false;
            }
        }
        self.ended.extend(cluster.end(&mut self.spare));
        true
    }
}

/// Executes clusters from the second on until none is left, or until running ahead proves useless; returns
/// the first remaining one.
fn ahead(grid: &mut Grid<'_, '_, '_>, total: u64) -> Result<u64, LaunchError> {
    let mut batches: Vec<Batch> = (0..grid.limits.threads).map(|_| Batch::new()).collect();
    let mut ended = Vec::new();
    let (mut next, mut tried, mut repeated) = (1, 0, 0);
    while next < total && (tried < TRIAL_BATCHES || 2 * repeated < tried) {
        plan(grid, &mut batches, next, total);
        round(grid, &mut batches, std::mem::take(&mut ended))?;
        let mut committed = Committed::default();
        for batch in batches.iter_mut().filter(|batch| !batch.clusters.is_empty()) {
            (tried, next) = (tried + 1, batch.clusters.end);
            let executed = grid.counts.warp_instructions + batch.executed;
            let is_within = executed <= grid.limits.instructions;
            if batch.failed || !is_within || batch.view.has_read(&committed) {
                repeated += 1;
                repeat(grid, batch, &mut committed)?;
                continue;
            }
            batch.view.commit(grid.memory, &mut committed);
            grid.counts.warp_instructions = executed;
            ended.append(&mut batch.ended);
        }
    }
    for cta in ended {
        record(grid.recorder.as_deref_mut(), &mut grid.counts, grid.progress, cta)?;
    }
    Ok(next)
}

/// Divides the clusters of a round among the threads.
fn plan(grid: &mut Grid<'_, '_, '_>, batches: &mut [Batch], mut next: u64, total: u64) {
    let executed = next.max(1);
    let of_each = (AHEAD * executed / grid.counts.warp_instructions.max(1)).clamp(1, MAX_CLUSTERS);
    let of_each = of_each.min((total - next).div_ceil(batches.len() as u64));
    let warps = u64::from(grid.prepared.launch.threads().div_ceil(WARP as u32))
        * u64::from(grid.prepared.cluster.ctas());
    for batch in batches {
        let end = total.min(next + of_each);
        batch.clusters = next..end;
        batch.records = (0..warps * (end - next)).map(|_| grid.begin_warp()).collect();
        next = end;
    }
}

/// Executes the batches, one per thread, while those of the previous round are recorded.
fn round(
    grid: &mut Grid<'_, '_, '_>,
    batches: &mut [Batch],
    ended: Vec<Ended>,
) -> Result<(), LaunchError> {
    let stop = &AtomicBool::new(false);
    let left = grid.limits.instructions - grid.counts.warp_instructions;
    let instructions =
        left.min(AHEAD.max(grid.counts.warp_instructions).saturating_mul(MAX_OVERRUN));
    let limits = Limits { instructions, ..grid.limits };
    let (prepared, memory): (_, &DeviceMemory) = (grid.prepared, grid.memory);
    let main = &thread::current();
    let recorded = thread::scope(|scope| {
        let threads: Vec<_> = batches
            .iter_mut()
            .map(|batch| {
                scope.spawn(move || {
                    batch.run(prepared, memory, limits, stop);
                    main.unpark();
                })
            })
            .collect();
        let (recorder, counts) = (&mut grid.recorder, &mut grid.counts);
        let progress = grid.progress;
        let recorded = ended
            .into_iter()
            .try_for_each(|cta| record(recorder.as_deref_mut(), counts, progress, cta));
        stop.store(recorded.is_err(), Ordering::Relaxed);
        while threads.iter().any(|thread| !thread.is_finished()) {
            if !grid.progress.advance(counts.ctas, counts.warp_instructions) {
                stop.store(true, Ordering::Relaxed);
            }
            thread::park_timeout(POLL_INTERVAL);
        }
        recorded
    });
    recorded?;
    grid.report_progress()
}

/// Executes the clusters of a batch again, on the committed state.
fn repeat(
    grid: &mut Grid<'_, '_, '_>,
    batch: &mut Batch,
    committed: &mut Committed,
) -> Result<(), LaunchError> {
    batch.view.clear();
    batch.ended.clear();
    batch.records.clear();
    for number in batch.clusters.clone() {
        one(grid, number, Some(&mut batch.view), &mut batch.spare)?;
    }
    batch.view.commit(grid.memory, committed);
    Ok(())
}
