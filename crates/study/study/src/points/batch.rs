//! A batch of runs: each distinct one once, those of the store not again.

use super::error::PointsError;
use super::store::Store;
use crate::cells::{Cell, CellError, Watcher, command, side_by_side};
use crate::traces::NamedTrace;
use std::cmp::Reverse;
use std::collections::HashSet;
use warpmem_gpu::results::Discard;
use warpmem_gpu::slots::PolicyChoices;
use warpmem_machine::Machine;

/// A run to make.
pub struct Setup<'a> {
    pub trace: &'a NamedTrace,
    pub machine: Machine,
    /// Name or file of the machine, and its overrides, for messages.
    pub machine_name: &'a str,
    pub overrides: &'a [String],
}

/// Runs that a store lacks.
pub struct Batch<'a> {
    /// Distinct, the longest first.
    cells: Vec<Cell<'a>>,
    /// Run id of each setup.
    run_ids: Vec<String>,
}

impl<'a> Batch<'a> {
    /// # Errors
    /// If a machine cannot run its trace.
    pub fn new(
        setups: impl IntoIterator<Item = Setup<'a>>,
        store: &Store,
    ) -> Result<Batch<'a>, PointsError> {
        let (mut cells, mut run_ids) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for Setup { trace, machine, machine_name, overrides } in setups {
            let policies = PolicyChoices::default();
            let command = command(trace.trace.path(), machine_name, &policies, overrides);
            let cell = Cell::new(trace, machine, overrides, command)?;
            let run_id = cell.key.run_id().to_owned();
            if store.cycles(&run_id).is_none() && seen.insert(run_id.clone()) {
                cells.push(cell);
            }
            run_ids.push(run_id);
        }
        cells.sort_by_key(|cell| Reverse(cell.warp_instructions()));
        Ok(Batch { cells, run_ids })
    }

    /// Returns the runs that are missing.
    pub fn cells(&self) -> &[Cell<'a>] {
        &self.cells
    }

    /// Runs what is missing on `jobs` threads; 0 means one per processor. Every finished run is in the
    /// store at once.
    ///
    /// # Errors
    /// The first failure, which stops the other runs.
    pub fn run(
        &self,
        jobs: usize,
        store: &Store,
        watcher: &impl Watcher,
    ) -> Result<(), PointsError> {
        let ends = side_by_side(&self.cells, jobs, watcher, |_, cell| {
            let result = cell.simulate(&mut Discard, watcher)?;
            Ok(store.add(cell.key.run_id(), result.core_cycles))
        });
        // A failure stops the other runs, so it comes before their interruptions.
        let (stopped, ended): (Vec<_>, Vec<_>) = ends
            .map_err(CellError::from)?
            .into_iter()
            .partition(|end| end.as_ref().is_err_and(CellError::is_interruption));
        ended.into_iter().chain(stopped).try_for_each(|end| end?)
    }

    /// Returns the core cycles of every setup, from the first CTA's launch to the last CTA's end.
    ///
    /// # Panics
    /// If [`Batch::run`] has not succeeded.
    pub fn cycles(&self, store: &Store) -> Vec<u64> {
        let cycles = |run_id: &String| store.cycles(run_id).expect("every run has finished");
        self.run_ids.iter().map(cycles).collect()
    }
}
