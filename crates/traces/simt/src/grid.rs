//! A launch in execution: its totals so far, and its reports to the observer.

use std::collections::VecDeque;

use crate::bounds::{Counts, Limits, Progress};
use crate::cluster::Cluster;
use crate::cta::Stop;
use crate::error::{Fault, LaunchError};
use crate::execute::Trap;
use crate::memory::DeviceMemory;
use crate::prepared::Prepared;
use crate::program::PC_STEP;
use crate::recorder::{Ended, TraceRecorder, WarpAssembler};
use crate::warp::{Rows, State, Warp};

/// A launch in execution.
pub(crate) struct Grid<'g, 'a, 'w> {
    pub prepared: &'g Prepared<'a>,
    pub memory: &'g mut DeviceMemory,
    pub recorder: Option<&'g mut TraceRecorder<'w>>,
    pub limits: Limits,
    pub progress: &'g dyn Progress,
    pub counts: Counts,
}

impl Grid<'_, '_, '_> {
    /// Returns the clusters of the grid.
    pub fn clusters(&self) -> u64 {
        let clusters = self.prepared.cluster.clusters(self.prepared.launch.grid);
        clusters.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the empty records of a new warp, if they are kept.
    pub fn begin_warp(&mut self) -> Option<WarpAssembler> {
        self.recorder.as_mut().map(|recorder| recorder.begin_warp())
    }

    /// Reports progress; fails if the user stops the launch.
    pub fn report_progress(&self) -> Result<(), LaunchError> {
        match self.progress.advance(self.counts.ctas, self.counts.warp_instructions) {
            true => Ok(()),
            false => Err(LaunchError::Cancelled),
        }
    }

    /// Counts the CTAs of a completed cluster, and passes their records to the recorder.
    pub fn end(&mut self, cluster: Cluster, spare: &mut Vec<Rows>) -> Result<(), LaunchError> {
        let (recorder, counts) = (&mut self.recorder, &mut self.counts);
        cluster
            .end(spare)
            .try_for_each(|cta| record(recorder.as_deref_mut(), counts, self.progress, cta))
    }

    pub fn deadlock<'c>(&self, clusters: impl Iterator<Item = &'c Cluster>) -> LaunchError {
        let kernel = self.prepared.launch.kernel.clone();
        LaunchError::Deadlock { kernel, waiting: self.prepared.waiting(clusters) }
    }
}

/// Counts a completed CTA, passes its records to a recorder, and prints its text.
pub(crate) fn record(
    recorder: Option<&mut TraceRecorder<'_>>,
    counts: &mut Counts,
    progress: &dyn Progress,
    cta: Ended,
) -> Result<(), LaunchError> {
    counts.ctas += 1;
    counts.warps += cta.warps.len() as u64;
    if !cta.output.is_empty() {
        progress.print(&cta.output);
    }
    recorder.map_or(Ok(()), |recorder| Ok(recorder.end_cta(cta)?))
}

impl Prepared<'_> {
    pub fn stopped(
        &self,
        stop: Stop,
        cluster: &Cluster,
        others: &VecDeque<Cluster>,
    ) -> LaunchError {
        let kernel = self.launch.kernel.clone();
        match stop {
            Stop::Trap { rank, warp, pc, trap } => {
                let fault = Box::new(self.fault(&cluster.ctas[rank].warps[warp], pc, trap));
                LaunchError::Fault { kernel, fault }
            }
            Stop::Limit(instructions) => {
                let waiting = self.waiting(std::iter::once(cluster).chain(others));
                LaunchError::Limit { kernel, instructions, waiting }
            }
        }
    }

    fn fault(&self, warp: &Warp, pc: u64, trap: Trap) -> Fault {
        let step = self.program.step_at(pc);
        let (line, location) = step.map_or((0, None), |step| (step.line, step.location));
        let files = &self.image.module().files;
        let source = location.and_then(|(file, line)| {
            let (_, name) = files.iter().find(|(number, _)| *number == file)?;
            Some((name.clone(), line))
        });
        Fault {
            reason: trap.reason,
            kind: trap.kind,
            cta: warp.place.cta,
            thread: warp.thread(trap.lane),
            pc,
            line,
            source,
        }
    }

    /// Describes where unfinished warps wait.
    pub fn waiting<'c>(&self, clusters: impl Iterator<Item = &'c Cluster>) -> String {
        const SHOWN: usize = 8;
        let ctas = clusters.flat_map(|cluster| &cluster.ctas);
        let mut warps = ctas.flat_map(|cta| &cta.warps).filter(|warp| warp.state != State::Ended);
        let shown: Vec<String> =
            warps.by_ref().take(SHOWN).map(|warp| self.place_of(warp)).collect();
        let more = warps.count();
        let more = if more > 0 { format!(", and {more} more warps") } else { String::new() };
        format!("{}{more}", shown.join("; "))
    }

    fn place_of(&self, warp: &Warp) -> String {
        let [x, y, z] = warp.place.cta;
        let path = warp.stack.paths().last();
        let routine = &self.program.routines[warp.frame().routine];
        let pc = path.map_or(0, |path| routine.pc + u64::from(path.pc) * PC_STEP);
        let line =
            path.and_then(|path| routine.steps.get(path.pc as usize)).map_or(0, |step| step.line);
        let what = match warp.state {
            State::AtBarrier { barrier } => format!("waits at barrier {barrier} at"),
            State::AtClusterBarrier => "waits at the cluster barrier at".into(),
            State::Divided { at } => {
                let [waiting, all] = [warp.stack.waiting(), warp.stack.lanes()];
                format!("waits at {at} with lanes {waiting:#x} of {all:#x} at")
            }
            _ => "is at".into(),
        };
        format!(
            "CTA ({x}, {y}, {z}) warp {} {what} PC {pc:#x} (line {line})",
            warp.place.warp_in_cta
        )
    }
}
