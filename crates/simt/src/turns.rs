//! CTAs that may wait for each other take turns.
//!
//! A CTA usually runs from its begin to its end alone. One that takes longer than its first turn may
//! wait for another: it then takes turns with all that have begun, and after each round of them as
//! many more begin.

use std::collections::VecDeque;

use crate::cta::Cta;
use crate::error::LaunchError;
use crate::global::Global;
use crate::grid::Grid;
use crate::recorder::Recorder;

/// Most CTAs that have begun and not ended.
const RESIDENT: usize = 4096;

pub(crate) fn execute<R: Recorder>(grid: &mut Grid<'_, '_, R>) -> Result<(), LaunchError> {
    let total = grid.ctas();
    let mut resident: VecDeque<Cta<R::Warp>> = VecDeque::new();
    let (mut spare, mut next) = (Vec::new(), 0);
    while grid.counts.ctas < total {
        for _ in 0..resident.len().max(1) {
            if next < total && resident.len() < RESIDENT {
                let recorder = || grid.recorder.begin_warp();
                resident.push_back(Cta::new(grid.prepared, next, recorder, &mut spare));
                next += 1;
            }
        }
        let before = grid.counts.warp_instructions;
        for _ in 0..resident.len() {
            let Some(mut cta) = resident.pop_front() else { break };
            let executed = &mut grid.counts.warp_instructions;
            let turn = cta.turn(grid.prepared, Global::Memory(grid.memory), executed, grid.limits);
            turn.map_err(|stop| grid.prepared.stopped(stop, &cta, &resident))?;
            match cta.has_ended() {
                true => grid.end(cta, &mut spare)?,
                false => resident.push_back(cta),
            }
            grid.goes_on()?;
        }
        let moved = grid.counts.warp_instructions > before;
        if !moved && !resident.is_empty() && (next == total || resident.len() == RESIDENT) {
            return Err(grid.deadlock(resident.iter()));
        }
    }
    Ok(())
}
