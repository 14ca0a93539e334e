//! Evaluation of candidates: the points on machines with other values.

use super::free::{Free, FreeError};
use super::machine_file::MachineFileError;
use super::search::Objectives;
use crate::cells::Cell;
use crate::points::{Batch, Outcome, Placed, PointsError, Setup, Store, Traces, log_error};
use std::path::Path;
use warpmem_machine::MachineError;

/// Reason why a machine cannot be calibrated.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    #[error(transparent)]
    Free(#[from] FreeError),
    #[error(transparent)]
    Points(#[from] PointsError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("failed to write the machine")]
    File(#[from] MachineFileError),
}

impl CalibrateError {
    /// Returns whether the user stopped the search.
    pub fn is_interruption(&self) -> bool {
        matches!(self, CalibrateError::Points(error) if error.is_interruption())
    }
}

/// Runs the missing runs of a batch.
pub type RunBatch<'r> = dyn FnMut(&Batch<'_>) -> Result<(), PointsError> + 'r;

/// The points on which a machine is calibrated, and everything to run them.
pub struct Calibration<'a> {
    pub placed: &'a [Placed<'a>],
    pub traces: &'a Traces,
    pub store: &'a Store,
    pub free: &'a [Free],
}

impl<'a> Calibration<'a> {
    /// Returns the objective of each list of values, one value per free key. `run` runs what is
    /// missing of a batch.
    ///
    /// # Errors
    /// If a run fails or is stopped.
    pub fn objectives(
        &self,
        lists: &[Vec<String>],
        run: &mut RunBatch<'_>,
    ) -> Result<Objectives, PointsError> {
        let outcomes = self.outcomes(lists, run)?;
        Ok(outcomes.iter().map(|outcomes| outcomes.as_deref().map(log_error)).collect())
    }

    /// Returns our figures for each list of values; none if a machine with these values is not valid.
    ///
    /// # Errors
    /// As [`Calibration::objectives`].
    pub fn outcomes(
        &self,
        lists: &[Vec<String>],
        run: &mut RunBatch<'_>,
    ) -> Result<Vec<Option<Vec<Outcome<'a>>>>, PointsError> {
        let candidates: Vec<Option<Vec<Placed<'a>>>> =
            lists.iter().map(|list| self.placed_with(list)).collect();
        let all = candidates.iter().flatten().flatten();
        let setups: Vec<Setup<'_>> = all.flat_map(|placed| placed.setups(self.traces)).collect();
        let batch = Batch::new(setups, self.store)?;
        if !batch.cells().is_empty() {
            run(&batch)?;
        }
        let mut cycles = batch.cycles(self.store).into_iter();
        let mut outcomes = Vec::new();
        for placed in &candidates {
            let outcome = |placed: &Placed<'a>| placed.outcome(&mut cycles);
            outcomes.push(placed.as_ref().map(|placed| placed.iter().map(outcome).collect()));
        }
        Ok(outcomes)
    }

    /// Returns the points with these values of the free keys; none if a machine is not valid, or
    /// cannot run its workload.
    fn placed_with(&self, values: &[String]) -> Option<Vec<Placed<'a>>> {
        let overrides = overrides(self.free, values);
        let with = |placed: &Placed<'a>| {
            let own = placed.machine.clone();
            let machine = own.with_overrides(&overrides, Path::new("")).ok()?;
            let fits = placed.point.workloads().all(|workload| {
                let trace = self.traces.of(workload);
                Cell::new(trace, machine.clone(), &[], String::new()).is_ok()
            });
            let all = [placed.overrides.as_slice(), &overrides].concat();
            let machine_name = placed.machine_name.clone();
            fits.then_some(Placed { point: placed.point, machine, machine_name, overrides: all })
        };
        self.placed.iter().map(with).collect()
    }
}

/// Returns the overrides that set the free keys to these values.
pub fn overrides(free: &[Free], values: &[String]) -> Vec<String> {
    free.iter().zip(values).map(|(free, value)| format!("{}={value}", free.key)).collect()
}
