//! Round-robin execution of clusters whose CTAs may wait for those of other clusters. Without clusters, each
//! CTA forms its own.
//!
//! A cluster usually runs alone from start to end. One that exceeds its first quantum may be waiting for
//! another: it then alternates with all started clusters, and after each round twice as many have started.

use std::collections::VecDeque;

use crate::cluster::Cluster;
use crate::error::LaunchError;
use crate::global::Global;
use crate::grid::Grid;

/// Maximum resident CTAs.
const RESIDENT: usize = 4096;

pub(crate) fn execute(grid: &mut Grid<'_, '_, '_>) -> Result<(), LaunchError> {
    let total = grid.clusters();
    let most = RESIDENT / grid.prepared.cluster.ctas() as usize;
    let mut resident: VecDeque<Cluster> = VecDeque::new();
    let (mut spare, mut next) = (Vec::new(), 0);
    while next < total || !resident.is_empty() {
        for _ in 0..resident.len().max(1) {
            if next < total && resident.len() < most {
                let prepared = grid.prepared;
                let records = || grid.begin_warp();
                resident.push_back(Cluster::new(prepared, next, records, &mut spare));
                next += 1;
            }
        }
        let before = grid.counts.warp_instructions;
        for _ in 0..resident.len() {
            let Some(mut cluster) = resident.pop_front() else { break };
            let executed = &mut grid.counts.warp_instructions;
            let global = Global::Memory(grid.memory);
            let ran = cluster.run_quantum(grid.prepared, global, executed, grid.limits);
            ran.map_err(|stop| grid.prepared.stopped(stop, &cluster, &resident))?;
            match cluster.has_ended() {
                true => grid.end(cluster, &mut spare)?,
                false => resident.push_back(cluster),
            }
            grid.report_progress()?;
        }
        let moved = grid.counts.warp_instructions > before;
        if !moved && !resident.is_empty() && (next == total || resident.len() == most) {
            return Err(grid.deadlock(resident.iter()));
        }
    }
    Ok(())
}
