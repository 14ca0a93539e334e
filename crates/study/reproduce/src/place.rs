//! Runs required by a paper's claims and figures, and their traces.

use crate::{Planned, factorial_plan, plan};
use std::path::{Path, PathBuf};
use warpmem_study::reproduce::{Factorial, Paper};
use warpmem_study::suite::{GenerateError, Generation, Planned as Workload};
use warpmem_study::sweep::{Plan, generated};
use warpmem_study::traces::NamedTrace;

/// Generates workloads and runs plans, with the program's messages about them.
pub trait Worker {
    /// Generates workloads: [`Generation::run`] with a watcher.
    ///
    /// # Errors
    /// As [`Generation::run`].
    fn generate(&self, work: &Generation<'_>) -> Result<(), GenerateError>;

    /// Runs every cell of the plan on the traces that has no results in the directory.
    ///
    /// # Errors
    /// If a run fails or is interrupted, or results cannot be written.
    fn run(&self, plan: &Plan, traces: &[NamedTrace], directory: &Path) -> anyhow::Result<()>;
}

/// Directory of results, and the worker that fills it.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub directory: &'a Path,
    /// Number of workloads generated at a time; 0 means one per processor.
    pub jobs: usize,
    pub worker: &'a dyn Worker,
}

impl Place<'_> {
    /// Returns a separate folder for a part of the runs.
    pub fn part(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Returns the same place with another results directory.
    pub fn within<'a>(&'a self, directory: &'a Path) -> Place<'a> {
        Place { directory, ..*self }
    }

    /// Returns the workloads of a paper, and generates missing ones.
    ///
    /// # Errors
    /// If a workload cannot be generated.
    pub fn generated(
        &self,
        paper: &Paper,
        planned: &[Workload],
    ) -> anyhow::Result<Vec<NamedTrace>> {
        let folder = self.directory.join("traces").join(paper.set_name());
        let generate = |work: &Generation<'_>| self.worker.generate(work);
        Ok(generated(&paper.name, planned, &folder, self.jobs, &generate)?)
    }

    /// Runs every configuration of a paper on every trace, except runs with existing results.
    /// Traces that cannot run on the paper's machine are skipped.
    ///
    /// # Errors
    /// If a run fails, or results cannot be written.
    pub fn run(&self, paper: &Paper, traces: &[NamedTrace]) -> anyhow::Result<Vec<Planned>> {
        let (plan, planned) = plan(paper, traces)?;
        self.worker.run(&plan, traces, self.directory)?;
        Ok(planned)
    }

    /// Runs every combination on every machine and trace, except runs with existing results.
    ///
    /// # Errors
    /// If a run fails, or results cannot be written.
    pub fn run_factorial(
        &self,
        paper: &Paper,
        factorial: &Factorial,
        traces: &[NamedTrace],
    ) -> anyhow::Result<()> {
        self.worker.run(&factorial_plan(paper, factorial), traces, self.directory)
    }
}
