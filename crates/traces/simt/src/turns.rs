//! Clusters whose CTAs may wait for those of others take turns. Without clusters, every CTA is one.
//!
//! A cluster usually runs from its begin to its end alone. One that takes longer than its first turn
//! may wait for another: it then takes turns with all that have begun, and after each round of them
//! as many more begin.

use std::collections::VecDeque;

use crate::cluster::Cluster;
use crate::error::LaunchError;
use crate::global::Global;
use crate::grid::Grid;
use crate::recorder::Recorder;

/// Most CTAs that have begun and not ended.
const RESIDENT: usize = 4096;

pub(crate) fn execute<R: Recorder>(grid: &mut Grid<'_, '_, R>) -> Result<(), LaunchError> {
    let total = grid.clusters();
    let most = RESIDENT / grid.prepared.cluster.ctas() as usize;
    let mut resident: VecDeque<Cluster<R::Warp>> = VecDeque::new();
    let (mut spare, mut next) = (Vec::new(), 0);
    while next < total || !resident.is_empty() {
        for _ in 0..resident.len().max(1) {
            if next < total && resident.len() < most {
                let recorder = || grid.recorder.begin_warp();
                resident.push_back(Cluster::new(grid.prepared, next, recorder, &mut spare));
                next += 1;
            }
        }
        let before = grid.counts.warp_instructions;
        for _ in 0..resident.len() {
            let Some(mut cluster) = resident.pop_front() else { break };
            let executed = &mut grid.counts.warp_instructions;
            let global = Global::Memory(grid.memory);
            let turn = cluster.turn(grid.prepared, global, executed, grid.limits);
            turn.map_err(|stop| grid.prepared.stopped(stop, &cluster, &resident))?;
            match cluster.has_ended() {
                true => grid.end(cluster, &mut spare)?,
                false => resident.push_back(cluster),
            }
            grid.goes_on()?;
        }
        let moved = grid.counts.warp_instructions > before;
        if !moved && !resident.is_empty() && (next == total || resident.len() == most) {
            return Err(grid.deadlock(resident.iter()));
        }
    }
    Ok(())
}
